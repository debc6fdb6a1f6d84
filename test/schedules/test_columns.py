"""Programs that the column schedule takes, against torch in float64."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from schedules.harness import Suite
from schedules.programs import Fused, Sizes, find_loops, reduce_loops

# Rows are reduced, columns are neighbours in memory: nothing, one, primes, and just past a tile.
_SIZES: tuple[Sizes, ...] = (
    {"r": 0, "c": 8},
    {"r": 8, "c": 0},
    {"r": 1, "c": 1},
    {"r": 7, "c": 64},
    {"r": 131, "c": 129},
    {"r": 300, "c": 4},
    {"r": 65, "c": 132},
    {"r": 1031, "c": 40},
    {"r": 64, "c": 126},
    {"r": 71, "c": 1013},
    {"r": 1031, "c": 505},
    {"r": 9001, "c": 4},
)
_FIXED: tuple[Sizes, ...] = ({"r": 67, "c": 136}, {"r": 1031, "c": 24}, {"r": 13, "c": 1040})
# Rows of any alignment, read in aligned pieces: in several parts, just enough, and past two blocks.
_SKEWED: tuple[Sizes, ...] = ({"r": 515, "c": 127}, {"r": 64, "c": 255}, {"r": 200, "c": 506})
# Columns enough that blocks of many threads take all rows, on the chip that is assumed.
_MANY: tuple[Sizes, ...] = ({"r": 1027, "c": 7104},)
_STORES = "linalg.yield %s : f32"


_SOFTMAX = (
    reduce_loops("%m", "maximumf", "%x0", "f32", 0)
    + "%d = arith.subf %x0, %m : f32\n%e = math.exp %d : f32\n"
    + reduce_loops("%s", "addf", "%e", "f32", 0)
    + "%q = arith.divf %e, %s : f32\nlinalg.yield %q : f32"
)
_COUNT = "%one = arith.constant 1.0 : f32\n" + reduce_loops("%f", "addf", "%one", "f32", 0)
_NORM = (
    _COUNT
    + reduce_loops("%s", "addf", "%x0", "f32", 0)
    + "%mean = arith.divf %s, %f : f32\n%d = arith.subf %x0, %mean : f32\n"
    + "%d2 = arith.mulf %d, %d : f32\n"
    + reduce_loops("%v", "addf", "%d2", "f32", 0)
    + "%var = arith.divf %v, %f : f32\n%some = arith.constant 1.0e-5 : f32\n"
    + "%sum = arith.addf %var, %some : f32\n%root = math.sqrt %sum : f32\n"
    + "%z = arith.divf %d, %root : f32\n%g = arith.mulf %z, %x1 : f32\n"
    + "%o = arith.addf %g, %x2 : f32\nlinalg.yield %o, %mean, %var : f32, f32, f32"
)


def _norm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    mean, var = x.mean(0), x.var(0, correction=0)
    return (x - mean) / (var + 1e-5).sqrt() * weight + bias, mean, var


def _found(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.max(0).values, x.argmax(0)


def _mixed(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A sum weighted by the inner row's number, plus the column's; and where the least one is."""
    rows, columns = torch.arange(x.shape[2]), torch.arange(x.shape[3])
    total = (x * rows[:, None]).sum((0, 2)) + columns
    return total, x.permute(1, 3, 0, 2).flatten(2).argmin(2)


_MIDDLE: tuple[Sizes, ...] = (
    {"a": 3, "r": 5, "c": 8},
    {"a": 2, "r": 131, "c": 33},
    {"a": 7, "r": 17, "c": 4},
    {"a": 3, "r": 40, "c": 260},
)
_MIXED: tuple[Mapping[str, int], ...] = (
    {"a": 3, "b": 2, "r": 5, "c": 4},
    {"a": 13, "b": 3, "r": 11, "c": 37},
    {"a": 6, "b": 1, "r": 50, "c": 64},
)

