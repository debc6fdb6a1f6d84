"""hir.has_library: a call of the support library, which looks for the other one."""

from __future__ import annotations

from ....dialects.hir.has_library import CUDNN, HasLibraryOp
from ....dialects.mlir import arith, ir
from ...rewriting import constant
from .registry import lowers
from .state import ProgramState


@lowers("hir.has_library")
def lower_has_library(op: HasLibraryOp, state: ProgramState) -> list[ir.Value]:
    """The call, and whether its result is not 0."""
    emit = state.emit
    is_cudnn = ir.StringAttr(op.operation.attributes["library"]).value == CUDNN
    name = "hirc_has_cudnn" if is_cudnn else "hirc_has_cublaslt"
    found = emit.value_of_call(name, [], emit.types.i32)
    return [arith.cmpi(arith.CmpIPredicate.ne, found, constant(emit.types.i32, 0))]
