"""Rows that a team keeps in registers from the first reduction to the outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ....dialects.mlir import arith, gpu, ir, scf
from ...lane_reduction import WARP_LANES
from ...rewriting import index_constant
from ..conditional_load import finished_branch
from ..elements import ACCESS_BYTES, disguised, element_bytes
from ..parameters import Parameters
from ..region_operations import is_harmless
from .body import RowBody
from .collectives import Collective, Merged, State, Total, as_states, flat
from .kept_elements import KeptElements, Left, Widening
from .plan import RowPlan
from .staging import Staging
from .vectors import RowVectors


def emit_held(plan: RowPlan, parameters: Parameters) -> int:
    """Emits the body of a kernel for rows that fit; returns what shared memory it is to be given.

    All of a row's vectors are loaded before the first is used. Weights, which are the same for all
    rows and lie in a cache, are loaded where they are used.
    """
    body = RowBody(plan, parameters)
    staging: Staging | None = None
    if plan.configuration.staged:
        staging = Staging(plan, body.team, parameters)
        staging.bring()
        body.access.stage(staging.areas, staging.row)
    held, stages = _Held(body), len(body.stages.stages)
    for stage in range(stages):
        collectives = body.collectives(stage)
        later = [each for after in range(stage + 1, stages) for each in body.collectives(after)]
        if plan.team.is_open and any(isinstance(each, Merged) for each in collectives):
            _finish_in_blocks(body, held, collectives, later, is_first=stage == 0)
            continue
        states = held.accumulated(collectives, later, is_first=stage == 0)
        if stage == 0:
            body.compute_uniform()
        body.finish(collectives, states)
    held.store()
    if staging is not None:
        staging.take()
    body.store_uniform()
    return 0 if staging is None else staging.bytes


def _finish_in_blocks(
    body: RowBody,
    held: _Held,
    collectives: Sequence[Collective],
    later: Sequence[Collective],
    *,
    is_first: bool,
) -> None:
    """Finishes a stage: each warp or block finds what it has of the row, then all what all have.

    Nothing is rescaled from thread to thread. Warps wait for one another once less than in a block
    that finds all of it, and then rescale what they found.
    """
    team, share = body.team, body.share()
    merged = [each for each in collectives if isinstance(each, Merged)]
    in_warps = all(each.is_found_in_warps(share) for each in merged)
    reduce = team.reduce_warp if in_warps else team.reduce_block
    others = [each for each in collectives if not isinstance(each, Merged)]
    reductions = [each.first for each in merged]
    found = held.accumulated(reductions, [*collectives, *later], is_first=is_first)
    if is_first:
        body.compute_uniform()
    firsts = [value for (value,) in reduce(reductions, found)]
    centers = [each.center(first, share) for each, first in zip(merged, firsts, strict=True)]
    totals, kept = held.around(merged, centers, [*others, *later])
    found = [(total,) for total in totals] + held.accumulated(others, later, is_first=False)
    found = reduce([*(Total(each.type) for each in totals), *others], found)
    states = [
        each.state(first, center, total, share)
        for each, first, center, (total,) in zip(
            merged, firsts, centers, found[: len(merged)], strict=True
        )
    ]
    every = [*merged, *others]
    states = [*states, *found[len(merged) :]]
    if in_warps:
        states = team.reduce_warps(every, states)
    states = team.reduce_blocks(every, states)
    for each, state in zip(every, states, strict=True):
        each.finish(state, body.access.point)
    for each, first, state, values in zip(merged, firsts, states, kept, strict=False):
        held.know(each, each.keep(values, first, state, share))


class _Held:
    """What the thread has of the row: its vectors, and elements before or after all vectors.

    Of an open team most warps have all their vectors, and the row's last one has fewer. The former
    ask of no vector by itself whether it is there: predicates would keep loads waiting for what is
    computed of those before. So each step is emitted for both, in branches.
    """

    def __init__(self, body: RowBody) -> None:
        self._body = body
        plan = body.plan
        self._is_full = _is_full(body) if plan.has_full_warps else None
        self._vectors = None
        if self._is_full is None:
            is_known = body.space.length.is_known
            one = arith.constant(ir.IntegerType.get_signless(32), 1)
            widening = None if is_known else Widening.of(one)
            self._vectors = _vectors(body, is_full=False, widening=widening)
        self._kept = KeptElements(plan.vectors, plan.width)
        self._steps = 0
        self._edges = body.edges() if plan.peeled else None
        self._outputs = [value for _, value in body.outputs_along]

    def accumulated(
        self, collectives: Sequence[Collective], later: Sequence[Collective], *, is_first: bool
    ) -> list[State]:
        """Returns the states of what the thread has; other collectives come `later`.

        The first time all that differs from row to row is loaded, and assertions are checked.
        """
        if not collectives:
            return []
        inputs = [value for each in collectives for value in each.inputs]

        def prepare(body: RowBody, parts: Sequence[RowVectors]) -> None:
            if is_first:
                _fetch_large(body, parts)
            for part in parts:
                part.fetch(inputs)
                if is_first:
                    body.check(part)

        edges = [] if self._edges is None else [self._edges]
        before, beside = (edges, []) if self._is_full else ([], edges)

        def emit(body: RowBody, vectors: RowVectors) -> list[ir.Value]:
            prepare(body, [vectors, *beside])
            self._compute_uniform(body, inputs)
            return flat([each.accumulate(None, vectors) for each in collectives])

        prepare(self._body, before)
        states = as_states(collectives, self._emit(emit, later))
        if self._edges is not None:
            states = [
                each.combine(state, each.accumulate(None, self._edges))
                for each, state in zip(collectives, states, strict=True)
            ]
        return states

    def around(
        self, merged: Sequence[Merged], centers: Sequence[ir.Value], later: Sequence[Collective]
    ) -> tuple[list[ir.Value], list[list[ir.Value]]]:
        """Returns what the thread's elements add up to around the centers, and values to keep."""
        lengths: list[int] = []

        inputs = [value for each in merged for value in each.inputs]

        def emit(body: RowBody, vectors: RowVectors) -> list[ir.Value]:
            self._compute_uniform(body, inputs)
            own = centers
            if self._is_full is not None and not vectors.are_there:
                own = [disguised(center) for center in centers]
            found = [each.around(center, vectors) for each, center in zip(merged, own, strict=True)]
            lengths[:] = [len(kept) for _, kept in found]
            return [*(total for total, _ in found), *(value for _, kept in found for value in kept)]

        known = [each.kept for each in merged if each.is_kept]
        values = self._emit(emit, later, known)
        totals, rest = values[: len(merged)], values[len(merged) :]
        kept: list[list[ir.Value]] = []
        for length in lengths:
            kept.append(rest[:length])
            rest = rest[length:]
        if self._edges is not None:
            for number, (each, center) in enumerate(zip(merged, centers, strict=True)):
                total, more = each.around(center, self._edges)
                totals[number] = arith.addf(totals[number], total)
                kept[number] += more
        return totals, kept

    def know(self, merged: Merged, values: list[ir.Value]) -> None:
        """Makes known what was kept of the elements."""
        if not values:
            return
        parts = [self._vectors or self._kept, self._edges]
        rest = iter(values)
        for part in filter(None, parts):
            for vector in range(len(part)):
                for element in range(part.width):
                    part.know(vector, element, merged.kept, next(rest))

    def store(self) -> None:
        """Computes and writes the outputs' elements."""

        def emit(body: RowBody, vectors: RowVectors) -> list[ir.Value]:
            body.store(vectors)
            return []

        self._compute_uniform(self._body, self._outputs)
        self._emit(emit, [], is_last=True)
        if self._edges is not None:
            self._body.store(self._edges)

    def _compute_uniform(self, body: RowBody, values: Sequence[ir.Value]) -> None:
        """Computes what values need that is the same in all of the row, before branches."""
        if self._is_full is not None:
            for value in values:
                body.access.point.prepare(value, body.space.varying)

    def _emit(
        self,
        emit: Callable[[RowBody, RowVectors], list[ir.Value]],
        later: Sequence[Collective],
        known: Sequence[ir.Value] = (),
        *,
        is_last: bool = False,
    ) -> list[ir.Value]:
        """Returns what is emitted of the vectors.

        What was computed of their elements, and what comes `later` needs, is there afterwards too;
        values that are `known` by then are not asked for.
        """
        if self._is_full is None:
            assert self._vectors is not None
            return emit(self._body, self._vectors)
        needed = [] if is_last else [value for each in later for value in each.inputs]
        needed += [] if is_last else self._outputs
        count = 0
        left: list[Left] = []

        def branch(is_full: bool) -> list[ir.Value]:
            nonlocal count
            body = self._body.fork()
            if not is_full:
                body.access.point.disguise()
            vectors = _vectors(body, is_full=is_full, widening=self._widening())
            vectors.resume(self._kept)
            found = emit(body, vectors)
            count = len(found)
            if is_full:
                left[:], more = vectors.left(needed, known)
                if sum(element_bytes(value.type) for value in more) > 4 * body.plan.room:
                    left[:], more = vectors.left(needed, known, as_loaded=True)
            else:
                more = vectors.given(left)
            return [*found, *more]

        values = _either(self._is_full, partial(branch, True), partial(branch, False))
        self._kept.take(left, values[count:])
        self._steps += 1
        return values[:count]

    def _widening(self) -> Widening:
        """How this step extends elements: not as those before and after it.

        No launch has several blocks in z.
        """
        i32, z = ir.IntegerType.get_signless(32), gpu.Dimension.z
        if self._steps == 0:
            return Widening.of(arith.constant(i32, 1))
        if self._steps % 2:
            return Widening.of(arith.index_cast(i32, gpu.grid_dim(z)))
        number = arith.index_cast(i32, gpu.block_id(z))
        return Widening.of(arith.addi(number, arith.constant(i32, 1)))


