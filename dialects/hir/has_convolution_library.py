"""`hir.has_convolution_library`: whether cuDNN is there when the program runs."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .refusal import refuse


class HasConvolutionLibraryOp(Hir.Operation, name="has_convolution_library"):
    """Whether cuDNN can be loaded, so that hir.library_convolution can be run.

    Example:
      %there = "hir.has_convolution_library"() : () -> i1
    """

    holds: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "HasConvolutionLibraryOp") -> bool:
        if op.holds.type != ir.IntegerType.get_signless(1, op.context):
            return refuse(op, f"it gives an i1, not {op.holds.type}")
        return True
