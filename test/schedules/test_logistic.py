"""One more than a hyperbolic tangent on the CPU device, in the approximate gelu, against torch."""

from __future__ import annotations

from math import pi, sqrt

import pytest
import torch
from host_ir.element_values import DTYPES
from host_ir.libraries import library
from schedules.memory import OFFSET, PACKED, Guarded, Layout
from schedules.programs import Fused

import hirc

_SCALE, _CUBE = sqrt(2 / pi), 0.044715
# The argument's rounding is relative to it, and is the result's relative error.
_F32_ERROR = 4 * 2.0**-24
_ROUNDED = {"f32": 2.0**-24, "bf16": 2.0**-8}
# Smaller results may be 0.
_LEAST = 2.0**-120


def _gelu(element: str) -> Fused:
    is_wide = element == "f32"
    widened = "%x = arith.addf %x0, %zero : f32" if is_wide else "%x = arith.extf %x0 : bf16 to f32"
    stored = "" if is_wide else "%n = arith.truncf %y : f32 to bf16"
    return Fused(
        f"gelu_{element}",
        (f"{element}[n]",),
        (f"{element}[n]",),
        lambda x: x,
        (),
        loops="n",
        body=f"""
          %zero = arith.constant 0.0 : f32
          %half = arith.constant 0.5 : f32
          %one = arith.constant 1.0 : f32
          %scale = arith.constant {_SCALE} : f32
          %cube = arith.constant {_CUBE} : f32
          {widened}
          %xx = arith.mulf %x, %x : f32
          %xxx = arith.mulf %xx, %x : f32
          %c = arith.mulf %xxx, %cube : f32
          %p = arith.addf %x, %c : f32
          %u = arith.mulf %p, %scale : f32
          %t = math.tanh %u : f32
          %s = arith.addf %t, %one : f32
          %h = arith.mulf %s, %half : f32
          %y = arith.mulf %x, %h : f32
          {stored}
          linalg.yield {"%y" if is_wide else "%n"} : {element}""",
    )


@pytest.fixture(scope="module")
def compiled() -> hirc.Library:
    texts = [_gelu(each).text(f"gelu_{each}", None, packed=True) for each in _ROUNDED]
    return library("\n".join(texts), "--schedules=tuned", "-O0")


@pytest.mark.parametrize("layout", [PACKED, OFFSET], ids=lambda layout: layout.name)
@pytest.mark.parametrize("element", list(_ROUNDED))
def test_gelu(compiled: hirc.Library, element: str, layout: Layout) -> None:
    special = torch.tensor([float("inf"), float("-inf"), float("nan"), 0.0, -0.0])
    values = torch.cat([torch.linspace(-30, 30, 4098), special]).to(DTYPES[element])
    x, y = (Guarded(tuple(values.shape), values.dtype, layout) for _ in range(2))
    compiled[f"gelu_{element}"](x.set(values), y.tensor)
    assert y.is_intact()
    wide, got = values.double(), y.tensor.double()
    argument = _SCALE * (wide + _CUBE * wide**3)
    # Half of 1 + tanh(u), without its cancellation in float64 too.
    expected = wide * torch.sigmoid(2 * argument)
    bound = _ROUNDED[element] + _F32_ERROR * (1 + 2 * argument.abs())
    near = (got - expected).abs() <= bound * expected.abs() + _LEAST
    near |= (got == expected) | (got.isnan() & expected.isnan())
    assert bool(near.all()), list(zip(values[~near], got[~near], expected[~near], strict=True))[:4]
    theirs = torch.nn.functional.gelu(wide, approximate="tanh")
    assert torch.allclose(got, theirs, rtol=2 * _ROUNDED[element], atol=1e-6, equal_nan=True)
