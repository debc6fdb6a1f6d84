"""Inputs for a program of one operation: sizes that fit together, numbers that it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import torch
from host_ir.element_values import DTYPES, Layout, drawn_layout, drawn_size, laid_out, values
from host_ir.program_texts import Program

# A prime that takes several blocks of threads.
_LARGE = 1009
_DIVISIONS = ("div", "floordiv", "mod")


@dataclass(frozen=True)
class Case:
    """One call of a program: its inputs, and the layout of a destination handed in, if any.

    `number` tells it from the program's others.
    """

    program: Program
    number: int
    inputs: tuple[torch.Tensor, ...]
    output: Layout | None


def cases(programs: Sequence[Program], count: int) -> Iterator[Case]:
    """That many calls of each program, the same in every run."""
    for program in programs:
        for number in range(count):
            yield _case(program, number)


def _case(program: Program, number: int) -> Case:
    random = Random(f"{program.text}{number}")
    shapes = _shapes(random, program)
    seed = random.randrange(2**16)
    is_small = program.op in ("matmul", "linear") or "sum" in program.name or "prod" in program.name
    inputs: list[torch.Tensor] = []
    for place, (shape, element) in enumerate(zip(shapes, program.inputs, strict=True)):
        layout = drawn_layout(random, len(shape), expanded=True)
        count = 1
        for size in shape:
            count *= size
        numbers = values(count, element, seed + place, is_small=is_small)
        inputs.append(laid_out(_allowed(program, place, numbers), shape, layout))
    output = drawn_layout(random, program.output_rank) if random.random() < 0.5 else None
    return Case(program, number, tuple(inputs), output)


def _shapes(random: Random, program: Program) -> list[tuple[int, ...]]:
    def size() -> int:
        return drawn_size(random)

    if program.op == "matmul":
        m, k, n = size(), size(), size()
        batch = [random.choice((1, 2, 3)) for _ in range(max(program.ranks) - 2)]
        first, second = (
            [each if random.random() < 0.5 else 1 for each in batch[len(batch) - rank + 2 :]]
            for rank in program.ranks
        )
        return [(*first, m, k), (*second, k, n)]
    if program.op == "linear":
        k, n = size(), size()
        lead = [size() for _ in range(program.ranks[0] - 1)]
        return [(*lead, k), (n, k), (n,)][: len(program.inputs)]
    whole = [size() for _ in range(max(program.ranks))]
    if random.random() < 0.1:
        whole[random.randrange(len(whole))] = _LARGE
    if "_arg" in program.name:
        # Of nothing there is no least.
        whole = [max(each, 1) for each in whole]
    shapes: list[tuple[int, ...]] = []
    for rank in program.ranks:
        own = whole[len(whole) - rank :]
        repeats = len(program.inputs) > 1
        shapes.append(tuple(1 if repeats and random.random() < 1 / 6 else each for each in own))
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
