"""hir.synchronize: the host waits for a stream or an event."""

from __future__ import annotations

from ....dialects.hir import SynchronizeOp
from ....dialects.mlir import ir
from .registry import lowers
from .state import ProgramState


@lowers("hir.synchronize")
def lower_synchronize(op: SynchronizeOp, state: ProgramState) -> list[ir.Value]:
    """A checked call of the CUDA runtime."""
    awaited = op.awaited if op.awaited is not None else state.stream
    call = "cudaEventSynchronize" if awaited in state.events else "cudaStreamSynchronize"
    state.emit.checked_call(call, [awaited])
    return []
