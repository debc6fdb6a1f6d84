"""The suites of this folder's tests, and more random programs than those run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

from schedules.harness import Suite
from schedules.random_regions import random_region

# The test files here that make a suite; the harness's own has programs that are wrong.
FILES = sorted(
    path.stem.removeprefix("test_")
    for path in Path(__file__).parent.glob("test_*.py")
    if path.stem != "test_harness" and re.search(r"^\w+ = Suite\(", path.read_text(), re.MULTILINE)
)
_MORE_RANDOM = range(100, 140)


def find_suites(names: Sequence[str] = ()) -> Iterator[tuple[str, Suite]]:
    """The suites of the test files of those names, or of all, each with a name of its own."""
    for file in names or [*FILES, "more_random"]:
        if file == "more_random":
            yield file, Suite([random_region(seed) for seed in _MORE_RANDOM])
            continue
        module = import_module(f"schedules.test_{file}")
        for name, value in vars(module).items():
            if isinstance(value, Suite):
                yield f"{file}_{name.lower()}", value
