"""Writes a sample of problems, as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from .chains import chain
from .draw import Draw, Problem
from .image_networks import CONVOLUTIONAL
from .operators import operator
from .sequence_networks import SEQUENCES
from .work import estimate

_NAME_LENGTH = 60
# A draw whose work is not what is asked for is made again.
_ATTEMPTS = 100


def network(draw: Draw) -> Problem:
    """Returns a network, or a block of one."""
    return draw.weighted({**CONVOLUTIONAL, **SEQUENCES})(draw)


# A network has many kernels, and is slower than its sums and bytes say.
_LEAST_SECONDS = {1: 1e-4, 2: 1e-4, 3: 3e-5}
LEVELS: dict[int, Callable[[Draw], Problem]] = {1: operator, 2: chain, 3: network}


def write(
    folder: Path, count: int, seed: int, *, tiny: bool = False, levels: Sequence[int] = (1, 2, 3)
) -> list[Path]:
    """Writes so many problems, the levels in turn. Returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    for number in range(count):
        level = levels[number % len(levels)]
        problem, text = drawn(level, number, seed, tiny=tiny)
        name = f"level{level}_s{seed}_{number:03}_{problem.kind}"[:_NAME_LENGTH].rstrip("_")
        files.append(folder / f"{name}.py")
        files[-1].write_text(text)
    return files


def drawn(level: int, number: int, seed: int, *, tiny: bool) -> tuple[Problem, str]:
    """Returns a problem and its text; at full size, the first with the work that is wanted."""
    for attempt in range(_ATTEMPTS):
        problem = LEVELS[level](Draw(f"{seed} {level} {number} {attempt}", tiny=tiny))
        text = problem.text(f"seed {seed}, number {number}, level {level}: {problem.kind}")
        if tiny or problem.is_stepwise or estimate(text).is_wanted(_LEAST_SECONDS[level]):
            return problem, text
    raise AssertionError(f"no problem {number} of level {level} has the work wanted")
