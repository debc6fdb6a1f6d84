"""gpu.host_register and gpu.host_unregister: pins host memory so that kernels may use it."""

from __future__ import annotations

from ...dialects.mlir import gpu, ir
from .buffer import stack_descriptor
from .emitter import Emitter
from .lowering import lowers
from .types import element_bytes


@lowers("gpu.host_register")
def lower_host_register(op: gpu.HostRegisterOp, emit: Emitter) -> list[ir.Value]:
    return _call("hirc_host_register", op.value, emit)


@lowers("gpu.host_unregister")
def lower_host_unregister(op: gpu.HostUnregisterOp, emit: Emitter) -> list[ir.Value]:
    return _call("hirc_host_unregister", op.value, emit)


def _call(function: str, buffer: ir.Value, emit: Emitter) -> list[ir.Value]:
    rank, descriptor = stack_descriptor(emit, buffer)
    size = element_bytes(ir.UnrankedMemRefType(buffer.type).element_type)
    emit.call(function, [rank, descriptor, emit.i64(size), emit.location()])
    return []
