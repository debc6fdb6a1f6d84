"""Random fused operations: reductions, places and scans of one another, exactly."""

from __future__ import annotations

import pytest
from schedules.harness import Run, Suite
from schedules.random_regions import random_region

import hirc

SUITE = Suite([random_region(seed) for seed in (2, 4, 5, 6, 7)])
FLOOR = Suite([random_region(seed) for seed in range(10, 16)], floor=True)


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


@pytest.mark.parametrize("seed", range(10, 24))
def test_numbers_of_the_interpreter(seed: int) -> None:
    program = random_region(seed)
    for sizes in program.sizes[:4]:
        run = Run(program, "main", sizes)
        inputs, rooms = run.inputs(), run.rooms()
        text = program.text("main", None, packed=False)
        hirc.interpret(text, [*inputs, *(room.tensor for room in rooms)])
        run.compare(inputs, rooms)


@pytest.mark.parametrize("name", FLOOR.names)
def test_numbers_of_the_general_schedules(name: str) -> None:
    FLOOR.check(name)
