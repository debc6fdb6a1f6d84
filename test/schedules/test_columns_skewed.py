"""Sums of columns, of rows that begin at any address, against torch in float64."""

from __future__ import annotations

import pytest
import torch
from schedules.harness import Suite
from schedules.programs import Fused, Sizes, reduce_loops

# Primes, and just past a block.
_WIDER: tuple[Sizes, ...] = ({"r": 300, "c": 509}, {"r": 67, "c": 1021})
_MIDDLE: tuple[Sizes, ...] = (
    {"a": 3, "r": 65, "c": 127},
    {"a": 2, "r": 131, "c": 257},
    {"a": 1, "r": 300, "c": 510},
)


def _weighted(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, start: torch.Tensor
) -> torch.Tensor:
    rows, columns = torch.arange(x.shape[1])[:, None], torch.arange(x.shape[2])
    each = (x - bias) * weight[None, :, None] + rows + 4 * columns
    return each.sum(1) + bias + start[:, None]


_LISTED = (
    Fused(
        "sum_i8",
        ("i8[r, c]",),
        ("i8[c]",),
        lambda x: x.sum(0),
        _WIDER,
        fixed=({"r": 300, "c": 513},),
        loops="r, c",
        reduced="r",
        body=reduce_loops("%s", "addi", "%x0", "i8", 0) + "linalg.yield %s : i8",
    ),
    Fused(
        "dot",
        ("f16[r, c]", "f16[r, c]"),
        ("f32[c]",),
        lambda x, y: (x * y).sum(0),
        _WIDER,
        magnitude=64,
        loops="r, c",
        reduced="r",
        body="%w = arith.extf %x0 : f16 to f32\n%v = arith.extf %x1 : f16 to f32\n"
        "%p = arith.mulf %w, %v : f32\n"
        + reduce_loops("%s", "addf", "%p", "f32", 0)
        + "linalg.yield %s : f32",
    ),
    Fused(
        "weighted",
        ("f32[a, r, c]", "f16[r]", "f32[c]", "f32[a]"),
        ("f32[a, c]",),
        _weighted,
        _MIDDLE,
        magnitude=64,
        fixed=_MIDDLE[1:2],
        loops="a, r, c",
        reduced="r",
        body="%r = linalg.index 1 : index\n%ri = arith.index_cast %r : index to i32\n"
        "%c = linalg.index 2 : index\n%ci = arith.index_cast %c : index to i32\n"
        "%four = arith.constant 4 : i32\n%fc = arith.muli %ci, %four : i32\n"
        "%n = arith.addi %ri, %fc : i32\n%nf = arith.sitofp %n : i32 to f32\n"
        "%w = arith.extf %x1 : f16 to f32\n%d = arith.subf %x0, %x2 : f32\n"
        "%p = arith.mulf %d, %w : f32\n%q = arith.addf %p, %nf : f32\n"
        + reduce_loops("%s", "addf", "%q", "f32", 1)
        + "%t = arith.addf %s, %x2 : f32\n%u = arith.addf %t, %x3 : f32\nlinalg.yield %u : f32",
    ),
)
SUITE = Suite(_LISTED)


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


def test_checks_are_silent() -> None:
    SUITE.check_silence(["weighted"])
