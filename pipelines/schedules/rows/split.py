"""Few long rows: many blocks take parts of each, and a second kernel combines what they found.

Partial states lie in scratch buffers, one for each value of a state; they are combined in the same
order in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ..dependents import await_previous, can_overlap, let_next_begin
from ..elements import address, load
from ..kernels import Kernels
from ..launch import emit_launch, operation_name
from ..parameters import Parameters
from ..region import Region
from ..scratch import allocate_scratch, free_scratch
from ..size import Size
from .body import RowBody
from .collectives import Collective, State
from .plan import RowPlan
from .stages import place_type, plan_stages
from .streamed import emit_part

# Partial states in all: enough blocks to fill any chip several times.
_MOST_PARTS = 8192
# Each row has up to one part more; there are no more rows than multiprocessors (choice.py).
_MOST_ROOM = 2 * _MOST_PARTS
# Of the second kernel: threads of a block, and the partial states that each has under way.
_THREADS, _AT_ONCE = 1024, 8


def launch_split(plan: RowPlan, kernels: Kernels, attributes: dict[str, ir.Attribute]) -> None:
    """Launches both kernels."""
    work, space = plan.space.work, plan.space
    parts, shown = _parts(plan), plan.configuration.attribute
    stages = plan_stages(work, Region(work), merge=True)
    (stage,) = range(len(stages.stages))
    collectives = stages.collectives(stage, place_type(plan.most_elements), None)
    count = space.count * parts
    room = count if count.is_known else Size(_MOST_ROOM)
    scratch = [
        [allocate_scratch(room, kind, work.open) for kind in each.types] for each in collectives
    ]
    first: list[Parameters] = []

    def emit_first(entry: ir.Block) -> None:
        first.append(Parameters(entry, work.open))
        let_next_begin(work.device)
        emit_part(plan, first[0], parts, scratch)

    name, threads = operation_name(work.op), plan.team.threads
    kernel = kernels.build(f"{name}_part", threads, emit_first, work.op.location, attributes, shown)
    emit_launch(kernel, work.open.value(count), threads, first[0].arguments())
    second: list[Parameters] = []

    def emit_second(entry: ir.Block) -> None:
        second.append(Parameters(entry, work.open))
        await_previous(work.device)
        _emit_combined(plan, second[0], parts, scratch)

    kernel = kernels.build(
        f"{name}_parts", _THREADS, emit_second, work.op.location, configuration=shown
    )
    emit_launch(
        kernel,
        work.open.value(space.count),
        _THREADS,
        second[0].arguments(),
        overlaps=can_overlap(work.device),
    )
    free_scratch(each for buffers in scratch for each in buffers)


def _parts(plan: RowPlan) -> Size:
    """The parts of a row: each is a batch of vectors for every thread of a block, or several."""
    space, open_ = plan.space, plan.space.work.open
    batch = plan.width * plan.vectors * plan.team.threads
    if space.length.is_known and space.count.is_known:
        batches = -(-space.length.known // batch)
        each = max(1, -(-batches * space.count.known // _MOST_PARTS))
        return Size(max(1, -(-batches // each)))
    one = index_constant(1)
    batches = arith.ceildivui(open_.value(space.length), index_constant(batch))
    every = arith.muli(batches, open_.value(space.count))
    each = arith.maxui(arith.ceildivui(every, index_constant(_MOST_PARTS)), one)
    return open_.size_of(arith.maxui(arith.ceildivui(batches, each), one))


def _emit_combined(
    plan: RowPlan, parameters: Parameters, parts: Size, scratch: Sequence[Sequence[ir.Value]]
) -> None:
    """The body of the second kernel: a block combines a row's states and writes what it gives."""
    made = replace(plan.configuration, threads=_THREADS, width=1, peeled=False)
    body = RowBody(replace(plan, configuration=made), parameters)
    collectives = body.collectives(0)
    count = parameters.size(parts)
    row = arith.muli(body.team.row, count)
    pointers = [[parameters.pointer(buffer) for buffer in buffers] for buffers in scratch]
    last = arith.subi(count, index_constant(1))

    def step(first: ir.Value, states: list[State]) -> list[State]:
        numbers = [arith.addi(first, index_constant(place * _THREADS)) for place in range(_AT_ONCE)]
        read = [
            _read(collectives, pointers, arith.addi(row, arith.minui(number, last)))
            for number in numbers
        ]
        for number, found in zip(numbers, read, strict=True):
            inside = arith.cmpi(arith.CmpIPredicate.ult, number, count)
            states = [
                each.combine(state, _chosen(each, inside, part))
                for each, state, part in zip(collectives, states, found, strict=True)
            ]
        return states

    states = body.looped(
        collectives, body.team.place, count, index_constant(_THREADS * _AT_ONCE), step
    )
    body.compute_uniform()
    body.finish(collectives, states)
    body.store_uniform()


def _read(
    collectives: Sequence[Collective], pointers: Sequence[Sequence[ir.Value]], at: ir.Value
) -> list[State]:
    return [
        tuple(
            load(address(pointer, kind, at), kind, 1, 1)[0]
            for pointer, kind in zip(own, each.types, strict=True)
        )
        for each, own in zip(collectives, pointers, strict=True)
    ]


def _chosen(collective: Collective, inside: ir.Value, state: State) -> State:
    """The state, or the neutral one where it is not `inside`."""
    return tuple(
        arith.select(inside, value, rest)
        for value, rest in zip(state, collective.neutral(), strict=True)
    )
