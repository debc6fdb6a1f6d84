"""Few long rows: many blocks take parts of each, and what they found is combined.

Of sums and the like a second kernel does that. Where reductions need one another's results, or
something is written along rows, one kernel is launched for each such pass: its blocks begin by
combining what those of the passes before found. Partial states lie in scratch buffers, one for each
value of a state; they are combined in the same order in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ..alternatives import Conditions, emit_first_that_holds
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
from .split_bounds import split_bounds
from .stages import StagePlan, place_type, plan_stages
from .streamed import emit_part, emit_pass

# Partial states in all: enough blocks to fill any chip several times. There are fewer of rows of
# which a thread has fewer vectors at once than this, so that parts of long ones are as long.
_MOST_PARTS, _FULL_BATCH = 8192, 4
# Each row has up to one part more; there are no more rows than multiprocessors (choice.py).
_MOST_ROOM = 2 * _MOST_PARTS
# Of the second kernel: threads of a block, and the values of states that each has under way.
_THREADS, _AT_ONCE = 512, 16


def require_split(plan: RowPlan, found: Conditions) -> None:
    """Adds what must hold, besides what the plan asks for."""
    if not takes_any(plan):
        _require_few_long(plan, found)


def takes_any(plan: RowPlan) -> bool:
    """Returns whether the launch finds out whether rows are few and long, and takes others too.

    So it does of rows of open length of which passes are made.
    """
    return not plan.space.length.is_known and _has_passes(plan)


def _has_passes(plan: RowPlan) -> bool:
    work = plan.space.work
    stages = plan_stages(work, Region(work), merge=plan.configuration.merged)
    return len(stages.stages) > 1 or plan.space.has_outputs_along


def _require_few_long(plan: RowPlan, found: Conditions) -> None:
    space, device = plan.space, plan.space.work.device
    assert device is not None
    bounds = split_bounds(space, device, has_passes=_has_passes(plan))
    bounds.require(space.count, space.length, space.work.open, found)


def launch_split(plan: RowPlan, kernels: Kernels, attributes: dict[str, ir.Attribute]) -> None:
    """Launches all kernels, in passes where there are several."""
    work, space = plan.space.work, plan.space
    stages = plan_stages(work, Region(work), merge=plan.configuration.merged)
    if _has_passes(plan):
        _launch_passes(plan, stages, kernels, attributes)
        return
    most = _MOST_PARTS * min(plan.vectors, _FULL_BATCH) // _FULL_BATCH
    parts, shown = _parts(plan, most), plan.configuration.attribute
    (scratch,) = _scratch(plan, stages, parts, _MOST_ROOM)
    count = space.count * parts
    first: list[Parameters] = []

    def emit_first(entry: ir.Block) -> None:
        first.append(Parameters(entry, work.open))
        let_next_begin(work.device)
        emit_part(plan, first[0], parts, scratch)

    name, threads, place = operation_name(work.op), plan.team.threads, work.op.location
    kernel = kernels.build(
        f"{name}_part", threads, emit_first, place, attributes, shown, plan.group
    )
    emit_launch(kernel, work.open.value(count), threads, first[0].arguments())
    second: list[Parameters] = []

    def emit_second(entry: ir.Block) -> None:
        second.append(Parameters(entry, work.open))
        await_previous(work.device)
        _emit_combined(plan, second[0], parts, scratch)

    kernel = kernels.build(
        f"{name}_parts", _THREADS, emit_second, place, attributes, shown, plan.group
    )
    emit_launch(
        kernel,
        work.open.value(space.count),
        _THREADS,
        second[0].arguments(),
        overlaps=can_overlap(work.device),
    )
    free_scratch(each for buffers in scratch for each in buffers)


def _launch_passes(
    plan: RowPlan, stages: StagePlan, kernels: Kernels, attributes: dict[str, ir.Attribute]
) -> None:
    """Launches a kernel once for each stage, and once for the outputs.

    Where rows turn out to be many or short, once in all: a block takes a row, in batches.
    """
    work, space, open_ = plan.space.work, plan.space, plan.space.work.open
    device, team = work.device, plan.team
    assert device is not None
    # Every block reads all states of its row: there are no more than run at once.
    most = device.multiprocessors * (device.threads // team.threads)
    parts, last = _parts(plan, most), len(stages.stages)
    split = Conditions(open_)
    _require_few_long(plan, split)
    if split.value is not None and takes_any(plan):
        parts = open_.size_of(arith.select(split.value, open_.value(parts), index_constant(1)))
    scratch = _scratch(plan, stages, parts, 2 * most)
    now = 0
    made: list[Parameters] = []

    def emit(entry: ir.Block) -> None:
        made.append(Parameters(entry, open_))
        number = made[0].computed("pass", ir.IndexType.get(), lambda _: index_constant(now))
        let_next_begin(device)
        await_previous(device)
        emit_pass(plan, made[0], parts, scratch, number)

    name, shown = operation_name(work.op), plan.configuration.attribute
    kernel = kernels.build(
        name, team.threads, emit, work.op.location, attributes, shown, plan.group
    )

    def launch(number: int, blocks: Size) -> None:
        nonlocal now
        now = number
        overlaps = 0 < number <= last and can_overlap(device)
        count = open_.value(blocks)
        emit_launch(kernel, count, team.threads, made[0].arguments(), overlaps=overlaps)

    def launch_passes() -> None:
        for number in range(last + 1):
            launch(number, space.count * parts)

    if takes_any(plan):
        condition = partial(_require_few_long, plan)
        whole = partial(launch, last + 1, space.count)
        emit_first_that_holds(open_, [(condition, launch_passes)], whole)
    else:
        launch_passes()
    free_scratch(each for stage in scratch for buffers in stage for each in buffers)


def _scratch(
    plan: RowPlan, stages: StagePlan, parts: Size, most: int
) -> list[list[list[ir.Value]]]:
    """Buffers for the states of all parts: of each stage and collective one for each value."""
    count, open_ = plan.space.count * parts, plan.space.work.open
    room = count if count.is_known else Size(most)
    return [
        [
            [allocate_scratch(room, kind, open_) for kind in each.types]
            for each in stages.collectives(stage, place_type(plan.most_elements), None)
        ]
        for stage in range(len(stages.stages))
    ]


def _parts(plan: RowPlan, most: int) -> Size:
    """The parts of a row: each is a batch of vectors for every thread of a block, or several."""
    space, open_ = plan.space, plan.space.work.open
    batch = plan.width * plan.vectors * plan.team.threads
    if space.length.is_known and space.count.is_known:
        batches = -(-space.length.known // batch)
        each = max(1, -(-batches * space.count.known // most))
        return Size(max(1, -(-batches // each)))
    one = index_constant(1)
    batches = arith.ceildivui(open_.value(space.length), index_constant(batch))
    every = arith.muli(batches, open_.value(space.count))
    each = arith.maxui(arith.ceildivui(every, index_constant(most)), one)
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
    at_once = max(1, _AT_ONCE // sum(map(len, scratch)))

    def step(first: ir.Value, states: list[State]) -> list[State]:
        numbers = [arith.addi(first, index_constant(place * _THREADS)) for place in range(at_once)]
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
        collectives, body.team.place, count, index_constant(_THREADS * at_once), step
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
