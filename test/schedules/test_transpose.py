"""Transposes and pointwise work with transposed operands, on the CPU device against torch."""

from __future__ import annotations

import pytest
import torch
from schedules.harness import Suite
from schedules.programs import Fused, Sizes

# Nothing, one element, primes, whole tiles, and just past one.
_SIZES: tuple[Sizes, ...] = (
    {"r": 0, "c": 5},
    {"r": 1, "c": 1},
    {"r": 1, "c": 200},
    {"r": 37, "c": 101},
    {"r": 65, "c": 64},
    {"r": 64, "c": 132},
    {"r": 256, "c": 128},
    {"r": 130, "c": 258},
)
# Odd rows, with tiles in the midst, and such as end where a tile does.
_ODD: Sizes = {"r": 277, "c": 383}
_ODD_ROWS: Sizes = {"r": 257, "c": 384}


def _copy(
    name: str, element: str, fixed: tuple[Sizes, ...] = (), sizes: tuple[Sizes, ...] = _SIZES
) -> Fused:
    return Fused(
        name,
        (f"{element}[c, r]",),
        (f"{element}[r, c]",),
        lambda x: x.t(),
        (*sizes, _ODD),
        loops="r, c",
        body=f"linalg.yield %x0 : {element}",
        fixed=fixed,
    )


def _sum_transposed(*operands: torch.Tensor) -> torch.Tensor:
    return torch.stack(operands).sum(0).t()


