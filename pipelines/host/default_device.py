"""gpu.set_default_device: the device later operations of this thread use."""

from __future__ import annotations

from ...dialects.mlir import gpu, ir
from .emitter import Emitter
from .lowering import lowers


@lowers("gpu.set_default_device")
def lower_set_default_device(op: gpu.SetDefaultDeviceOp, emit: Emitter) -> list[ir.Value]:
    emit.checked_call("cudaSetDevice", [op.devIndex])
    return []
