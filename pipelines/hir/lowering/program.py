"""hir.program: a private function that takes inputs, buffers for outputs, and the stream."""

from __future__ import annotations

from ....dialects.hir.symbols import unchanged
from ....dialects.mlir import func, ir
from ...body_names import CALLING
from ...host.emitter import Emitter
from ...walking import operations_where
from .buffers import unpack
from .communication import mark_communications
from .conform import conform
from .host_call import mark_unsigned_arguments
from .launch import find_kernel
from .launcher import lower_launchers
from .origins import Origins
from .signature import Signature, input_descriptions, output_descriptions, signature_of
from .state import Frame, ProgramState, Tables
from .stored_types import give_stored_types
from .walk import lower_block


def lower_programs(module: ir.Operation) -> None:
    """Replaces every hir.program of the module with its function, and drops the hir.kernels."""
    top = [op.operation for op in module.regions[0].blocks[0]]
    programs = [op for op in top if op.name == "hir.program"]
    if programs:
        module.attributes["gpu.container_module"] = ir.UnitAttr.get()
    origins = Origins(module)
    signatures = {
        ir.StringAttr(op.attributes["sym_name"]).value: signature_of(op) for op in programs
    }
    emit, tables = Emitter(module), Tables()
    _find_kernels(top, tables)
    lower_launchers([op for op in top if op.name == "hir.launcher"], emit, origins, tables)
    for program in programs:
        _lower_program(program, emit, origins, signatures, tables)
    for op in list(module.regions[0].blocks[0]):
        if op.operation.name in ("hir.program", "hir.kernel"):
            op.operation.erase()


def _find_kernels(top: list[ir.Operation], tables: Tables) -> None:
    """Notes the kernels of all launches, while nothing changes: the module is searched once."""
    with unchanged():
        for op in top:
            if op.name in ("hir.launcher", "hir.program"):
                for launch in operations_where(op, lambda each: each.name == "hir.launch"):
                    find_kernel(launch.opview, tables)


def _lower_program(
    program: ir.Operation,
    emit: Emitter,
    origins: Origins,
    signatures: dict[str, Signature],
    tables: Tables,
) -> None:
    name = ir.StringAttr(program.attributes["sym_name"]).value
    signature = signatures[name]
    described: dict[str, ir.Attribute] = {
        "hir.inputs": ir.ArrayAttr.get([*input_descriptions(program)]),
        "hir.outputs": ir.ArrayAttr.get([*output_descriptions(program, origins.outputs(name))]),
    }
    if CALLING in program.attributes:
        described[CALLING] = program.attributes[CALLING]
    function, end = _function(program, emit, signature)
    for key, description in described.items():
        function.attributes[key] = description
    block = function.entry_block
    arguments = list(block.arguments)
    count = len(signature.inputs)
    state = ProgramState(
        emit,
        origins,
        tables,
        Frame(arguments[-1]),
        [f"output '{output}'" for output in signature.output_names],
        signatures,
        dict(zip(signature.buffer_outputs, arguments[count:-1], strict=True)),
    )
    lower_block(state, block, end)
    with state.before(end):
        outputs = [
            conform(state, value, kind, what)
            for value, kind, what in zip(
                state.frame.outputs, signature.outputs, state.output_names, strict=True
            )
        ]
        func.ReturnOp(outputs)
    end.operation.erase()
    for op in reversed(state.kept):
        op.erase()
    unpack(state)


def _function(
    program: ir.Operation, emit: Emitter, signature: Signature
) -> tuple[func.FuncOp, func.ReturnOp]:
    """Returns the function, with the operations of the program in it."""
    given = [signature.outputs[number] for number in signature.buffer_outputs]
    inputs = [*signature.inputs, *given, emit.types.ptr]
    mark_unsigned_arguments(program)
    mark_communications(program)
    give_stored_types(program)
    with program.location, ir.InsertionPoint(program):
        function = func.FuncOp(
            signature.function, (inputs, signature.outputs), visibility="private"
        )
        block = function.add_entry_block([program.location] * len(inputs))
        with ir.InsertionPoint(block):
            end = func.ReturnOp([])
    source = program.regions[0].blocks[0]
    for old, new in zip(source.arguments, block.arguments, strict=False):
        old.replace_all_uses_with(new)
    for op in list(source):
        op.operation.move_before(end.operation)
    return function, end
