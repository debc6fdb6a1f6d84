"""own-host-memory: memory that the host allocates is there, and goes where a call fails."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..host.emitter import Emitter
from ..host.types import element_bytes
from ..locations import location_text
from ..pass_base import Pass, register
from ..rewriting import index_constant
from ..walking import host_operations_where


@register
@dataclass(frozen=True)
class OwnHostMemory(Pass):
    """Tells the support library of each memref.alloc and memref.dealloc of the host.

      %m = memref.alloc() : memref<4xf32>
      memref.dealloc %m : memref<4xf32>
    becomes
      %m = memref.alloc() : memref<4xf32>
      llvm.call @hirc_own_host(%address_of_m, %bytes, %location)
      llvm.call @hirc_disown_memory(%address_of_m)
      memref.dealloc %m : memref<4xf32>
    The first call fails where there is no memory.
    """

    name: ClassVar[str] = "own-host-memory"
    subjects: ClassVar[tuple[str, ...]] = ("memref.alloc", "memref.dealloc")

    def run(self, op: ir.Operation) -> None:
        emitter = Emitter(op)
        for inner in host_operations_where(op, lambda inner: inner.name == "memref.alloc"):
            _own(inner, emitter)
        for inner in host_operations_where(op, lambda inner: inner.name == "memref.dealloc"):
            emit = emitter.at(inner)
            memref = inner.operands[0]
            if isinstance(memref.type, ir.MemRefType):
                allocated = emit.extract(emit.convert(memref), emit.types.ptr, 0)
                emit.call("hirc_disown_memory", [allocated])


def _own(op: ir.Operation, emitter: Emitter) -> None:
    kind = ir.MemRefType(op.results[0].type)
    following = ir.InsertionPoint.after(op).ref_operation
    assert following is not None
    opened = iter(op.operands)
    with op.location, ir.InsertionPoint(following):
        size = index_constant(element_bytes(kind.element_type))
        for extent in kind.shape:
            size = arith.muli(size, next(opened) if extent == DYNAMIC else index_constant(extent))
    emit = emitter.at(following.operation)
    allocated = emit.extract(emit.convert(op.results[0]), emit.types.ptr, 0)
    position = emit.string(location_text(op.location))
    emit.call("hirc_own_host", [allocated, emit.convert(size), position])
