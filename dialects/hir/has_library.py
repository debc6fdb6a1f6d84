"""`hir.has_library`: whether a library that computes is there when the program runs."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .verify import OperationError, attribute_of, verified

CUBLASLT, CUDNN = "cuBLASLt", "cuDNN"


class HasLibraryOp(Hir.Operation, name="has_library"):
    """Whether cuBLASLt or cuDNN can be loaded, so that hir.library_matmul or
    hir.library_convolution can be run.

    Example:
      %there = "hir.has_library"() {library = "cuBLASLt"} : () -> i1
    """

    library: ir.StringAttr
    holds: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "HasLibraryOp") -> bool:
        return verified(op, _check)


def _check(op: HasLibraryOp) -> None:
    library = attribute_of(op, "library", ir.StringAttr, "a string").value
    if library not in (CUBLASLT, CUDNN):
        raise OperationError(f"library is {CUBLASLT} or {CUDNN}, not {library}")
    if op.holds.type != ir.IntegerType.get_signless(1, op.context):
        raise OperationError(f"it gives an i1, not {op.holds.type}")
