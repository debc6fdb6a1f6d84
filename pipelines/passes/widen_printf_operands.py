"""widen-printf-operands: device printf takes what C's would, after its default promotions."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import arith, builtin, ir
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..walking import operations_where

_INT, _LONG = 32, 64


@register
@dataclass(frozen=True)
class WidenPrintfOperands(Pass):
    """Widens the operands of gpu.printf to the sizes vprintf reads.

    Integers become i32, or i64 where they are wider than that: i1 and unsigned ones with zeros,
    the others with their sign. Floats of 8 bits and fewer become f32; upstream makes f64 of f16
    and wider. What has no place in C's printf, such as i128, is refused.

      gpu.printf "%d", %a : i8
    becomes
      %wide = arith.extsi %a : i8 to i32
      gpu.printf "%d", %wide : i32
    """

    name: ClassVar[str] = "widen-printf-operands"
    subjects: ClassVar[tuple[str, ...]] = ("gpu.printf",)

    def run(self, op: ir.Operation) -> None:
        for printf in operations_where(op, lambda inner: inner.name == "gpu.printf"):
            with printf.location, ir.InsertionPoint(printf):
                for place, value in enumerate(list(printf.operands)):
                    printf.operands[place] = _widened(printf, value)


def _widened(printf: ir.Operation, value: ir.Value) -> ir.Value:
    kind = value.type
    if isinstance(kind, ir.IntegerType) and kind.width <= _LONG:
        return _widened_integer(value, kind)
    if isinstance(kind, ir.FloatType) and kind.width <= _LONG:
        return value if kind.width >= 16 else arith.extf(ir.F32Type.get(), value)
    if isinstance(kind, ir.IndexType):
        return value
    return fail(printf, f"gpu.printf cannot print a value of type {kind}; convert it to 64 bits")


def _widened_integer(value: ir.Value, kind: ir.IntegerType) -> ir.Value:
    if not kind.is_signless:
        signless = ir.IntegerType.get_signless(kind.width)
        value = builtin.UnrealizedConversionCastOp([signless], [value]).results[0]
    width = _INT if kind.width <= _INT else _LONG
    if width == kind.width:
        return value
    extend = arith.extui if kind.is_unsigned or kind.width == 1 else arith.extsi
    return extend(ir.IntegerType.get_signless(width), value)
