"""Source positions out of MLIR locations."""

from __future__ import annotations

import re
from typing import cast

from ..dialects.mlir import ir

# As MLIR prints what is no printable ASCII.
_ESCAPED = re.compile(rb"\\([0-9A-F]{2}|.)", re.DOTALL)


def file_position(location: ir.Location) -> tuple[str, int, int] | None:
    """Returns the (file, line, column) a location stands for, or None.

    A fused location gives its first part that has one, a call site its callee's.
    """
    if isinstance(location, ir.FileLineColLoc):
        name = file_name(location)
        # MLIR's name of what it parses from memory, which is standard input.
        return "<stdin>" if name == "-" else name, location.start_line, location.start_col
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


def file_name(location: ir.FileLineColLoc) -> str:
    """Returns the name of a file: the bindings end the process for one that is not UTF-8."""
    if "\\" not in (text := str(location)):
        return location.filename
    name = text[text.index('"') + 1 : text.rindex('"')].encode()
    return _ESCAPED.sub(_byte, name).decode(errors="replace")


def _byte(escaped: re.Match[bytes]) -> bytes:
    return bytes.fromhex(escaped[1].decode()) if len(escaped[1]) == 2 else escaped[1]


def location_text(location: ir.Location) -> str:
    """`file:line:column`, or `<unknown location>`."""
    position = file_position(location)
    return ":".join(str(part) for part in position) if position else "<unknown location>"
