"""gpu.launch_func: packs the arguments on the stack and launches through the runtime."""

from __future__ import annotations

from ...dialects.mlir import gpu, ir
from ..constants import constant_value
from ..launch_size import check_extents
from ..offload_symbols import stub_symbol
from ..pass_base import fail
from ..shared_buffers import STATIC_SHARED_BYTES, static_shared_bytes
from .emitter import Emitter
from .kernel_argument import check_argument
from .lowering import finish, lowers, stream_for
from .types import DYNAMIC, strides_and_offset

# On a gpu.launch_func: it may begin before the stream's last kernel has ended.
OVERLAPS = "hir.overlaps"
# As the runtime knows them (compiler/runtime/hirc_runtime.h).
_COOPERATIVE, _OVERLAPPING = 1, 2


@lowers("gpu.launch_func")
def lower_launch(op: gpu.LaunchFuncOp, emit: Emitter) -> list[ir.Value]:
    grid = [op.gridSizeX, op.gridSizeY, op.gridSizeZ]
    block = [op.blockSizeX, op.blockSizeY, op.blockSizeZ]
    cluster = [op.clusterSizeX, op.clusterSizeY, op.clusterSizeZ]
    check_extents(op)
    _check_shared(op, emit)
    asynchronous = op.asyncToken is not None
    given = op.asyncObject
    if given is not None and given.type != emit.types.ptr:
        fail(op, f"a CUDA stream is an !llvm.ptr, not {given.type}")
    stream = given or stream_for(emit, list(op.asyncDependencies), asynchronous)
    kernel = ir.SymbolRefAttr(op.kernel).value[-1]
    shared = op.dynamicSharedMemorySize
    arguments = [
        emit.address_of(stub_symbol(kernel)),
        *(_extent(emit, value) for value in grid),
        *(_extent(emit, value) for value in block),
        emit.i64(0) if shared is None else _extent(emit, shared),
        *_argument_array(emit, list(op.kernelOperands)),
        stream,
    ]
    kinds = (_COOPERATIVE if op.cooperative else 0) | (
        _OVERLAPPING if OVERLAPS in op.operation.attributes else 0
    )
    if cluster[0] is None and not kinds:
        emit.call("hirc_launch", [*arguments, emit.location()])
    else:
        arguments += [emit.i64(0) if value is None else _extent(emit, value) for value in cluster]
        arguments.append(emit.i32(kinds))
        emit.call("hirc_launch_cluster", [*arguments, emit.location()])
    # A stream that the program brings is the program's to wait for.
    return [] if given is not None else finish(emit, stream, asynchronous)


def _check_shared(op: gpu.LaunchFuncOp, emit: Emitter) -> None:
    if op.dynamicSharedMemorySize is None:
        return
    size = constant_value(op.dynamicSharedMemorySize)
    limit = emit.max_shared_bytes
    if size is None or not limit or size + STATIC_SHARED_BYTES <= limit:
        return
    module, kernel = ir.SymbolRefAttr(op.kernel).value
    size += static_shared_bytes(emit.symbol(module), kernel)
    if size > limit:
        fail(
            op,
            f"{size} bytes of shared memory a block; the chips this is built for have {limit}",
        )


def _extent(emit: Emitter, value: ir.Value) -> ir.Value:
    lowered = emit.convert(value)
    return lowered if lowered.type == emit.types.i64 else emit.widen(lowered)


def _argument_array(emit: Emitter, operands: list[ir.Value]) -> tuple[ir.Value, ir.Value]:
    """Returns the address of an array of pointers to the arguments, as cudaLaunchKernel takes it.

    The arguments lie in one block, whose bytes are returned too.
    """
    values = [part for operand in operands for part in _parts(emit, operand)]
    if not values:
        return emit.null(), emit.i64(0)
    pack = emit.types.struct(*(value.type for value in values))
    pointers = emit.types.array(len(values), emit.types.ptr)
    slots, addresses = emit.stack_slot(pack), emit.stack_slot(pointers)
    for index, value in enumerate(values):
        slot = emit.element_address(slots, pack, index)
        emit.store(value, slot)
        emit.store(slot, emit.element_address(addresses, pointers, index))
    return addresses, emit.bytes_of(pack)


def _parts(emit: Emitter, operand: ir.Value) -> list[ir.Value]:
    """The kernel parameters one operand becomes: a memref passes its descriptor's fields."""
    check_argument(emit.op, operand.type)
    value = emit.convert(operand)
    types = emit.types
    if not isinstance(operand.type, ir.MemRefType):
        return [value]
    if emit.bare_pointers:
        if not _is_static(ir.MemRefType(operand.type)):
            fail(
                emit.op,
                f"{operand.type} cannot be a bare pointer: its shape or layout is known at run "
                "time only",
            )
        return [emit.extract(value, types.ptr, 1)]
    rank = ir.MemRefType(operand.type).rank
    return [
        emit.extract(value, types.ptr, 0),
        emit.extract(value, types.ptr, 1),
        emit.extract(value, types.i64, 2),
        *(emit.extract(value, types.i64, 3, axis) for axis in range(rank)),
        *(emit.extract(value, types.i64, 4, axis) for axis in range(rank)),
    ]


def _is_static(kind: ir.MemRefType) -> bool:
    """Returns whether the type says all that a descriptor would."""
    layout = strides_and_offset(kind)
    if layout is None or not kind.has_static_shape:
        return False
    strides, offset = layout
    return DYNAMIC not in (*strides, offset)
