"""What is wrong with a program that is being built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .caller import Place, calling_place


@dataclass(eq=False)
class BuildError(Exception):
    """A mistake in the program: what was expected, what came, where, and the way out.

    It is raised at the line that makes the mistake; `place` is that line. `notes` are further
    messages, each with its place.
    """

    message: str
    hint: str | None = None
    place: Place | None = None
    notes: Sequence[str] = field(default_factory=tuple[str, ...])

    def __post_init__(self) -> None:
        self.place = self.place or calling_place()

    def __str__(self) -> str:
        lines = [f"{self.place}: {self.message}", *self.notes]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)
