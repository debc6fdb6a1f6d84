"""What hir.alias says of a program: for every buffer the one whose memory it is, in the end."""

from __future__ import annotations

from ....dialects.mlir import ir
from ...locations import location_text
from ...pass_base import fail
from ...walking import defining_op, operations_where


def alias_roots(program: ir.Operation) -> dict[ir.Value, tuple[ir.Value, ir.Operation]]:
    """Returns each aliased buffer with the target at the end of its chain, and its hir.alias.

    Ends the pass where a buffer has two targets, is an input, or is its own target in the end.
    """
    aliases: dict[ir.Value, ir.Operation] = {}
    for op in operations_where(program, lambda inner: inner.name == "hir.alias"):
        buffer = op.operands[0]
        if buffer in aliases and aliases[buffer].operands[1] != op.operands[1]:
            fail(
                op,
                "this buffer is an alias of another one already, by the hir.alias at "
                f"{location_text(aliases[buffer].location)}; it has one memory",
            )
        if defining_op(buffer) is None:
            fail(op, "an input cannot be an alias: its memory is the caller's")
        aliases.setdefault(buffer, op)
    return {buffer: (_end(buffer, aliases), op) for buffer, op in aliases.items()}


def _end(buffer: ir.Value, aliases: dict[ir.Value, ir.Operation]) -> ir.Value:
    seen = [buffer]
    while seen[-1] in aliases:
        target = aliases[seen[-1]].operands[1]
        if target in seen:
            others = [location_text(aliases[value].location) for value in seen[1:]]
            fail(
                aliases[buffer],
                "this buffer is an alias of itself, through the hir.alias at "
                f"{', '.join(others)}: one buffer of a cycle has memory of its own",
            )
        seen.append(target)
    return seen[-1]
