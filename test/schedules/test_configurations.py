"""Configurations that operations ask for, drawn from all that are allowed, on the CPU device."""

from __future__ import annotations

import math
import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import pytest
from schedules import (
    test_attention,
    test_columns,
    test_pointwise,
    test_rows,
    test_scan,
    test_transpose,
    test_windows,
)
from schedules.harness import Suite
from schedules.programs import Fused, Program

_SEED = 16


# Sums in other parts round otherwise, of more terms in a row more.
_SUMS_IN_PARTS = {"columns": 4, "scan": 2}


def _closed(programs: Sequence[Program], factor: int) -> Iterator[Fused]:
    """Programs of which all sizes are open, and of each another of known sizes.

    `factor` is how much further results may be off.
    """
    for each in programs:
        assert isinstance(each, Fused)
        program = replace(each, tolerance=factor * each.tolerance)
        # The last is run with checks too: the small one, as what is asked for is the same for both.
        sizes = sorted(program.sizes[-2:], key=lambda each: -math.prod(each.values()))
        if sizes:
            yield replace(program, sizes=tuple(sizes), fixed=(), special=False)
        if program.fixed:
            name, fixed = f"{program.name}_closed", program.fixed[:1]
            yield replace(program, name=name, sizes=(), fixed=fixed, special=False)


def _asking(family: str, programs: Sequence[Program], each: int) -> list[Program]:
    """The programs once for each configuration that is drawn for them, which they ask for."""
    closed = list(_closed(programs, _SUMS_IN_PARTS.get(family, 1)))
    text = "\n".join(
        program.text(program.name, None if program.sizes else program.fixed[0], packed=True)
        for program in closed
    )
    listed = subprocess.run(
        ["hirc-opt", "-", "-p", "hir-list-configurations{chips=sm_90a}"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    lists = re.findall(r"hir\.configurations = \[(.*?)\]", listed)
    assert len(lists) == len(closed), "a program has not one operation"
    dice = random.Random(_SEED)
    asking: list[Program] = []
    for program, configurations in zip(closed, lists, strict=True):
        found = [
            fields
            for fields in re.findall(r"\{(.*?)\}", configurations)
            if f'family = "{family}"' in fields
        ]
        # Windows of open sizes are no windows.
        assert len(set(found)) == len(found)
        assert len(found) > each or family == "windows"
        for number, asks in enumerate(dice.sample(found, min(each, len(found)))):
            asking.append(replace(program, name=f"{program.name}_{number}", asks=asks))
    assert len(asking) >= each
    return asking


_FAMILIES = {
    "attention": (test_attention.SUITE, ("causal", "plain", "one_row", "open")),
    "pointwise": (test_pointwise.SUITE, ("add_bf16", "biases", "slices")),
    "transpose": (test_transpose.SUITE, ("copy_bf16", "sum_with_transposed", "batched")),
    "columns": (test_columns.SUITE, ("column_sum", "softmax")),
    "windows": (test_windows.SUITE, ("weighted",)),
    "rows": (test_rows.SUITE, ("maximumf_f32", "shares_of_planes")),
    "scan": (test_scan.SUITE, ("row_several", "column_sum")),
}


@cache
def _suite(family: str) -> Suite:
    suite, names = _FAMILIES[family]
    return Suite(_asking(family, [suite.program(name) for name in names], each=2))


@pytest.mark.parametrize("family", _FAMILIES)
def test_numbers(family: str) -> None:
    for name in _suite(family).names:
        _suite(family).check(name)


@pytest.mark.parametrize("family", _FAMILIES)
def test_checks_are_silent(family: str) -> None:
    _suite(family).check_silence(sizes_each=1)
