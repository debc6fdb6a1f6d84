"""hir-insert-allocations: results without a destination get a hir.allocate."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..hir.compute_ops import COMPUTE_OPS
from ..hir.fresh_buffers import allocate
from ..hir.memory.buffer_uses import open_strides, takes_any_strides
from ..hir.memory.call_outputs import allocate_call_outputs
from ..hir.memory.destinations import write_to
from ..hir.memory.owners import Owners, is_buffer, outputs_of
from ..hir.memory.returned_views import allocate_as_returned
from ..hir.runtime_sizes import open_result_sizes
from ..pass_base import Pass, fail, register
from ..walking import defining_op, operations_where


@register
@dataclass(frozen=True)
class HirInsertAllocations(Pass):
    """Gives every compute operation a destination, an allocation right before it.

      %y = "hir.unary"(%x) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
    becomes
      %n = memref.dim %x, %c0 : memref<?xf32>
      %y = "hir.allocate"(%n) : (index) -> memref<?xf32>
      "hir.unary"(%x, %y) {kind = "neg"} : (memref<?xf32>, memref<?xf32>) -> ()

    An output of the program is allocated with its number as `output`, and strides that its type
    leaves open, for the caller may hand in a buffer of any. Where a use of it needs packed memory
    (hir.reshape, a branch of hir.if, linalg) the type stays, and the caller's buffer must have
    those strides. What is returned in another shape is allocated in that. A fresh output of a
    hir.call gets a destination if the caller can tell its sizes.
    """

    name: ClassVar[str] = "hir-insert-allocations"

    def run(self, op: ir.Operation) -> None:
        for alias in operations_where(op, lambda inner: inner.name == "hir.alias"):
            fail(
                alias, f"{self.name} cannot tell what shares memory: run hir-resolve-aliases first"
            )
        for program in operations_where(op, lambda inner: inner.name == "hir.program"):
            for call in operations_where(program, lambda inner: inner.name == "hir.call"):
                allocate_call_outputs(call)
            for fresh in operations_where(program, _gives_fresh):
                _allocate(fresh)
            allocate_as_returned(program.regions[0].blocks[0])
            _mark_outputs(program)


def _gives_fresh(op: ir.Operation) -> bool:
    return op.name in COMPUTE_OPS and len(op.results) == 1


def _allocate(op: ir.Operation) -> None:
    result = op.results[0]
    with ir.InsertionPoint(op), op.location:
        buffer = allocate(ir.MemRefType(result.type), open_result_sizes(op))
    result.replace_all_uses_with(buffer)
    write_to(op, buffer)


def _mark_outputs(program: ir.Operation) -> None:
    """Numbers the allocations that are outputs: each the first output that it is."""
    owners, seen = Owners(program), set[ir.Value]()
    for number, output in enumerate(outputs_of(owners.block)):
        value = output.operands[0]
        op = defining_op(value)
        if not is_buffer(value) or op is None or op.name != "hir.allocate" or value in seen:
            continue
        seen.add(value)
        if op.parent != program:
            continue
        if "output" not in op.attributes:
            whole = ir.IntegerType.get_signless(64)
            op.attributes["output"] = ir.IntegerAttr.get(whole, number)
        if takes_any_strides(value):
            open_strides(value)
