"""Communication between devices: not compiled yet."""

from __future__ import annotations

from ....dialects.mlir import ir
from ...pass_base import fail
from .registry import lowers
from .state import ProgramState


@lowers("hir.communicator", "hir.communicate", "hir.wait", "hir.coalesce")
def refuse_communication(op: ir.OpView, state: ProgramState) -> list[ir.Value]:
    """Says so."""
    del state
    fail(
        op,
        f"'{op.operation.name}' is not supported yet in compiled programs: communication between "
        "devices cannot be run",
    )
