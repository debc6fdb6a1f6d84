"""How much work fusion is, counted: programs that grow, and kernels that do not."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from hirc.pipelines.fusion import grouping, recompute
from hirc.pipelines.fusion.order import BlockOrder
from hirc.pipelines.fusion.validity import MAX_NODES, MAX_OPERATIONS, MAX_PASSES
from hirc.pipelines.pipeline import Stage, run_steps
from hirc.pipelines.walking import operations_where
from hirc.tools.bench_scale_programs import KINDS

_FUSE = Stage(
    "fusion",
    "func.func(convert-elementwise-to-linalg,canonicalize,cse),normalize-tensor-operations,"
    "func.func(canonicalize,cse),fuse-tensor-operations,func.func(canonicalize,cse)",
)


def _fused(kind: str, count: int, prefix: str = "") -> list[int]:
    """Of each kernel, how many operations of its body begin with `prefix`."""
    session = Session()
    module = ir.Module.parse(KINDS[kind](count), session.context)
    run_steps(module.operation, _FUSE.steps)
    generics = operations_where(module.operation, lambda op: op.name == "linalg.generic")
    return [
        len(operations_where(op, lambda inner: inner.name.startswith(prefix))) for op in generics
    ]


def test_kernels_of_a_chain_are_of_bounded_size() -> None:
    sizes = _fused("chain", 300, "arith.")
    assert sum(sizes) == 300
    assert max(sizes) <= MAX_NODES
    # None is left alone.
    assert len(sizes) <= 2 * 300 / MAX_NODES


def test_kernels_have_a_bounded_number_of_passes() -> None:
    reductions = _fused("alternate", 300, "hir.reduce_loops")
    assert sum(reductions) == 50
    assert max(reductions) == MAX_PASSES


def test_large_bodies_are_not_joined() -> None:
    lines = [f"%v{i + 1} = arith.mulf %v{i}, %v{i} : f32" for i in range(MAX_OPERATIONS // 2)]
    body = f"^bb0(%v0: f32, %o: f32):\n{chr(10).join(lines)}\nlinalg.yield %v{len(lines)} : f32"
    each = """%{0} = linalg.generic {{indexing_maps = [#m, #m], iterator_types = ["parallel"]}}
        ins(%{1} : tensor<64xf32>) outs(%e : tensor<64xf32>) {{ {2} }} -> tensor<64xf32>\n"""
    text = (
        "#m = affine_map<(d0) -> (d0)>\n"
        "func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {\n"
        "%e = tensor.empty() : tensor<64xf32>\n"
        + each.format("b", "a", body)
        + each.format("c", "b", body)
        + "return %c : tensor<64xf32>\n}\n"
    )
    module = ir.Module.parse(text, Session().context)
    run_steps(module.operation, _FUSE.steps)
    assert str(module).count("linalg.generic") == 2


@pytest.mark.parametrize("kind", ["chain", "alternate", "fan", "inputs", "recurrent"])
def test_tries_grow_with_the_program(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    unify = grouping.unify

    def counted(*groups: Any) -> Any:
        nonlocal count
        count += 1
        return unify(*groups)

    monkeypatch.setattr(grouping, "unify", counted)
    _fused(kind, 150)
    few, count = count, 0
    _fused(kind, 600)
    assert count < 5 * few + 100


def test_orders_that_are_tried_grow_with_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a transpose would be in several kernels is found without another look at the block."""
    count = 0

    def counted(operations: Sequence[ir.Operation]) -> BlockOrder:
        nonlocal count
        count += len(operations)
        return BlockOrder(operations)

    monkeypatch.setattr(recompute, "BlockOrder", counted)
    _fused("transposed", 60)
    few, count = count, 0
    _fused("transposed", 240)
    assert 0 < count < 5 * few


def test_ranks_are_an_order() -> None:
    """After any merges, what comes before another has the lower rank."""
    numbers = random.Random(0)
    for _ in range(40):
        order = _random_order(numbers, 30)
        for _ in range(40):
            one, other = numbers.sample(range(30), 2)
            expected = _can_be_one(order, one, other)
            assert order.can_merge(one, other) == expected
            if expected:
                order.merge(one, other)
        sorted_ = order.sorted()
        place = {position: rank for rank, group in enumerate(sorted_) for position in group}
        for before, following in enumerate(order._after):  # pyright: ignore[reportPrivateUsage]
            for after in following:
                assert order._of[before] == order._of[after] or place[before] < place[after]  # pyright: ignore[reportPrivateUsage]


def _random_order(numbers: random.Random, count: int) -> BlockOrder:
    """A block of additions of results before them."""
    lines = [
        f"%v{i} = arith.addi %v{numbers.randrange(-1, i) if i else -1}, "
        f"%v{numbers.randrange(-1, i) if i else -1} : i32".replace("%v-1", "%x")
        for i in range(count)
    ]
    text = "func.func @f(%x: i32) {\n" + "\n".join(lines) + "\nreturn\n}"
    module = ir.Module.parse(text, Session().context)
    _kept.append(module)
    block = module.body.operations[0].operation.regions[0].blocks[0]
    return BlockOrder([op.operation for op in block])


_kept: list[ir.Module] = []


def _can_be_one(order: BlockOrder, one: int, other: int) -> bool:
    """Whether no third group is between two, by following every edge."""
    groups, after = order._of, order._after  # pyright: ignore[reportPrivateUsage]
    both = {groups[one], groups[other]}
    waiting = [
        groups[to]
        for position in range(len(after))
        if groups[position] in both
        for to in after[position]
        if groups[to] not in both
    ]
    seen = set(waiting)
    while waiting:
        group = waiting.pop()
        for position in range(len(after)):
            if groups[position] == group:
                for to in after[position]:
                    if groups[to] in both:
                        return False
                    if groups[to] not in seen:
                        seen.add(groups[to])
                        waiting.append(groups[to])
    return True
