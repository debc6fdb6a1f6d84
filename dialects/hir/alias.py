"""`hir.alias`: a buffer that is another's memory."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .layout import show_sizes
from .shapes import may_be_equal
from .symmetric import sharing_teams
from .verify import OperationError, buffer, operands_of, verified


class AliasOp(Hir.Operation, name="alias"):
    """Says that `buffer` lies in the memory of `target`: what produces it writes there.

    Both have the same element type and sizes. Chains resolve; a program's input cannot be the
    buffer; a cycle is an error.

    Example:
      %y = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
      "hir.alias"(%y, %x) : (memref<8xf32>, memref<8xf32>) -> ()
    """

    buffer: ext.Operand[Any]
    target: ext.Operand[Any]

    @staticmethod
    def verify_invariants(op: "AliasOp") -> bool:
        return verified(op, _check)


def _check(op: AliasOp) -> None:
    source, place = operands_of(op, 2, 2)
    alias, target = buffer(source, "the buffer"), buffer(place, "the target")
    if source == place:
        raise OperationError("a buffer cannot be an alias of itself")
    if isinstance(source.owner, ir.Block):
        raise OperationError("an input cannot be an alias: its memory is the caller's")
    if sharing_teams(source):
        raise OperationError(
            "memory that a team shares is where all of the team find it: it can be the target alone"
        )
    if alias.element_type != target.element_type:
        raise OperationError(
            f"buffer and target have one element type, not {alias.element_type} and "
            f"{target.element_type}"
        )
    if not may_be_equal(alias.shape, target.shape):
        raise OperationError(
            f"buffer and target have the same sizes, not {show_sizes(alias.shape)} and "
            f"{show_sizes(target.shape)}"
        )
