"""`hir.has_matmul_library`: whether cuBLASLt is there when the program runs."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .refusal import refuse


class HasMatmulLibraryOp(Hir.Operation, name="has_matmul_library"):
    """Whether cuBLASLt can be loaded, so that hir.library_matmul can be run.

    Example:
      %there = "hir.has_matmul_library"() : () -> i1
    """

    holds: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "HasMatmulLibraryOp") -> bool:
        if op.holds.type != ir.IntegerType.get_signless(1, op.context):
            return refuse(op, f"it gives an i1, not {op.holds.type}")
        return True
