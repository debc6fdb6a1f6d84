"""gpu.dealloc: frees in stream order when asynchronous, else at once."""

from __future__ import annotations

from ...dialects.mlir import gpu, ir
from .emitter import Emitter
from .lowering import lowers, stream_for


@lowers("gpu.dealloc")
def lower_dealloc(op: ir.Operation, emit: Emitter) -> list[ir.Value]:
    view = op.opview
    allocated = emit.extract(emit.convert(view.memref), emit.types.ptr, 0)
    if view.asyncToken is not None:
        stream = stream_for(emit, list(view.asyncDependencies), True)
        emit.checked_call("cudaFreeAsync", [allocated, stream])
        return [stream]
    for token in view.asyncDependencies:
        emit.checked_call("cudaStreamSynchronize", [token])
    # cudaFree takes memory of any origin, managed memory too.
    emit.checked_call("cudaFree", [allocated])
    return []
