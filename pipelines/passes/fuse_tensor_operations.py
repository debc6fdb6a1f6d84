"""fuse-tensor-operations: linalg operations on tensors that can be one kernel become one."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.build import build
from ..fusion.gathers import (
    compute_where_read,
    is_computed_where_read,
    read_behind_slices,
    with_operands,
)
from ..fusion.generic import GENERIC
from ..fusion.grouping import Grouping
from ..fusion.node import Node, read_node
from ..fusion.normalize import finishes_product, is_normal, normal_accesses
from ..fusion.order import BlockOrder
from ..fusion.recompute import repeat_cheap_work, repeat_reorderings
from ..fusion.report import REPORT, report_lines
from ..fusion.reshaped_results import write_reshaped
from ..fusion.scatters import compute_where_scattered, is_scatter
from ..fusion.shifted import compute_where_sliced
from ..fusion.sizes import Sizes
from ..pass_base import Pass, register
from ..walking import is_used, operations_where

# What is read at computed places may be part of what another such operation makes.
_MOST_ROUNDS = 4


@register
@dataclass(frozen=True)
class FuseTensorOperations(Pass):
    """Makes one linalg.generic of several that go over the same elements.

    Takes the normal form of normalize-tensor-operations. Operations of one block are fused where
    one reads the other's result, or both read the same, their loops are certain to be the same, and
    fusing saves memory accesses. A result that is returned with dims of size 1 added or removed is
    computed in that shape. With `report` the module gets the attribute `hir.fusion_report`, an
    array of lines that tell what was fused, and why no more was.

      %e = linalg.generic {...} ins(%x) outs(%empty) { exp }
      %s = linalg.generic {...} ins(%e) outs(%empty2) { hir.reduce_loops addf }
      %q = linalg.generic {...} ins(%e, %s) outs(%empty) { divf }
    becomes
      %q = linalg.generic {...} ins(%x) outs(%empty) { exp, hir.reduce_loops addf, divf }
    """

    name: ClassVar[str] = "fuse-tensor-operations"

    report: bool = False

    def run(self, op: ir.Operation) -> None:
        lines: list[str] = []
        kernels = 1
        for block in _blocks(op):
            for _ in range(_MOST_ROUNDS):
                if not _compute_where_read(block):
                    break
            grouping = _group(block)
            if repeat_cheap_work(grouping):
                grouping = _group(block)
            if repeat_reorderings(grouping, block):
                grouping = _group(block)
            for _ in range(_MOST_ROUNDS):
                if self.report:
                    lines += report_lines(grouping, kernels)
                kernels += sum(len(group.nodes) > 1 for group in grouping.groups)
                _rebuild(block, grouping)
                if not compute_where_sliced(block, _nodes(block, Sizes(block))):
                    break
                grouping = _group(block)
        for scatter in operations_where(op, is_scatter):
            _compute_where_scattered(scatter)
        for found in operations_where(op, _is_part):
            if not finishes_product(found):
                write_reshaped(found)
        if self.report:
            op.attributes[REPORT] = ir.ArrayAttr.get([ir.StringAttr.get(line) for line in lines])


def _blocks(op: ir.Operation) -> list[ir.Block]:
    """Returns the blocks that hold linalg.generics to fuse."""
    found: dict[ir.Block, None] = {}
    for work in operations_where(op, lambda inner: inner.name == GENERIC):
        # One is enough.
        if work.block not in found and _is_part(work):
            found[work.block] = None
    return list(found)


def _is_part(op: ir.Operation) -> bool:
    return _is_used_generic(op) and is_normal(op)


def _is_used_generic(op: ir.Operation) -> bool:
    return op.name == GENERIC and any(map(is_used, op.results))


def _nodes(block: ir.Block, sizes: Sizes) -> list[Node]:
    return [
        read_node(op.operation, position, sizes, accesses)
        for position, op in enumerate(block)
        if _is_used_generic(op.operation)
        and (accesses := normal_accesses(op.operation)) is not None
    ]


def _compute_where_read(block: ir.Block) -> bool:
    """Makes elements that are read at computed places there; whether there were any.

    What made them is dropped where nothing else reads it.
    """
    sizes = Sizes(block)
    nodes = _nodes(block, sizes)
    makers = {write.value: node for node in nodes for write in node.writes}
    users: list[ir.Operation] = []
    read_behind_slices(block, makers)
    for node in nodes:
        if is_computed_where_read(node, makers):
            users += [user for user in compute_where_read(node, makers) if user not in users]
    if not users:
        return False
    replaced = [op for op in users if _is_part(op) and with_operands(op, sizes) is not None]
    for op in (*replaced, *(node.op for node in reversed(nodes) if node.op not in replaced)):
        if not any(map(is_used, op.results)):
            op.erase()
    return True


def _compute_where_scattered(scatter: ir.Operation) -> None:
    """Makes a scatter of what others make for it alone compute that."""
    found: ir.Operation | None = scatter
    for _ in range(_MOST_ROUNDS):
        if found is not None:
            found = compute_where_scattered(found)


def _group(block: ir.Block) -> Grouping:
    nodes = _nodes(block, Sizes(block))
    grouping = Grouping(nodes, BlockOrder([op.operation for op in block]))
    grouping.group()
    return grouping


def _rebuild(block: ir.Block, grouping: Grouping) -> None:
    """Puts the operations in an order that has each group in one place, and makes it one."""
    fused = {
        node.position: group
        for group in grouping.groups
        if len(group.nodes) > 1
        for node in group.nodes
    }
    if not fused:
        return
    *operations, end = [op.operation for op in block]
    replaced: list[ir.Operation] = []
    for positions in grouping.order.sorted():
        group = fused.get(positions[0])
        for position in positions:
            if position < len(operations):
                operations[position].move_before(end)
        if group is not None:
            with ir.InsertionPoint(end):
                build(group)
            replaced += [node.op for node in group.nodes]
    for op in reversed(replaced):
        op.erase()
