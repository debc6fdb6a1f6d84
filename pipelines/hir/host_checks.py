"""Checks that a program makes while it runs."""

from __future__ import annotations

from ...dialects.mlir import cf, ir


def check(condition: ir.Value, message: str) -> None:
    """Ends the program with the message, its file and line, where the condition does not hold."""
    cf.AssertOp(condition, message)
