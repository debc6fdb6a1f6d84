"""The contraction schedule: a tile of results a block, its factors through shared memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...fusion.tiles import FALLBACK, TILES
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions, emit_first_that_holds
from ..configuration import Chooser, Value
from ..dependents import await_previous, can_overlap, let_next_begin
from ..device import TILES_CAPABILITY, Device
from ..division import divide_without_calls
from ..elements import ACCESS_BYTES, element_bytes
from ..kernels import Kernels
from ..launch import emit_launch, operation_name
from ..parameters import Parameters
from ..scratch import allocate_scratch, free_scratch
from ..size import MOST_IN_32_BITS, ONE, Size, product
from ..warp_matrices import ELEMENTS
from ..warpgroup_matrices import STRIDE_BYTES
from ..work import Layout, Operand, Work, read_work
from .apart import is_separable, launch_apart
from .companions import RUN
from .configuration import (
    COPIED_BYTES,
    PARTS_THREADS,
    OpenSize,
    TileConfiguration,
    TileSpace,
    Tiling,
    open_sizes,
    run_of,
    takes_bytes,
)
from .form import Factor, Form, is_far, places_of, reaches, read_form
from .kernel import ContractionKernel, PartsKernel, Tiles, partials_of_tiles
from .patch_kernel import PatchKernel, turned_outputs
from .patches import (
    PatchConfiguration,
    patch_refusal,
    read_patches,
    result_cycles,
    timed_patches,
)
from .statistics import Partials, emit_apart, emit_ends, in_layout, is_virtual
from .stencil import Stencil, StencilKernel, is_stencil
from .tile_statistics import Stored
from .units import unit_of, wide_reads
from .warpgroup_kernel import WarpgroupKernel
from .warpgroup_partials import partials_of
from .warpgroups import (
    Reading,
    WarpgroupConfiguration,
    WarpgroupPlan,
    choose_warpgroups,
    is_reduced_apart,
    read_warpgroups,
    refusal,
    timed_warpgroups,
)
from .window import Window

# Products of matrices of fewer multiplications are for schedules of reductions: see
# products/small.py, which has the most that come here.
_FEW_PRODUCTS = 1 << 22
# Rows or columns of a small matrix: half of the rows of a warpgroup's tile.
_SMALL_SIDE = 32


def chooser(
    work: Work, kernels: Kernels, device: Device
) -> ContractionChooser | PatchChooser | None:
    """Decides on the kernels; None for what is no contraction."""
    works = [work]
    if any(operand.is_assumed for operand in work.operands):
        works.append(in_layout(work, Layout.ANY))
    forms = [form for form in map(read_form, works) if form is not None]
    if len(forms) < len(works):
        return None
    if work.statistics and any(map(is_stencil, forms)):
        return None
    if all(map(is_stencil, forms)) or all(_is_taken(form, device) for form in forms):
        made = ContractionChooser(forms, kernels, device)
        if made.is_reduced_apart:
            return None
        plan = read_patches(forms[0], device)
        if plan is None:
            return made
        cycles, choice = timed_patches(plan, device)
        return PatchChooser(plan, choice, made) if cycles < made.cycles else made
    if _is_of_bytes(forms[0], device) and not work.statistics:
        return BytesChooser(forms[:1], kernels, device)
    return None


_Made = WarpgroupConfiguration | TileConfiguration


class ContractionChooser(Chooser[_Made]):
    """The tiled kernel for the layout assumed, and for any.

    Configurations are those for the layout assumed: of warpgroups where these compute it from what
    the copy engine brings, and of tiles that threads copy.
    """

    def __init__(self, forms: Sequence[Form], kernels: Kernels, device: Device) -> None:
        self.work = forms[0].work
        self._forms, self.kernels, self.device = forms, kernels, device
        self._is_stencil = all(map(is_stencil, forms))
        self._plan = None if self._is_stencil else read_warpgroups(forms[0], device)
        self._is_by_plan = self._plan is not None and self._is_less(self._plan)

    @property
    def is_reduced_apart(self) -> bool:
        """Whether results are better reduced by a kernel of their own."""
        if not self.work.statistics or self._plan is None or not self._is_by_plan:
            return False
        return is_reduced_apart(self._plan, self.device)

    def choices(self) -> Sequence[_Made]:
        found: list[_Made] = []
        if self._plan is not None:
            found.append(choose_warpgroups(self._plan, self.device))
        if self._takes_tiles:
            found.insert(len(found) if self._is_by_plan else 0, self._tiles.choose().decision)
        return found

    def changed(self, choice: _Made, values: Mapping[str, Value]) -> _Made:
        if isinstance(choice, TileConfiguration):
            return self._tiles.changed(choice, values)
        return super().changed(choice, values)

    def refusal(self, made: _Made) -> str | None:
        if isinstance(made, TileConfiguration):
            refusal_ = self._tiles.refusal(made)
            if refusal_ is None and self._partials(made) is None:
                return "a tile's rows and columns have no unit of what is reduced of results"
            return refusal_
        assert self._plan is not None
        return refusal(self._plan, self.device, made)

    def alternative(self, made: _Made) -> Alternative:
        if isinstance(made, TileConfiguration):
            return self._by_tile(self._tiles, self._tiles.tiling(made))
        return self._by_warpgroups(made)

    def _partials(self, made: TileConfiguration) -> Sequence[Partials] | None:
        return partials_of_tiles(self._forms[0], self._tiles.tiling(made))

    def _by_warpgroups(self, made: WarpgroupConfiguration) -> Alternative:
        assert self._plan is not None
        plan = self._plan

        def kernel(
            parameters: Parameters, runs: Mapping[int, int], stored: Sequence[Stored]
        ) -> WarpgroupKernel:
            return WarpgroupKernel(plan, made, parameters, runs, stored)

        makes = _Makes(kernel, made.attribute)
        return _warpgroup_alternative(plan, made, self.kernels, self.device, makes)

    @property
    def _takes_tiles(self) -> bool:
        """Whether threads can copy tiles of the layout assumed."""
        return not self._is_stencil and _is_taken(self._forms[0], self.device)

    @cached_property
    def _tiles(self) -> TileSpace:
        return TileSpace.of(self._forms[0], self.device, is_wide=bool(self._wide))

    def _is_less(self, plan: WarpgroupPlan) -> bool:
        """Returns whether a plan takes less time than tiles that threads copy: of products all do,
        but for one small matrix times many.
        """
        form, device = plan.form, self.device
        is_of_bytes = element_bytes(form.first.element) == 1
        is_product = _is_matrix_product(form) and not _is_small_by_many(form)
        if is_product or (is_of_bytes and not takes_bytes(form, device)):
            return True
        return timed_warpgroups(plan, device)[0] < self._tiles.timed()[0]

    @cached_property
    def _wide(self) -> list[Factor]:
        """The factors of which threads copy neighbours together, where the layout is assumed."""
        form = self._forms[0]
        sides = ((form.first, form.rows), (form.second, form.columns))
        return [factor for factor, own in sides if run_of(form, factor, own).width > 1]

    def alternatives(self) -> list[Alternative]:
        forms, device = self._forms, self.device
        if self._is_stencil:
            return [_stencil_alternative(Stencil(form, device), self.kernels) for form in forms]
        is_fallback = FALLBACK in self.work.op.attributes
        if is_fallback and not self._is_by_plan:
            return [self.last]
        found, rest = self._of_layout_assumed(), forms[1:]
        if self._is_by_plan or self._wide:
            rest = () if is_fallback else forms[-1:]
        return [*found, *map(self._of_any_place, rest)]

    def _of_layout_assumed(self) -> list[Alternative]:
        """The kernels for it: one, or one for each class of an open size."""
        if self._is_by_plan:
            assert self._plan is not None
            return [self._by_warpgroups(choose_warpgroups(self._plan, self.device))]
        form, space = self._forms[0], self._tiles
        classes: Sequence[OpenSize | None] = open_sizes(form) or [None]
        made = list(map(space.choose, classes))
        if made[0] == made[-1]:
            classes, made = classes[-1:], made[-1:]
        found = list(map(partial(self._by_tile, space), made, classes))
        if form.is_computed and open_sizes(form) and is_separable(form):
            found.append(self._apart)
        return found

    @property
    def last(self) -> Alternative:
        """The kernel of any layout. What the copy engine cannot take is rare: one does for it."""
        return self._of_any_place(self._forms[-1])

    def _of_any_place(self, form: Form) -> Alternative:
        """The kernel whose threads copy single elements, which lie anywhere."""
        space = TileSpace.of(form, self.device, is_wide=False)
        return self._by_tile(space, space.choose())

    @property
    def _apart(self) -> Alternative:
        """Of many rows: the factors that the region makes are written to memory first."""
        form = self._forms[0]

        def conditions(found: Conditions) -> None:
            found.require(form.work.layouts_hold())

        return conditions, lambda: launch_apart(form, self._schedule_apart)

    def _schedule_apart(self, op: ir.Operation) -> None:
        """Schedules what writes a factor as any operation, and a product by tiles alone."""
        from ..choose import schedule
        from ..floor import streaming

        kernels, device = self.kernels, self.device
        if TILES not in op.attributes:
            schedule(op, kernels, device)
            return
        with op.location, ir.InsertionPoint(op):
            work = read_work(op, device=device)
            made = None if work is None else chooser(work, kernels, device)
            assert made is not None, "tiles are for products"
            emit_first_that_holds(
                made.work.open, made.alternatives(), lambda: streaming.schedule(op.clone(), kernels)
            )
        op.erase()

    @property
    def cycles(self) -> float:
        """How long the compiler's own choice takes, by a model, with its results as of patches."""
        form = self._forms[0]
        results = product([form.work.extents[loop] for loop in form.work.parallel])
        found = self._tiles.timed()[0] + result_cycles(results, self.device)
        if self._plan is None:
            return found
        return min(found, timed_warpgroups(self._plan, self.device)[0])

    def _by_tile(self, space: TileSpace, made: Tiling, size: OpenSize | None = None) -> Alternative:
        form, wide = space.form, self._wide if space.is_wide else ()
        launch = partial(_launch, form, made, self.kernels, self.device)
        if partials_of_tiles(form, made) is None:
            launch = partial(emit_apart, form.work, self.kernels, self.device)
        conditions, launched = _alternative(form, launch, wide)

        def all_conditions(found: Conditions) -> None:
            conditions(found)
            if size is not None and size.most is not None:
                found.require_at_most(form.work.extents[size.loop], size.most)

        return all_conditions, launched