SUITE = Suite(
    [
        _copy("copy_f32", "f32", ({"r": 64, "c": 128}, {"r": 67, "c": 31})),
        _copy("copy_f64", "f64"),
        _copy("copy_bf16", "bf16", (_ODD_ROWS, {"r": 3, "c": 1000}, {"r": 1000, "c": 3})),
        _copy("copy_i8", "i8", sizes=()),
        _copy("copy_i1", "i1"),
        # Packed, two loops are one that is long enough for tiles.
        Fused(
            "channels_last",
            ("bf16[n, c, h, w]",),
            ("bf16[n, h, w, c]",),
            lambda x: x.permute(0, 2, 3, 1),
            (),
            loops="n, h, w, c",
            body="linalg.yield %x0 : bf16",
            fixed=({"n": 3, "h": 40, "w": 8, "c": 17}, {"n": 2, "h": 33, "w": 5, "c": 31}),
        ),
        Fused(
            "sum_with_transposed",
            ("f32[r, c]", "f32[c, r]"),
            ("f32[r, c]",),
            lambda x, y: x + y.t(),
            (*_SIZES, _ODD),
            loops="r, c",
            body="%s = arith.addf %x0, %x1 : f32\nlinalg.yield %s : f32",
            fixed=(_ODD,),
        ),
        # The assertion says which elements are computed.
        Fused(
            "odd_outputs",
            ("bf16[c, r]", "bf16[r, c]", "f32[c]", "bf16[r]", "f32"),
            ("bf16[r, c]", "f16[r, c]"),
            lambda x, y, b, d, n: (x.t() + y + b + d[:, None], x.t() - n * b),
            (_ODD, {"r": 0, "c": 5}, {"r": 9, "c": 0}, {"r": 301, "c": 67}, _ODD),
            magnitude=3.0,
            loops="r, c",
            body="""
              %x = arith.extf %x0 : bf16 to f32
              %y = arith.extf %x1 : bf16 to f32
              %d = arith.extf %x3 : bf16 to f32
              %r = linalg.index 0 : index
              %c = linalg.index 1 : index
              %most_r = arith.constant 301 : index
              %most_c = arith.constant 383 : index
              %is_r = arith.cmpi ult, %r, %most_r : index
              %is_c = arith.cmpi ult, %c, %most_c : index
              %is = arith.andi %is_r, %is_c : i1
              cf.assert %is, "there is such an element"
              %s = arith.addf %x, %y : f32
              %t = arith.addf %s, %x2 : f32
              %u = arith.addf %t, %d : f32
              %v = arith.mulf %x4, %x2 : f32
              %w = arith.subf %x, %v : f32
              %z0 = arith.truncf %u : f32 to bf16
              %z1 = arith.truncf %w : f32 to f16
              linalg.yield %z0, %z1 : bf16, f16""",
        ),
        Fused(
            "mixed_types",
            ("f32[c, r]", "bf16[c, r]", "i1[c, r]", "f32[r]", "f64[c]"),
            ("bf16[r, c]", "f32[r, c]"),
            lambda x, y, m, b, d: (
                torch.where(m.t(), x.t() + y.t(), b[:, None] + d[None, :]),
                y.t() + b[:, None],
            ),
            _SIZES,
            loops="r, c",
            body="""
              %y = arith.extf %x1 : bf16 to f32
              %d = arith.truncf %x4 : f64 to f32
              %s = arith.addf %x0, %y : f32
              %t = arith.addf %x3, %d : f32
              %w = arith.select %x2, %s, %t : f32
              %z = arith.truncf %w : f32 to bf16
              %v = arith.addf %y, %x3 : f32
              linalg.yield %z, %v : bf16, f32""",
        ),
        Fused(
            "batched",
            ("f32[b, c, h, r]", "f32[b, h, r, c]"),
            ("f32[b, h, r, c]",),
            lambda x, y: x.permute(0, 2, 3, 1) - y,
            (
                {"b": 2, "h": 3, "r": 5, "c": 7},
                {"b": 0, "h": 3, "r": 5, "c": 7},
                {"b": 3, "h": 2, "r": 64, "c": 68},
                {"b": 1, "h": 1, "r": 65, "c": 3},
            ),
            loops="b, h, r, c",
            body="%s = arith.subf %x0, %x1 : f32\nlinalg.yield %s : f32",
            fixed=({"b": 2, "h": 3, "r": 16, "c": 20}, {"b": 2, "h": 5, "r": 7, "c": 3}),
        ),
        Fused(
            "two_permutations",
            ("f32[c, b, r]", "f32[c, r, b]"),
            ("f32[b, r, c]",),
            lambda x, y: x.permute(1, 2, 0) + y.permute(2, 1, 0),
            ({"b": 3, "r": 65, "c": 66}, {"b": 64, "r": 4, "c": 64}, {"b": 1, "r": 7, "c": 1}),
            loops="b, r, c",
            body="%s = arith.addf %x0, %x1 : f32\nlinalg.yield %s : f32",
        ),
        Fused(
            "indices",
            ("f32[c, b, r]",),
            ("f32[b, r, c]",),
            lambda x: (
                x.permute(1, 2, 0)
                + 100 * torch.arange(x.shape[1])[:, None, None]
                + 10 * torch.arange(x.shape[2])[:, None]
                + torch.arange(x.shape[0])
            ),
            ({"b": 3, "r": 65, "c": 66}, {"b": 2, "r": 64, "c": 128}),
            loops="b, r, c",
            body="""
              %b = linalg.index 0 : index
              %r = linalg.index 1 : index
              %c = linalg.index 2 : index
              %n100 = arith.constant 100 : index
              %n10 = arith.constant 10 : index
              %b1 = arith.muli %b, %n100 : index
              %r1 = arith.muli %r, %n10 : index
              %p = arith.addi %b1, %r1 : index
              %q = arith.addi %p, %c : index
              %i = arith.index_cast %q : index to i32
              %f = arith.sitofp %i : i32 to f32
              %s = arith.addf %x0, %f : f32
              linalg.yield %s : f32""",
        ),
        Fused(
            "many_across",
            tuple("f32[c, r]" for _ in range(9)),
            ("f32[r, c]",),
            _sum_transposed,
            ({"r": 65, "c": 64}, {"r": 64, "c": 68}),
            magnitude=3.0,
            loops="r, c",
            body="\n".join(
                [
                    "%s0 = arith.addf %x0, %x1 : f32",
                    *(f"%s{n - 1} = arith.addf %s{n - 2}, %x{n} : f32" for n in range(2, 9)),
                    "linalg.yield %s7 : f32",
                ]
            ),
        ),
    ]
)


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


def test_checks_are_silent() -> None:
    SUITE.check_silence()
