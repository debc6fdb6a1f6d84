"""Integer functions of two tensors that a kernel computes in a loop of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from ...dialects.mlir import arith, ir, math, scf
from ...pipelines.rewriting import constant
from .complex_numbers import each_part

_ATEN = torch.ops.aten
_LIBRARY = torch.library.Library("hirc", "FRAGMENT")
_LIBRARY.define("of_integers(Tensor x, Tensor y, str kind) -> Tensor", tags=(torch.Tag.pointwise,))


def _empty(x: Tensor, y: Tensor, kind: str) -> Tensor:
    return torch.empty_like(x)


_LIBRARY.impl("of_integers", _empty, "CompositeExplicitAutograd")
# A power or the greatest common divisor of integers of one type and equal sizes.
OF_INTEGERS = torch.ops.hirc.of_integers.default


def integer_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of negation, and of common divisors and multiples."""
    return {
        _ATEN.gcd.default: partial(_of_two, "gcd"),
        _ATEN.lcm.default: _lcm,
        _ATEN.neg.default: _neg,
        _ATEN.nan_to_num.default: _nan_to_num,
    }


def power(x: Tensor, y: Tensor) -> Tensor:
    """Returns integers to the power of others, which wraps."""
    return _of_two("power", x, y)


def floor_quotient_of_integers(x: Tensor | int, y: Tensor | int) -> Tensor:
    """Returns the greatest integer not above x / y; torch-mlir divides as f64, which rounds.

    The least integer has no quotient by -1, and wraps.
    """
    kind = torch.result_type(x, y)
    one, by = (
        each.to(kind) if isinstance(each, Tensor) else torch.full((), each, dtype=kind)
        for each in (x, y)
    )
    divisor = torch.where(by == -1, 1, by)
    quotient = torch.div(one, divisor, rounding_mode="trunc")
    rest = one - quotient * divisor
    below = torch.where((rest != 0) & ((rest < 0) != (divisor < 0)), quotient - 1, quotient)
    return torch.where(by == -1, -one, below)


def _of_two(kind: str, x: Tensor, y: Tensor) -> Tensor:
    common = torch.result_type(x, y)
    both = torch.broadcast_tensors(x.to(common), y.to(common))
    return OF_INTEGERS(both[0].contiguous(), both[1].contiguous(), kind)


def _neg(x: Tensor) -> Tensor:
    """torch-mlir multiplies integers by an f64, which rounds those of more than 53 bits."""
    if x.is_complex():
        return each_part(_ATEN.neg.default, x)
    return NotImplemented if x.is_floating_point() else torch.zeros_like(x) - x


def _nan_to_num(x: Tensor, *given: Any, **named: Any) -> Tensor:
    if x.is_complex():
        return each_part(_ATEN.nan_to_num.default, x, *given, **named)
    return NotImplemented if x.is_floating_point() else x.clone()


def _lcm(x: Tensor, y: Tensor) -> Tensor:
    divisor = _of_two("gcd", x, y)
    other = torch.where(divisor == 0, 1, divisor)
    return (torch.div(x.to(divisor.dtype), other, rounding_mode="trunc") * y).abs()


def emit_of_integers(kind: str, x: ir.Value, y: ir.Value) -> ir.Value:
    """Emits what an element is made of."""
    return math.ipowi(x, y) if kind == "power" else _emit_gcd(x, y)


def _emit_gcd(x: ir.Value, y: ir.Value) -> ir.Value:
    """Euclid's algorithm. Of the least integer, whose magnitude wraps, as torch computes it."""
    integer = x.type
    zero = constant(integer, 0)
    loop = scf.WhileOp([integer] * 2, [math.absi(x), math.absi(y)])
    before = loop.before.blocks.append(integer, integer)
    with ir.InsertionPoint(before):
        goes_on = arith.cmpi(arith.CmpIPredicate.ne, before.arguments[0], zero)
        scf.condition(goes_on, list(before.arguments))
    after = loop.after.blocks.append(integer, integer)
    with ir.InsertionPoint(after):
        divisor, rest = after.arguments
        scf.yield_([arith.remsi(rest, divisor), divisor])
    return loop.results[1]
