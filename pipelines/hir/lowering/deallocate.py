"""hir.deallocate: frees a buffer's memory in stream order."""

from __future__ import annotations

from ....dialects.hir import DeallocateOp
from ....dialects.mlir import ir
from .buffers import allocated_address
from .registry import lowers
from .state import ProgramState


@lowers("hir.deallocate")
def lower_deallocate(op: DeallocateOp, state: ProgramState) -> list[ir.Value]:
    """One call; none where the memory is the caller's."""
    emit = state.emit
    kind = state.origins.memory_kind(op.operation)
    if kind is not None:
        allocated = allocated_address(state, op.buffer)
        emit.call("hirc_free", [allocated, emit.i32(kind), state.stream, emit.location()])
    return []
