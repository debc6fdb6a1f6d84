"""Source positions out of MLIR locations."""

from __future__ import annotations

from typing import cast

from ..dialects.mlir import ir


def file_position(location: ir.Location) -> tuple[str, int, int] | None:
    """The (file, line, column) a location stands for, or None.

    A fused location gives its first part that has one, a call site its callee's.
    """
    if isinstance(location, ir.FileLineColLoc):
        # MLIR's name of what it parses from memory, which is standard input.
        name = "<stdin>" if location.filename == "-" else location.filename
        return name, location.start_line, location.start_col
    if isinstance(location, ir.NameLoc):
        return file_position(location.child_loc)
    if isinstance(location, ir.CallSiteLoc):
        return file_position(location.callee) or file_position(location.caller)
    if isinstance(location, ir.FusedLoc):
        for part in location.locations:
            position = file_position(cast(ir.Location, part))
            if position is not None:
                return position
    return None


def location_text(location: ir.Location) -> str:
    """`file:line:column`, or `<unknown location>`."""
    position = file_position(location)
    return ":".join(str(part) for part in position) if position else "<unknown location>"
