"""hir-check-weights: programs only read weights, and give away none of the library's memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from ...dialects.hir.program_inputs import input_name, is_state, is_weight
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..hir.memory.effects import effects_of, states_its_writes
from ..hir.memory.owners import Owners, outputs_of
from ..pass_base import Pass, fail, register
from ..walking import operations_where


@register
@dataclass(frozen=True)
class HirCheckWeights(Pass):
    """Refuses operations that write to a weight, and outputs in the memory of a weight or state.

    All programs and all calls share the weights, which may lie in a file that is only mapped. What
    a kernel or a C function does that does not say what it writes is its author's to know.
    """

    name: ClassVar[str] = "hir-check-weights"
    makes: ClassVar[tuple[str, ...]] = ()

    def run(self, op: ir.Operation) -> None:
        for program in operations_where(op, lambda inner: inner.name == "hir.program"):
            arguments = list(program.regions[0].blocks[0].arguments)
            if any(is_weight(each) or is_state(each) for each in arguments):
                _check(program)


def _check(program: ir.Operation) -> None:
    owners = Owners(program)
    for op in operations_where(program, lambda inner: inner != program):
        for value in effects_of(op).writes if states_its_writes(op) else ():
            name = _held(program, owners, value, is_weight)
            if name is not None:
                fail(
                    op, f"{op.name} writes to weight '{name}', which all calls share: write to a "
                    "copy of it (hir.set), or make it an input",
                )  # fmt: skip
    for output in outputs_of(program.regions[0].blocks[0]):
        for what, holds in (("weight", is_weight), ("state", is_state)):
            name = _held(program, owners, output.operands[0], holds)
            if name is not None:
                fail(
                    output, f"an output is the caller's to free, and this one is memory of {what} "
                    f"'{name}': copy it (hir.set)",
                )  # fmt: skip


def _held(
    program: ir.Operation, owners: Owners, value: ir.Value, holds: Callable[[ir.Value], bool]
) -> str | None:
    """Returns the weight or state that a buffer may lie in."""
    for root in owners.roots(value):
        if isinstance(root.value, ir.BlockArgument) and holds(root.value):
            return input_name(program, root.value.arg_number)
    return None
