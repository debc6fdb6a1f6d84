"""The math dialect on scalars: computed by torch in 64 bits, rounded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....dialects.mlir import ir
from ..binary_kinds import fma
from ..dtypes import computing_dtype, element_type_of
from ..frame import Frame
from ..registry import interprets
from ..scalar_numbers import integer_of_type, round_float, unsigned, width_of
from ..torch_import import torch
from ..unary_kinds import square_root


def _round_away(x: torch.Tensor) -> torch.Tensor:
    """Returns the nearest whole number, of two the one away from zero."""
    whole = torch.trunc(x)
    return torch.where((x - whole).abs() >= 0.5, whole + torch.sign(x), whole)


_OF_TORCH = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "erfc"),
    *("exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2", "rsqrt", "sin", "sinh"),
    *("tan", "tanh", "trunc"),
)
_UNARY: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    **{name: getattr(torch, name) for name in _OF_TORCH},
    "absf": torch.abs,
    "cbrt": lambda x: torch.sign(x) * x.abs() ** (1 / 3),
    "round": _round_away,
    "sqrt": square_root,
    "roundeven": torch.round,
}
_BINARY: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "atan2": torch.atan2,
    "copysign": torch.copysign,
    "powf": torch.pow,
    "fpowi": torch.pow,
}
_TRUTH: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "isnan": torch.isnan,
    "isinf": torch.isinf,
    "isfinite": torch.isfinite,
    "isnormal": lambda x: x.isfinite() & (x != 0),
}


def _number(value: Any) -> torch.Tensor:
    return torch.tensor(float(value), dtype=torch.float64)


@interprets(*(f"math.{name}" for name in [*_UNARY, *_BINARY]))
def floats(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    name = op.name.removeprefix("math.")
    operands = [_number(frame.value(operand)) for operand in op.operands]
    value = _UNARY[name](operands[0]) if name in _UNARY else _BINARY[name](*operands)
    return [round_float(value.item(), str(op.results[0].type))]


@interprets(*(f"math.{name}" for name in _TRUTH))
def truths(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return [bool(_TRUTH[op.name.removeprefix("math.")](_number(frame.value(op.operands[0]))))]


@interprets("math.fma")
def fused(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    element = element_type_of(op.results[0].type)
    assert element is not None
    dtype = computing_dtype(element)
    operands = [torch.tensor(frame.value(operand), dtype=dtype) for operand in op.operands]
    return [round_float(fma(*operands).item(), element.name)]


@interprets("math.sincos")
def sine_and_cosine(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    x = _number(frame.value(op.operands[0]))
    name = str(op.results[0].type)
    return [round_float(torch.sin(x).item(), name), round_float(torch.cos(x).item(), name)]


@interprets("math.clampf")
def clamp(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    x, low, high = (_number(frame.value(operand)) for operand in op.operands)
    return [torch.minimum(torch.maximum(x, low), high).item()]


@interprets("math.absi")
def magnitude(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return [integer_of_type(abs(frame.number(op.operands[0])), op.results[0].type)]


@interprets("math.ipowi")
def integer_power(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    base, exponent = (frame.number(operand) for operand in op.operands)
    if exponent < 0:
        value = base**-exponent if base in (1, -1) else 0
    else:
        value = pow(base, exponent, 1 << width_of(op.results[0].type))
    return [integer_of_type(value, op.results[0].type)]


@interprets("math.ctpop", "math.ctlz", "math.cttz")
def bit_counts(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    bits = width_of(op.results[0].type)
    value = unsigned(frame.number(op.operands[0]), bits)
    counts = {
        "math.ctpop": value.bit_count(),
        "math.ctlz": bits - value.bit_length(),
        "math.cttz": (value & -value).bit_length() - 1 if value else bits,
    }
    return [integer_of_type(counts[op.name], op.results[0].type)]
