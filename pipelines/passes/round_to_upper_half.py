"""round-to-upper-half: f32 rounded to bf16 and kept as f32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import ir, llvm
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import constant, each_element, element_type, rewrite_each
from ..schedules.device import device_of_option
from ..walking import defining_op

# The first chips that round two f32 to bf16 at once (PTX ISA, "cvt").
_CAPABILITY = 80
# What LLVM computes in bf16 where operands and the result are.
_BASIC = ("arith.addf", "arith.subf", "arith.mulf")


@register
@dataclass(frozen=True)
class RoundToUpperHalf(Pass):
    """Rounds f32 to bf16 and back by one instruction: a f32 has its bf16 in the upper half.

    That rounds a number to each half of a word; the lower one gets a zero. Otherwise one number is
    rounded, by a unit that has a quarter of the others' rate, and moved up.

        %r = arith.truncf %x : f32 to bf16
        %y = arith.extf %r : bf16 to f32
    becomes
        %h = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"(%x, %zero) : (f32, f32) -> vector<2xbf16>
        %y = llvm.bitcast %h : vector<2xbf16> to f32

    Not where LLVM computes what follows in bf16: a sum of what are bf16, rounded to it again.

    `chips` are joined by `+`; all must have the instruction.
    """

    name: ClassVar[str] = "round-to-upper-half"
    subjects: ClassVar[tuple[str, ...]] = ("arith.extf",)
    makes: ClassVar[tuple[str, ...]] = ("arith.constant", "llvm.", "vector.")
    chips: str = ""

    def run(self, op: ir.Operation) -> bool:
        if not self.chips or device_of_option(self.chips).capability < _CAPABILITY:
            return False
        return rewrite_each(op, {"arith.extf": _rounded})


def _rounded(op: ir.Operation) -> Sequence[ir.Value] | None:
    kind, rounding = op.results[0].type, defining_op(op.operands[0])
    if rounding is None or rounding.name != "arith.truncf" or "roundingmode" in rounding.attributes:
        return None
    (x,) = rounding.operands
    kinds = [element_type(each) for each in (x.type, rounding.results[0].type, kind)]
    if [type(each) for each in kinds] != [ir.F32Type, ir.BF16Type, ir.F32Type]:
        return None
    if all(_is_of_bf16(use.owner.operation) for use in op.results[0].uses):
        return None
    return each_element(_emit, [x], [kind])


def _is_of_bf16(op: ir.Operation) -> bool:
    """Returns whether an operation is a basic one on what are bf16, rounded to it again."""
    if op.name not in _BASIC:
        return False
    given = [defining_op(operand) for operand in op.operands]
    return all(each is not None and each.name == "arith.extf" for each in given) and all(
        use.owner.operation.name == "arith.truncf" for use in op.results[0].uses
    )


def _emit(x: ir.Value) -> Sequence[ir.Value]:
    pair = ir.VectorType.get([2], ir.BF16Type.get())
    operands = [x, constant(x.type, 0.0)]
    halves = llvm.CallIntrinsicOp(pair, "llvm.nvvm.ff2bf16x2.rn", operands, [], [])
    return [llvm.bitcast(x.type, halves.operation.results[0])]
