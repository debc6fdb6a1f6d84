"""widen-tensor-arithmetic: narrow floats are computed with in f32 within each operation."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.generic import GENERIC
from ..fusion.normalize import is_normal
from ..fusion.tiles import STATISTICS
from ..fusion.widen import widen
from ..pass_base import Pass, register
from ..walking import operations_where


@register
@dataclass(frozen=True)
class WidenTensorArithmetic(Pass):
    """Extends f16, bf16 and f8 elements to f32 where they are read, and rounds them when stored.

    Takes what normalize-tensor-operations and fuse-tensor-operations leave. A value that one
    operation of a region makes and another uses is not rounded in between; arith.truncf is kept.

      ^bb0(%a: bf16, %o: bf16):
        %e = math.exp %a : bf16
        %y = arith.addf %e, %a : bf16
        linalg.yield %y : bf16
    becomes
      ^bb0(%a: bf16, %o: bf16):
        %w = arith.extf %a : bf16 to f32
        %e = math.exp %w : f32
        %s = arith.addf %e, %w : f32
        %y = arith.truncf %s : f32 to bf16
        linalg.yield %y : bf16
    """

    name: ClassVar[str] = "widen-tensor-arithmetic"

    def run(self, op: ir.Operation) -> None:
        for found in operations_where(op, lambda inner: inner.name == GENERIC):
            # The results of a sum that are reduced, too, have other loops.
            if is_normal(found) or STATISTICS in found.attributes:
                widen(found)