_LISTED = (
    Fused(
        "column_sum",
        ("f32[r, c]",),
        ("f32[c]",),
        lambda x: x.sum(0),
        _SIZES + _MANY,
        magnitude=64,
        fixed=(*_FIXED, *_SKEWED, *_MANY, {"r": 9001, "c": 6}),
        loops="r, c",
        reduced="r",
        body=reduce_loops("%s", "addf", "%x0", "f32", 0) + _STORES,
    ),
    Fused(
        "sum_bf16",
        ("bf16[r, c]",),
        ("bf16[c]",),
        lambda x: x.sum(0),
        _SIZES,
        magnitude=32,
        fixed=(_FIXED[1], _SKEWED[2]),
        loops="r, c",
        reduced="r",
        body="%w = arith.extf %x0 : bf16 to f32\n"
        + reduce_loops("%s", "addf", "%w", "f32", 0)
        + "%t = arith.truncf %s : f32 to bf16\nlinalg.yield %t : bf16",
    ),
    Fused(
        "several",
        ("f32[r, c]", "f64[r, c]", "i32[r, c]"),
        ("f32[c]", "f64[c]", "i32[c]"),
        lambda x, y, z: (x.amax(0), y.prod(0), z.sum(0)),
        _SIZES[2:],
        special=True,
        loops="r, c",
        reduced="r",
        body=reduce_loops("%a", "maximumf", "%x0", "f32", 0)
        + reduce_loops("%b", "mulf", "%x1", "f64", 0)
        + reduce_loops("%d", "addi", "%x2", "i32", 0)
        + "linalg.yield %a, %b, %d : f32, f64, i32",
    ),
    Fused(
        "softmax",
        ("f32[r, c]",),
        ("f32[r, c]",),
        lambda x: x.softmax(0),
        _SIZES,
        magnitude=1,
        # Also what threads keep: in blocks of few lanes, and of more rows than a thread takes.
        fixed=(
            *_FIXED[:2],
            {"r": 16, "c": 64},
            {"r": 5, "c": 12},
            {"r": 73, "c": 80},
            {"r": 301, "c": 24},
        ),
        loops="r, c",
        reduced="r",
        body=_SOFTMAX,
    ),
    Fused(
        "norm",
        ("f32[r, c]", "f32[c]", "f32[c]"),
        ("f32[r, c]", "f32[c]", "f32[c]"),
        _norm,
        _SIZES[3:],
        magnitude=16,
        fixed=({"r": 3000, "c": 8}, {"r": 129, "c": 40}),
        loops="r, c",
        reduced="r",
        body=_NORM,
    ),
    Fused(
        "argmax",
        ("f32[r, c]",),
        ("f32[c]", "i64[c]"),
        _found,
        _SIZES[2:],
        fixed=_FIXED[1:2],
        loops="r, c",
        reduced="r",
        body=find_loops("%m", "%i", "maximumf", "%x0", "f32", 0) + "linalg.yield %m, %i : f32, i64",
    ),
    Fused(
        "middle",
        ("f32[a, r, c]", "f32[r]"),
        ("f32[a, c]",),
        lambda x, w: (x * w[None, :, None]).sum(1),
        _MIDDLE,
        magnitude=32,
        fixed=_MIDDLE[2:],
        loops="a, r, c",
        reduced="r",
        body="%p = arith.mulf %x0, %x1 : f32\n"
        + reduce_loops("%s", "addf", "%p", "f32", 1)
        + _STORES,
    ),
    Fused(
        "mixed",
        ("f32[a, b, r, c]",),
        ("f32[b, c]", "i64[b, c]"),
        _mixed,
        _MIXED,
        magnitude=1000,
        fixed=_MIXED[1:],
        loops="a, b, r, c",
        reduced="a, r",
        body="%r = linalg.index 2 : index\n%c = linalg.index 3 : index\n"
        "%ri = arith.index_cast %r : index to i32\n%rf = arith.sitofp %ri : i32 to f32\n"
        "%ci = arith.index_cast %c : index to i32\n%cf = arith.sitofp %ci : i32 to f32\n"
        "%p = arith.mulf %x0, %rf : f32\n"
        + reduce_loops("%t", "addf", "%p", "f32", 0, 2)
        + find_loops("%m", "%i", "minimumf", "%x0", "f32", 0, 2)
        + "%s = arith.addf %t, %cf : f32\nlinalg.yield %s, %i : f32, i64",
    ),
)
PROGRAMS = {program.name: program for program in _LISTED}
SUITE = Suite(_LISTED)


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


def test_checks_are_silent() -> None:
    some = [PROGRAMS[name] for name in ("sum_bf16", "softmax", "argmax")]
    Suite(some).check_silence()
