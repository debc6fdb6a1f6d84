"""Rows of any length, of which a team takes one batch of vectors after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ....dialects.mlir import arith, ir, scf
from ...lane_reduction import WARP_LANES
from ...rewriting import index_constant
from ..elements import address, load, store
from ..parameters import Parameters
from ..size import Size
from .body import RowBody
from .collectives import Collective, State, as_states, flat
from .plan import RowPlan
from .vectors import RowVectors


def emit_streamed(plan: RowPlan, parameters: Parameters) -> None:
    """Emits the body of a kernel for rows of any length.

    Each stage, and then the outputs, read the row again, the outputs from its end, which the
    caches still have.
    """
    _Streamed(RowBody(plan, parameters)).emit()


def emit_part(
    plan: RowPlan, parameters: Parameters, parts: Size, scratch: Sequence[Sequence[ir.Value]]
) -> None:
    """Emits the body of a kernel for one of several parts of a row, whose states are written."""
    body = RowBody(plan, parameters, parts=parts)
    _Streamed(body).emit_states(
        [[parameters.pointer(buffer) for buffer in buffers] for buffers in scratch]
    )


def emit_pass(
    plan: RowPlan, parameters: Parameters, parts: Size, scratch: _Scratch, now: ir.Value
) -> None:
    """Emits the body of a kernel for one of several parts of a row, in the pass of number `now`.

    In that of a stage, what all parts found in the stages before is combined, and what this one
    finds goes to the stage's buffers. The one after all stages computes the outputs. In the last
    one there is a single part, which does all of that.
    """
    pointers = [
        [[parameters.pointer(buffer) for buffer in buffers] for buffers in of_stage]
        for of_stage in scratch
    ]
    _Streamed(RowBody(plan, parameters, parts=parts)).emit_pass(now, pointers)


class _Streamed:
    def __init__(self, body: RowBody) -> None:
        self._body = body
        self._plan = plan = body.plan
        batch = arith.muli(body.team.size, index_constant(body.plan.vectors))
        self._batch = batch
        # How many batches are whole, and the vectors in them, once that is known.
        self._batches: ir.Value | None = None
        self._covered: ir.Value | None = None
        if not plan.team.is_open or body.part is not None or plan.configuration.tall:
            self._batches = arith.divui(body.whole, batch)

    def emit(self) -> None:
        body = self._body
        for stage in range(len(body.stages.stages)):
            collectives = body.collectives(stage)
            self._prepare([value for each in collectives for value in each.inputs])
            states = self._reduced(
                collectives, is_first=stage == 0, then=body.compute_uniform if stage == 0 else None
            )
            body.finish(collectives, states)
        self._emit_outputs()

    def emit_pass(self, now: ir.Value, pointers: _Scratch) -> None:
        """As above, but that a stage's states are those that parts found where it has been."""
        body, last = self._body, len(pointers)

        def is_now(relation: arith.CmpIPredicate, number: int) -> ir.Value:
            return arith.cmpi(relation, now, index_constant(number))

        for stage, own in enumerate(pointers):
            collectives = body.collectives(stage)
            self._prepare([value for each in collectives for value in each.inputs])
            is_here = is_now(arith.CmpIPredicate.eq, stage)
            reduces = arith.ori(is_here, is_now(arith.CmpIPredicate.ugt, last))
            has_been = is_now(arith.CmpIPredicate.ugt, stage)
            start = [value for each in collectives for value in each.neutral()]
            branch = scf.IfOp(reduces, [value.type for value in start], has_else=True)
            with ir.InsertionPoint(branch.then_block):
                scf.YieldOp(flat(self._reduced(collectives, is_first=stage == 0)))
            assert branch.else_block is not None
            with ir.InsertionPoint(branch.else_block):
                count = arith.select(has_been, body.parts, index_constant(0))
                scf.YieldOp(flat(self._found(collectives, own, count)))
            if stage == 0:
                body.compute_uniform()
            states = body.finish(collectives, as_states(collectives, list(branch.results)))
            self._write(collectives, states, own, [is_here])
        outputs = scf.IfOp(is_now(arith.CmpIPredicate.uge, last))
        with ir.InsertionPoint(outputs.then_block):
            self._emit_outputs()
            scf.YieldOp([])

    def _emit_outputs(self) -> None:
        outputs = [value for _, value in self._body.outputs_along]
        if outputs:
            self._prepare(outputs)
            self._stored()
        self._body.store_uniform()

    def _found(
        self,
        collectives: Sequence[Collective],
        pointers: Sequence[Sequence[ir.Value]],
        count: ir.Value,
    ) -> list[State]:
        """Returns what this thread combines of the states that `count` parts of the row found."""
        body = self._body
        first = body.team.row
        if body.part is not None:
            first = arith.subi(first, body.part)

        def step(number: ir.Value, states: list[State]) -> list[State]:
            where = arith.addi(first, number)
            return [
                each.combine(
                    state,
                    tuple(
                        load(address(pointer, kind, where), kind, 1, 1)[0]
                        for pointer, kind in zip(own, each.types, strict=True)
                    ),
                )
                for each, state, own in zip(collectives, states, pointers, strict=True)
            ]

        return body.looped(collectives, body.team.place, count, body.team.size, step)

    def emit_states(self, pointers: Sequence[Sequence[ir.Value]]) -> None:
        """The first stage alone; what the team finds goes to the buffers, one for each value."""
        body = self._body
        collectives = body.collectives(0)
        self._prepare([value for each in collectives for value in each.inputs])
        states = body.team.reduce(collectives, self._reduced(collectives, is_first=True))
        self._write(collectives, states, pointers, [])

    def _write(
        self,
        collectives: Sequence[Collective],
        states: Sequence[State],
        pointers: Sequence[Sequence[ir.Value]],
        conditions: Sequence[ir.Value],
    ) -> None:
        """The part's first thread writes its states, under further conditions."""
        body, condition = self._body, self._body.team.is_first
        for each in conditions:
            condition = arith.andi(condition, each)
        first = scf.IfOp(condition)
        with ir.InsertionPoint(first.then_block):
            for each, state, own in zip(collectives, states, pointers, strict=True):
                for kind, value, pointer in zip(each.types, state, own, strict=True):
                    store(address(pointer, kind, body.team.row), kind, [value], 1)
            scf.YieldOp([])

    def _prepare(self, values: Sequence[ir.Value]) -> None:
        for value in values:
            self._body.access.point.prepare(value, self._body.space.varying)

    def _reduced(
        self,
        collectives: Sequence[Collective],
        *,
        is_first: bool,
        then: Callable[[], None] | None = None,
    ) -> list[State]:
        """The states of what this thread has of the row, which the first stage checks.

        What is to be emitted `then` comes after the loop over whole batches: what it loads is there
        when the rest of the row is.
        """
        inputs = [value for each in collectives for value in each.inputs]
        if is_first:
            self._prepare([value for op in self._body.checks_along for value in op.operands])

        def fetch(vectors: RowVectors) -> None:
            vectors.fetch(inputs)
            if is_first:
                self._body.check(vectors)

        def add(carried: Sequence[ir.Value], vectors: RowVectors) -> list[ir.Value]:
            fetch(vectors)
            states = [
                each.accumulate(state, vectors)
                for each, state in zip(collectives, as_states(collectives, carried), strict=True)
            ]
            return flat(states)

        def add_edges(carried: Sequence[ir.Value], vectors: RowVectors) -> list[ir.Value]:
            fetch(vectors)
            states = [
                each.combine(state, each.accumulate(None, vectors))
                for each, state in zip(collectives, as_states(collectives, carried), strict=True)
            ]
            return flat(states)

        edges = self._body.edges() if self._has_edges and self._body.takes_any else None
        if edges is not None:
            edges.fetch(inputs)
            edges.pin()
        carried = [value for each in collectives for value in each.neutral()]
        carried = self._whole_batches(carried, add, backward=False)
        if then is not None:
            then()
        carried = self._last_batch(carried, inputs, add)
        carried = self._edges(carried, add_edges, edges)
        return as_states(collectives, carried)

    def _stored(self) -> None:
        def write(_: Sequence[ir.Value], vectors: RowVectors) -> list[ir.Value]:
            self._body.store(vectors)
            return []

        self._edges([], write)
        self._last_batch([], [value for _, value in self._body.outputs_along], write)
        self._whole_batches([], write, backward=True)

    def _whole_batches(
        self, carried: list[ir.Value], emit: _Step, *, backward: bool
    ) -> list[ir.Value]:
        if self._batches is None:
            return self._until_none_is_whole(carried, emit, backward=backward)
        one, part = index_constant(1), self._body.part
        first_batch = index_constant(0) if part is None else part
        loop = scf.ForOp(first_batch, self._batches, self._body.parts, carried)
        with ir.InsertionPoint(loop.body):
            number = loop.induction_variable
            if backward:
                number = arith.subi(arith.subi(self._batches, one), number)
            vectors = self._batch_from(arith.muli(number, self._batch))
            scf.YieldOp(emit(list(loop.inner_iter_args), vectors))
        return list(loop.results)

    def _until_none_is_whole(
        self, carried: list[ir.Value], emit: _Step, *, backward: bool
    ) -> list[ir.Value]:
        """Emits a loop without a division by a number that is not known, which would keep its first
        loads waiting: the first loop finds out how many vectors are in whole batches.
        """
        none, covered = index_constant(0), self._covered
        if covered is None:
            assert not backward
            end = arith.addi(arith.subi(self._body.whole, self._batch), index_constant(1))
            loop = scf.ForOp(none, end, self._batch, [none, *carried])
            with ir.InsertionPoint(loop.body):
                number = loop.induction_variable
                after = arith.addi(number, self._batch)
                values = list(loop.inner_iter_args)[1:]
                scf.YieldOp([after, *emit(values, self._batch_from(number))])
            results: list[ir.Value] = list(loop.results)
            self._covered = results[0]
            return results[1:]
        loop = scf.ForOp(none, covered, self._batch, carried)
        with ir.InsertionPoint(loop.body):
            number = loop.induction_variable
            if backward:
                number = arith.subi(arith.subi(covered, self._batch), number)
            scf.YieldOp(emit(list(loop.inner_iter_args), self._batch_from(number)))
        return list(loop.results)

    def _batch_from(self, first: ir.Value) -> RowVectors:
        """The thread's vectors of the batch that begins with a vector."""
        body = self._body
        place, step = body.team.place, body.team.size
        if self._plan.team.is_open:
            _, place = body.open_place
            step = index_constant(WARP_LANES)
        numbers = self._numbers(arith.addi(first, place), step)
        return RowVectors(body.access, numbers, self._plan.width, start=body.start)

    def _last_batch(
        self, carried: list[ir.Value], values: Sequence[ir.Value], emit: _Step
    ) -> list[ir.Value]:
        """The vectors after the whole batches, fewer than a batch.

        What `values` need of them is loaded before the first is computed, and nothing is done for
        those that lie beyond the row.
        """
        body, first = self._body, self._covered
        if self._batches is not None:
            first = arith.muli(self._batches, self._batch)
        assert first is not None

        def step() -> list[ir.Value]:
            last = arith.subi(body.whole, index_constant(1))
            found: list[RowVectors] = []
            for number in self._numbers(arith.addi(first, body.team.place), body.team.size):
                is_inside = arith.cmpi(arith.CmpIPredicate.ult, number, body.whole)
                near = [arith.minui(number, last)]
                found.append(
                    RowVectors(
                        body.access,
                        [number],
                        self._plan.width,
                        inside=[is_inside],
                        near=near,
                        start=body.start,
                    )
                )
                found[-1].fetch(values)
            states = carried
            for vectors in found:
                (is_inside,) = vectors.inside
                assert is_inside is not None
                vectors.inside = [None]
                states = _if(is_inside, states, partial(emit, states, vectors))
            return states

        is_left = arith.cmpi(arith.CmpIPredicate.ult, first, body.whole)
        if body.part is not None:
            is_left = arith.andi(is_left, self._is_part(arith.subi(body.parts, index_constant(1))))
        return _if(is_left, carried, step)

    @property
    def _has_edges(self) -> bool:
        """Whether there may be elements in no vector."""
        plan = self._plan
        is_whole = not plan.peeled and self._body.space.length.is_multiple_of(plan.width)
        return plan.width > 1 and not is_whole

    def _edges(
        self, carried: list[ir.Value], emit: _Step, loaded: RowVectors | None = None
    ) -> list[ir.Value]:
        """Returns what is made of the elements in no vector, which may be loaded already."""
        body, width = self._body, self._plan.width
        if not self._has_edges:
            return carried

        def step() -> list[ir.Value]:
            edges = loaded or body.edges()
            assert edges is not None
            return emit(carried, edges)

        covered = arith.muli(body.whole, index_constant(width))
        is_left = arith.cmpi(arith.CmpIPredicate.ult, covered, body.length)
        if body.part is not None:
            is_left = arith.andi(is_left, self._is_part(index_constant(0)))
        return _if(is_left, carried, step)

    def _is_part(self, number: ir.Value) -> ir.Value:
        assert self._body.part is not None
        return arith.cmpi(arith.CmpIPredicate.eq, self._body.part, number)

    def _numbers(self, first: ir.Value, step: ir.Value) -> list[ir.Value]:
        return [
            arith.addi(first, arith.muli(step, index_constant(place)))
            for place in range(self._plan.vectors)
        ]


# Of each stage and collective, a buffer for each value of a state; in a kernel its address.
_Scratch = Sequence[Sequence[Sequence[ir.Value]]]
_Step = Callable[[Sequence[ir.Value], RowVectors], list[ir.Value]]


def _if(
    condition: ir.Value, carried: list[ir.Value], emit: Callable[[], list[ir.Value]]
) -> list[ir.Value]:
    """Returns what `emit` makes of the values under a condition, else they as they are."""
    types = [value.type for value in carried]
    branch = scf.IfOp(condition, types, has_else=bool(carried))
    with ir.InsertionPoint(branch.then_block):
        scf.YieldOp(emit())
    if carried:
        assert branch.else_block is not None
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp(carried)
    return list(branch.results)
