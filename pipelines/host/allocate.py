"""gpu.alloc: stream-ordered device memory, or managed memory where the host shares it."""

from __future__ import annotations

from ...dialects.mlir import gpu, ir
from ..pass_base import fail
from .buffer import product
from .emitter import Emitter
from .lowering import finish, lowers, stream_for
from .types import DYNAMIC, element_bytes

# cudaMemAttachGlobal: any stream may use the managed memory.
_ATTACH_GLOBAL = 1


@lowers("gpu.alloc")
def lower_alloc(op: gpu.AllocOp, emit: Emitter) -> list[ir.Value]:
    kind = ir.MemRefType(op.memref.type)
    if kind.layout != ir.AffineMapAttr.get(ir.AffineMap.get_identity(kind.rank)):
        fail(
            op,
            f"gpu.alloc makes packed row-major memory, not layout {kind.layout}; allocate "
            "memref of identity layout and take a view of it",
        )
    asynchronous = op.asyncToken is not None
    dynamic = iter(emit.convert(value) for value in op.dynamicSizes)
    extents = [next(dynamic) if size == DYNAMIC else emit.i64(size) for size in kind.shape]
    size = product(emit, extents, element_bytes(kind.element_type), kind)
    slot = emit.stack_slot(emit.types.ptr)
    results: list[ir.Value] = []
    if op.hostShared:
        if asynchronous:
            # It has no stream order in CUDA, and is there at once.
            results = [stream_for(emit, list(op.asyncDependencies), True)]
        else:
            for token in op.asyncDependencies:
                emit.checked_call("cudaStreamSynchronize", [token])
        emit.checked_call("cudaMallocManaged", [slot, size, emit.i32(_ATTACH_GLOBAL)])
    else:
        stream = stream_for(emit, list(op.asyncDependencies), asynchronous)
        emit.checked_call("cudaMallocAsync", [slot, size, stream])
        results = finish(emit, stream, asynchronous)
    address = emit.load(emit.types.ptr, slot)
    emit.call("hirc_own_device", [address, emit.location()])
    return [emit.packed_memref(kind, address, extents), *results]
