"""Random functions with matrix products, by the library and by kernels, against numpy."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import torch
from host_ir.libraries import library

import hirc
from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from support.evaluate_generic import Array, evaluate
from support.fake_library import Fake
from support.product_graphs import INPUTS, product_graph

SMALL, LARGE = (0, 1, 2, 3, 5, 8), (1, 33, 96, 130)
_TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


@pytest.mark.parametrize(
    ("products", "seed", "among", "count", "schedules"),
    [
        ("always", "always", SMALL, 32, "general"),
        ("library", "large", LARGE, 6, "general"),
        ("auto", "never", SMALL, 4, "tuned"),
    ],
)
def test_random_products_give_what_numpy_gives(
    fake: Fake, products: str, seed: str, among: tuple[int, ...], count: int, schedules: str
) -> None:
    random = Random(seed)
    graphs = [product_graph(random, f"p{number}", among) for number in range(count)]
    text = "\n".join(text for text, _ in graphs)
    flags = ("-O0", f"--schedules={schedules}")
    is_plain = products == "auto"
    programs = library(text, *flags) if is_plain else fake.library(text, *flags, products=products)
    calls = fake.log(
        lambda: [check(programs, f"p{number}", *graph) for number, graph in enumerate(graphs)]
    )
    assert bool(calls) != is_plain


def check(programs: hirc.Library, name: str, text: str, sizes: dict[str, int]) -> None:
    """Calls one program and compares what it gives."""
    numbers = np.random.default_rng(0)
    session = Session()
    with session.context:
        module = ir.Module.parse(text)
        function = module.body.operations[0].operation
        types = [str(ir.RankedTensorType(each.type).element_type) for each in _arguments(function)]
        inputs: list[Array] = [
            numbers.integers(-3, 4, [sizes[dim] for dim in dims]).astype(_TYPES[element])
            for dims, element in zip(INPUTS, types, strict=True)
        ]
        wanted = evaluate(function, inputs)
    given = programs[name](*map(torch.from_numpy, inputs))
    results = [given] if isinstance(given, torch.Tensor) else list(given)
    for one, other in zip(wanted, results, strict=True):
        assert np.array_equal(one, other.numpy()), text


def _arguments(function: ir.Operation) -> list[ir.Value]:
    return list(function.regions[0].blocks[0].arguments)
