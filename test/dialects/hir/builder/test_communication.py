"""Communication among devices."""

from __future__ import annotations

import pytest

import hirc
from support.built_program import last, operations


def test_communications() -> None:
    with hirc.program("main") as p:
        x, y = p.input("x", (8, 4), "f32"), p.input("y", (16, 4), "f32")
        team = p.communicator([0, 1], backend="nccl")
        request = p.communicate("allgather", x, y, team)
        request.wait()
        p.wait(p.communicate("reduce", x, x, team, root=1, reduction="sum"))
        with p.coalesce() as group:
            p.communicate("permute", x, x, team, to=[1, 0])
            p.communicate("allreduce", y, y, team, reduction="max")
        group.wait()
    names = [op.name for op in operations(p)]
    assert names[-5:] == [
        "hir.wait",
        "hir.coalesce",
        "hir.communicate",
        "hir.communicate",
        "hir.wait",
    ]
    assert 'kind = "permute", to = array<i64: 1, 0>' in str(p)


@pytest.mark.parametrize(
    ("before", "after", "shape", "result"),
    [
        ("axis:0", "whole", ("n * 2", 4), "memref<?x4xf32>"),
        ("axis:1", "whole", ("n", 8), "memref<?x8xf32>"),
        ("whole", "axis:1", ("n", 2), "memref<?x2xf32>"),
        ("partial:sum", "whole", ("n", 4), "memref<?x4xf32>"),
        ("axis:1", "axis:0", ("ceildiv(n, 2)", 8), "memref<?x8xf32>"),
    ],
)
def test_reshard(before: str, after: str, shape: tuple[object, ...], result: str) -> None:
    with hirc.program("main") as p:
        x = p.input("x", ("n", 4), "f32")
        y = p.reshard(x, before, after, [0, 1])
        assert tuple(map(str, y.shape)) == tuple(map(str, shape))
        assert str(y.type) == result
        assert p.reshard(x, before, after, [0, 1], [2, 3], out=y) is y
    assert "to_team = array<i64: 2, 3>" in last(p, "hir.reshard")
