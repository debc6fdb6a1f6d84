"""Where the uses of memory are, and the place after which there are none."""

from __future__ import annotations

from ....dialects.mlir import ir
from .owners import Owners, Root


def ancestor_in(op: ir.Operation, block: ir.Block) -> ir.Operation | None:
    """Returns the operation of `block` that `op` is or stands in; None where there is none."""
    here: ir.Operation | None = op
    while here is not None and here.block != block:
        parent = here.parent
        here = None if parent is None or parent.name == "builtin.module" else parent
    return here


class Liveness:
    """The last uses of the lives of a program's memory, on every path.

    A life is used in the block where it begins and in those within. The last use there, as an
    operation of that very block, has every use on every path before it: after a loop that uses the
    buffer, after a hir.if one of whose branches does.
    """

    def __init__(self, owners: Owners) -> None:
        self._last: dict[Root, ir.Operation] = {}

        def visit(op: ir.Operation) -> ir.WalkResult:
            for _, roots in owners.of_operands(op):
                for root in roots:
                    self._note(root, op)
            return ir.WalkResult.ADVANCE

        owners.program.walk(visit, ir.WalkOrder.PRE_ORDER)

    def last_use(self, root: Root) -> ir.Operation:
        """Returns the operation of the block where the life begins after which it is not used."""
        return self._last.get(root, root.maker)

    def _note(self, root: Root, op: ir.Operation) -> None:
        if root.is_input:
            return
        here = ancestor_in(op, root.maker.block)
        known = self._last.get(root, root.maker)
        if here is not None and known.is_before_in_block(here):
            self._last[root] = here
