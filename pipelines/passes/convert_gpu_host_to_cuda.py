"""convert-gpu-host-to-cuda: the gpu dialect's host operations become CUDA runtime calls."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..host.emitter import Emitter
from ..host.lowering import find_lowering
from ..host.types import without_memory_space
from ..pass_base import Pass, fail, register
from ..walking import host_operations_where

_LOWERED = ("gpu.", "nvgpu.")
# Operations of these have neither tokens nor memrefs, but for arith.select.
_PLAIN = ("llvm.", "arith.", "math.", "index.")


@register
@dataclass(frozen=True)
class ConvertGpuHostToCuda(Pass):
    """Lowers gpu operations outside gpu.module to calls of the CUDA runtime's C ABI.

    Every call's code is checked with the operation's source position. An asynchronous token
    becomes the stream its operation runs on; memory spaces of host memrefs are dropped.

      %t1 = gpu.memcpy async [%t0] %dst, %src : memref<4xf32>, memref<4xf32>
    becomes
      %code = llvm.call @cudaMemcpyAsync(%to, %from, %bytes, %kind, %stream) ...
      llvm.call @hirc_check(%code, %name, %location)

    `bare-pointers` passes a memref to a kernel as its aligned pointer alone. A launch that asks
    for more than `max-shared-bytes` of shared memory is an error; 0 knows no limit.
    """

    name: ClassVar[str] = "convert-gpu-host-to-cuda"
    bare_pointers: bool = False
    max_shared_bytes: int = 0

    def run(self, op: ir.Operation) -> None:
        host = [
            child.operation
            for child in op.regions[0].blocks[0]
            if child.operation.name not in ("gpu.module", "llvm.mlir.global")
        ]
        emitter = Emitter(
            op, bare_pointers=self.bare_pointers, max_shared_bytes=self.max_shared_bytes
        )
        gpu_ops = host_operations_where(op, lambda inner: inner.name.startswith(_LOWERED))
        for child in host:
            _retype(child, emitter)
        for inner in gpu_ops:
            lowering = find_lowering(inner.name)
            if lowering is None:
                fail(
                    inner,
                    f"'{inner.name}' has no host lowering; inside a kernel it belongs in a "
                    "gpu.launch body or a gpu.func",
                )
            with inner.location:
                values = lowering(inner.opview, emitter.at(inner))
            for result, value in zip(inner.results, values, strict=True):
                result.replace_all_uses_with(value)
            inner.erase()


def _retype(root: ir.Operation, emitter: Emitter) -> None:
    """Gives tokens the stream's type and host memrefs the one host address space."""

    def lowered(kind: ir.Type) -> ir.Type:
        return emitter.types.ptr if kind == emitter.types.token else without_memory_space(kind)

    def retype(value: ir.Value) -> None:
        kind = lowered(value.type)
        if kind != value.type:
            value.set_type(kind)

    def visit(op: ir.Operation) -> ir.WalkResult:
        name = op.name
        if name.startswith(_PLAIN) and name != "arith.select":
            return ir.WalkResult.ADVANCE
        for result in op.results:
            retype(result)
        for region in op.regions:
            for block in region:
                for argument in block.arguments:
                    retype(argument)
        if "function_type" in op.attributes:
            kind = op.attributes["function_type"].value
            if isinstance(kind, ir.FunctionType):
                function = ir.FunctionType.get(
                    [lowered(item) for item in kind.inputs],
                    [lowered(item) for item in kind.results],
                )
                if function != kind:
                    op.attributes["function_type"] = ir.TypeAttr.get(function)
        if name == "memref.global":
            kind = lowered(ir.TypeAttr(op.attributes["type"]).value)
            op.attributes["type"] = ir.TypeAttr.get(kind)
        return ir.WalkResult.ADVANCE

    root.walk(visit)
