"""expand-approximate-powers: powers of f32 that may be approximate, as the chip has them."""

from __future__ import annotations

from collections.abc import Sequence
from math import e, log2
from typing import ClassVar

from ...dialects import mlir
from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import constant, each_element, element_type, rewrite_each


@register
@dataclass(frozen=True)
class ExpandApproximatePowers(Pass):
    """Makes `math.exp` and `math.exp2` of f32 that allow it (`afn`) one instruction, ex2.approx.

    Powers below 2^-126 become 0: to keep them, LLVM's expansion of exp2 takes three instructions
    more.

        %y = math.exp %x fastmath<afn> : f32
    becomes
        %t = arith.mulf %x, %log2_e : f32
        %y = nvvm.ex2 %t {ftz}
    """

    name: ClassVar[str] = "expand-approximate-powers"
    subjects: ClassVar[tuple[str, ...]] = ("math.exp", "math.exp2")

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(op, {"math.exp": _power, "math.exp2": _power})


def _power(op: ir.Operation) -> Sequence[ir.Value] | None:
    kind = op.results[0].type
    if not isinstance(element_type(kind), ir.F32Type) or not _may_be_approximate(op):
        return None
    is_natural = op.name == "math.exp"

    def emit(x: ir.Value) -> Sequence[ir.Value]:
        exponent = arith.mulf(x, constant(x.type, log2(e))) if is_natural else x
        return [mlir.nvvm.Ex2Op(exponent, ftz=True).result]

    return each_element(emit, list(op.operands), [kind])


def _may_be_approximate(op: ir.Operation) -> bool:
    if "fastmath" not in op.attributes:
        return False
    flags = str(op.attributes["fastmath"]).removeprefix("#arith.fastmath<").removesuffix(">")
    return bool({"afn", "fast"} & set(flags.split(",")))
