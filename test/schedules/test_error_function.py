"""One more than an error function on the CPU device, in the exact gelu, for every 16-bit number."""

from __future__ import annotations

from math import sqrt

import pytest
import torch
from host_ir.element_values import DTYPES
from host_ir.libraries import library
from schedules.memory import PACKED, Guarded
from schedules.programs import Fused

import hirc

# Half a unit in the last place of what is rounded, and the least normal number.
_ROUNDED = {"f16": (2.0**-11, 2.0**-14), "bf16": (2.0**-8, 2.0**-126)}
# 1 + erf(x) is off by so much of it.
_ROUGH = 2.0**-15


def _gelu(element: str, *, is_kept: bool) -> Fused:
    """A gelu; one whose f32 is kept besides must not be rough."""
    results = (f"{element}[n]", "f32[n]") if is_kept else (f"{element}[n]",)
    kept = ", %y : {element}, f32" if is_kept else " : {element}"
    return Fused(
        "gelu",
        (f"{element}[n]",),
        results,
        lambda x: x,
        (),
        loops="n",
        body=f"""
          %half = arith.constant 0.5 : f32
          %one = arith.constant 1.0 : f32
          %root = arith.constant {1 / sqrt(2)} : f32
          %x = arith.extf %x0 : {element} to f32
          %u = arith.mulf %x, %root : f32
          %e = math.erf %u : f32
          %s = arith.addf %e, %one : f32
          %h = arith.mulf %x, %half : f32
          %y = arith.mulf %h, %s : f32
          %n = arith.truncf %y : f32 to {element}
          linalg.yield %n{kept.format(element=element)}""",
    )


@pytest.fixture(scope="module")
def compiled() -> hirc.Library:
    texts = [
        _gelu(each, is_kept=is_kept).text(f"gelu_{each}_{is_kept}", None, packed=True)
        for each in _ROUNDED
        for is_kept in (False, True)
    ]
    return library("\n".join(texts), "--schedules=tuned", "-O0")


def _exact(values: torch.Tensor) -> torch.Tensor:
    wide = values.double()
    # Of a large negative number the tail, which 1 + erf has no digits of.
    return wide * torch.exp(torch.special.log_ndtr(wide))


@pytest.mark.parametrize("element", list(_ROUNDED))
def test_every_number(compiled: hirc.Library, element: str) -> None:
    values = torch.arange(2**16, dtype=torch.int32).to(torch.int16).view(DTYPES[element])
    x, y = (Guarded(tuple(values.shape), values.dtype, PACKED) for _ in range(2))
    compiled[f"gelu_{element}_False"](x.set(values), y.tensor)
    assert y.is_intact()
    got, expected = y.tensor.double(), _exact(values)
    half, least = _ROUNDED[element]
    # Numbers below the least normal one are rounded to parts of it.
    near = (got - expected).abs() <= (half + _ROUGH) * expected.abs() + half * least
    near |= got == expected.to(values.dtype)
    # Of 1 + erf below -5 nothing is left but its size.
    near |= (values < -7) & (got <= 0) & (got > -1e-11)
    # An infinity below is times zero, as torch has it.
    near |= got.isnan() & (values.isnan() | (values == float("-inf")))
    assert bool(near.all()), list(zip(values[~near], got[~near], expected[~near], strict=True))[:4]


@pytest.mark.parametrize("element", list(_ROUNDED))
def test_what_is_kept_is_exact(compiled: hirc.Library, element: str) -> None:
    values = torch.linspace(-3, 3, 8191).to(DTYPES[element])
    x, y = (Guarded(tuple(values.shape), values.dtype, PACKED) for _ in range(2))
    kept = Guarded(tuple(values.shape), torch.float32, PACKED)
    compiled[f"gelu_{element}_True"](x.set(values), y.tensor, kept.tensor)
    error = (kept.tensor.double() - _exact(values)).abs()
    assert bool((error <= 2.0**-23 * values.double().abs()).all()), float(error.max())
