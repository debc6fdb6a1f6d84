"""Tiles whose factors threads compute, in all layouts, against torch in float64."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from schedules.harness import Suite
from schedules.programs import Fused, Sizes, reduce_loops


@dataclass(frozen=True, kw_only=True)
class _Tiled(Fused):
    """An operation that is marked for tiles, as products of a program's are."""

    def text(self, name: str, sizes: Sizes | None, *, packed: bool) -> str:
        made = super().text(name, sizes, packed=packed)
        return made.replace("linalg.generic {", "linalg.generic {hir.tiles, ")


def _body(*lines: str, loops: tuple[int, ...] = (2,), element: str = "bf16") -> str:
    """Sums products of %x0 and the %w that the lines make in f32, rounded to 16 bits."""
    return "\n    ".join(
        [
            *lines,
            f"%r = arith.truncf %w : f32 to {element}",
            f"%a = arith.extf %x0 : {element} to f32",
            f"%b = arith.extf %r : {element} to f32",
            "%p = arith.mulf %a, %b : f32",
            reduce_loops("%t", "addf", "%p", "f32", *loops),
            "linalg.yield %t : f32",
        ]
    )


def _rounded(factor: torch.Tensor, element: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return factor.float().to(element).double()


def _scaled(name: str, m: int, n: int, k: int, weight: str, scale: str) -> _Tiled:
    known = {"m": m, "n": n, "k": k}
    of_row = "bf16[n]" in scale

    def reference(x: torch.Tensor, w: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        by_row = w.double() if weight == "i8[n, k]" else w.double().t()
        return x @ _rounded(by_row * (s[:, None] if of_row else s)).t()

    return _Tiled(
        name=name,
        inputs=("bf16[m, k]", weight, scale),
        outputs=("f32[m, n]",),
        loops="m, n, k",
        reduced="k",
        known=known,
        sizes=(known,),
        body=_body(
            "%q = arith.sitofp %x1 : i8 to f32",
            "%s = arith.extf %x2 : bf16 to f32",
            "%w = arith.mulf %q, %s : f32",
        ),
        reference=reference,
        magnitude=k**0.5,
        tolerance=4.0,
    )


_GROUPED = {"m": 70, "n": 200, "g": 5, "k": 64}
_PACKED = {"m": 40, "n": 520, "k": 144, "j": 2}
_OPEN = {"m": 40, "n": 72, "k": 200}

SUITE = Suite(
    [
        _scaled("terms_together", 100, 333, 200, "i8[n, k]", "bf16[n]"),
        _scaled("columns_together", 65, 520, 200, "i8[k, n]", "bf16[n]"),
        _scaled("scales_of_terms", 65, 520, 136, "i8[n, k]", "bf16[k]"),
        _Tiled(
            name="groups",
            inputs=("bf16[m, g, k]", "i8[n, g, k]", "bf16[n, g]", "i8[n, g]"),
            outputs=("f32[m, n]",),
            loops="m, n, g, k",
            reduced="g, k",
            known=_GROUPED,
            sizes=(_GROUPED,),
            body=_body(
                "%q = arith.sitofp %x1 : i8 to f32",
                "%z = arith.sitofp %x3 : i8 to f32",
                "%d = arith.subf %q, %z : f32",
                "%s = arith.extf %x2 : bf16 to f32",
                "%w = arith.mulf %d, %s : f32",
                loops=(2, 3),
            ),
            reference=lambda x, w, s, z: torch.einsum(
                "mgk,ngk->mn", x, _rounded((w.double() - z.double()[..., None]) * s[..., None])
            ),
            magnitude=20.0,
            tolerance=4.0,
        ),
        # A byte has two terms; the region tells which one by the loop's index.
        _Tiled(
            name="nibbles",
            inputs=("bf16[m, k, j]", "i8[n, k]"),
            outputs=("f32[m, n]",),
            loops="m, n, k, j",
            reduced="k, j",
            known=_PACKED,
            sizes=(_PACKED,),
            before="%c0 = arith.constant 0 : index\n  %c4 = arith.constant 4 : i8\n"
            "  %c15 = arith.constant 15 : i8",
            body=_body(
                "%i = linalg.index 3 : index",
                "%first = arith.cmpi eq, %i, %c0 : index",
                "%low = arith.andi %x1, %c15 : i8",
                "%high = arith.shrsi %x1, %c4 : i8",
                "%q = arith.select %first, %low, %high : i8",
                "%w = arith.sitofp %q : i8 to f32",
                loops=(2, 3),
            ),
            reference=lambda x, w: torch.einsum(
                "mkj,nkj->mn", x, torch.stack([w & 15, w >> 4], -1).double()
            ),
            magnitude=20.0,
            tolerance=4.0,
        ),
        # Of no known sizes: not for tiles of computed factors.
        _Tiled(
            name="open_sizes",
            inputs=("bf16[m, k]", "f32[n, k]"),
            outputs=("f32[m, n]",),
            loops="m, n, k",
            reduced="k",
            sizes=(_OPEN,),
            body=_body("%w = arith.negf %x1 : f32"),
            reference=lambda x, w: x @ _rounded(-w).t(),
            magnitude=20.0,
            tolerance=4.0,
        ),
        # Of open rows and columns.
        _Tiled(
            name="open_rows",
            inputs=("f16[m, k]", "f32[n, k]"),
            outputs=("f32[m, n]",),
            loops="m, n, k",
            reduced="k",
            known={"k": 200},
            sizes=({"m": 140, "n": 333, "k": 200}, {"m": 1, "n": 1, "k": 200}),
            body=_body("%w = arith.negf %x1 : f32", element="f16"),
            reference=lambda x, w: x @ _rounded(-w, torch.float16).t(),
            magnitude=20.0,
            tolerance=4.0,
        ),
    ]
)


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


def test_checks_are_silent() -> None:
    SUITE.check_silence()
