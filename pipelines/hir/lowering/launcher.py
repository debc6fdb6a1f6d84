"""hir.launcher and hir.run_launcher: functions of the host that launch kernels."""

from __future__ import annotations

from ....dialects import llvm
from ....dialects.hir import RunLauncherOp
from ....dialects.hir.layout import strides_and_offset
from ....dialects.hir.region_arguments import arguments_of
from ....dialects.mlir import arith, func, ir
from ...body_names import LAUNCHER_PREFIX
from ...host.buffer import data_address
from ...host.emitter import CALLER, Emitter
from ...host.types import element_bytes
from ...pass_base import fail
from ...rewriting import index_constant
from ...walking import is_used
from .buffers import unpack
from .launch import find_kernel
from .origins import Origins
from .registry import lowers
from .state import Frame, LauncherFunction, ProgramState, Tables
from .walk import lower_block

# Of so many launchers LLVM may inline some; where there are more, the functions of programs would
# become large.
_INLINED = 4

_POINTER = "memref.extract_aligned_pointer_as_index"
_METADATA = "memref.extract_strided_metadata"


def lower_launchers(
    launchers: list[ir.Operation], emit: Emitter, origins: Origins, tables: Tables
) -> None:
    """Puts a function in the place of each hir.launcher, and notes it in the tables."""
    for launcher in launchers:
        name = ir.StringAttr(launcher.attributes["sym_name"]).value
        function = _signature(launcher, LAUNCHER_PREFIX + name, emit, tables)
        tables.launchers[name] = function
        is_inlined = len(launchers) <= _INLINED
        _lower(launcher, function, is_inlined, emit, origins, tables)
        launcher.erase()


def _signature(
    launcher: ir.Operation, name: str, emit: Emitter, tables: Tables
) -> LauncherFunction:
    """Returns what the function takes: of a buffer its address, where that is all that is used."""
    arguments = list(launcher.regions[0].blocks[0].arguments)
    inputs = [
        emit.types.ptr if _is_address(argument, emit, tables) else argument.type
        for argument in arguments
    ]
    return LauncherFunction(name, [argument.type for argument in arguments], inputs)


def _is_address(argument: ir.Value, emit: Emitter, tables: Tables) -> bool:
    """Returns whether a value is a buffer whose address is all that is used of it."""
    if not isinstance(argument.type, ir.MemRefType):
        return False
    for use in argument.uses:
        user = use.owner.operation
        if user.name == "hir.argument":
            launch = user.parent
            assert launch is not None
            kernel = find_kernel(launch.opview, tables)
            place = [each.operation for each in arguments_of(launch.regions[0])].index(user)
            if kernel.parameters[place : place + 1] != [emit.types.ptr]:
                return False
        elif user.name == _METADATA:
            if any(map(is_used, [user.results[0], *list(user.results)[2:]])):
                return False
        elif user.name != _POINTER:
            return False
    return True


def _lower(
    launcher: ir.Operation,
    signature: LauncherFunction,
    is_inlined: bool,
    emit: Emitter,
    origins: Origins,
    tables: Tables,
) -> None:
    """The stream and the place in the program follow the launcher's own arguments."""
    ptr = emit.types.ptr
    inputs = [*signature.inputs, ptr, ptr]
    with launcher.location, ir.InsertionPoint(launcher):
        function = func.FuncOp(signature.name, (inputs, []), visibility="private")
        function.attributes[CALLER] = ir.UnitAttr.get()
        if not is_inlined:
            kept = ir.StringAttr.get("noinline")
            function.attributes["passthrough"] = ir.ArrayAttr.get([kept])
        block = function.add_entry_block([launcher.location] * len(inputs))
        with ir.InsertionPoint(block):
            end = func.ReturnOp([])
    source = launcher.regions[0].blocks[0]
    for op in list(source):
        op.operation.move_before(end.operation)
    for old, new in zip(source.arguments, block.arguments, strict=False):
        if old.type != new.type:
            _use_address(old, new)
        old.replace_all_uses_with(new)
    state = ProgramState(emit, origins, tables, Frame(block.arguments[len(inputs) - 2]))
    lower_block(state, block, end)
    for op in reversed(state.kept):
        op.erase()
    unpack(state)


def _use_address(buffer: ir.Value, address: ir.Value) -> None:
    """Makes of what is read of a buffer what is read of its first element's address.

    Canonicalization has put an offset that the type says in the place of what is read.
    """
    kind = ir.MemRefType(buffer.type)
    offset = max(strides_and_offset(kind)[1], 0)
    for user in [use.owner.operation for use in buffer.uses]:
        if user.name not in (_POINTER, _METADATA):
            continue
        with user.location, ir.InsertionPoint(user):
            if user.name == _METADATA:
                result, value = user.results[1], index_constant(offset)
            else:
                number = llvm.number_of(address)
                first = arith.index_cast(ir.IndexType.get(), number)
                before = index_constant(offset * element_bytes(kind.element_type))
                result, value = user.results[0], arith.subi(first, before)
        result.replace_all_uses_with(value)
        user.erase()


@lowers("hir.run_launcher")
def lower_run_launcher(op: RunLauncherOp, state: ProgramState) -> list[ir.Value]:
    """A call of the launcher's function, on the current stream."""
    name = op.launcher.value
    function = state.tables.launchers.get(name)
    if function is None:
        fail(op, f"hir.run_launcher of @{name}, which is no hir.launcher of this module")
    given = [argument.operands[0] for argument in arguments_of(op.arguments)]
    if [value.type for value in given] != function.declared:
        wanted = ", ".join(map(str, function.declared))
        fail(op, f"@{name} takes ({wanted}), not ({', '.join(str(each.type) for each in given)})")
    values = [
        value if value.type == kind else data_address(state.emit, value)
        for value, kind in zip(given, function.inputs, strict=True)
    ]
    func.CallOp([], function.name, [*values, state.stream, state.emit.location()])
    return []
