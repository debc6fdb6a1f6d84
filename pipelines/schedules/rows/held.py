"""Rows that a team keeps in registers from the first reduction to the outputs."""

from __future__ import annotations

from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ..parameters import Parameters
from ..size import Size
from .body import RowBody
from .plan import RowPlan
from .vectors import RowVectors


def emit_held(plan: RowPlan, parameters: Parameters, members: Size | None) -> None:
    """Emits the body of a kernel for rows that fit; `members` threads of a block take part.

    All of a row's vectors are loaded before the first is used. Weights, which are the same for all
    rows and lie in a cache, are loaded where they are used.
    """
    # Across a cluster one reduction costs more than what it takes to do two at once.
    body = RowBody(plan, parameters, merge=plan.team.blocks > 1, members=members)
    parts = [_vectors(body)]
    edges = body.edges() if plan.peeled else None
    if edges is not None:
        parts.append(edges)
    _fetch_large(body, parts)
    for part in parts:
        body.fetch_early(part)
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
        if stage == 0:
            body.compute_uniform()
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
        number = _number(body, place)
        if _may_be_beyond(plan, place):
            if last is None:
                last = arith.subi(body.whole, index_constant(1))
                if plan.peeled:
                    last = arith.maxsi(last, index_constant(0))
            is_inside = arith.cmpi(arith.CmpIPredicate.ult, number, body.whole)
            if team.is_member is not None:
                is_inside = arith.andi(is_inside, team.is_member)
            inside.append(is_inside)
            number = arith.minui(number, last)
        else:
            inside.append(team.is_member)
        numbers.append(number)
    return RowVectors(body.access, numbers, plan.width, inside=inside, start=body.start)


def _number(body: RowBody, place: int) -> ir.Value:
    """The number of the thread's vector of that place."""
    team = body.team
    if body.plan.team.threads is not None:
        return arith.addi(team.place, arith.muli(team.size, index_constant(place)))
    # In 32 bits, which is half the registers where it is no constant from the first one on.
    i32 = ir.IntegerType.get_signless(32)
    size = arith.muli(arith.index_castui(i32, team.size), arith.constant(i32, place))
    number = arith.addi(arith.index_castui(i32, team.place), size)
    return arith.index_castui(ir.IndexType.get(), number)


def _may_be_beyond(plan: RowPlan, place: int) -> bool:
    """Whether the vector of that place may lie beyond the row for some thread."""
    length = plan.space.length
    if plan.team.threads is None:
        return place == plan.vectors - 1
    if not length.is_known:
        return True
    # The elements before the first vector, at most.
    peeled = plan.width - 1 if plan.peeled else 0
    size = plan.team.lanes if plan.team.rows > 1 else plan.team.threads * plan.team.blocks
    return (place + 1) * size > (length.known - peeled) // plan.width
