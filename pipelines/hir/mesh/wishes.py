"""How values would best be spread, so that the outputs come spread as they are to be."""

from __future__ import annotations

from collections.abc import Mapping

from ....dialects.hir.mesh import Mesh, Spreads
from ....dialects.hir.program_mesh import spreads_of
from ....dialects.hir.spread import Spread
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ..compute_ops import COMPUTE_OPS, ELEMENTWISE_OPS, inputs_of
from .loops import loops_of


@dataclass(frozen=True)
class Wish:
    """How a buffer would be spread. Where it is not `firm`, a product or reduction lies between,
    which may be divided by other loops: then it says what may be tried, and counts for nothing.
    """

    spreads: Spreads
    firm: bool = True


Wishes = dict[ir.Value, Wish]


def find_wishes(block: ir.Block, mesh: Mesh) -> Wishes:
    """For each buffer from which an output or a declared result is made, the spreads it would have.

    Operations are asked from the last to the first: along each loop an operand would be spread as
    the result. What several want, the last one with a wish that divides decides.
    """
    wishes: Wishes = {}
    for op in reversed([child.operation for child in block]):
        if op.name == "hir.output" and isinstance(op.operands[0].type, ir.MemRefType):
            rank = op.operands[0].type.rank
            spreads = spreads_of(op.attributes.get("spread"), rank, mesh)
            add_wish(wishes, op.operands[0], Wish(spreads))
        elif op.name == "hir.permute" and op.results[0] in wishes:
            order = dict(enumerate(ir.DenseI64ArrayAttr(op.attributes["order"])))
            wish = wishes[op.results[0]]
            add_wish(wishes, op.operands[0], Wish(renamed(wish.spreads, order), wish.firm))
        elif op.name in COMPUTE_OPS and len(op.results):
            _ask_operands(op, mesh, wishes)
    return wishes


def _ask_operands(op: ir.Operation, mesh: Mesh, wishes: Wishes) -> None:
    if "spread" in op.attributes:
        rank = ir.MemRefType(op.results[0].type).rank
        wishes[op.results[0]] = Wish(spreads_of(op.attributes["spread"], rank, mesh))
    wish = wishes.get(op.results[0])
    if wish is None:
        return
    firm = wish.firm and op.name in ELEMENTWISE_OPS
    loops = {loop.dim: loop for loop in loops_of(op, _type) if loop.dim is not None}
    for number, operand in enumerate(inputs_of(op)):
        if isinstance(operand.type, ir.MemRefType):
            places = {dim: loop.places[number] for dim, loop in loops.items()}
            add_wish(wishes, operand, Wish(renamed(wish.spreads, places), firm))


def renamed(spreads: Spreads, dims: Mapping[int, int | None]) -> Spreads:
    """Returns the spreads of another buffer or tensor, of which these are the dims."""
    return tuple(
        Spread() if each.axis is None else Spread(axis=dims.get(each.axis)) for each in spreads
    )


def _type(value: ir.Value) -> ir.MemRefType:
    return ir.MemRefType(value.type)


def add_wish(wishes: Wishes, value: ir.Value, wish: Wish) -> None:
    """Adds a wish, if no other one divides the value."""
    if value not in wishes or all(each.is_whole for each in wishes[value].spreads):
        wishes[value] = wish
