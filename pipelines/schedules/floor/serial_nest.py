"""Nests of serial loops: the order and direction of their loops, and what they compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ....dialects.hir.loop_operation import loops_of
from ....dialects.mlir import ir
from ....dialects.records import dataclass


@dataclass(frozen=True)
class Direction:
    """The loop that goes innermost in a nest, and which way."""

    loop: int | None = None
    is_reverse: bool = False

    @staticmethod
    def of(scan: ir.Operation) -> Direction:
        return Direction(loops_of(scan)[0], "reverse" in scan.attributes)


# Takes the innermost scope (scalar_program.Scope) and what the nest carries; gives what it becomes.
Body = Callable[[Any, Sequence[ir.Value]], list[ir.Value]]


@dataclass(frozen=True)
class Nest:
    """Serial loops to emit: what they compute in each iteration, and from which values.

    `count` is how often a single loop goes, where that is not its extent.
    """

    loops: Sequence[int]
    direction: Direction
    values: Sequence[ir.Value]
    body: Body
    count: ir.Value | None = None

    @property
    def outermost(self) -> int:
        """The first loop, but for the one whose direction matters, which is the innermost."""
        return next((loop for loop in self.loops if loop != self.direction.loop), self.loops[0])

    @property
    def is_reverse(self) -> bool:
        """Whether the innermost loop goes from its last iteration to its first."""
        return self.direction.is_reverse and self.direction.loop in self.loops

    def within(self, loop: int) -> Nest:
        """The nest without its outermost loop."""
        return replace(self, loops=[each for each in self.loops if each != loop])
