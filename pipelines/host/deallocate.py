"""gpu.dealloc: frees in stream order when asynchronous, else at once."""

from __future__ import annotations

from ...dialects.mlir import gpu, ir
from .emitter import Emitter
from .lowering import lowers, stream_for


@lowers("gpu.dealloc")
def lower_dealloc(op: gpu.DeallocOp, emit: Emitter) -> list[ir.Value]:
    allocated = emit.extract(emit.convert(op.memref), emit.types.ptr, 0)
    if op.asyncToken is not None:
        stream = stream_for(emit, list(op.asyncDependencies), True)
        # Memory that the host shares has no stream order in CUDA; only the runtime can tell it.
        emit.call("hirc_dealloc_async", [allocated, stream, emit.location()])
        return [stream]
    for token in op.asyncDependencies:
        emit.checked_call("cudaStreamSynchronize", [token])
    # cudaFree takes memory of any origin, managed memory too.
    emit.checked_call("cudaFree", [allocated])
    emit.call("hirc_disown_memory", [allocated])
    return []
