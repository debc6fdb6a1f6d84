"""Fused functions compute what they did before, whatever they are made of."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings

from hirc.dialects.mlir import ir
from hirc.pipelines.pipeline import Stage, run_steps
from hirc.pipelines.walking import is_used, operations_where
from support.evaluate_generic import Array, evaluate
from support.host_ir import parsed
from support.random_graphs import folded_reduction, graphs

FUSE = Stage(
    "fusion",
    "normalize-tensor-operations,func.func(canonicalize,cse),split-reshaped-loops,"
    "resolve-tensor-sizes,func.func(canonicalize,cse),fuse-tensor-operations,func.func(canonicalize,cse),drop-idle-loops",
)


def check_form(op: ir.Operation) -> None:
    """What schedules rely on: one set of reduced loops, which each output has or has none of."""
    reductions = {
        tuple(sorted(ir.DenseI64ArrayAttr(inner.attributes["loops"])))
        for inner in operations_where(op, lambda each: each.name == "hir.reduce_loops")
    }
    assert len(reductions) <= 1
    kinds = [str(kind) for kind in ir.ArrayAttr(op.attributes["iterator_types"])]
    reduced = {loop for loops in reductions for loop in loops}
    assert {loop for loop, kind in enumerate(kinds) if "reduction" in kind} == reduced
    maps = list(ir.ArrayAttr(op.attributes["indexing_maps"]))
    for map_ in maps[-len(op.results) :]:
        results = ir.AffineMapAttr(map_).value.results
        loops = {each.position for each in results if isinstance(each, ir.AffineDimExpr)}
        assert loops >= set(range(len(kinds))) - reduced
        assert loops >= reduced or not loops & reduced


def reads_outputs(op: ir.Operation) -> bool:
    """Whether the region of a linalg.generic uses what its outputs begin with."""
    arguments = list(op.regions[0].blocks[0].arguments)[-len(op.results) :]
    return any(map(is_used, arguments))


@settings(max_examples=200, derandomize=True)
@given(graphs())
@example(folded_reduction())
def test_fused_functions_compute_the_same(graph: tuple[str, dict[str, int]]) -> None:
    text, sizes = graph
    module = parsed(text)
    numbers = np.random.default_rng(0)
    inputs: list[Array] = [
        numbers.integers(-9, 9, [sizes[dim] for dim in shape]) for shape in ("rc", "cr", "r", "c")
    ]
    function = module.body.operations[0].operation
    with module.context:
        wanted = evaluate(function, inputs)
    before = text.count("linalg.generic")
    run_steps(module.operation, FUSE.steps)
    with module.context:
        found = evaluate(module.body.operations[0].operation, inputs)
    assert str(module).count("linalg.generic") <= before
    for op in operations_where(module.operation, lambda each: each.name == "linalg.generic"):
        # A reduction of nothing stays as it is: its result is what it begins with.
        if 0 not in sizes.values() or not reads_outputs(op):
            check_form(op)
    for one, other in zip(wanted, found, strict=True):
        np.testing.assert_array_equal(one, other)
