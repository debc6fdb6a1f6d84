"""hir.set_stream: another current stream from here to the end of the block."""

from __future__ import annotations

from ....dialects.hir import SetStreamOp
from ....dialects.mlir import ir
from .registry import lowers
from .state import ProgramState


@lowers("hir.set_stream")
def lower_set_stream(op: SetStreamOp, state: ProgramState) -> list[ir.Value]:
    """Changes what the lowering of the operations after it uses."""
    state.frame.stream = op.stream
    return []
