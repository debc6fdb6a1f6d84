"""Teams of devices in a program's builder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...mlir import ir

if TYPE_CHECKING:
    from .emitter import Scope
    from .program import Program


class Communicator:
    """The devices that communicate, by their numbers; of several teams a device is of one."""

    def __init__(
        self, program: Program, value: ir.Value, scope: Scope, teams: tuple[tuple[int, ...], ...]
    ) -> None:
        self.program = program
        self.value = value
        self.scope = scope
        self.teams = teams

    @property
    def size(self) -> int:
        """How many devices a team has."""
        return len(self.teams[0])
