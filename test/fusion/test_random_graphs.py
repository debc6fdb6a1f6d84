"""Random functions on tensors, fused, scheduled and run, against what numpy makes of them."""

from __future__ import annotations

import numpy as np
import torch
from host_ir.libraries import library
from hypothesis import HealthCheck, Phase, given, settings

from hirc.compiler.loader import Program
from support.evaluate_generic import Array, evaluate
from support.host_ir import parsed
from support.random_graphs import SMALL, folded_reduction, graphs

_COUNT = 40
_SIZES = (*SMALL, 33, 64, 130, 257, 1031)
# What programs of open sizes are called with besides what was drawn.
_OPEN = ((0, 3), (1, 257), (5, 2), (130, 33), (1031, 1))


def test_random_graphs_give_what_numpy_gives() -> None:
    drawn = dict([folded_reduction()])

    @settings(
        max_examples=_COUNT,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(graphs(_SIZES))
    def draw(graph: tuple[str, dict[str, int]]) -> None:
        drawn[graph[0]] = graph[1]

    draw()
    # Compiled together: most of what one takes is to start the compiler and the linker.
    texts = [text.replace("@main", f"@main{number}", 1) for number, text in enumerate(drawn)]
    compiled = library("\n".join(texts), "-O0", "--schedules=tuned")
    for number, (text, sizes) in enumerate(drawn.items()):
        is_open = "%rc: tensor<?x?x" in text
        for rows, columns in ((sizes["r"], sizes["c"]), *(_OPEN if is_open else ())):
            check(compiled[f"main{number}"], text, {"r": rows, "c": columns})


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
