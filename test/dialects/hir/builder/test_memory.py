"""Allocations: order, domain, memory; and what else concerns memory."""

from __future__ import annotations

from typing import Any

import pytest

import hirc
from support.built_program import last

steps = hirc.steps


@pytest.mark.parametrize(
    ("arguments", "attributes", "result"),
    [
        ({}, "", "memref<?x12xf32>"),
        ({"order": (1, 0)}, "order = array<i64: 1, 0>", "memref<?x12xf32, strided<[1, ?]>>"),
        ({"memory": "pinned"}, 'memory = "pinned"', "memref<?x12xf32>"),
        ({"zero_init": True, "output": 1}, "output = 1 : i64, zero_init", "memref<?x12xf32>"),
        (
            {"domain": [steps.Split(1, 4), steps.Merge(1), steps.Reorder((1, 0))]},
            "domain = [{factor = 4 : i64, split = 1 : i64}, {merge = 1 : i64}, "
            "{reorder = array<i64: 1, 0>}]",
            "memref<?x12xf32, strided<[1, ?]>>",
        ),
        (
            {"domain": [steps.Split(1, 4, outer=True), steps.Shard(1, "stream")]},
            'domain = [{factor = 4 : i64, outer, split = 1 : i64}, {over = "stream", shard = 1 : '
            "i64}], logical = array<i64: -1, 12>",
            "memref<?x3xf32>",
        ),
        (
            {"domain": [steps.Expand(0)]},
            "domain = [{expand = 0 : i64}]",
            "memref<?x12xf32, strided<[0, 1]>>",
        ),
        (
            {"domain": [steps.Reduce(1)]},
            "domain = [{reduce = 1 : i64}], logical = array<i64: -1, 12>",
            "memref<?xf32>",
        ),
    ],
)
def test_allocations(arguments: dict[str, Any], attributes: str, result: str) -> None:
    with hirc.program("main") as p:
        n = p.scalar("n", "index")
        buffer = p.allocate((n, 12), "f32", **arguments)
        p.output("n", n)
        p.output("again", n)
    text = last(p, "hir.allocate")
    assert str(buffer.type) == result
    assert attributes in text
    assert text.endswith(f": (index) -> {result}")


def test_sizes_of_a_sharded_buffer() -> None:
    with hirc.program("main") as p:
        n = p.scalar("n", "index")
        x = p.allocate((n, 5), "f32", domain=[steps.Split(0, 4, outer=True), steps.Shard(0)])
        assert x.shape == (p.ceildiv(n, 4), 5)


def test_reuse_alias_deallocate() -> None:
    with hirc.program("main") as p:
        x = p.input("x", ("n",), "f32")
        y = x.exp()
        z = p.reuse(y, x.shape, "i32", zero_init=True)
        w = z + 1
        p.alias(w, z)
        z.deallocate()
    lines = [line.strip() for line in str(p).splitlines()]
    start = next(place for place, line in enumerate(lines) if "hir.reuse" in line)
    assert lines[start : start + 4] == [
        '%1 = "hir.reuse"(%0, %dim) {zero_init} : (memref<?xf32>, index) -> memref<?xi32>',
        '%2 = "hir.binary"(%1, %c1_i32) {kind = "add"} : (memref<?xi32>, i32) -> memref<?xi32>',
        '"hir.alias"(%2, %1) : (memref<?xi32>, memref<?xi32>) -> ()',
        '"hir.deallocate"(%1) : (memref<?xi32>) -> ()',
    ]
