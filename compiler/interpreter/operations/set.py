"""hir.set: a copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.mlir import ir
from .. import fault
from ..buffer import Buffer
from ..convert import convert
from ..frame import Frame
from ..registry import interprets
from ..scalar_numbers import as_numbers
from ..shapes import broadcast_sizes, filled_sizes, text_of


@interprets("hir.set")
def set_(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Copies, converting the element type and broadcasting into the destination."""
    operand = op.operands[0]
    source = frame.value(operand)
    if not isinstance(source, Buffer):
        if len(op.results):
            sizes = filled_sizes(op.results[0].type, [])
        else:
            sizes = frame.buffer(op, op.operands[1]).sizes
        destination = frame.destination(op, sizes)
        number = as_numbers(source, operand.type, destination.element, frame.interpreter.device)
        frame.write(destination, number)
        return [destination] if len(op.results) else []
    source = frame.buffer(op, operand)
    sizes = source.sizes
    if not len(op.results):
        wanted = frame.buffer(op, op.operands[1]).sizes
        if broadcast_sizes([sizes, wanted]) != wanted:
            fault.fail(
                op, f"{source.name}, {text_of(sizes)}, does not broadcast to {text_of(wanted)}"
            )
        sizes = wanted
    destination = frame.destination(op, sizes, [source], in_place=True)
    numbers = frame.read(op, source)
    if source.element != destination.element:
        numbers = convert(numbers, source.element, destination.element)
    frame.write(destination, numbers)
    return [destination] if len(op.results) else []