class BytesChooser(ContractionChooser):
    """The kernels of tensor cores for elements of 8 bits; others are for other schedules."""

    takes_all = False

    def alternatives(self) -> list[Alternative]:
        return self._of_layout_assumed()

    @property
    def _takes_tiles(self) -> bool:
        return takes_bytes(self._forms[0], self.device)


class PatchChooser(Chooser[PatchConfiguration | _Made]):
    """The kernel of images of few channels, and that of what the copy engine cannot take.

    An operation may ask for any of others too.
    """

    def __init__(
        self, plan: WarpgroupPlan, choice: PatchConfiguration, others: ContractionChooser
    ) -> None:
        self.work = plan.form.work
        self._plan, self._choice, self._others = plan, choice, others

    def choices(self) -> Sequence[PatchConfiguration | _Made]:
        return [self._choice, *self._others.choices()]

    def changed(
        self, choice: PatchConfiguration | _Made, values: Mapping[str, Value]
    ) -> PatchConfiguration | _Made:
        if not isinstance(choice, PatchConfiguration):
            return self._others.changed(choice, values)
        return super().changed(choice, values)

    def refusal(self, made: PatchConfiguration | _Made) -> str | None:
        if not isinstance(made, PatchConfiguration):
            return self._others.refusal(made)
        return patch_refusal(self._plan, self._others.device, made)

    def alternative(self, made: PatchConfiguration | _Made) -> Alternative:
        if not isinstance(made, PatchConfiguration):
            return self._others.alternative(made)
        plan, others = self._plan, self._others

        def kernel(
            parameters: Parameters, runs: Mapping[int, int], stored: Sequence[Stored]
        ) -> WarpgroupKernel:
            return PatchKernel(plan, made, parameters, runs, stored)

        makes = _Makes(kernel, made.attribute, tuple(turned_outputs(plan).values()))
        return _warpgroup_alternative(plan, made.tile, others.kernels, others.device, makes)

    def alternatives(self) -> list[Alternative]:
        own = self.alternative(self._choice)
        is_fallback = FALLBACK in self.work.op.attributes
        return [own] if is_fallback else [own, self._others.last]


