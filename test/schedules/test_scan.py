"""Programs that the scan schedule takes, against torch in float64."""

from __future__ import annotations

import pytest
import torch
from schedules.harness import Suite
from schedules.programs import Fused, Sizes, scan_loop

import hirc

_SIZES: tuple[Sizes, ...] = (
    {"r": 0, "c": 4},
    {"r": 3, "c": 0},
    {"r": 1, "c": 1},
    {"r": 3, "c": 31},
    {"r": 2, "c": 516},
    {"r": 2, "c": 5003},
    {"r": 1, "c": 8200},
    {"r": 2, "c": 9001},
    {"r": 2, "c": 33000},
    {"r": 131, "c": 8},
    {"r": 77, "c": 7},
    {"r": 5, "c": 300},
)
_FIXED: tuple[Sizes, ...] = (
    {"r": 2, "c": 4096},
    {"r": 3, "c": 132},
    {"r": 2, "c": 33280},
    {"r": 1, "c": 17003},
    # Several rows a block.
    {"r": 131, "c": 8},
    {"r": 77, "c": 7},
    {"r": 5, "c": 100},
)
_OUTER: tuple[Sizes, ...] = (
    {"r": 0, "c": 4},
    {"r": 1, "c": 1},
    {"r": 7, "c": 36},
    {"r": 129, "c": 33},
    {"r": 515, "c": 12},
    {"r": 1157, "c": 20},
    {"r": 2311, "c": 3},
    # So many columns that each thread scans its own: vectors, in two chunks, and single ones.
    {"r": 5, "c": 135172},
    {"r": 11, "c": 33793},
)


def _flipped(x: torch.Tensor) -> torch.Tensor:
    return x.flip(1).cumsum(1).flip(1)


def _exclusive(x: torch.Tensor, dim: int) -> torch.Tensor:
    return x.cumsum(dim) - x


def _several(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
    places = torch.arange(x.shape[1])
    return x.cummax(1).values * w[:, None] + places, _exclusive(y, 1)


SUITE = Suite(
    [
        Fused(
            "row_sum",
            ("f32[r, c]",),
            ("f32[r, c]",),
            lambda x: x.cumsum(1),
            _SIZES,
            magnitude=64,
            fixed=_FIXED,
            loops="r, c",
            reduced="c",
            body=scan_loop("%s", "addf", "%x0", "f32", 1) + "linalg.yield %s : f32",
        ),
        Fused(
            "row_sum_reverse",
            ("bf16[r, c]",),
            ("bf16[r, c]",),
            _flipped,
            _SIZES[2:],
            magnitude=64,
            fixed=_FIXED,
            loops="r, c",
            reduced="c",
            body="%w = arith.extf %x0 : bf16 to f32\n"
            + scan_loop("%s", "addf", "%w", "f32", 1, "reverse")
            + "%t = arith.truncf %s : f32 to bf16\nlinalg.yield %t : bf16",
        ),
        Fused(
            "row_several",
            ("f32[r, c]", "i32[r, c]", "f32[r]"),
            ("f32[r, c]", "i32[r, c]"),
            _several,
            _SIZES[2:],
            fixed=({"r": 70, "c": 4}, {"r": 35, "c": 24}),
            loops="r, c",
            reduced="c",
            body=scan_loop("%m", "maximumf", "%x0", "f32", 1)
            + scan_loop("%s", "addi", "%x1", "i32", 1, "exclusive")
            + "%p = arith.mulf %m, %x2 : f32\n%c = linalg.index 1 : index\n"
            "%i = arith.index_cast %c : index to i32\n%f = arith.sitofp %i : i32 to f32\n"
            "%q = arith.addf %p, %f : f32\nlinalg.yield %q, %s : f32, i32",
        ),
        Fused(
            "column_sum",
            ("f32[r, c]",),
            ("f32[r, c]",),
            lambda x: x.cumsum(0),
            _OUTER,
            magnitude=64,
            fixed=(
                {"r": 256, "c": 64},
                {"r": 131, "c": 40},
                {"r": 8200, "c": 2},
                # So many columns that each thread scans its own: in one chunk, and in several.
                {"r": 5, "c": 67588},
                {"r": 67, "c": 33793},
            ),
            loops="r, c",
            reduced="r",
            body=scan_loop("%s", "addf", "%x0", "f32", 0) + "linalg.yield %s : f32",
        ),
        Fused(
            "middle_product",
            ("f64[a, r, c]",),
            ("f64[a, r, c]",),
            lambda x: x.flip(1).cumprod(1).roll(1, 1).index_fill(1, torch.tensor(0), 1).flip(1),
            ({"a": 2, "r": 1, "c": 5}, {"a": 3, "r": 37, "c": 18}),
            fixed=(
                {"a": 2, "r": 300, "c": 6},
                {"a": 2, "r": 2053, "c": 5},
                {"a": 2000, "r": 7, "c": 17},
            ),
            loops="a, r, c",
            reduced="r",
            body=scan_loop("%s", "mulf", "%x0", "f64", 1, "exclusive", "reverse")
            + "linalg.yield %s : f64",
        ),
    ]
)


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


def test_checks_are_silent() -> None:
    SUITE.check_silence()


def test_logarithms_of_running_sums_are_interpreted() -> None:
    body = scan_loop("%s", "logaddexp", "%x0", "f32", 1) + "linalg.yield %s : f32"
    maps = ("f32[r, c]",)
    program = Fused("main", maps, maps, lambda x: x, (), loops="r, c", reduced="c", body=body).text(
        "main", None, packed=True
    )
    inf = torch.inf
    x = torch.tensor([[1.0, -inf, 3.0, 1000.0, 2.0], [-inf, -inf, inf, 1.0, torch.nan]])
    found = torch.zeros_like(x)
    hirc.interpret(program, [x, found])
    torch.testing.assert_close(found, x.logcumsumexp(1), equal_nan=True)
