"""Random functions on tensors, fused, scheduled and run, against what numpy makes of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from host_ir.libraries import library
from hypothesis import HealthCheck, Phase, given, settings

from hirc.compiler.loader import Program
from support.evaluate_generic import Array, evaluate
from support.host_ir import parsed
from support.random_graphs import SMALL, folded_reduction, graphs

_COUNT = 40


@pytest.mark.parametrize("among", [SMALL, (1, 33, 64, 130, 257, 1031)], ids=["small", "large"])
def test_random_graphs_give_what_numpy_gives(among: tuple[int, ...]) -> None:
    drawn = dict([folded_reduction()])

    @settings(
        max_examples=_COUNT,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(graphs(among))
    def draw(graph: tuple[str, dict[str, int]]) -> None:
        drawn[graph[0]] = graph[1]

    draw()
    # Compiled together: most of what one takes is to start the compiler and the linker.
    texts = [text.replace("@main", f"@main{number}", 1) for number, text in enumerate(drawn)]
    compiled = library("\n".join(texts), "-O0", "--schedules=tuned")
    for number, (text, sizes) in enumerate(drawn.items()):
        check(compiled[f"main{number}"], text, sizes)


def check(program: Program, text: str, sizes: dict[str, int]) -> None:
    """Calls one program and compares what it gives."""
    numbers = np.random.default_rng(0)
    inputs: list[Array] = [
        numbers.integers(-9, 9, [sizes[dim] for dim in shape]) for shape in ("rc", "cr", "r", "c")
    ]
    module = parsed(text)
    with module.context:
        wanted = evaluate(module.body.operations[0].operation, inputs)
    given = program(*map(torch.from_numpy, inputs))
    results = [given] if isinstance(given, torch.Tensor) else list(given)
    for one, other in zip(wanted, results, strict=True):
        assert np.array_equal(one, other.numpy()), text
