"""hir-insert-deallocations: what the program owns is freed after its last use."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.hir.result_types import types_of_results
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..hir.memory.liveness import Liveness
from ..hir.memory.owners import Owners, Root, result_index
from ..hir.streams.order import StreamOrder
from ..hir.streams.waits import wait_for
from ..pass_base import Pass, fail, register
from ..walking import operations_where


@register
@dataclass(frozen=True)
class HirInsertDeallocations(Pass):
    """Frees every fresh buffer right after its last use.

      %t = "hir.allocate"() : () -> memref<8xf32>
      "hir.unary"(%x, %t) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
      "hir.unary"(%t, %y) {kind = "abs"} : (memref<8xf32>, memref<8xf32>) -> ()
    is followed by
      "hir.deallocate"(%t) : (memref<8xf32>) -> ()

    The place is in the block of the allocation, after the last operation there that uses the
    buffer, or a view of it, itself or within its regions: after a loop that uses it, after the
    hir.if one of whose branches does. Inputs, outputs, what a branch gives out, what hir.reuse
    takes over and what the program frees itself anywhere are left alone. What hir.if or hir.call
    gives is freed the same way. The current stream first waits for others that may still use the
    buffer.
    """

    name: ClassVar[str] = "hir-insert-deallocations"

    def run(self, op: ir.Operation) -> None:
        for alias in operations_where(op, lambda inner: inner.name == "hir.alias"):
            fail(
                alias, f"{self.name} cannot tell what shares memory: run hir-resolve-aliases first"
            )
        for program in operations_where(op, lambda inner: inner.name == "hir.program"):
            _free_in(program)


def _free_in(program: ir.Operation) -> None:
    owners = Owners(program)
    ended = _ended(owners)
    liveness = Liveness(owners)
    mine: list[tuple[Root, ir.Operation]] = [
        (root, liveness.last_use(root))
        for maker in operations_where(program, lambda inner: True)
        for root in owners.made_by(maker)
        if root not in ended
    ]
    inserted = [_free(root, last) for root, last in mine]
    if not inserted:
        return
    # The analyses saw the program as it was before.
    owners = Owners(program)
    order = StreamOrder(owners)
    for deallocation in inserted:
        for stream in order.open_streams(deallocation):
            wait_for(owners, stream, deallocation)


def _ended(owners: Owners) -> set[Root]:
    """Returns the lives that end otherwise: freed by the program itself, taken over,
    or given out.
    """
    ended: set[Root] = set()
    for root in owners.outputs():
        ended.update(root)
    for op in operations_where(owners.program, lambda inner: True):
        if op.name in ("hir.deallocate", "hir.reuse", "memref.dealloc"):
            ended.update(owners.roots(op.operands[0]))
        if op.name == "hir.if":
            for region in op.regions:
                ended.update(owners.given_out(op, region))
    return ended


def _free(root: Root, last: ir.Operation) -> ir.Operation:
    """Returns a hir.deallocate after `last`, at its location."""
    buffer = root.value
    if root.index is not None:
        taken = _result(root.maker, root.index)
        buffer = taken.results[0]
        if last.is_before_in_block(taken):
            last = taken
    with last.location:
        return ir.Operation.create(
            "hir.deallocate", operands=[buffer], ip=ir.InsertionPoint.after(last)
        )


def _result(source: ir.Operation, index: int) -> ir.Operation:
    """Returns the hir.result of a value, in the block of what gives it."""
    for use in source.results[0].uses:
        user = use.owner.operation
        if user.block == source.block and result_index(user) == index:
            return user
    types = types_of_results(source)
    assert types is not None
    with source.location:
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), index)
        return ir.Operation.create(
            "hir.result",
            results=[types[index]],
            operands=[source.results[0]],
            attributes={"index": number},
            ip=ir.InsertionPoint.after(source),
        )
