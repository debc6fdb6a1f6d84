"""What a contraction is to warpgroups: boxes of its factors, and the tiles that they make.

A factor must lie as a matrix of at most five dims for the copy engine (TMA): 16-byte strides, and
either terms or its own loop neighbours in memory. The loops of rows and columns that a tile is of
are the innermost ones that lie in a row; others, like those of a batch, give each tile its place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Self

from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ..configuration import Configuration, Value
from ..device import Device
from ..elements import SECTOR_BYTES, element_bytes
from ..rows.element_cost import cost_of_result
from ..size import ONE, ZERO, Size, product
from ..warp_matrices import LANES
from ..warpgroup_matrices import (
    BARRIER_BYTES,
    DEPTH_BYTES,
    MOST_DIMS,
    PATTERN_BYTES,
    PATTERN_ROWS,
    ROW_BYTES,
    ROWS,
    STRIDE_BYTES,
    THREADS,
    Kinds,
)
from .companions import RUN, Box, Companion, is_row, read_companion, steps_of
from .form import Factor, Form
from .warpgroup_partials import partials_of
from .window import Window, read_window

# Columns of one product, and warpgroups that multiply, by their registers.
MOST_COLUMNS, MOST_CONSUMERS = 256, 3
# Columns of all products of a thread, which takes a register for two: with one or two consumers,
# and with three, where ptxas refuses products of 256.
_MOST_SUMS, _MOST_SUMS_OF_THREE = 256, 192
# Registers of a multiprocessor, the most of a thread, and what steps need beside sums (ptxas: 30).
REGISTERS, MOST_REGISTERS, _STEP_REGISTERS = 65536, 255, 40
# Registers of a thread where a warpgroup copies and two or three multiply: 24 and twice 240, or
# three times 160, are less than the 512 that a lane of each has, in multiples of 8 (PTX ISA,
# "setmaxnreg").
PRODUCER_REGISTERS, CONSUMER_REGISTERS = 24, {2: 240, 3: 160}
# So many take turns, with so many columns of all products.
_CONSUMERS_APART, _MOST_SUMS_APART = 2, 384
# The same of all products and of one more, whose sums of a step a thread holds besides.
_MOST_WITH_STEP, _MOST_WITH_STEP_OF_THREE = 384, 256
# So many need no more registers with those of a step than threads have alike (ptxas: 192 spill).
_FEW_SUMS = 128
# The bytes of elements that may have rows or columns side by side.
_TURNED_BYTES = 2


@dataclass(frozen=True)
class WarpgroupConfiguration(Configuration):
    """A block computes tiles of `rows` by `columns`; each of its `consumers` has an equal part, or
    where they work `apart` every so many-th tile: one stores results while another multiplies.

    `stages` steps of 128 bytes of terms are in shared memory, or on their way. Tiles follow one
    another along `group` of them down, then to the right. A multiprocessor has `resident` blocks.
    A sum is made in `parts`, by the blocks of a cluster, which have one tile together. Or the
    blocks of a cluster have neighbouring tiles, `down` below one another and `across` beside one
    another: what several of them read comes once, to all of these. With `companions` these come
    like a step, too, tile by tile.
    """

    family: ClassVar[str] = "contraction"
    candidates: ClassVar[Mapping[str, Sequence[Value]]] = {
        "rows": (64, 128, 192, 256),
        "columns": (64, 96, 128, 192, 256),
        "stages": (3, 4, 5, 6),
        "consumers": (1, 2, 3),
        "group": (4, 8, 16),
        "resident": (1, 2),
        "parts": (1, 2, 4, 8),
        "down": (1, 2),
        "across": (1, 2),
        "companions": (False, True),
        "apart": (False, True),
    }

    rows: int
    columns: int
    stages: int
    consumers: int = 2
    group: int = 8
    resident: int = 1
    parts: int = 1
    down: int = 1
    across: int = 1
    companions: bool = False
    apart: bool = False

    def with_values(self, values: Mapping[str, Value]) -> Self:
        """The same but for these fields. Consumers that cannot work apart do not, unless asked."""
        made = super().with_values(values)
        return made if made.may_be_apart or "apart" in values else replace(made, apart=False)

    @property
    def may_be_apart(self) -> bool:
        """Whether there are two consumers that sum all terms, with registers for a tile each."""
        is_alone = self.parts == self.resident == 1 and self.consumers == _CONSUMERS_APART
        return is_alone and self.rows * self.columns <= ROWS * _MOST_SUMS_APART

    @property
    def together(self) -> int:
        """The consumers that have a tile together."""
        return 1 if self.apart else self.consumers

    @property
    def neighbours(self) -> int:
        """The tiles that the blocks of a cluster have."""
        return self.down * self.across

    @property
    def readers(self) -> tuple[int, int]:
        """The blocks that read the same rows, and the same columns."""
        return self.across, self.down

    @property
    def cluster(self) -> int:
        """The blocks of a cluster."""
        return self.parts * self.neighbours

    @property
    def slices(self) -> int:
        """The products of 64 rows that each consumer makes of a step of terms."""
        return self.rows // self.together // ROWS

    @property
    def stage_bytes(self) -> int:
        return (self.rows + self.columns) * ROW_BYTES

    @property
    def shared_bytes(self) -> int:
        """What a block takes, with what may be skipped to begin at a pattern of the swizzle."""
        return self.stages * (self.stage_bytes + 2 * BARRIER_BYTES) + PATTERN_BYTES

    @property
    def part_bytes(self) -> int:
        """The sums of a part, which lie where the stages were."""
        return self.rows * (self.columns + RUN) * 4 if self.parts > 1 else 0


@dataclass(frozen=True)
class Reading:
    """How the copy engine sees a factor: dims, innermost first, each one or several loops.

    `own` and `terms` are the places of the tiled loops among the dims, one of which is the first.
    """

    factor: Factor
    dims: tuple[tuple[int, ...], ...]
    own: int
    terms: int

    @property
    def is_along_terms(self) -> bool:
        """Whether terms are neighbours in memory."""
        return self.terms == 0

    @property
    def splits_sectors(self) -> bool:
        """Whether rows in memory are known to begin within sectors of the caches."""
        size = element_bytes(self.factor.element)
        strides = [self.factor.strides[loops[-1]] for loops in self.dims[1:]]
        return any(each.is_known and each.known * size % SECTOR_BYTES for each in strides)


@dataclass(frozen=True)
class WarpgroupPlan:
    """What tiles are of: `rows`, `columns` and `terms` each lie in a row of memory.

    `outer` are the other loops of the result, `outer_terms` those that are summed around `terms`.
    Where the first factor is read in windows, `rows` are loops of which a tile has a box.
    """

    form: Form
    first: Reading | Window
    second: Reading
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    terms: tuple[int, ...]
    outer: tuple[int, ...]
    outer_terms: tuple[int, ...]

    @cached_property
    def element(self) -> ir.Type:
        return self.form.first.element

    @cached_property
    def companions(self) -> tuple[Companion, ...]:
        """The operands with an element for each result that lie so that boxes may be copied."""
        if isinstance(self.first, Window):
            return ()
        found = [
            read_companion(self.form, operand, self.rows, self.columns, self.outer)
            for operand in self.form.work.inputs
        ]
        return tuple(each for each in found if each is not None)

    def companion_steps(self, made: WarpgroupConfiguration) -> list[list[Box]]:
        """Returns the boxes of each step of a tile's companions that come through the ring."""
        if not made.companions or made.parts > 1:
            return []
        return steps_of(self.companions, made.rows, made.columns, made.stage_bytes)

    def copied(self, made: WarpgroupConfiguration) -> list[Companion]:
        """Returns the companions that do."""
        boxes = [box for step in self.companion_steps(made) for box in step]
        return list(dict.fromkeys(box.companion for box in boxes))

    @cached_property
    def kinds(self) -> Kinds:
        """PTX's names of the factors' element types."""
        found = self.form.kinds
        assert found is not None
        return found

    def most_sums(self, consumers: int, *, apart: bool = False) -> int:
        """The most columns of all products of a thread, by its registers."""
        if apart:
            return _MOST_SUMS_APART
        if consumers <= 2:
            return _MOST_SUMS
        return _FEW_SUMS if self.form.is_promoted else _MOST_SUMS_OF_THREE

    def product_columns(self, made: WarpgroupConfiguration) -> int:
        """The columns of one product.

        Where the sums of a step are added to those before, a thread has registers for those of one
        product of a step: the fewer columns one has, the more sums there may be.
        """
        if not self.form.is_promoted:
            return made.columns
        most = _MOST_WITH_STEP if made.consumers <= 2 else _MOST_WITH_STEP_OF_THREE
        room = most - made.slices * made.columns
        return made.columns // -(-made.columns // room)

    def threads(self, made: WarpgroupConfiguration) -> int:
        """Those of a block: the last warp is the producer, or the first of the last warpgroup."""
        return made.consumers * THREADS + (THREADS if self.gives_registers(made) else LANES)

    def gives_registers(self, made: WarpgroupConfiguration) -> bool:
        """Whether the producer gives registers to consumers, which would have 168 or 128 of them.

        A multiprocessor has four equal parts of registers: with a 9th or a 13th warp one has three
        or four warps.
        """
        return made.consumers > 1 and self.is_alone(made)

    def is_alone(self, made: WarpgroupConfiguration) -> bool:
        """Whether a block has the registers of a whole multiprocessor."""
        sums = made.slices * made.columns
        is_large = made.apart or self.form.is_promoted or made.consumers > 1
        return made.consumers > 2 or (is_large and sums > _FEW_SUMS)

    def spare_registers(self, made: WarpgroupConfiguration) -> int:
        """Returns the registers of a thread that multiplies beside sums and what steps need."""
        if self.gives_registers(made):
            held = CONSUMER_REGISTERS[made.consumers]
        else:
            held = REGISTERS // (self.threads(made) * made.resident) // 8 * 8
        return max(0, min(held, MOST_REGISTERS) - made.slices * made.columns // 2 - _STEP_REGISTERS)

    @cached_property
    def result_instructions(self) -> float:
        """The instructions that each result takes, from its sum on, until it is stored."""
        reduced = len(self.form.work.statistics) * _REDUCED_INSTRUCTIONS
        return cost_of_result(self.form.work) + reduced

    def paced_instructions(self, made: WarpgroupConfiguration) -> float:
        """Those of which few are begun at a time, so that the other consumer's products go on."""
        is_alone = made.apart and not made.companions
        is_paced = is_alone and self.result_instructions >= _LEAST_PACED
        return self.result_instructions if is_paced else 0

    @property
    def depth(self) -> int:
        """The terms of a step."""
        return ROW_BYTES // element_bytes(self.element)

    @property
    def pieces(self) -> int:
        """The pieces of a step's terms that are multiplied: no more than there are."""
        terms = self.extent(self.terms)
        most = ROW_BYTES // DEPTH_BYTES
        if not terms.is_known:
            return most
        return min(most, -(-terms.known * element_bytes(self.element) // DEPTH_BYTES))

    @property
    def splits_sectors(self) -> bool:
        """Whether rows of a factor of a matrix product begin within sectors of the caches."""
        return not isinstance(self.first, Window) and (
            self.first.splits_sectors or self.second.splits_sectors
        )

    @property
    def outer_of_columns(self) -> bool:
        """Whether loops around tiles change which columns there are."""
        return any(self.second.factor.strides[loop] != ZERO for loop in self.outer)

    @property
    def run(self) -> int:
        """How many columns, from a multiple of so many on, are of one innermost loop: 8, 2 or 1."""
        inner = self.form.work.extents[self.columns[-1]]
        if len(self.columns) == 1:
            return RUN
        return next(run for run in (RUN, 2, 1) if inner.is_multiple_of(run))

    def extent(self, loops: Sequence[int]) -> Size:
        """How many iterations loops have together."""
        return product([self.form.work.extents[loop] for loop in loops])

    def row_tiles(self, rows: int, down: int = 1) -> Size:
        """Returns how many tiles of so many rows there are, or columns of so many such tiles."""
        if isinstance(self.first, Window):
            return Size(-(-self.first.count(rows) // down))
        return self.form.work.open.divided_up(self.extent(self.rows), rows * down)


def read_warpgroups(form: Form, device: Device) -> WarpgroupPlan | None:
    """How warpgroups compute a form, or None where they cannot; strides may be found not to fit.

    Of several ways the one that takes least time.
    """
    if not device.has_warpgroup_products or form.steps or not form.terms or form.is_computed:
        return None
    if not form.rows or not form.columns or form.kinds is None:
        return None
    turned = replace(
        form, first=form.second, second=form.first, rows=form.columns, columns=form.rows
    )
    plans = [_in_rows(form)]
    if plans[0] is None:
        # A result need not have its rows side by side in memory.
        other = _in_rows(turned)
        plans = [other if other is not None and _may_be_copied(other) else None]
    if _is_windowed(form, form.first, form.rows):
        plans.append(_in_windows(form))
    if _is_windowed(form, form.second, form.columns):
        plans.append(_in_windows(turned))
    found = [plan for plan in plans if plan is not None and _takes_statistics(plan, device)]
    if len(found) < 2:
        return next(iter(found), None)
    return min(found, key=lambda plan: timed_warpgroups(plan, device)[0])


def _takes_statistics(plan: WarpgroupPlan, device: Device) -> bool:
    """Returns whether the kernel of some tile reduces what statistics do."""
    if not plan.form.work.statistics:
        return True
    tiles = [
        _configuration(device, rows, columns, resident, 1)
        for rows, columns, resident, _ in _tiles_of(plan)
        if fits(plan, rows, columns)
    ]
    return any(partials_of(plan, made) is not None for made in tiles)


def _in_rows(form: Form) -> WarpgroupPlan | None:
    """Returns how tiles are of rows and columns that each lie in a row of memory."""
    factors = (form.first, form.second)
    if any(factor.guards for factor in factors):
        return None
    rows = tail_of(form, form.rows, [form.first])
    columns = tail_of(form, form.columns, [form.second])
    terms = tail_of(form, form.terms, factors)
    outer = tuple(
        loop for loop in (*form.batch, *form.rows, *form.columns) if loop not in (*rows, *columns)
    )
    outer_terms = tuple(loop for loop in form.terms if loop not in terms)
    around = (*outer_terms, *outer)
    first = reading_of(form, form.first, rows, terms, around)
    second = reading_of(form, form.second, columns, terms, around)
    if first is None or second is None or not can_split(form, columns):
        return None
    # Only operands of 16 bits may be transposed (PTX ISA, "wgmma.mma_async").
    is_turned = not (first.is_along_terms and second.is_along_terms)
    if is_turned and element_bytes(form.first.element) != _TURNED_BYTES:
        return None
    return WarpgroupPlan(form, first, second, rows, columns, terms, outer, outer_terms)


def _may_be_copied(plan: WarpgroupPlan) -> bool:
    """Whether the copy engine takes the strides of both factors, as far as they are known."""
    count = STRIDE_BYTES // element_bytes(plan.element)
    return all(
        not stride.is_known or stride.known % count == 0
        for reading in (plan.first, plan.second)
        if isinstance(reading, Reading)
        for stride in (reading.factor.strides[loops[-1]] for loops in reading.dims[1:])
    )


def _is_windowed(form: Form, factor: Factor, own: tuple[int, ...]) -> bool:
    """Whether what a tile reads of a factor does not lie in one row of memory."""
    return bool(factor.guards) or len(tail_of(form, own, [factor])) < len(own)


def _in_windows(form: Form) -> WarpgroupPlan | None:
    """Returns how tiles are of boxes of the first factor, of whose terms the innermost is one."""
    if form.second.guards:
        return None
    columns = tail_of(form, form.columns, [form.second])
    *outer_terms, inner = form.terms
    outer = tuple(loop for loop in (*form.batch, *form.columns) if loop not in columns)
    first = read_window(form)
    second = reading_of(form, form.second, columns, (inner,), (*outer_terms, *outer))
    if first is None or second is None or not can_split(form, columns):
        return None
    if not second.is_along_terms and element_bytes(form.first.element) != _TURNED_BYTES:
        return None
    rows = form.rows
    return WarpgroupPlan(form, first, second, rows, columns, (inner,), outer, tuple(outer_terms))


def tail_of(form: Form, loops: tuple[int, ...], factors: Sequence[Factor]) -> tuple[int, ...]:
    """The innermost loops that step through all factors as one."""
    first = len(loops) - 1
    while first > 0:
        if not all(is_row(form, loops[first - 1 :], factor.strides) for factor in factors):
            break
        first -= 1
    return loops[first:]


def reading_of(
    form: Form,
    factor: Factor,
    own: tuple[int, ...],
    terms: tuple[int, ...],
    around: tuple[int, ...],
) -> Reading | None:
    """Returns how the copy engine sees a factor; None where its strides do not fit."""
    steps = factor.strides[own[-1]], factor.strides[terms[-1]]
    others = tuple((loop,) for loop in around if factor.strides[loop] != ZERO)
    if len(others) + 2 > MOST_DIMS:
        others = _together(form, factor, others)
    if ZERO in steps or len(others) + 2 > MOST_DIMS or ONE not in steps:
        return None
    if steps[1] == ONE:
        return Reading(factor, (terms, own, *others), 1, 0)
    return Reading(factor, (own, terms, *others), 0, 1)


def _together(
    form: Form, factor: Factor, dims: Sequence[tuple[int, ...]]
) -> tuple[tuple[int, ...], ...]:
    """Returns dims with those as one that step through a factor as one."""
    found: list[tuple[int, ...]] = []
    for dim in dims:
        if found and is_row(form, (*found[-1], *dim), factor.strides):
            dim = (*found.pop(), *dim)
        found.append(dim)
    return tuple(found)


def can_split(form: Form, columns: tuple[int, ...]) -> bool:
    """Whether a tile may have columns of several loops.

    Eight are of one innermost loop; or the next row's results follow those of such a loop in
    memory, as those of a sub-pixel convolution do.
    """
    inner = form.work.extents[columns[-1]]
    if len(columns) == 1 or inner.is_multiple_of(RUN):
        return True
    written = form.work.outputs[0].strides
    return inner.is_known and written[columns[-1]] == ONE and written[form.rows[-1]] == inner


# Tiles, with how many blocks of one a multiprocessor has, and the part of the tensor cores' rate
# that is reached while products follow one another. These and the numbers below are fitted to
# twelve products on an H200, and to times of nine others with 13 tiles, bare and with a gelu.
_TILES = (
    (128, 256, 1, 0.98),
    (128, 192, 1, 0.99),
    (128, 160, 1, 0.98),
    (128, 128, 1, 0.99),
    (64, 256, 1, 0.83),
    (64, 128, 2, 0.8),
    (64, 64, 2, 0.54),
)
# Further ones, from five convolutions of so many filters: for what is read in windows, and where
# the first of them has all columns.
_NARROW_TILES = (
    (128, 96, 1, 0.88),
    (128, 64, 2, 0.74),
    (256, 32, 1, 0.54),
    (128, 32, 2, 0.54),
)
_NARROW = 160
# The same where the sums of each step are added to those before: in proportion to what these tiles
# reached for five products of f8 on an H200. While a warpgroup adds, the tensor cores have the
# others' products: those of 64x128 results take 256 cycles a step, which is enough for three
# warpgroups, and for two hardly. Those of 64 rows are not fitted.
_PROMOTED_TILES = (
    (192, 128, 1, 0.98),
    (128, 192, 1, 0.975),
    (128, 256, 1, 0.915),
    (256, 128, 1, 0.895),
    (128, 128, 1, 0.895),
    (64, 256, 1, 0.63),
    (64, 128, 2, 0.8),
    (64, 64, 2, 0.54),
)
# Tiles of 16 bits that consumers have apart.
_APART_TILES = ((128, 128, 1, 0.945), (128, 192, 1, 0.97), (128, 160, 1, 0.95))
# Neighbouring tiles of a cluster, down and across, and the part of their share that tiles reach so:
# blocks wait for each other. It is for rows that begin within sectors: for others it did not gain.
_NEIGHBOURS, _NEIGHBOURS_SHARE = ((1, 2), (2, 1)), 0.97
_MOST_STAGES = 6
# Cycles of a multiprocessor's tensor cores for 64 rows by 8 columns by 32 bytes of terms (the same
# for tf32, 16 and 8 bits by the data sheet), and the bytes that reach it in a cycle.
CYCLES, BYTES_PER_CYCLE = 4, 60
# The instructions that each result takes besides what is computed of its sum: lanes exchange and
# store it. As many threads as begin one in a cycle take so many cycles for it: as many where
# another consumer multiplies, which then does not, as where none does, unless they are paced
# (pace.py). Consumers that are apart hide how long a tile takes besides: its last products, and
# what waits for memory.
_STORE_INSTRUCTIONS, _AT_ONCE, _INSTRUCTION_CYCLES, _TILE_CYCLES = 3, 128, 1.13, 900
# So many instructions of a result and more are paced, and then take so many cycles. Of 5, beside
# companions or sums of the results, they took longer so.
_LEAST_PACED, _PACED_CYCLES = 10, 4.4
# The cycles for each result of companions that are loaded word by word.
_LOAD_CYCLES = 0.2
# Those of a tile whose results may lie beyond the last row, and the last column.
_GUARDED_ROWS, _GUARDED_COLUMNS = 300, 1500
# The bytes of rows that begin within sectors: 23 to 30 in tiles of seven kinds of three products.
_SPLIT_BYTES_PER_CYCLE = 28
_OPEN_SIZE = 4096
# The instructions by which a result is combined with others, exchanges of lanes among them.
_REDUCED_INSTRUCTIONS = 1.5
# A thread has this many sums, and what the copy engine brings for results, and no room besides.
_MOST_SUMS_REDUCED = 256
# The cycles of a kernel that reduces results, and the bytes that it and the one before it move of
# each: it is written in 16 bits, and read.
_PASS_CYCLES, _PASSED_BYTES = 4000, 4


def choose_warpgroups(plan: WarpgroupPlan, device: Device) -> WarpgroupConfiguration:
    """Returns the tile of least time, and in how many parts its sums are made, by a model of it."""
    return timed_warpgroups(plan, device)[1]


def timed_warpgroups(plan: WarpgroupPlan, device: Device) -> tuple[float, WarpgroupConfiguration]:
    """Returns the same, and its cycles."""
    whole = [*_timed_tiles(plan, device, [1]), *_timed_apart(plan, device)]
    best = min(whole, key=_cycles)
    if plan.form.work.statistics:
        return best
    divided = _timed_tiles(plan, device, dict(device.tables.parts.read_bytes))
    in_parts = min(divided, key=_cycles, default=best)
    most = best[0] * (1 - 1 / device.tables.parts.least_gain)
    return in_parts if in_parts[0] < most else best


def is_reduced_apart(plan: WarpgroupPlan, device: Device) -> bool:
    """Returns whether sums in parts, and a pass that reduces them, take less time than the tiles
    whose kernel does both.
    """
    divided = [
        cycles for cycles, _ in _timed_tiles(plan, device, dict(device.tables.parts.read_bytes))
    ]
    results = product([plan.extent(loops) for loops in (plan.rows, plan.columns, plan.outer)])
    if not divided or not results.is_known:
        return False
    moved = results.known * _PASSED_BYTES / device.tables.finished_products.pass_bytes
    apart = min(divided) + _PASS_CYCLES + moved / device.multiprocessors
    return apart < timed_warpgroups(plan, device)[0]


def _timed_tiles(
    plan: WarpgroupPlan, device: Device, counts: Collection[int]
) -> list[tuple[float, WarpgroupConfiguration]]:
    """Returns the tiles that a plan may have with so many parts of sums, and their cycles."""
    return [
        (_cost(plan, device, made, share), made)
        for rows, columns, resident, share in _tiles_of(plan)
        if fits(plan, rows, columns)
        for parts in counts
        for made in _configurations(
            plan, device, rows, columns, resident if parts == 1 else 1, parts
        )
        if made.slices * made.columns <= plan.most_sums(made.consumers, apart=made.apart)
        if parts == 1 or _is_worth_parts(plan, device, made)
        if parts > 1 or partials_of(plan, made) is not None
    ]


def _tiles_of(plan: WarpgroupPlan) -> Sequence[tuple[int, int, int, float]]:
    """Returns the tiles that are tried, with resident blocks and shares."""
    if plan.form.is_promoted:
        return _PROMOTED_TILES
    is_narrow = isinstance(plan.first, Window) or _size(plan, plan.columns) <= _NARROW
    return (*_TILES, *_NARROW_TILES) if is_narrow else _TILES


def _timed_apart(
    plan: WarpgroupPlan, device: Device
) -> Iterator[tuple[float, WarpgroupConfiguration]]:
    """Yields the same of tiles that consumers have apart, with their cycles."""
    if element_bytes(plan.element) != _TURNED_BYTES or isinstance(plan.first, Window):
        return
    for rows, columns, resident, share in _APART_TILES:
        if fits(plan, rows, columns):
            (made, *_) = _configurations(plan, device, rows, columns, resident, 1, apart=True)
            # Registers do not hold what is reduced, too.
            is_full = made.companions and made.slices * made.columns > _MOST_SUMS_REDUCED
            if plan.form.work.statistics and is_full:
                continue
            if partials_of(plan, made) is not None:
                yield _cost(plan, device, made, share), made


def _cycles(timed: tuple[float, WarpgroupConfiguration]) -> float:
    return timed[0]


def _is_worth_parts(plan: WarpgroupPlan, device: Device, made: WarpgroupConfiguration) -> bool:
    """Returns whether blocks of all parts run at once, each with enough to do; of known sizes."""
    table, extents = device.tables.parts, plan.form.work.extents
    if not all(extent.is_known for extent in extents) or made.parts > device.cluster_blocks:
        return False
    tiles, steps = _tiles(plan, made), _steps(plan)
    results = product([plan.extent(loops) for loops in (plan.rows, plan.columns, plan.outer)]).known
    room = device.multiprocessors // table.groups - (table.uneven if made.parts > 2 else 0)
    clusters = table.groups * (room // made.parts)
    return (
        made.part_bytes <= made.stages * made.stage_bytes
        and steps >= made.parts * table.least_steps
        and tiles <= clusters
        and results * table.least_filled >= tiles * made.rows * made.columns
    )


def refusal(plan: WarpgroupPlan, device: Device, made: WarpgroupConfiguration) -> str | None:
    """Why no kernel can be made of a configuration, and what can be; None where one can."""
    numbers = (made.consumers, made.group, made.resident, made.parts, made.down, made.across)
    if min(made.stages - 1, *numbers, made.rows, made.columns) < 1:
        return "numbers are at least 1, and 'stages' 2"
    if made.consumers > MOST_CONSUMERS:
        return f"'consumers' are {MOST_CONSUMERS} at most"
    if made.rows % (made.together * ROWS) or made.rows > MOST_COLUMNS:
        return f"'rows' are {ROWS} for each of 'consumers', or a multiple up to {MOST_COLUMNS}"
    if made.apart and (plan.form.is_promoted or not made.may_be_apart):
        most = ROWS * _MOST_SUMS_APART
        return f"'apart' is for two 'consumers' that sum all terms, and up to {most} results each"
    if made.apart and len(plan.companion_steps(made)) >= made.stages:
        return "'stages' are more than the steps of companions where consumers work 'apart'"
    if made.columns % (RUN * 4) or made.columns > MOST_COLUMNS:
        return f"'columns' are a multiple of {RUN * 4} up to {MOST_COLUMNS}"
    if not fits(plan, made.rows, made.columns):
        return f"'rows' and 'columns' that lie together are multiples of {plan.depth}"
    if made.slices * made.columns > plan.most_sums(made.consumers, apart=made.apart):
        most = plan.most_sums(made.consumers, apart=made.apart) // made.slices
        return f"a thread has registers for {most} 'columns' of so many 'rows'"
    if made.shared_bytes * made.resident > device.shared_bytes:
        return f"'resident' blocks have {device.shared_bytes} bytes of shared memory together"
    if plan.is_alone(made) and made.resident > 1:
        # Where the blocks' own do not do, the first consumer to ask for more waits forever.
        return "'resident' is 1 where threads have the registers of a whole multiprocessor"
    if made.parts > device.cluster_blocks:
        return f"'parts' are {device.cluster_blocks} at most, the blocks of a cluster"
    if partials_of(plan, made) is None:
        return "a tile's rows and columns have no unit of what is reduced of results, or 'parts'"
    if made.companions and not plan.companions:
        return "'companions' are operands with an element for each result, in rows of 16 bytes"
    if made.neighbours > 1:
        return _refusal_of_neighbours(plan, device, made)
    if made.part_bytes > made.stages * made.stage_bytes:
        return "the sums of 'parts' lie where 'stages' were, which are too few"
    return None


def _refusal_of_neighbours(
    plan: WarpgroupPlan, device: Device, made: WarpgroupConfiguration
) -> str | None:
    """Why the blocks of a cluster cannot have neighbouring tiles; None where they can."""
    most = device.cluster_blocks
    if made.parts > 1 or made.neighbours > most:
        return f"'down' by 'across' are {most} at most, the blocks of a cluster, and 1 with 'parts'"
    if isinstance(plan.first, Window):
        if made.across > 1:
            return "'across' is 1 where rows are a box of an image, which is copied as a whole"
        if plan.first.count(made.rows) % made.down:
            return f"'down' divides the {plan.first.count(made.rows)} boxes of so many 'rows'"
    sides = ((plan.first, made.rows, made.across), (plan.second, made.columns, made.down))
    for reading, size, count in sides:
        least = PATTERN_ROWS if reading.is_along_terms else plan.depth
        if size % (count * least):
            return f"blocks that share 'rows' or 'columns' copy multiples of {least} of them each"
    return None


def fits(plan: WarpgroupPlan, rows: int, columns: int) -> bool:
    """Whether a tile is of whole boxes: of rows or columns that are neighbours, 128 bytes each.

    A box of an image is one that a copy brings.
    """
    if isinstance(plan.first, Window) and plan.first.box(rows) is None:
        return False
    sides = ((plan.first, rows), (plan.second, columns))
    return all(reading.is_along_terms or size % plan.depth == 0 for reading, size in sides)


def _configuration(
    device: Device, rows: int, columns: int, resident: int, parts: int
) -> WarpgroupConfiguration:
    # With three, a warpgroup has no more than 64 rows.
    consumers = rows // ROWS if rows < 4 * ROWS else 2
    probe = WarpgroupConfiguration(rows, columns, 1, consumers)
    room = device.shared_bytes // resident - PATTERN_BYTES * (2 if resident > 1 else 1)
    stages = min(room // (probe.stage_bytes + 2 * BARRIER_BYTES), _MOST_STAGES)
    return WarpgroupConfiguration(rows, columns, stages, consumers, resident=resident, parts=parts)


def _configurations(
    plan: WarpgroupPlan,
    device: Device,
    rows: int,
    columns: int,
    resident: int,
    parts: int,
    *,
    apart: bool = False,
) -> Iterator[WarpgroupConfiguration]:
    """Those of a tile."""
    made = _configuration(device, rows, columns, resident, parts)
    made = replace(made, companions=True, apart=apart)
    made = replace(made, companions=bool(plan.companion_steps(made)))
    yield made
    if plan.splits_sectors and resident == parts == 1 and not apart:
        for down, across in _NEIGHBOURS:
            together = replace(made, down=down, across=across)
            if _refusal_of_neighbours(plan, device, together) is None:
                yield together


def product_cycles(rows: int, columns: int, terms: int, device: Device) -> float:
    """Returns the cycles that a product of 16 bits takes, by the same model: that of its best tile.

    Rows of both operands begin with sectors, and sums are made whole; either operand may lie by
    terms.
    """
    depth = ROW_BYTES // _TURNED_BYTES
    tiles = [(*each, False) for each in _TILES] + [(*each, True) for each in _APART_TILES]
    tiles = [each for each in tiles if each[1] % depth == 0]
    steps = -(-terms // depth)

    def cost(height: int, width: int, resident: int, share: float, apart: bool) -> float:
        made = replace(_configuration(device, height, width, resident, 1), apart=apart)
        blocks = -(-rows // height) * -(-columns // width)
        work = _Work(blocks, steps, made.stage_bytes / BYTES_PER_CYCLE)
        return _cycles_of(device, made, share, work)

    return min(cost(*each) for each in tiles)


def tensor_core_cycles(rows: int, columns: int, terms: int, device: Device) -> float:
    """Returns the cycles that a product of 16 bits takes where all tensor cores multiply."""
    per_step = rows / ROWS * columns / 8 * (ROW_BYTES // DEPTH_BYTES) * CYCLES
    return per_step * terms * _TURNED_BYTES / ROW_BYTES / device.multiprocessors


def _cost(plan: WarpgroupPlan, device: Device, made: WarpgroupConfiguration, share: float) -> float:
    """The cycles of the multiprocessor that has most to do; sizes that are open are large."""
    brought, paced = plan.companion_steps(made), plan.paced_instructions(made)
    work = _Work(
        _tiles(plan, made),
        _steps(plan),
        _copy_cycles(plan, made),
        sum(map(len, brought)) * made.rows * ROW_BYTES / BYTES_PER_CYCLE,
        len(brought),
        _STORE_INSTRUCTIONS + plan.result_instructions - paced,
        paced,
        plan.pieces,
    )
    more = 0.0
    if plan.companions and not brought and made.parts == 1:
        more += _LOAD_CYCLES * made.rows * made.columns
    if not plan.extent(plan.rows).is_multiple_of(made.rows * made.down):
        more += _GUARDED_ROWS
    if not plan.extent(plan.columns).is_multiple_of(made.columns * made.across):
        more += _GUARDED_COLUMNS
    return _cycles_of(device, made, share, work) + more * -(-work.tiles // device.multiprocessors)


@dataclass(frozen=True)
class _Work:
    """So many tiles, of so many steps, with the cycles that one takes to copy, and those that a
    tile's companions do, which come in steps, too, and the instructions that each result takes,
    besides those that are `paced`.

    So many pieces of a step are multiplied.
    """

    tiles: int
    steps: int
    copy: float
    companions: float = 0
    companion_steps: int = 0
    result_instructions: float = _STORE_INSTRUCTIONS
    paced: float = 0
    pieces: int = ROW_BYTES // DEPTH_BYTES


def _cycles_of(device: Device, made: WarpgroupConfiguration, share: float, work: _Work) -> float:
    """Returns the same of some work."""
    if made.neighbours > 1:
        share *= _NEIGHBOURS_SHARE
    products = made.rows // ROWS * made.columns // 8 * work.pieces * CYCLES / share
    steps = -(-work.steps // made.parts)
    tile = max(products * steps, work.copy * steps + work.companions)
    own = made.rows * made.columns / made.parts / _AT_ONCE
    end = work.result_instructions * _INSTRUCTION_CYCLES * own
    tile += end
    # While one consumer does so, the other one multiplies.
    tile = max(tile, (tile + work.paced * _PACED_CYCLES * own) / 2)
    if made.parts > 1:
        table, others = device.tables.parts, 1 - 1 / made.parts
        per_byte = 1 / table.write_bytes + others / dict(table.read_bytes)[made.parts]
        tile += table.meeting_cycles + made.part_bytes * per_byte
    # Blocks that share a multiprocessor take turns at its tensor cores.
    room = device.multiprocessors // made.neighbours * made.neighbours
    rounds = -(-work.tiles * made.parts // room)
    waits: float = rounds
    if made.apart:
        # Turns wait for the companions of the other consumer's tile: for one step of them half as
        # long.
        waits = (1, (1 + rounds) / 2, rounds)[min(work.companion_steps, 2)]
    # One consumer alone, which waits for its own instructions, stores the last tile.
    alone = 0.0
    if made.apart:
        alone = end / 2 + work.paced * _INSTRUCTION_CYCLES * own
    return rounds * tile + waits * _TILE_CYCLES / made.resident + alone


def _copy_cycles(plan: WarpgroupPlan, made: WarpgroupConfiguration) -> float:
    """Returns how long a block copies its part of a step."""
    first, second = plan.first, plan.second
    if isinstance(first, Window):
        return first.copied_rows(made.rows, made.columns) * ROW_BYTES / BYTES_PER_CYCLE
    sides = zip((first, second), (made.rows, made.columns), made.readers, strict=True)
    return sum(
        size
        / readers
        * ROW_BYTES
        / (_SPLIT_BYTES_PER_CYCLE if side.splits_sectors else BYTES_PER_CYCLE)
        for side, size, readers in sides
    )


def _tiles(plan: WarpgroupPlan, made: WarpgroupConfiguration) -> int:
    """Returns how many tiles blocks take; sizes that are open are large.

    A cluster may have some beyond the last row or column.
    """
    rows = -(-_size(plan, plan.rows) // (made.rows * made.down))
    if isinstance(plan.first, Window):
        rows = plan.row_tiles(made.rows, made.down).known
    columns = -(-_size(plan, plan.columns) // (made.columns * made.across))
    return rows * columns * made.neighbours * _size(plan, plan.outer)


def _steps(plan: WarpgroupPlan) -> int:
    """Returns how many steps a tile's sums have."""
    return -(-_size(plan, plan.terms) // plan.depth) * _size(plan, plan.outer_terms)


def _size(plan: WarpgroupPlan, loops: Sequence[int]) -> int:
    extent = plan.extent(loops)
    return extent.known if extent.is_known else _OPEN_SIZE
