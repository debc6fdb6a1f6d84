"""hir.deallocate: frees a buffer's memory in stream order."""

from __future__ import annotations

from ....dialects.hir import DeallocateOp
from ....dialects.mlir import ir
from .buffers import allocated_address
from .origins import OF_A_TEAM
from .registry import lowers
from .state import ProgramState


@lowers("hir.deallocate")
def lower_deallocate(op: DeallocateOp, state: ProgramState) -> list[ir.Value]:
    """One call; none where the memory is the caller's."""
    emit = state.emit
    kind = state.origins.memory_kind(op.operation)
    if kind == OF_A_TEAM:
        emit.call("hirc_symmetric_free", [allocated_address(state, op.buffer), *_place(state)])
    elif kind is not None:
        allocated = allocated_address(state, op.buffer)
        emit.call("hirc_free", [allocated, emit.i32(kind), *_place(state)])
    return []


def _place(state: ProgramState) -> list[ir.Value]:
    return [state.stream, state.emit.location()]
