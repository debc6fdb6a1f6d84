"""gpu.wait: joins streams without blocking the host, or blocks it until they are done."""

from __future__ import annotations

from ...dialects.mlir import gpu, ir
from .emitter import Emitter
from .lowering import lowers


@lowers("gpu.wait")
def lower_wait(op: gpu.WaitOp, emit: Emitter) -> list[ir.Value]:
    tokens = list(dict.fromkeys(op.asyncDependencies))
    if op.asyncToken is None:
        for token in tokens:
            emit.checked_call("cudaStreamSynchronize", [token])
        return []
    if len(tokens) == 1:
        return tokens
    stream = emit.value_of_call("hirc_stream_acquire", [emit.location()], emit.types.ptr)
    for token in tokens:
        emit.call("hirc_stream_wait", [stream, token, emit.location()])
    return [stream]
