"""Rows that a team keeps in registers from the first reduction to the outputs."""

from __future__ import annotations

from ....dialects.mlir import arith, ir
from ...lane_reduction import WARP_LANES
from ...rewriting import index_constant
from ..parameters import Parameters
from ..region_operations import is_harmless
from .body import RowBody
from .plan import RowPlan
from .vectors import RowVectors


def emit_held(plan: RowPlan, parameters: Parameters) -> None:
    """Emits the body of a kernel for rows that fit.

    All of a row's vectors are loaded before the first is used. Weights, which are the same for all
    rows and lie in a cache, are loaded where they are used.
    """
    body = RowBody(plan, parameters)
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
            if stage == 0:
                body.check(part)
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
    """The thread's vectors, a team apart, so that a team's accesses lie side by side.

    Those of an open team of blocks are a warp apart, so that steps are known at compile time.
    """
    plan, team = body.plan, body.team
    i32 = ir.IntegerType.get_signless(32)
    place = team.place
    step = plan.team_threads
    if plan.team.is_open and plan.team.rows == 1:
        step = WARP_LANES
        lane = arith.andi(place, index_constant(WARP_LANES - 1))
        warp = arith.muli(arith.subi(place, lane), index_constant(plan.vectors))
        place = arith.addi(warp, lane)
    # From the first of the thread's vectors to the row's end.
    left = arith.index_cast(i32, arith.subi(body.whole, place))
    last = arith.subi(body.whole, index_constant(1))
    if plan.peeled:
        last = arith.maxsi(last, index_constant(0))
    has_known_steps = not (plan.team.is_open and plan.team.rows > 1)
    # Of peeled rows pieces take the registers that addresses would.
    is_simple = has_known_steps and not plan.peeled
    apart = [vector * step for vector in range(plan.vectors)] if is_simple else None
    numbers: list[ir.Value] = []
    near: list[ir.Value] = []
    inside: list[ir.Value | None] = []
    for vector in range(plan.vectors):
        first, first_in_32 = index_constant(vector * step), arith.constant(i32, vector * step)
        if not has_known_steps:
            first = arith.muli(team.size, index_constant(vector))
            first_in_32 = arith.index_cast(i32, first)
        number = arith.addi(place, first)
        numbers.append(number)
        if vector * step + plan.team_threads <= plan.certain:
            inside.append(None)
            near.append(number)
        else:
            inside.append(arith.cmpi(arith.CmpIPredicate.sgt, left, first_in_32))
            near.append(arith.minui(number, last))
    if not is_harmless(plan.space.work):
        # The region is computed of elements that are there, in place of those that are not.
        return RowVectors(body.access, near, plan.width, inside=inside, start=body.start)
    return RowVectors(
        body.access,
        numbers,
        plan.width,
        inside=inside,
        near=near,
        start=body.start,
        apart=apart,
    )
