"""Views: Python's indexing, and the types and sizes that follow."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import hirc
from hirc.dialects.hir.builder import Buffer, Size
from support.built_program import last, operations

_VIEWS: list[tuple[Callable[[Buffer, Size], Buffer], str]] = [
    (lambda x, n: x[3], "memref<8xf32, strided<[1], offset: 24>>"),
    (lambda x, n: x[-1], "memref<8xf32, strided<[1], offset: ?>>"),
    (lambda x, n: x[n - 1], "memref<8xf32, strided<[1], offset: ?>>"),
    (lambda x, n: x[:, -2], "memref<?xf32, strided<[8], offset: 6>>"),
    (lambda x, n: x[..., 1], "memref<?xf32, strided<[8], offset: 1>>"),
    (lambda x, n: x[2, 3], "memref<f32, strided<[], offset: 19>>"),
    (lambda x, n: x[:, 2:-2], "memref<?x4xf32, strided<[8, 1], offset: 2>>"),
    (lambda x, n: x[:, ::3], "memref<?x3xf32, strided<[8, 3]>>"),
    (lambda x, n: x[2:], "memref<?x8xf32, strided<[8, 1], offset: 16>>"),
    (lambda x, n: x[n // 2 :], "memref<?x8xf32, strided<[8, 1], offset: ?>>"),
    (lambda x, n: x.T, "memref<8x?xf32, strided<[1, 8]>>"),
    (lambda x, n: x.permute(-1, 0), "memref<8x?xf32, strided<[1, 8]>>"),
    (lambda x, n: x.reshape(n, 2, 4), "memref<?x2x4xf32>"),
    (lambda x, n: x.reshape(-1), "memref<?xf32>"),
    (lambda x, n: x.expand(5, -1, 8), "memref<5x?x8xf32, strided<[0, ?, 1]>>"),
]


@pytest.mark.parametrize(("view", "expected"), _VIEWS)
def test_types(view: Callable[[Buffer, Size], Buffer], expected: str) -> None:
    with hirc.program("main") as p:
        n = p.size("n")
        made = view(p.input("x", (n, 8), "f32"), n)
        assert made.rank == len(made.type.shape)
    assert str(made.type) == expected


def test_sizes() -> None:
    with hirc.program("main") as p:
        n = p.size("n")
        x = p.input("x", (n, 8), "f32")
        assert x[1:n:2].shape == (p.ceildiv(n - 1, 2), 8)
        assert x[:4].shape == (4, 8)
        assert x[0].expand(n, 8).shape == (n, 8)
        assert x.expand(3, -1, -1).shape == (3, n, 8)


def test_what_changes_nothing_writes_nothing() -> None:
    with hirc.program("main") as p:
        x = p.input("x", ("n", 8), "f32")
        assert x[:] is x
        assert x[...] is x
        assert x[0 : p.size("n"), :8] is x
    assert [op.name for op in operations(p)] == ["builtin.module", "hir.program"]


def test_a_loops_index_and_a_scalar_are_indices() -> None:
    with hirc.program("main") as p:
        x = p.input("x", (4, 8), "f32")
        k = p.scalar("k", "i32")
        with p.loop(4) as i:
            x[i] = x[k.cast("index")]
    assert "axis = 0" in last(p, "hir.select")
