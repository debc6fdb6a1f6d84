"""hir-reuse-buffers: buffers whose lives do not overlap share memory."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..hir.memory.buffer_reuse import BufferReuse, reuse
from ..pass_base import Pass, fail, register
from ..walking import operations_where


@register
@dataclass(frozen=True)
class HirReuseBuffers(Pass):
    """An allocation takes the memory of a buffer that was freed before it in its block.

      "hir.deallocate"(%a) : (memref<8xf32>) -> ()
      %b = "hir.allocate"() : () -> memref<8xf32>
    becomes
      %b = "hir.reuse"(%a) : (memref<8xf32>) -> memref<8xf32>

    Its bytes are certainly no more than those of the freed buffer, of the same kind of memory. Both
    are in the order of one stream, on which, or in iterations of loops on which, the new buffer is
    used. Of several the smallest is taken; none where the program's peak would grow, for the memory
    is held between the two, and all of it while the new buffer lives.
    """

    name: ClassVar[str] = "hir-reuse-buffers"

    def run(self, op: ir.Operation) -> None:
        for alias in operations_where(op, lambda inner: inner.name == "hir.alias"):
            fail(
                alias, f"{self.name} cannot tell what shares memory: run hir-resolve-aliases first"
            )
        for program in operations_where(op, lambda inner: inner.name == "hir.program"):
            for free, allocation in BufferReuse(program).pairs:
                reuse(free, allocation)