@dataclass(frozen=True)
class _Makes:
    """What makes a kernel by warpgroups, of its parameters, runs and places of partials, and its
    configuration.

    Of outputs that are `turned`, vectors of 16 bytes of rows are stored.
    """

    kernel: Callable[[Parameters, Mapping[int, int], Sequence[Stored]], WarpgroupKernel]
    attribute: ir.DictAttr
    turned: tuple[Operand, ...] = ()


def _is_of_bytes(form: Form, device: Device) -> bool:
    """Returns whether tensor cores compute a large sum of products of 8-bit elements."""
    if form.kinds is None or element_bytes(form.first.element) != 1:
        return False
    if not form.rows or not form.columns or (_is_matrix_product(form) and not _is_large(form)):
        return False
    if any(places_of(form, factor) is None for factor in (form.first, form.second)):
        return False
    return read_warpgroups(form, device) is not None or takes_bytes(form, device)


def _is_taken(form: Form, device: Device) -> bool:
    """Whether it is one that tiles are for: each factor's elements are used several times."""
    if device.capability < TILES_CAPABILITY or not form.rows or not form.columns:
        return False
    if _is_matrix_product(form) and not _is_large(form):
        return False
    factors = (form.first, form.second)
    if form.is_computed and not _has_units(form):
        return False
    if any(places_of(form, factor) is None for factor in factors):
        return False
    if all(str(factor.element) in ELEMENTS for factor in factors):
        return factors[0].element == factors[1].element and form.total == ir.F32Type.get()
    return all(
        factor.element == form.total and element_bytes(factor.element) >= COPIED_BYTES
        for factor in factors
    )


