"""Host IR programs as text: one compute operation each, on buffers of any sizes and strides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def any_buffer(rank: int, element: str) -> str:
    """The type of a buffer whose sizes and strides are all open."""
    if rank == 0:
        return f"memref<{element}, strided<[], offset: ?>>"
    strides = ", ".join("?" * rank)
    return f"memref<{'?x' * rank}{element}, strided<[{strides}], offset: ?>>"


def packed(rank: int, element: str) -> str:
    """The type of a packed buffer of open sizes."""
    return f"memref<{'?x' * rank}{element}>"


@dataclass(frozen=True)
class Program:
    """A program of one operation: its name, its text, and what it takes and gives."""

    name: str
    op: str
    attributes: str
    inputs: tuple[str, ...]
    ranks: tuple[int, ...]
    output: str
    output_rank: int

    @property
    def text(self) -> str:
        kinds = [any_buffer(rank, item) for rank, item in zip(self.ranks, self.inputs, strict=True)]
        result = packed(self.output_rank, self.output)
        arguments = ", ".join(f"%x{number}: {kind}" for number, kind in enumerate(kinds))
        operands = ", ".join(f"%x{number}" for number in range(len(kinds)))
        given = ", ".join(kinds)
        return (
            f'"hir.program"() ({{\n^bb0({arguments}):\n'
            f'  %y = "hir.{self.op}"({operands}) {{{self.attributes}}} : ({given}) -> {result}\n'
            f'  "hir.output"(%y) {{name = "y"}} : ({result}) -> ()\n'
            f'}}) {{sym_name = "{self.name}", function_type = ({given}) -> {result}}} : () -> ()\n'
        )


def module_text(programs: Sequence[Program]) -> str:
    return "\n".join(program.text for program in programs)
