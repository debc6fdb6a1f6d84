"""Inputs for a program of one operation: sizes that fit together, numbers that it takes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from host_ir.element_values import DTYPES, Layout, laid_out, layouts, sizes, values
from host_ir.program_texts import Program
from hypothesis import strategies as st

# A prime that takes several blocks of threads.
_LARGE = 1009
_DIVISIONS = ("div", "floordiv", "mod")


@dataclass(frozen=True)
class Case:
    """One call of a program: its inputs, and the layout of a destination handed in, if any."""

    program: Program
    inputs: tuple[torch.Tensor, ...]
    output: Layout | None


@st.composite
def cases(draw: st.DrawFn, programs: list[Program]) -> Case:
    program = draw(st.sampled_from(programs))
    shapes = draw(_shapes(program))
    seed = draw(st.integers(0, 2**16))
    is_small = program.op in ("matmul", "linear") or "sum" in program.name or "prod" in program.name
    inputs: list[torch.Tensor] = []
    for number, (shape, element) in enumerate(zip(shapes, program.inputs, strict=True)):
        layout = draw(layouts(len(shape), expanded=True))
        count = 1
        for size in shape:
            count *= size
        numbers = values(count, element, seed + number, is_small=is_small)
        inputs.append(laid_out(_allowed(program, number, numbers), shape, layout))
    output = draw(st.none() | layouts(program.output_rank))
    return Case(program, tuple(inputs), output)


@st.composite
def _shapes(draw: st.DrawFn, program: Program) -> list[tuple[int, ...]]:
    if program.op == "matmul":
        m, k, n = draw(sizes()), draw(sizes()), draw(sizes())
        batch = [draw(st.sampled_from((1, 2, 3))) for _ in range(max(program.ranks) - 2)]
        first = [
            size if draw(st.booleans()) else 1
            for size in batch[len(batch) - program.ranks[0] + 2 :]
        ]
        second = [
            size if draw(st.booleans()) else 1
            for size in batch[len(batch) - program.ranks[1] + 2 :]
        ]
        return [(*first, m, k), (*second, k, n)]
    if program.op == "linear":
        k, n = draw(sizes()), draw(sizes())
        lead = [draw(sizes()) for _ in range(program.ranks[0] - 1)]
        return [(*lead, k), (n, k), (n,)][: len(program.inputs)]
    whole = [draw(sizes()) for _ in range(max(program.ranks))]
    if draw(st.integers(0, 9)) == 0:
        whole[draw(st.integers(0, len(whole) - 1))] = _LARGE
    if "_arg" in program.name:
        # Of nothing there is no least.
        whole = [max(size, 1) for size in whole]
    shapes: list[tuple[int, ...]] = []
    for rank in program.ranks:
        own = whole[len(whole) - rank :]
        repeats = len(program.inputs) > 1
        shapes.append(
            tuple(1 if repeats and draw(st.integers(0, 5)) == 0 else size for size in own)
        )
    return shapes


def _allowed(program: Program, number: int, numbers: torch.Tensor) -> torch.Tensor:
    """The numbers, without those that an operation has no answer for."""
    element = program.inputs[number]
    dtype = DTYPES[element]
    if dtype.is_floating_point or dtype.is_complex or element == "i1":
        if program.name.startswith("cast_") and dtype.is_floating_point:
            return _in_range(numbers, program.output)
        return numbers
    if program.op == "binary" and number == 1:
        kind = program.name.split("_")[1]
        if kind in _DIVISIONS:
            # Neither 0 nor -1, of which the least integer has no quotient.
            wide = numbers.to(torch.int64) if element != "ui64" else numbers.view(torch.int64)
            fine = torch.where((wide == 0) | (wide == -1), 3, wide)
            return fine.view(torch.uint64) if element == "ui64" else fine.to(dtype)
        if kind == "pow":
            return (numbers.to(torch.float64).abs() % 5).to(torch.int64).to(dtype)
    return numbers


def _in_range(numbers: torch.Tensor, output: str) -> torch.Tensor:
    """Floats that the integers of `output` can say."""
    target = DTYPES[output]
    if target.is_floating_point or output == "i1":
        return numbers
    wide = numbers.to(torch.float64)
    wide = torch.where(torch.isfinite(wide), wide, 1.0)
    # What the narrowest integers hold; every float type has 120.
    wide = wide.clamp(-120.0, 120.0)
    return (wide.abs() if output.startswith("u") else wide).to(numbers.dtype)