def _has_units(form: Form) -> bool:
    """Returns whether factors that the region makes of what it reads are for threads to compute."""
    sides = ((form.first, form.rows), (form.second, form.columns))
    return TILES in form.work.op.attributes and all(
        factor.makes is None or unit_of(form, factor, own) is not None for factor, own in sides
    )


def _is_matrix_product(form: Form) -> bool:
    """Whether factors are read at single loops' places, without padding."""
    maps = [
        ir.AffineMapAttr(attribute).value
        for attribute in ir.ArrayAttr(form.work.op.attributes["indexing_maps"])
    ]
    return all(
        factor.operand is not None and maps[factor.operand.number].is_projected_permutation
        for factor in (form.first, form.second)
    )


def _is_small_by_many(form: Form) -> bool:
    """Whether one small matrix is multiplied by many, whose rows or columns are several loops: most
    of a warpgroup's tile is then padding, or lies in few matrices.
    """
    sides = (form.rows, form.columns)
    extents = [form.extent(side) for side in sides]
    return any(len(side) > 1 for side in sides) and any(
        extent.is_known and extent.known <= _SMALL_SIDE for extent in extents
    )


def _is_large(form: Form) -> bool:
    """Whether it has many products: threads that sum by themselves do not suffice.

    Of open sizes it is what products of matrices were found to be for.
    """
    count = product(form.work.extents)
    if not count.is_known:
        return any(each in form.work.op.attributes for each in (TILES, FALLBACK))
    return count.known > _FEW_PRODUCTS


def _warpgroup_alternative(
    plan: WarpgroupPlan,
    made: WarpgroupConfiguration,
    kernels: Kernels,
    device: Device,
    makes: _Makes,
) -> Alternative:
    work = plan.form.work
    runs = {operand.number: run for operand in work.operands if (run := _run_of(plan, operand)) > 1}

    def conditions(found: Conditions) -> None:
        found.require(work.layouts_hold())
        _require_reach(found, plan.form)
        for extent in work.extents:
            found.require_at_least(extent, 1)
        for reading in (plan.first, plan.second):
            _require_boxes(found, plan, reading)
        for companion in plan.copied(made):
            _require_box(found, companion.operand, companion.dims)
        for operand in makes.turned:
            count = ACCESS_BYTES // element_bytes(operand.element)
            found.require_aligned(operand, ACCESS_BYTES)
            for loop, stride in enumerate(operand.strides):
                if loop != plan.rows[-1]:
                    found.require_multiple(stride, count)
        for operand in work.operands:
            run = runs.get(operand.number, 1)
            if run == 1:
                continue
            bytes_ = min(element_bytes(operand.element) * run, ACCESS_BYTES)
            found.require_aligned(operand, bytes_)
            for loop, stride in enumerate(operand.strides):
                if loop != plan.columns[-1]:
                    found.require_multiple(stride, run)

    return conditions, lambda: _launch_warpgroups(plan, made, kernels, device, runs, makes)


