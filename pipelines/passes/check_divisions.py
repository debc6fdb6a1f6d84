"""check-divisions: a division without a result fails in host code; the process goes on."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import arith, cf, ir
from ...dialects.records import dataclass
from ..constants import constant_value
from ..pass_base import Pass, register
from ..rewriting import constant

_DIVISIONS = (
    *(f"arith.{name}" for name in ("divsi", "divui", "remsi", "remui")),
    *(f"arith.{name}" for name in ("ceildivsi", "ceildivui", "floordivsi")),
    *(f"index.{name}" for name in ("divs", "divu", "rems", "remu")),
    *(f"index.{name}" for name in ("ceildivs", "ceildivu", "floordivs")),
)
# Those whose quotient of the least integer by -1 is one more than the greatest.
_SIGNED = (
    *(f"arith.{name}" for name in ("divsi", "remsi", "ceildivsi", "floordivsi")),
    *(f"index.{name}" for name in ("divs", "rems", "ceildivs", "floordivs")),
)
# What host code is in; all else is computed for elements, on a device.
_AROUND = (
    *("builtin.module", "func.func", "hir.program", "hir.for", "hir.if"),
    *("scf.for", "scf.if", "scf.while", "scf.execute_region", "scf.index_switch"),
)


@register
@dataclass(frozen=True)
class CheckDivisions(Pass):
    """Adds assertions to each division of host code whose divisor may be 0, or whose quotient may
    be that of the least integer by -1.

    Processors of the host end the process there, where one of a GPU gives any number.

      %q = arith.divsi %n, %m : i64
    becomes
      %some = arith.cmpi ne, %m, %zero : i64
      cf.assert %some, "arith.divsi: a division by 0 has no result"
      %more = arith.cmpi ne, %n, %least : i64
      %other = arith.cmpi ne, %m, %minus_one : i64
      %fits = arith.ori %more, %other : i1
      cf.assert %fits, "arith.divsi: the least integer divided by -1 has no result"
      %q = arith.divsi %n, %m : i64
    """

    name: ClassVar[str] = "check-divisions"

    def run(self, op: ir.Operation) -> None:
        for division in _in_host_code(op):
            with division.location, ir.InsertionPoint(division):
                if _may_divide_by_zero(division):
                    some = _is_not(division.operands[1], 0)
                    cf.AssertOp(some, f"{division.name}: a division by 0 has no result")
                if _may_overflow(division):
                    dividend, divisor = division.operands
                    fits = arith.ori(_is_not(dividend, _least(division)), _is_not(divisor, -1))
                    what = "the least integer divided by -1 has no result"
                    cf.AssertOp(fits, f"{division.name}: {what}")


def has_divisions(module: ir.Operation) -> bool:
    """Returns whether host code has divisions that check-divisions checks."""
    return bool(_in_host_code(module))


def _in_host_code(module: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in _DIVISIONS and (_may_divide_by_zero(op) or _may_overflow(op)):
            found.append(op)
        return ir.WalkResult.ADVANCE if _is_host_code(op) else ir.WalkResult.SKIP

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _is_host_code(op: ir.Operation) -> bool:
    return not op.regions or (op.name in _AROUND and "mapping" not in op.attributes)


def _may_divide_by_zero(division: ir.Operation) -> bool:
    divisor = division.operands[1]
    return _is_of_numbers(division) and not constant_value(divisor)


def _may_overflow(division: ir.Operation) -> bool:
    if division.name not in _SIGNED or not _is_of_numbers(division) or _width(division) > 64:
        return False
    dividend, divisor = (constant_value(each) for each in division.operands)
    return dividend in (None, _least(division)) and divisor in (None, -1)


def _is_of_numbers(division: ir.Operation) -> bool:
    return isinstance(division.operands[1].type, ir.IntegerType | ir.IndexType)


def _least(division: ir.Operation) -> int:
    return -(1 << (_width(division) - 1))


def _width(division: ir.Operation) -> int:
    kind = division.operands[0].type
    return ir.IntegerType(kind).width if isinstance(kind, ir.IntegerType) else 64


def _is_not(value: ir.Value, number: int) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.ne, value, constant(value.type, number))
