"""Errors of a program that is interpreted: the operation's place and name, and the way out."""

from __future__ import annotations

from typing import NoReturn

from ...dialects.mlir import ir
from ..errors import InputError, UnsupportedError
from ..session import position_of

STAGE = "interpret"


def fail(op: ir.Operation | ir.OpView, message: str, hint: str | None = None) -> NoReturn:
    """Raises the InputError of an operation that cannot be done."""
    raise InputError(
        message,
        position=position_of(op.location),
        op=op.operation.name,
        stage=STAGE,
        hint=hint,
    )


def refuse(op: ir.Operation | ir.OpView, message: str, hint: str | None = None) -> NoReturn:
    """Raises the UnsupportedError of an operation that the interpreter cannot do."""
    raise UnsupportedError(
        message,
        position=position_of(op.location),
        op=op.operation.name,
        stage=STAGE,
        hint=hint,
    )


def where(op: ir.Operation | ir.OpView) -> str:
    """Returns the place of an operation, for messages about what it made."""
    return str(position_of(op.location) or "<unknown location>")
