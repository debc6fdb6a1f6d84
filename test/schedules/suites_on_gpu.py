"""The suites of this folder's tests, and more random programs than those run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module

from schedules.harness import Suite
from schedules.random_regions import random_region

_FILES = (
    "columns",
    "columns_skewed",
    "guarded_loads",
    "pointwise",
    "random_regions",
    "rows",
    "scan",
    "streaming",
    "transpose",
    "windows",
)
_MORE_RANDOM = range(100, 140)


def find_suites(names: Sequence[str] = ()) -> Iterator[tuple[str, Suite]]:
    """The suites of the test files of those names, or of all, each with a name of its own."""
    for file in names or [*_FILES, "more_random"]:
        if file == "more_random":
            yield file, Suite([random_region(seed) for seed in _MORE_RANDOM])
            continue
        module = import_module(f"schedules.test_{file}")
        for name, value in vars(module).items():
            if isinstance(value, Suite):
                yield f"{file}_{name.lower()}", value
