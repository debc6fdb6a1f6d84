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


def test_memory_that_a_team_shares() -> None:
    with hirc.program("main") as p:
        team = p.communicator([0, 2])
        x = p.input("x", ("n", 4), "f32")
        n = x.shape[0]
        shared = p.allocate((n, 4), "f32", memory="symmetric", team=team)
        p.put(x[0:2], shared[1:3], 1 - p.rank(team), signal=True).wait()
        p.wait_signal(shared, -1)
        p.barrier(shared)
        p.get(shared[1], x[0], 1).wait()
        rows = p.communicators([[0, 1], [2, 3]])
        p.allocate((4,), "f32", memory="symmetric", team=rows)
    names = [op.name for op in operations(p)]
    assert [name for name in names if name in ("hir.put", "hir.get", "hir.barrier")] == [
        "hir.put",
        "hir.barrier",
        "hir.get",
    ]
    assert "team = array<i64: 0, 2>" in str(p)
    assert "{signal}" in last(p, "hir.put")
    assert "teams = [array<i64: 0, 1>, array<i64: 2, 3>]" in last(p, "hir.allocate")


def test_what_a_team_does_not_share() -> None:
    with hirc.program("other") as other:
        foreign = other.communicator([0, 1])
    with hirc.program("main") as p:
        team = p.communicator([0, 1])
        x = p.input("x", (8,), "f32")
        with pytest.raises(hirc.BuildError, match="the team is of program other"):
            p.allocate((8,), "f32", memory="symmetric", team=foreign)
        with pytest.raises(hirc.BuildError, match="shares symmetric memory alone"):
            p.allocate((8,), "f32", team=team)
        shared = p.allocate((8,), "f32", memory="symmetric", team=team)
        with pytest.raises(hirc.BuildError, match="a peer is a place in the team, -1 to 1, not 2"):
            p.put(x, shared, 2)
        with pytest.raises(hirc.BuildError, match=r"the target of hir\.put is what a hir.allocate"):
            p.put(x, x, 0)
        with pytest.raises(hirc.BuildError, match=r"the source of hir\.get is packed"):
            p.get(shared[0:8:2], x[0:4], 0)


def test_what_a_team_shares_is_no_output() -> None:
    def build() -> None:
        with hirc.program("main") as p:
            team = p.communicator([0, 1])
            p.output("y", p.allocate((8,), "f32", memory="symmetric", team=team))

    with pytest.raises(hirc.BuildError, match="the output lies in memory that a team shares"):
        build()
