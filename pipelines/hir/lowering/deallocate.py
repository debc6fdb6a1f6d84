"""hir.deallocate: frees a buffer's memory in stream order."""

from __future__ import annotations

from ....dialects.hir import DeallocateOp
from ....dialects.mlir import ir
from .registry import lowers
from .state import ProgramState


@lowers("hir.deallocate")
def lower_deallocate(op: DeallocateOp, state: ProgramState) -> list[ir.Value]:
    """One call; none where the memory is the caller's."""
    emit = state.emit
    kind = state.origins.memory_kind(op.operation)
    if kind is not None:
        allocated = emit.extract(emit.convert(op.buffer), emit.types.ptr, 0)
        emit.call("hirc_free", [allocated, emit.i32(kind), state.stream, emit.location()])
    return []
