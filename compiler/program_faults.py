"""Refuses programs that are wrong whatever is done with them."""

from __future__ import annotations

from ..dialects.mlir import ir
from ..pipelines.program_check import find_fault
from .errors import InputError
from .session import position_of


def refuse_faults(module: ir.Operation, entry: str | None = None) -> None:
    """Raises InputError at the first fault of a module, whose function `entry` may take buffers."""
    fault = find_fault(module, entry)
    if fault is not None:
        raise InputError(
            fault.message,
            position=position_of(fault.op.location),
            op=fault.op.name,
            stage="parse",
        )
