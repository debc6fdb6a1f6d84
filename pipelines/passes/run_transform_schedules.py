"""run-transform-schedules: the transformations that a module brings along are applied to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ...dialects.mlir import ir, passmanager
from ...dialects.records import dataclass
from ..pass_base import Pass, PassFailure, fail, register
from ..symbols import symbol_name

_ENTRY = "__transform_main"
_MODULE = "builtin.module"
_LIBRARY = "transform.with_named_sequence"
_NAMED = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @NAME(%root: !transform.any_op {transform.consumed}) {
    transform.yield
  }
}
"""


@register
@dataclass(frozen=True)
class RunTransformSchedules(Pass):
    """Applies a module's own transform dialect schedules to the whole module.

    Run are the named sequence `__transform_main`, of the module or of a module inside it, then each
    `transform.sequence` at top level, in the order of the source, as a named one. The schedules
    stay; erase-transform-schedules takes them away.
    """

    name: ClassVar[str] = "run-transform-schedules"

    def follows(self, op: ir.Operation) -> ir.Operation | None:
        return next((schedule for schedule, _ in transform_operations(op)), None)

    def run(self, op: ir.Operation) -> None:
        schedules = list(transform_operations(op))
        named = [each for each, _ in schedules if each.name == "transform.named_sequence"]
        entries = [each for each in named if symbol_name(each) == _ENTRY]
        sequences = [each for each, _ in schedules if each.name == "transform.sequence"]
        if len(entries) > 1:
            fail(entries[1], f"a second '{_ENTRY}'; a program has one")
        if named and not entries and not sequences:
            fail(
                named[0],
                f"no named sequence is called '{_ENTRY}', and others are run by what it includes",
            )
        names = [_ENTRY] * bool(entries)
        for number, sequence in enumerate(sequences):
            names.append(f"hirc_sequence_{number}")
            _name(op, sequence, names[-1])
        for entry in names:
            manager = passmanager.PassManager.parse(
                f"builtin.module(transform-interpreter{{entry-point={entry}}})", op.context
            )
            try:
                manager.run(op)
            except ir.MLIRError as error:
                raise PassFailure(entry) from error


def _name(module: ir.Operation, sequence: ir.Operation, name: str) -> None:
    """Makes a transform.sequence part of a named one, which the interpreter takes."""
    module.attributes[_LIBRARY] = ir.UnitAttr.get()
    text = ir.Module.parse(_NAMED.replace("NAME", name))
    named = text.body.operations[0].clone(ir.InsertionPoint(sequence)).operation
    outer = named.regions[0].blocks[0]
    attributes = {each: sequence.attributes[each] for each in sequence.attributes}
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, 0])
    inner = ir.Operation.create(
        sequence.name,
        operands=[outer.arguments[0]],
        attributes=attributes,
        regions=1,
        loc=sequence.location,
        ip=ir.InsertionPoint.at_block_begin(outer),
    )
    sequence.regions[0].blocks[0].append_to(inner.regions[0])
    sequence.erase()


def transform_operations(
    module: ir.Operation,
) -> Iterator[tuple[ir.Operation, ir.Operation]]:
    """Yields the transform operations at top level, or in a module for them, and their module."""
    for child in module.regions[0].blocks[0]:
        op = child.operation
        if op.name.startswith("transform."):
            yield op, module
        elif op.name == _MODULE and _LIBRARY in op.attributes:
            for inner in op.regions[0].blocks[0]:
                if inner.operation.name.startswith("transform."):
                    yield inner.operation, op


def has_schedules(module: ir.Operation) -> bool:
    """Returns whether a module brings transform dialect schedules along."""
    return any(True for _ in transform_operations(module))


def is_only_schedules(op: ir.Operation) -> bool:
    """Returns whether an operation is a module of nothing but schedules."""
    return (
        op.name == _MODULE
        and _LIBRARY in op.attributes
        and all(inner.operation.name.startswith("transform.") for inner in op.regions[0].blocks[0])
    )