def _run_of(plan: WarpgroupPlan, operand: Operand) -> int:
    """Returns how many columns of a result may be accessed together in an operand: 8, 2 or 1.

    Pairs are for columns of which no 8 are of one loop.
    """
    if operand in (plan.form.first.operand, plan.form.second.operand) or is_virtual(operand):
        return 1
    inner, run = plan.columns[-1], plan.run
    is_run = (
        operand.strides[inner] == ONE
        and plan.extent(plan.columns).is_multiple_of(RUN)
        and all(
            stride.is_multiple_of(run) or not stride.is_known
            for loop, stride in enumerate(operand.strides)
            if loop != inner
        )
    )
    return run if is_run else 1


def _require_boxes(found: Conditions, plan: WarpgroupPlan, reading: Reading | Window) -> None:
    """Adds what the copy engine asks of a factor."""
    if isinstance(reading, Window):
        factor = reading.factor
        found.require_aligned_buffer(factor.buffer, factor.element, STRIDE_BYTES)
    else:
        _require_box(found, reading.factor, reading.dims)


def _require_box(
    found: Conditions, read: Factor | Operand, dims: tuple[tuple[int, ...], ...]
) -> None:
    count = STRIDE_BYTES // element_bytes(read.element)
    found.require_aligned_buffer(read.buffer, read.element, STRIDE_BYTES)
    found.require_multiple(read.offset, count)
    for loops in dims[1:]:
        stride = read.strides[loops[-1]]
        found.require_multiple(stride, count)
        found.require_at_least(stride, 1)


def _launch_warpgroups(
    plan: WarpgroupPlan,
    made: WarpgroupConfiguration,
    kernels: Kernels,
    device: Device,
    runs: Mapping[int, int],
    makes: _Makes,
) -> None:
    work = plan.form.work
    found: list[WarpgroupKernel] = []
    partials = partials_of(plan, made)
    assert partials is not None
    stored = [Stored(each, each.allocate()) for each in partials]

    def emit(entry: ir.Block) -> None:
        found.append(makes.kernel(Parameters(entry, work.open), runs, stored))
        found[0].emit()
        divide_without_calls(entry)

    resident = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), made.resident)
    threads = plan.threads(made)
    name, place = operation_name(work.op), work.op.location
    attributes = {"nvvm.minctasm": resident}
    kernel = kernels.build(name, threads, emit, place, attributes, makes.attribute)
    tiles = product(
        [
            plan.row_tiles(made.rows, made.down),
            work.open.divided_up(plan.extent(plan.columns), made.columns * made.across),
            plan.extent(plan.outer),
        ]
    ) * Size(made.cluster)
    most = device.multiprocessors * made.resident // made.cluster * made.cluster
    if made.parts > 1:
        blocks = work.open.value(tiles)
    elif tiles.is_known:
        blocks = index_constant(min(tiles.known, most))
    else:
        blocks = arith.minui(work.open.value(tiles), index_constant(most))
    arguments = found[0].parameters.arguments()
    bytes_ = found[0].shared.bytes
    emit_launch(kernel, blocks, threads, arguments, bytes_, cluster=made.cluster)
    emit_ends([(each.partials, each.buffer) for each in stored], kernels, device)