def _either(
    condition: ir.Value, emit: Callable[[], list[ir.Value]], otherwise: Callable[[], list[ir.Value]]
) -> list[ir.Value]:
    """Returns what is emitted where a condition holds, or otherwise: values of the same types."""
    draft = scf.IfOp(condition, has_else=True)
    assert draft.else_block is not None
    with ir.InsertionPoint(draft.then_block):
        found = emit()
    with ir.InsertionPoint(draft.else_block):
        other = otherwise()
    return finished_branch(draft, found, other)


def _fetch_large(body: RowBody, parts: Sequence[RowVectors]) -> None:
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


def _is_full(body: RowBody) -> ir.Value:
    """Returns whether all vectors of an open team's warp are the row's.

    Beyond those that are read in pieces there are as many more as such a piece may have.
    """
    plan = body.plan
    first, _ = body.open_place
    i32 = ir.IntegerType.get_signless(32)
    left = arith.index_cast(i32, arith.subi(body.whole, first))
    vectors = WARP_LANES * plan.vectors
    if plan.scattered:
        operands = [each for each in body.space.along if each.number in plan.scattered]
        least = min(element_bytes(each.element) for each in operands)
        vectors += -(-ACCESS_BYTES // (plan.width * least))
    needed = arith.constant(i32, vectors)
    return arith.cmpi(arith.CmpIPredicate.sge, left, needed)


def _vectors(body: RowBody, *, is_full: bool, widening: Widening | None = None) -> RowVectors:
    """The thread's vectors, a team apart, so that a team's accesses lie side by side.

    Those of an open team of blocks are a warp apart, so that steps are known at compile time. If
    they are `is_full`, all of the warp's are the row's.
    """
    plan, team = body.plan, body.team
    i32 = ir.IntegerType.get_signless(32)
    place = team.place
    step = plan.team_threads
    if plan.team.is_open and plan.team.rows == 1:
        step = WARP_LANES
        _, place = body.open_place
    # From the first of the thread's vectors to the row's end.
    left = arith.index_cast(i32, arith.subi(body.whole, place))
    last = arith.subi(body.whole, index_constant(1))
    if plan.peeled:
        last = arith.maxsi(last, index_constant(0))
    has_known_steps = not (plan.team.is_open and plan.team.rows > 1)
    # Of peeled rows pieces take the registers that addresses would.
    is_simple = has_known_steps and not plan.peeled
    apart = [vector * step for vector in range(plan.vectors)] if is_simple else None
    if plan.has_full_warps and not is_full:
        left = disguised(left)
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
        if is_full or vector * step + plan.team_threads <= plan.certain:
            inside.append(None)
            near.append(number)
        else:
            inside.append(arith.cmpi(arith.CmpIPredicate.sgt, left, first_in_32))
            near.append(arith.minui(number, last))
    if is_full:
        return RowVectors(
            body.access,
            numbers,
            plan.width,
            start=body.start,
            apart=apart,
            widening=widening,
            are_far=True,
        )
    if not is_harmless(plan.space.work):
        # The region is computed of elements that are there, in place of those that are not.
        return RowVectors(
            body.access,
            near,
            plan.width,
            inside=inside,
            start=body.start,
            widening=widening,
            skips=plan.has_full_warps,
        )
    return RowVectors(
        body.access,
        numbers,
        plan.width,
        inside=inside,
        near=near,
        start=body.start,
        apart=apart,
        widening=widening,
        skips=plan.has_full_warps,
    )
