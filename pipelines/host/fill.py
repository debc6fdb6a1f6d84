"""gpu.memset of bytes: the values a byte pattern can give. The others became kernels before."""

from __future__ import annotations

from ...dialects.mlir import gpu, ir
from ..fill_pattern import fill_byte
from ..pass_base import fail
from .buffer import byte_size, data_address
from .emitter import Emitter
from .lowering import finish, lowers, stream_for


@lowers("gpu.memset")
def lower_memset(op: gpu.MemsetOp, emit: Emitter) -> list[ir.Value]:
    byte = fill_byte(op)
    if byte is None:
        fail(op, "gpu.memset of this value or layout needs a kernel: run expand-gpu-memset first")
    asynchronous = op.asyncToken is not None
    stream = stream_for(emit, list(op.asyncDependencies), asynchronous)
    size = byte_size(emit, op.dst)
    address = data_address(emit, op.dst)
    emit.call("hirc_fill_bytes", [address, emit.i32(byte), size, stream, emit.location()])
    return finish(emit, stream, asynchronous)
