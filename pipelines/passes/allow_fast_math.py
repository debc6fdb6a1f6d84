"""allow-fast-math: marks every floating-point operation of a kernel as free to approximate."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register


@register
@dataclass(frozen=True)
class AllowFastMath(Pass):
    """Sets `fastmath<fast>` on the operations of the arith, math, complex and llvm dialects.

    Lowerings then choose libdevice's fast functions, and the code generator approximate division
    and square root. What already carries flags gets all of them.

      arith.addf %a, %b : f32   ->   arith.addf %a, %b fastmath<fast> : f32
    """

    name: ClassVar[str] = "allow-fast-math"

    def run(self, op: ir.Operation) -> None:
        fast = ir.Attribute.parse("#arith.fastmath<fast>")
        fast_llvm = ir.Attribute.parse("#llvm.fastmath<fast>")

        def visit(inner: ir.Operation) -> ir.WalkResult:
            attributes = inner.attributes
            if "fastmath" in attributes:
                attributes["fastmath"] = fast
            elif "fastmathFlags" in attributes:
                attributes["fastmathFlags"] = fast_llvm
            return ir.WalkResult.ADVANCE

        op.walk(visit)
