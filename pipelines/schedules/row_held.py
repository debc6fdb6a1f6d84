"""Rows that a team keeps in registers from the first reduction to the outputs."""

from __future__ import annotations

from ...dialects.mlir import arith, ir
from ..rewriting import index_constant
from .parameters import Parameters
from .row_body import RowBody
from .row_plan import RowPlan
from .row_vectors import RowVectors


def emit_held(plan: RowPlan, parameters: Parameters) -> None:
    """Emits the body of a kernel for rows that fit.

    All of a row's vectors are loaded before the first is used. Weights, which are the same for all
    rows and lie in a cache, are loaded where they are used.
    """
    body = RowBody(plan, parameters, merge=False)
    parts = [_vectors(body)]
    edges = body.edges() if plan.peeled else None
    if edges is not None:
        parts.append(edges)
    _fetch_large(body, parts)
    for stage in range(len(body.stages.stages)):
        collectives = body.collectives(stage)
        inputs = [value for each in collectives for value in each.inputs]
        for part in parts:
            part.fetch(inputs)
        states = [each.accumulate(None, parts[0]) for each in collectives]
        for part in parts[1:]:
            states = [
                each.combine(state, each.accumulate(None, part))
                for each, state in zip(collectives, states, strict=True)
            ]
        body.finish(collectives, states)
    for part in parts:
        body.store(part)
    body.store_uniform()


def _fetch_large(body: RowBody, parts: list[RowVectors]) -> None:
    """Loads what differs from row to row, in the order of its first use."""
    operations = [op for stage in body.stages.stages for op in stage]
    values = [op.operands[0] for op in operations]
    values += [value for _, value in body.outputs_along]
    for value in values:
        for operand in body.operands([value]):
            if body.space.is_large(operand):
                argument = body.space.work.block.arguments[operand.number]
                for part in parts:
                    part.fetch([argument])


def _vectors(body: RowBody) -> RowVectors:
    """The thread's vectors, a team apart, so that a team's accesses lie side by side."""
    plan, team = body.plan, body.team
    numbers: list[ir.Value] = []
    inside: list[ir.Value | None] = []
    last: ir.Value | None = None
    for place in range(plan.vectors):
        number = arith.addi(team.place, arith.muli(team.size, index_constant(place)))
        if _may_be_beyond(plan, place):
            if last is None:
                last = arith.subi(body.whole, index_constant(1))
                if plan.peeled:
                    last = arith.maxsi(last, index_constant(0))
            inside.append(arith.cmpi(arith.CmpIPredicate.ult, number, body.whole))
            number = arith.minui(number, last)
        else:
            inside.append(None)
        numbers.append(number)
    return RowVectors(body.access, numbers, plan.width, inside=inside, start=body.start)


def _may_be_beyond(plan: RowPlan, place: int) -> bool:
    """Whether the vector of that place may lie beyond the row for some thread."""
    length = plan.space.length
    if plan.peeled or not length.is_known or plan.team.threads is None:
        return True
    size = plan.team.lanes if plan.team.rows > 1 else plan.team.threads * plan.team.blocks
    return (place + 1) * size > length.known // plan.width
