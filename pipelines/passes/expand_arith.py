"""Expands arith operations that conversions to LLVM or the NVPTX code generator cannot take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..rewriting import each_element, element_type, rewrite_each

_WITH_CARRY = ("arith.addui_extended", "arith.subui_extended")
_IN_HALVES = ("arith.mulsi_extended", "arith.mului_extended")
_FLOAT_CONVERSIONS = ("arith.fptosi", "arith.fptoui", "arith.sitofp", "arith.uitofp")


@register
@dataclass(frozen=True)
class ExpandArith(Pass):
    """Prepares arith operations for convert-gpu-to-nvvm, or, with `host`, convert-arith-to-llvm.

    Sums and differences with a carry become an operation and a comparison, on every type:

        %sum, %carry = arith.addui_extended %a, %b : index, i1

    becomes

        %sum = arith.addi %a, %b : index
        %carry = arith.cmpi ult, %sum, %a : index

    Products in two halves go element by element on vectors of other than one dimension. A
    conversion between floats and integers of more than 64 bits is refused in device code: it would
    need a library function that does not exist for NVPTX, and ends the code generator.
    """

    name: ClassVar[str] = "expand-arith"
    subjects: ClassVar[tuple[str, ...]] = (*_WITH_CARRY, *_IN_HALVES, *_FLOAT_CONVERSIONS)
    makes: ClassVar[tuple[str, ...]] = ("arith.", "vector.extract", "vector.from_elements")
    host: bool = False

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(
            op,
            {
                "arith.addui_extended": _add_with_carry,
                "arith.subui_extended": _subtract_with_borrow,
                "arith.mulsi_extended": _multiply_in_halves,
                "arith.mului_extended": _multiply_in_halves,
                **({} if self.host else dict.fromkeys(_FLOAT_CONVERSIONS, _refuse_wide_conversion)),
            },
        )


def _add_with_carry(op: ir.Operation) -> Sequence[ir.Value]:
    left, right = op.operands
    total = arith.addi(left, right)
    return [total, arith.cmpi(arith.CmpIPredicate.ult, total, left)]


def _subtract_with_borrow(op: ir.Operation) -> Sequence[ir.Value]:
    left, right = op.operands
    return [arith.subi(left, right), arith.cmpi(arith.CmpIPredicate.ult, left, right)]


def _multiply_in_halves(op: ir.Operation) -> Sequence[ir.Value] | None:
    result_type = op.results[0].type
    if not isinstance(result_type, ir.VectorType) or result_type.rank == 1:
        return None
    operation = (
        arith.MulSIExtendedOp if op.name == "arith.mulsi_extended" else arith.MulUIExtendedOp
    )

    def emit(left: ir.Value, right: ir.Value) -> Sequence[ir.Value]:
        return operation(left, right).results

    return each_element(emit, list(op.operands), [result.type for result in op.results])


def _refuse_wide_conversion(op: ir.Operation) -> None:
    for value_type in (op.operands[0].type, op.results[0].type):
        scalar = element_type(value_type)
        if isinstance(scalar, ir.IntegerType) and scalar.width > 64:
            fail(op, f"'{op.name}' cannot be lowered for NVPTX with integers of type {scalar}")
