"""What the gate raises when a version cannot express a construct."""

from __future__ import annotations

from ...dialects.records import dataclass


@dataclass
class GateError(Exception):
    """A construct that LLVM `consumer` cannot express.

    `line` is the line of assembly that holds it, `function` the function it is in (None outside
    of functions), `since` the first LLVM that takes it.
    """

    construct: str
    since: int
    consumer: int
    line: str
    function: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        place = f" in function '{self.function}'" if self.function else ""
        hint = f"; {self.hint}" if self.hint else ""
        return (
            f"{self.construct} needs LLVM {self.since} or newer, and this program is for LLVM "
            f"{self.consumer}{place}: {self.line.strip()}{hint}"
        )
