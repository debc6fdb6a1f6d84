"""hir.call: runs another program of the module."""

from __future__ import annotations

from ....dialects.hir import CallOp
from ....dialects.hir.region_arguments import arguments_of, destination_of
from ....dialects.mlir import func, ir, memref
from ...host.emitter import Emitter
from ..index_arithmetic import Index
from .buffers import extents_of
from .checks import refuse_unless_equal
from .conform import conform, opened
from .registry import lowers
from .signature import Signature
from .state import ProgramState


@lowers("hir.call")
def lower_call(op: CallOp, state: ProgramState) -> None:
    """A call of the program's function, on the current stream."""
    callee = op.callee.value
    signature = state.signatures[callee]
    inputs: list[ir.Value] = []
    destinations: dict[int, ir.Value] = {}
    for argument in arguments_of(op.arguments):
        number = destination_of(argument)
        if number is None:
            place = len(inputs)
            what = f"input '{signature.input_names[place]}' of @{callee}"
            value = argument.operands[0]
            inputs.append(conform(state, value, signature.inputs[place], what))
        else:
            destinations[number] = argument.operands[0]
    _check_named_sizes(state, signature, inputs, callee)
    handed_in = _handed_in_results(op, state)
    given = [
        _given(state, signature, number, destinations.get(number, handed_in.get(number)))
        for number in signature.buffer_outputs
    ]
    arguments = [*inputs, *given, state.stream]
    call = func.CallOp(signature.outputs, signature.function, arguments)
    results: list[ir.Value] = list(call.results)
    for number, value in destinations.items():
        results[number] = value
    state.results[op.results_value] = results


def _check_named_sizes(
    state: ProgramState, signature: Signature, inputs: list[ir.Value], callee: str
) -> None:
    """Sizes of one name are equal."""
    seen: dict[str, tuple[Index, str]] = {}
    for number, (value, names) in enumerate(zip(inputs, signature.size_names, strict=True)):
        if not any(names):
            continue
        sizes = extents_of(value).sizes
        for axis, (name, size) in enumerate(zip(names, sizes, strict=True)):
            where = f"axis {axis} of input '{signature.input_names[number]}' of @{callee}"
            first, first_where = seen.setdefault(name, (size, where))
            if name and first_where != where:
                message = f"{where} has size {{}}, and {first_where} {{}}: both are '{name}'"
                refuse_unless_equal(state, size, first, message)


def _handed_in_results(op: CallOp, state: ProgramState) -> dict[int, ir.Value]:
    """Returns what the caller may have handed in for outputs of this program that the call
    gives.
    """
    found: dict[int, ir.Value] = {}
    for use in op.results_value.uses:
        result = use.owner.operation
        number = state.origins.output_of(result.results[0])
        if number is not None:
            found[ir.IntegerAttr(result.attributes["index"]).value] = state.given[number]
    return found


def _given(
    state: ProgramState, signature: Signature, number: int, buffer: ir.Value | None
) -> ir.Value:
    kind = ir.MemRefType(signature.outputs[number])
    if buffer is None:
        return _nothing(state.emit, kind)
    buffer = opened(buffer)
    return buffer if buffer.type == kind else memref.cast(kind, buffer)


def _nothing(emit: Emitter, kind: ir.MemRefType) -> ir.Value:
    """Returns the buffer that says that none was handed in."""
    descriptor = ir.Operation.create(
        "llvm.mlir.zero", results=[emit.types.descriptor(kind.rank)]
    ).results[0]
    return emit.cast(descriptor, kind)
