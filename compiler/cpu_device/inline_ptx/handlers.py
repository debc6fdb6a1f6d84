"""A table of what writes which instruction, by patterns of opcodes."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from .syntax import PtxInstruction, split_operands
from .writer import Writer

Handler = Callable[[Writer, PtxInstruction], None]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


class Handlers:
    """Functions that write instructions. The first whose pattern is the whole opcode is taken."""

    def __init__(self) -> None:
        self._handlers: list[tuple[str, Handler]] = []

    def add(self, pattern: str) -> Callable[[Handler], Handler]:
        """Registers the decorated function for opcodes that match."""

        def register(handler: Handler) -> Handler:
            self._handlers.append((pattern, handler))
            return handler

        return register

    def find(self, opcode: str) -> Handler | None:
        for pattern, handler in self._handlers:
            if _compiled(pattern).fullmatch(opcode):
                return handler
        return None


def parts_between(braces: str) -> tuple[str, ...]:
    """Returns the operands of a vector: `{$0, $1}`."""
    return split_operands(braces.strip()[1:-1])
