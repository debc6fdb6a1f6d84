"""gpu.memcpy: between host and device memory in any direction, of any strides."""

from __future__ import annotations

from ...dialects.mlir import gpu, ir
from .buffer import byte_size, data_address, sizes, stack_array, strides
from .emitter import Emitter
from .lowering import finish, lowers, stream_for
from .types import element_bytes, is_contiguous


@lowers("gpu.memcpy")
def lower_memcpy(op: gpu.MemcpyOp, emit: Emitter) -> list[ir.Value]:
    target, source = op.dst, op.src
    asynchronous = op.asyncToken is not None
    stream = stream_for(emit, list(op.asyncDependencies), asynchronous)
    kind = ir.MemRefType(target.type)
    to, origin = data_address(emit, target), data_address(emit, source)
    if is_contiguous(kind) and is_contiguous(ir.MemRefType(source.type)):
        size = byte_size(emit, target)
        emit.call("hirc_copy_bytes", [to, origin, size, stream, emit.location()])
    else:
        emit.call(
            "hirc_memcpy_strided",
            [
                to,
                origin,
                emit.i64(kind.rank),
                stack_array(emit, sizes(emit, target)),
                stack_array(emit, strides(emit, target)),
                stack_array(emit, strides(emit, source)),
                emit.i64(element_bytes(kind.element_type)),
                stream,
                emit.i32(1),
                emit.location(),
            ],
        )
    return finish(emit, stream, asynchronous)
