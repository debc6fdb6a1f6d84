"""hir.call: another program of the module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.mlir import ir
from .. import fault
from ..buffer import Buffer
from ..frame import Frame, check_writable
from ..inputs import check_sizes_of_call
from ..registry import interprets
from ..results import Results
from ..shapes import static_sizes, text_of


@interprets("hir.call")
def call(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Runs the callee on the current stream; destinations are buffers handed in for its outputs."""
    name = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
    callee = frame.interpreter.program(name)
    if callee is None:
        fault.fail(
            op,
            f"@{name} is a function on tensors, which is compiled and not interpreted: write it as "
            "a hir.program, or run what hirc compiles",
        )
    inputs: list[Any] = []
    given: dict[int, Buffer] = _aliased(op, frame)
    for argument in op.regions[0].blocks[0].operations:
        value = frame.value(argument.operands[0])
        if isinstance(value, Buffer):
            value = frame.buffer(argument.operation, argument.operands[0])
        if "destination" in argument.attributes:
            number = ir.IntegerAttr(argument.attributes["destination"]).value
            _check_destination(argument.operation, value, callee.output_types[number])
            given[number] = value
        else:
            inputs.append(value)
    if len(inputs) != len(callee.inputs):
        fault.fail(op, f"@{name} takes {len(callee.inputs)} inputs, got {len(inputs)}")
    check_sizes_of_call(callee, inputs)
    for number, buffer in given.items():
        for value in inputs:
            is_input = callee.is_input(callee.outputs[number].operands[0])
            if isinstance(value, Buffer) and not is_input and buffer.overlaps(value):
                fault.fail(op, f"the destination of output {number} overlaps {value.name}")
    results = frame.interpreter.run_program(callee, inputs, given, frame.stream)
    return [Results(results, are_of_call=True)]


def _aliased(op: ir.Operation, frame: Frame) -> dict[int, Buffer]:
    """Returns the buffers that results of the call are placed in: aliases' targets and caller's
    outputs.
    """
    given: dict[int, Buffer] = {}
    for use in op.results[0].uses:
        user = use.owner.operation
        if user.name != "hir.result" or not isinstance(user.results[0].type, ir.MemRefType):
            continue
        result = user.results[0]
        target, number = frame.outline.alias_target(result), frame.outline.output_of(result)
        buffer = None
        if target is not None and target in frame.values:
            buffer = frame.buffer(op, target)
        elif target is None and number is not None:
            buffer = frame.given.get(number)
        if buffer is not None:
            given[ir.IntegerAttr(user.attributes["index"]).value] = buffer
    return given


def _check_destination(op: ir.Operation, buffer: Buffer, declared: ir.Type) -> None:
    expected = static_sizes(declared)
    fits = len(expected) == len(buffer.sizes) and all(
        size in (None, actual) for size, actual in zip(expected, buffer.sizes, strict=True)
    )
    if not fits:
        fault.fail(
            op,
            f"the destination, {buffer.name}, is {text_of(buffer.sizes)}, and the output is "
            f"{text_of(expected)}",
        )
    check_writable(op, buffer)