def _require_reach(found: Conditions, form: Form) -> None:
    """Adds that indices fit into 32 bits, and places in buffers that are not known to be larger."""
    work = form.work
    for factor in (form.first, form.second):
        # Of a larger one, what a step adds to a row's place.
        loops = form.terms if is_far(work, factor.strides) else range(len(work.extents))
        far = reaches(work, factor.strides)
        found.require_at_most(work.open.sum([far[loop] for loop in loops]), MOST_IN_32_BITS)
    for operand in work.operands:
        if not is_far(work, operand.strides):
            found.require_at_most(work.open.sum(reaches(work, operand.strides)), MOST_IN_32_BITS)
    if any(is_far(work, operand.strides) for operand in work.operands):
        # A tile may reach beyond the last row.
        for loops in (form.rows, form.columns, form.terms):
            found.require_at_most(form.count_of(loops), MOST_IN_32_BITS // 2)


def _alternative(
    form: Form, launch: Callable[[], None], wide: Sequence[Factor] = ()
) -> Alternative:
    work = form.work

    def conditions(found: Conditions) -> None:
        found.require(work.layouts_hold())
        for factor in wide:
            if factor.makes is None:
                found.require_aligned_buffer(factor.buffer, factor.element, ACCESS_BYTES)
                continue
            for read in wide_reads(form, factor):
                bytes_ = min(read.bytes, ACCESS_BYTES)
                found.require_aligned_buffer(read.operand.buffer, read.operand.element, bytes_)
        _require_reach(found, form)

    return conditions, launch


def _stencil_alternative(stencil: Stencil, kernels: Kernels) -> Alternative:
    conditions, launch = _alternative(stencil.form, partial(_launch_stencil, stencil, kernels))

    def all_conditions(found: Conditions) -> None:
        conditions(found)
        for each in stencil.wide:
            bytes_ = stencil.piece_of(each) * element_bytes(each.element)
            found.require_aligned_buffer(each.buffer, each.element, bytes_)

    return all_conditions, launch


def _launch_stencil(stencil: Stencil, kernels: Kernels) -> None:
    """Launches the kernel of a window for each result."""
    work, counts = stencil.form.work, stencil.counts()
    threads = stencil.threads
    kernel, made = kernels.of_work(work, threads, partial(StencilKernel, stencil, counts))
    blocks = arith.ceildivui(work.open.value(product(counts)), index_constant(threads))
    emit_launch(kernel, blocks, threads, made.parameters.arguments())


def _launch(form: Form, made: Tiling, kernels: Kernels, device: Device) -> None:
    """Launches the kernel, and where sums are made in parts another one that adds these."""
    partials = partials_of_tiles(form, made)
    assert partials is not None
    stored = [Stored(each, each.allocate()) for each in partials]
    work = form.work
    terms = form.most_terms
    if made.parts > 1:
        terms = Size(-(-terms.known // (made.parts * made.terms)) * made.terms)
    tiles = Tiles(
        form,
        made,
        work.open.divided_up(form.count_of(form.rows), made.rows),
        work.open.divided_up(form.count_of(form.columns), made.columns),
        terms,
    )
    parts, size = Size(made.parts), Size(made.rows * made.columns)
    scratch = None
    if made.parts > 1:
        scratch = allocate_scratch(product([tiles.count, parts, size]), form.total, work.open)
    found: list[ContractionKernel] = []

    def emit(entry: ir.Block) -> None:
        found.append(ContractionKernel(tiles, Parameters(entry, work.open), scratch, stored))
        if scratch is not None:
            let_next_begin(work.device)
        found[0].emit()

    resident = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), made.resident)
    name, place = operation_name(work.op), work.op.location
    attributes, decision = {"nvvm.minctasm": resident}, made.decision.attribute
    kernel = kernels.build(name, made.threads, emit, place, attributes, decision)
    blocks = work.open.value(tiles.count * parts)
    arguments = found[0].parameters.arguments()
    emit_launch(kernel, blocks, made.threads, arguments, found[0].shared.bytes)
    if scratch is not None:
        _launch_parts(tiles, kernels, scratch, stored)
    emit_ends([(each.partials, each.buffer) for each in stored], kernels, device)


def _launch_parts(
    tiles: Tiles, kernels: Kernels, scratch: ir.Value, stored: Sequence[Stored]
) -> None:
    work = tiles.form.work
    found: list[PartsKernel] = []

    def emit(entry: ir.Block) -> None:
        found.append(PartsKernel(tiles, Parameters(entry, work.open), scratch, stored))
        await_previous(work.device)
        found[0].emit()

    name, place = operation_name(work.op), work.op.location
    kernel = kernels.build(f"{name}_parts", PARTS_THREADS, emit, place)
    emit_launch(
        kernel,
        work.open.value(tiles.count * Size(found[0].blocks_each)),
        PARTS_THREADS,
        found[0].parameters.arguments(),
        overlaps=can_overlap(work.device),
    )
    free_scratch([scratch])
