"""The column schedule: reductions whose neighbouring elements belong to different results.

A thread takes a vector of neighbouring columns, a block some of them side by side, each by several
threads that share the collective iterations and merge what they have found in shared memory. Where
a few blocks of many threads fill the device with columns alone, they do. Where columns do not, the
iterations are split over the grid's rows too: partial results go to a scratch buffer, and the next
kernel merges them, always in the same order. Where a reduction needs the result of another, the
threads pass over their columns again. Rows that begin at any address are read in the aligned pieces
that they lie in, where one pass is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...hir.index_arithmetic import materialized
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions
from ..configuration import Chooser, is_power_of_two, threads_refusal
from ..dependents import await_previous, can_overlap, let_next_begin
from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..kernels import ANY, Kernels
from ..launch import emit_launch, operation_name, thread_bound
from ..parameters import Parameters
from ..region import Region
from ..scratch import allocate_scratch, free_scratch
from ..shared import SharedMemory
from ..size import MOST_IN_32_BITS
from ..work import Operand, Work
from .checks import can_check
from .configuration import ColumnConfiguration, Kind
from .kernel import ColumnKernel, Stage
from .plan import (
    MOST_COPIES,
    ColumnPlan,
    deep_plan,
    narrow_plan,
    plan_of,
    skewed_plan,
    table_of,
)
from .skewed_access import shifted_operands
from .skewed_kernel import SkewedKernel
from .skewed_partials import shared_bytes
from .space import ColumnSpace, lies_side_by_side, read_space, widest
from .split import (
    Split,
    column_blocks,
    fills_device,
    has_parts,
    least_lanes,
    open_lanes,
    split_of,
)

# What memory is read by at once, as caches have it.
_LINE_BYTES = 128
# Shared memory that a block has without asking for more.
_MOST_SHARED = 48 * 1024


@dataclass(frozen=True)
class _Choice:
    """A plan for at most so many iterations, split or whole, under a condition if there is one.

    Of parts of which only the run knows how many there are, one kernel takes several, and one:
    `whole_of` are those that the plan is whole where there is one.
    A multiprocessor's registers are to hold `resident` blocks. Rows of the operands of `shifted`
    are read in pieces, where the plan is skewed.
    """

    plan: ColumnPlan
    split: Split | None = None
    most: int = MOST_IN_32_BITS
    condition: ir.Value | None = None
    resident: int | None = None
    shifted: Sequence[Operand] = ()
    whole_of: Split | None = None

    @property
    def may_be_whole(self) -> bool:
        """Whether its kernel takes all iterations where they are in one part."""
        is_open = self.split is not None and not self.split.count.is_known
        return is_open and has_one_pass(self.plan.space)

    @property
    def configuration(self) -> ColumnConfiguration:
        plan = self.plan
        return ColumnConfiguration(
            plan.kind,
            plan.width,
            plan.lanes,
            plan.unroll,
            plan.threads,
            self.split is not None,
            self.resident or 0,
            plan.open,
        )


def chooser(work: Work, kernels: Kernels, device: Device) -> ColumnChooser | None:
    """Decides on the kernels; None for work that is not of this kind."""
    space = read_space(work)
    if space is None or not can_check(space, Region(work)):
        return None
    return ColumnChooser(space, kernels, device)


class ColumnChooser(Chooser[ColumnConfiguration]):
    """Wide and narrow accesses, split and whole."""

    def __init__(self, space: ColumnSpace, kernels: Kernels, device: Device) -> None:
        self.work = space.work
        self._space, self._kernels, self._device = space, kernels, device

    def choices(self) -> Sequence[ColumnConfiguration]:
        # Those for few iterations are last: what is asked for may have many.
        found = sorted(_choices(self._space, self._device), key=lambda each: -each.most)
        return list(dict.fromkeys(choice.configuration for choice in found))

    def alternatives(self) -> list[Alternative]:
        choices = _choices(self._space, self._device)
        return [_alternative(choice, self._kernels) for choice in choices]

    def refusal(self, made: ColumnConfiguration) -> str | None:
        space, width, lanes, threads = self._space, made.width, made.lanes, made.threads
        if not all(map(is_power_of_two, (width, lanes, threads))):
            return "'width', 'lanes' and 'threads' are powers of two"
        if width > (widest(space) if lies_side_by_side(space) else 1):
            most = widest(space) if lies_side_by_side(space) else 1
            return f"'width' is at most {most} here: 16 bytes of columns that lie together"
        if lanes > threads or made.unroll < 1 or made.unroll * width > MOST_COPIES:
            return f"'lanes' are at most 'threads', 'unroll' times 'width' {MOST_COPIES}"
        if made.resident < 0 or made.resident * threads > self._device.threads:
            most = self._device.threads
            return f"'resident' times 'threads' is at most {most}, what a multiprocessor holds"
        plan = self._plan(made)
        if made.open and (plan.skewed or not may_open(replace(plan, open=False))):
            table = table_of(space)
            usual = f"'lanes' is {table.lanes}, 'threads' {table.threads}"
            return f"where it is 'open' {usual}, and how many iterations there are not known"
        if made.kernel is Kind.SKEWED:
            shifted = shifted_operands(space)
            if shifted is None:
                return "'kernel' is aligned where operands do not lie alike in one pass over rows"
            only = ACCESS_BYTES // element_bytes(shifted[0].element)
            if width != only or lanes < 2 or lanes * width > threads:
                return f"of skewed rows 'width' is {only}, 'lanes' 2 to 'threads' divided by that"
        extent = space.lane.extent
        if made.kernel is Kind.ALIGNED and extent.is_known and extent.known % width:
            return f"'width' divides {extent.known}, the columns of a row"
        if self._shared(plan) > self._device.shared_bytes:
            return f"partial results have at most {self._device.shared_bytes} bytes"
        if made.split and split_of(plan, self._device) is None:
            return "'split' is false where one part fills the device"
        return threads_refusal(threads, self._device)

    def alternative(self, made: ColumnConfiguration) -> Alternative:
        plan = self._plan(made)
        split = split_of(plan, self._device) if made.split else None
        shifted = shifted_operands(self._space) if plan.skewed else None
        choice = _Choice(plan, split, resident=made.resident or None, shifted=shifted or ())
        return _alternative(choice, self._kernels)

    def _plan(self, made: ColumnConfiguration) -> ColumnPlan:
        is_skewed = made.kernel is Kind.SKEWED
        return ColumnPlan(
            self._space, made.width, made.lanes, made.unroll, made.threads, is_skewed, made.open
        )

    def _shared(self, plan: ColumnPlan) -> int:
        """The shared memory of a block."""
        if plan.skewed:
            return shared_bytes(plan)
        bytes_ = sum(
            element_bytes(kind)
            for level in self._space.levels
            for each in level
            for kind in each.types
        )
        parts = plan.threads // max(plan.lanes, self._device.lanes)
        return bytes_ * plan.width * parts * plan.lanes if parts > 1 else 0


def _choices(space: ColumnSpace, device: Device) -> Iterator[_Choice]:
    """Plans from the most special to the one that takes everything.

    Where sizes are open, special ones for few iterations are for a single pass alone: each is code.
    """
    wide, narrow, table = _usable_width(space), _plan_for(space, 1), table_of(space)
    is_one_pass, known = has_one_pass(space), space.iterations.is_known
    # Blocks whose lanes the launch says take few iterations as well.
    are_few = known and space.iterations.known <= table.few_iterations
    if wide > 1 and lies_side_by_side(space):
        plan = _plan_for(space, wide)
        if are_few or (is_one_pass and not known and not may_open(plan)):
            yield _Choice(_few_plan(space, wide, device), most=table.few_iterations)
        if not are_few:
            yield from _for_many(plan, device)
            for choice in _skewed(space, device):
                yield choice
                if _is_certain(choice):
                    return
    if are_few or (wide == 1 and is_one_pass and not known and not may_open(narrow)):
        yield _Choice(_few_plan(space, 1, device), most=table.few_iterations)
    if are_few:
        return
    yield from _split_and_whole(narrow, device)


def _few_plan(space: ColumnSpace, width: int, device: Device) -> ColumnPlan:
    """Returns a plan for few iterations: a thread takes all of a vector.

    Of known columns, where blocks would leave multiprocessors idle, threads share single ones.
    """
    plan = plan_of(space, width, table_of(space).threads)
    blocks = column_blocks(plan)
    if not space.iterations.is_known or not isinstance(blocks, int):
        return plan
    return narrow_plan(space) if blocks < device.multiprocessors else plan


def _usable_width(space: ColumnSpace) -> int:
    """Returns the widest vectors of columns: of few known ones, which pieces of rows are not worth,
    such as make whole rows.
    """
    width, extent = widest(space), space.lane.extent
    if not extent.is_known or extent.known >= skewed_plan(space, width).block_columns // 2:
        return width
    while extent.known % width:
        width //= 2
    return width


def _for_many(plan: ColumnPlan, device: Device) -> Iterator[_Choice]:
    """Plans of wide accesses for more than a few iterations."""
    is_full: bool | ir.Value = False
    resident: int | None = None
    if has_one_pass(plan.space):
        if may_open(plan) and plan.space.is_light:
            # Left alone, the assembler loads one iteration after another to save registers.
            resident = replace(plan, open=True).resident_blocks(device)
        deep = deep_plan(plan.space, plan.width)
        is_full = fills_device(deep, device)
        condition = None if isinstance(is_full, bool) else is_full
        if is_full is not False:
            yield _Choice(deep, condition=condition, resident=deep.resident_blocks(device))
    if is_full is not True:
        for choice in _split_and_whole(plan, device):
            yield replace(choice, resident=resident)


def has_one_pass(space: ColumnSpace) -> bool:
    """Whether each element is read once, and outputs have one a column."""
    return len(space.levels) == 1 and not space.full_outputs


def may_open(plan: ColumnPlan) -> bool:
    """Whether the launch may say how many lanes a block has: of any number of iterations."""
    is_usual = plan.lanes == plan.table.lanes and plan.threads == plan.table.threads
    return is_usual and not plan.skewed and not plan.space.iterations.is_known


def _plan_for(space: ColumnSpace, width: int) -> ColumnPlan:
    """A plan of the usual threads; of known iterations with as many lanes as are best."""
    plan = plan_of(space, width, table_of(space).lanes)
    iterations, extent, columns = space.iterations, space.lane.extent, space.columns
    if not iterations.is_known or not extent.is_known:
        return plan
    lanes = least_lanes(plan, -(-extent.known // width), iterations.known)
    if columns.is_known:
        lanes = min(lanes, -(-columns.known // width))
    return replace(plan, lanes=min(plan.lanes, _power_of_two(lanes)))


def _split_and_whole(plan: ColumnPlan, device: Device) -> Iterator[_Choice]:
    kept = _kept_plan(plan, device)
    if kept is not None:
        # One launch that reads once takes less time than those of parts, however few blocks it has.
        yield _Choice(kept)
        return
    plan = replace(plan, open=may_open(plan))
    split = split_of(plan, device)
    parts = _Choice(plan, split)
    if split is not None:
        yield parts
    if split is None or not split.count.is_known:
        yield _Choice(plan, whole_of=split if parts.may_be_whole else None)


def _kept_plan(plan: ColumnPlan, device: Device) -> ColumnPlan | None:
    """Returns a plan whose threads keep all iterations, None if none does.

    It has fewer lanes where else a thread has too many iterations, or where more multiprocessors
    have a block then; but rows of memory of a line at least.
    """
    size = plan.width * min(element_bytes(each.element) for each in plan.space.large)
    while plan.lanes * size > _LINE_BYTES:
        blocks = column_blocks(plan)
        is_full = not isinstance(blocks, int) or blocks >= device.multiprocessors
        if is_full and plan.kept() is not None:
            break
        plan = replace(plan, lanes=plan.lanes // 2)
    return None if plan.kept() is None else plan


def _skewed(space: ColumnSpace, device: Device) -> Iterator[_Choice]:
    """Plans for rows of any alignment where there is work enough for the blocks' many threads."""
    shifted = shifted_operands(space)
    if shifted is None:
        return
    plan = skewed_plan(space, ACCESS_BYTES // element_bytes(shifted[0].element))
    if shared_bytes(plan) > _MOST_SHARED:
        return
    for choice in _split_and_whole(plan, device):
        yield replace(choice, shifted=shifted, resident=plan.resident_blocks(device))


def _is_certain(choice: _Choice) -> bool:
    """Whether what skewed rows ask for is there, so that what comes after has nothing to take.

    All ask for the layout that is assumed of the buffers, so that does not count.
    """
    found = Conditions(choice.plan.space.work.open)
    _require_skewed(choice, found)
    is_whole = choice.split is None or choice.split.count.is_known
    return is_whole and found.value is None and not found.never


def _power_of_two(number: int) -> int:
    """The least one that is no less than a number."""
    return 1 << max(number - 1, 0).bit_length()


def _alternative(choice: _Choice, kernels: Kernels) -> Alternative:
    plan, split = choice.plan, choice.split
    space = plan.space

    def conditions(found: Conditions) -> None:
        found.require(space.work.layouts_hold())
        if choice.most != MOST_IN_32_BITS or space.has_short_iterations:
            found.require_at_most(space.iterations, choice.most)
        if plan.skewed or not space.iterations.is_known:
            # A block counts its own in 32 bits, past the last by as many as it takes at once.
            its_own = space.iterations if split is None else split.iterations
            found.require_at_most(its_own, MOST_IN_32_BITS - plan.threads * plan.unroll)
        found.require_at_most(space.columns, MOST_IN_32_BITS)
        if plan.skewed:
            _require_skewed(choice, found)
        elif plan.width > 1:
            require_vectors(plan, found)
        if split is not None:
            found.require(has_parts(plan, split))
        found.require(choice.condition)

    return conditions, lambda: _launch(choice, kernels)


def require_vectors(plan: ColumnPlan, found: Conditions) -> None:
    """Every vector of an operand that has neighbours is aligned."""
    space = plan.space
    found.require_multiple(space.lane.extent, plan.width)
    for operand in space.work.operands:
        if not plan.is_vector(operand):
            continue
        alignment = plan.alignment(operand)
        found.require_aligned(operand, alignment)
        for loop in (*space.parallel[:-1], *space.collective):
            stride = loop.stride_of(space.work, operand.number)
            found.require_multiple(stride, alignment // element_bytes(operand.element))


def _require_skewed(choice: _Choice, found: Conditions) -> None:
    """There is work for half of a block's columns and all of its threads, and rows lie apart."""
    plan, space = choice.plan, choice.plan.space
    (along,) = space.collective
    found.require_at_least(space.lane.extent, plan.block_columns // 2)
    found.require_at_least(space.iterations, plan.chunk)
    model, *others = choice.shifted
    for other in others:
        found.require_same_alignment(model, other, ACCESS_BYTES)
    step = along.stride_of(space.work, model.number)
    if step.is_known and space.lane.extent.is_known:
        found.require_at_least(step, space.lane.extent.known)
    elif step != space.lane.extent:
        value = space.work.open.value
        are_apart = arith.CmpIPredicate.sge
        found.require(arith.cmpi(are_apart, value(step), value(space.lane.extent)))


def _launch(choice: _Choice, kernels: Kernels) -> None:
    """One kernel, or one for each level and one for the outputs."""
    plan, split = choice.plan, choice.split
    space = plan.space
    levels = tuple(range(len(space.levels)))
    if split is None and choice.whole_of is not None:
        # Partial results go nowhere.
        nowhere = {0: [_same(space.work.outputs[0].buffer) for _ in _kinds(space, 0)]}
        whole = Stage((), levels, True, choice.whole_of, nowhere, may_be_whole=True)
        _launch_stage(choice, whole, kernels)
        return
    if split is None:
        _launch_stage(choice, Stage((), levels, True, None, {}), kernels)
        return
    scratch: dict[int, list[ir.Value]] = {}
    for level in levels:
        scratch[level] = [
            allocate_scratch(split.most, kind, space.work.open) for kind in _kinds(space, level)
        ]
        before, is_whole = levels[:level], choice.may_be_whole
        stage = Stage(before, (level,), False, split, dict(scratch), may_be_whole=is_whole)
        _launch_stage(choice, stage, kernels)
    # What merges columns does not matter for wide ones: that of narrow ones is there.
    is_shared = plan.skewed or choice.may_be_whole
    narrow = narrow_plan(space)
    rest = _Choice(replace(narrow, open=may_open(narrow)), split) if is_shared else choice
    _launch_stage(rest, Stage(levels, (), True, split, scratch), kernels)
    free_scratch(buffer for buffers in scratch.values() for buffer in buffers)


def _kinds(space: ColumnSpace, level: int) -> list[ir.Type]:
    """The types of a level's running values."""
    return [kind for each in space.levels[level] for kind in each.types]


def _same(buffer: ir.Value) -> ir.Value:
    """A buffer as another value, so that a kernel is given it apart from the buffer."""
    return ir.Operation.create("memref.cast", results=[buffer.type], operands=[buffer]).results[0]


def _launch_stage(choice: _Choice, stage: Stage, kernels: Kernels) -> None:
    plan, space = choice.plan, choice.plan.space
    made: list[tuple[Parameters, SharedMemory]] = []

    def emit(entry: ir.Block) -> None:
        parameters, shared = Parameters(entry, space.work.open), SharedMemory()
        made.append((parameters, shared))
        if not stage.stores or stage.may_be_whole:
            let_next_begin(space.work.device)
        if stage.combines:
            await_previous(space.work.device)
        if plan.skewed:
            SkewedKernel(plan, stage, choice.shifted, parameters, shared).emit()
        else:
            ColumnKernel(plan, stage, parameters, shared).emit()

    name = operation_name(space.work.op)
    if not stage.stores and not stage.may_be_whole:
        name += "_part"
    attributes: dict[str, ir.Attribute] = {}
    if choice.resident is not None:
        i32 = ir.IntegerType.get_signless(32)
        attributes["nvvm.minctasm"] = ir.IntegerAttr.get(i32, choice.resident)
    threads: int | ir.Value = plan.threads
    if plan.open:
        attributes |= thread_bound(plan.threads, space.work.device)
    place, made_of = space.work.op.location, choice.configuration.attribute
    block_size = None if plan.open else plan.threads
    group = _group(plan)
    kernel = kernels.build(name, block_size, emit, place, attributes, made_of, group)
    (parameters, shared) = made[0]
    block_rows: ir.Value | None = None
    if plan.open:
        threads = _lanes_of_launch(plan, is_split=choice.split is not None)
        block_rows = arith.divui(index_constant(plan.threads), threads)
        columns = arith.muli(threads, index_constant(plan.width))
        blocks = arith.ceildivui(space.work.open.value(space.columns), columns)
    else:
        blocks = materialized(column_blocks(plan))
    rows = None
    is_split = stage.split is not None and choice.whole_of is None
    if stage.split is not None and is_split and (stage.reduces or space.full_outputs):
        rows = space.work.open.value(stage.split.count)
    overlaps = bool(stage.combines) and can_overlap(space.work.device)
    emit_launch(
        kernel,
        blocks,
        threads,
        parameters.arguments(),
        shared.bytes,
        rows,
        overlaps=overlaps,
        block_rows=block_rows,
    )


def _group(plan: ColumnPlan) -> str | None:
    """Returns which kernels need about as many registers."""
    work = plan.space.work
    if plan.skewed or not plan.open:
        return work.group("many" if plan.threads == plan.table.many_threads else None)
    return work.group(ANY if plan.width == 1 else "vectors")


def _lanes_of_launch(plan: ColumnPlan, *, is_split: bool) -> ir.Value:
    """Emits the lanes of a block: a thread takes all of few iterations."""
    lanes = open_lanes(plan)
    if is_split:
        return lanes
    iterations = plan.space.work.open.value(plan.space.iterations)
    few = index_constant(plan.table.few_iterations)
    are_few = arith.cmpi(arith.CmpIPredicate.ule, iterations, few)
    return arith.select(are_few, index_constant(plan.threads), lanes)
