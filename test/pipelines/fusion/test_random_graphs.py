"""Fused functions compute what they did before, whatever they are made of."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from hirc.pipelines.passes import stage
from hirc.pipelines.pipeline import run_steps
from support.evaluate_generic import Array, evaluate

from .random_graphs import graphs

FUSE = stage(
    "fusion",
    "normalize-tensor-operations,func.func(canonicalize,cse),resolve-shaped-type-result-dims,"
    "func.func(canonicalize,cse),fuse-tensor-operations,func.func(canonicalize,cse)",
)


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_fused_functions_compute_the_same(graph: tuple[str, dict[str, int]]) -> None:
    text, sizes = graph
    session = Session()
    module = ir.Module.parse(text, session.context)
    numbers = np.random.default_rng(0)
    inputs: list[Array] = [
        numbers.integers(-9, 9, [sizes[dim] for dim in shape]) for shape in ("rc", "cr", "r", "c")
    ]
    function = module.body.operations[0].operation
    with session.context:
        wanted = evaluate(function, inputs)
    before = text.count("linalg.generic")
    run_steps(module.operation, FUSE.steps)
    with session.context:
        found = evaluate(module.body.operations[0].operation, inputs)
    assert str(module).count("linalg.generic") <= before
    for one, other in zip(wanted, found, strict=True):
        np.testing.assert_array_equal(one, other)
