"""How values would best be spread, so that the results come spread as they are to be."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.hir.mesh import Spreads
from ...dialects.mlir import indexing_maps, ir
from ..fusion.generic import has_tensors_only
from ..hir.mesh.wishes import Wish, Wishes, add_wish, renamed
from .loops import loops_of, parallel_loops
from .views import INSERT, VIEWS, dim_pairs, inserted_dims


def find_wishes(block: ir.Block, results: Sequence[Spreads]) -> Wishes:
    """For each tensor from which a result is made, the spreads it would have.

    Operations are asked from the last to the first: along each loop an operand would be spread as
    the result. What several want, the last one with a wish that divides decides.
    """
    wishes: Wishes = {}
    for op in reversed([child.operation for child in block]):
        if op.name == "func.return":
            for value, spreads in zip(op.operands, results, strict=True):
                if isinstance(value.type, ir.RankedTensorType):
                    add_wish(wishes, value, Wish(spreads))
        elif op.name in VIEWS and op.results[0] in wishes:
            _ask_tensors(op, wishes)
        elif op.name == INSERT and op.results[0] in wishes:
            _ask_inserted(op, wishes)
        elif op.name.startswith("linalg.") and has_tensors_only(op) and op.results[0] in wishes:
            _ask_operands(op, wishes)
    return wishes


def _ask_tensors(op: ir.Operation, wishes: Wishes) -> None:
    wish, view = wishes[op.results[0]], ir.RankedTensorType(op.results[0].type)
    for value in op.operands:
        if isinstance(value.type, ir.RankedTensorType):
            pairs = dim_pairs(op, ir.RankedTensorType(value.type), view)
            back = {after: before for before, after in pairs}
            spreads = renamed(wish.spreads, back)
            # What a view divides otherwise says nothing of its tensor.
            is_same = [each.is_whole for each in spreads] == [
                each.is_whole for each in wish.spreads
            ]
            add_wish(wishes, value, Wish(spreads, wish.firm and is_same))


def _ask_inserted(op: ir.Operation, wishes: Wishes) -> None:
    wish, (part, into) = wishes[op.results[0]], list(op.operands)[:2]
    dims = inserted_dims(op, ir.RankedTensorType(part.type), ir.RankedTensorType(into.type))
    add_wish(wishes, into, Wish(wish.spreads, wish.firm))
    add_wish(wishes, part, Wish(renamed(wish.spreads, dims)))


def _ask_operands(op: ir.Operation, wishes: Wishes) -> None:
    wish = wishes[op.results[0]]
    firm = wish.firm and len(parallel_loops(op)) == indexing_maps(op)[0].n_dims
    loops = {loop.dim: loop for loop in loops_of(op) if loop.dim is not None}
    for number, operand in enumerate(op.operands):
        if isinstance(operand.type, ir.RankedTensorType):
            places = {dim: loop.places[number] for dim, loop in loops.items()}
            add_wish(wishes, operand, Wish(renamed(wish.spreads, places), firm))
