"""hir.output: what the block gives."""

from __future__ import annotations

from ....dialects.hir import OutputOp
from ....dialects.mlir import ir
from .registry import lowers
from .state import ProgramState


@lowers("hir.output")
def lower_output(op: OutputOp, state: ProgramState) -> list[ir.Value]:
    """Kept for the end of the block."""
    state.frame.outputs.append(op.value)
    return []
