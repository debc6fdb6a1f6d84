"""check-divisions: a division by 0 in host code fails, and does not end the process."""

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
# What host code is in; all else is computed for elements, on a device.
_AROUND = (
    *("builtin.module", "func.func", "hir.program", "hir.for", "hir.if"),
    *("scf.for", "scf.if", "scf.while", "scf.execute_region", "scf.index_switch"),
)


@register
@dataclass(frozen=True)
class CheckDivisions(Pass):
    """Adds an assertion to each division of host code whose divisor may be 0.

    Processors of the host end the process there, where one of a GPU gives any number.

      %q = arith.divsi %n, %m : i64
    becomes
      %some = arith.cmpi ne, %m, %zero : i64
      cf.assert %some, "arith.divsi: a division by 0 has no result"
      %q = arith.divsi %n, %m : i64
    """

    name: ClassVar[str] = "check-divisions"

    def run(self, op: ir.Operation) -> None:
        for division in _in_host_code(op):
            divisor = division.operands[1]
            with division.location, ir.InsertionPoint(division):
                some = arith.cmpi(arith.CmpIPredicate.ne, divisor, constant(divisor.type, 0))
                cf.AssertOp(some, f"{division.name}: a division by 0 has no result")


def has_divisions(module: ir.Operation) -> bool:
    """Returns whether host code has divisions that check-divisions checks."""
    return bool(_in_host_code(module))


def _in_host_code(module: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in _DIVISIONS and _may_divide_by_zero(op.operands[1]):
            found.append(op)
        return ir.WalkResult.ADVANCE if _is_host_code(op) else ir.WalkResult.SKIP

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _is_host_code(op: ir.Operation) -> bool:
    return not op.regions or (op.name in _AROUND and "mapping" not in op.attributes)


def _may_divide_by_zero(divisor: ir.Value) -> bool:
    is_number = isinstance(divisor.type, ir.IntegerType | ir.IndexType)
    return is_number and not constant_value(divisor)
