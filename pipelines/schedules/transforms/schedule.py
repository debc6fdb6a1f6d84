"""The transform schedule: a thread multiplies a tile of elements by constant matrices.

It loads the tile's elements, each once, and sums over one loop after the other in registers: with
numbers that the code has, of which those that are 0 or 1 take no product. Neighbouring threads have
neighbouring tiles. What is made of the sums is computed before they are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product as each_of

from ....dialects.mlir import arith, gpu, ir, scf
from ....dialects.records import dataclass
from ...i32 import is_below
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions
from ..configuration import Chooser, is_power_of_two, threads_refusal
from ..device import Device
from ..elements import ACCESS_BYTES, address, element_bytes, load, store
from ..index_division import divided
from ..kernels import Kernels
from ..launch import emit_launch
from ..parameters import Parameters
from ..region import Point, Region
from ..size import MOST_IN_32_BITS, ONE, ZERO, Size, product
from ..space import Loop, collapsed, in_memory_order, part_index
from ..windows.points import PaddedRead, Tile, WindowPoints, read_padding
from ..windows.schedule import apart
from ..work import Layout, Operand, Work
from .configuration import TransformConfiguration
from .matrices import Place, Transform, read_transform
from .tiles import Split, splits_of

_THREADS = 128


def chooser(work: Work, kernels: Kernels, device: Device) -> TransformChooser | None:
    """Decides on the kernels; None for what is multiplied by no constant matrices."""
    transform = read_transform(work)
    return None if transform is None else TransformChooser(work, kernels, device)


class TransformChooser(Chooser[TransformConfiguration]):
    """Results in accesses as wide as may be, and single ones."""

    def __init__(self, work: Work, kernels: Kernels, device: Device) -> None:
        self.work = work
        self._kernels, self._device = kernels, device
        self._plans: dict[Layout, _Plan] = {}

    def choices(self) -> Sequence[TransformConfiguration]:
        packed = self._plan(Layout.PACKED)
        is_assumed = any(operand.is_assumed for operand in packed.work.operands)
        widths = dict.fromkeys([packed.width, 1])
        found = [TransformConfiguration(width, _THREADS) for width in widths]
        if is_assumed:
            found.append(TransformConfiguration(1, _THREADS, Layout.ANY))
        return found

    def refusal(self, made: TransformConfiguration) -> str | None:
        most = self._plan(made.layout).width
        if not is_power_of_two(made.width) or made.width > most:
            return f"'width' is a power of two up to {most}"
        return threads_refusal(made.threads, self._device)

    def alternative(self, made: TransformConfiguration) -> Alternative:
        plan = self._plan(made.layout)
        return partial(plan.require, made.width), partial(_launch, plan, made, self._kernels)

    def _plan(self, layout: Layout) -> _Plan:
        if layout not in self._plans:
            is_own = layout is Layout.PACKED
            work, padded = read_padding(self.work if is_own else self.work.in_layout(layout))
            transform = read_transform(work)
            assert transform is not None
            self._plans[layout] = _Plan(work, padded, transform)
        return self._plans[layout]


@dataclass(frozen=True, eq=False)
class _Plan:
    """What a thread takes of an operation: all of the transform's `row_loops`."""

    work: Work
    padded: tuple[PaddedRead, ...]
    transform: Transform

    @property
    def tile(self) -> Tile:
        work, rows = self.work, self.transform.row_loops
        order = in_memory_order(work, [loop for loop in work.parallel if loop not in rows])
        # How many results are left is told by the tile's own number.
        alone = apart(work, self.padded) | {each.tile for each in self.splits}
        loops = tuple(collapsed(work, order, alone))
        # A kernel for one tile has a loop too.
        loops = loops or (Loop(tuple(order[-1:]), ONE, tuple(ZERO for _ in work.operands)),)
        return Tile(work, loops, 1, 1, self.padded)

    @property
    def splits(self) -> list[Split]:
        """The row loops of which the last tile may have fewer results."""
        return [each for each in splits_of(self.work.op) if not each.is_whole]

    @property
    def along(self) -> int | None:
        """The last of the row loops, along which results of a tile lie together."""
        rows = self.transform.row_loops
        for loop in rows:
            if all(each.strides[loop] == ONE for each in self.work.outputs):
                return loop
        return None

    @property
    def width(self) -> int:
        """How many results of a tile are one access at most."""
        if self.along is None:
            return 1
        bytes_ = max(element_bytes(each.element) for each in self.work.outputs)
        width = ACCESS_BYTES // bytes_
        while width > 1 and not self.work.extents[self.along].is_multiple_of(width):
            width //= 2
        return width

    @property
    def places(self) -> list[Place]:
        """The results of a tile, in the order of the row loops."""
        extents = self.work.extents
        return list(each_of(*(range(extents[loop].known) for loop in self.transform.row_loops)))

    def is_wide(self, operand: Operand) -> bool:
        """Returns whether an operand has neighbouring elements for neighbouring results."""
        return self.along is not None and operand.strides[self.along] == ONE

    def require(self, width: int, found: Conditions) -> None:
        """Adds what must hold for accesses of so many elements."""
        found.require(self.work.layouts_hold())
        found.require_at_most(product([loop.extent for loop in self.tile.loops]), MOST_IN_32_BITS)
        if width == 1:
            return
        for operand in self.work.operands:
            if operand.number < 0 or not self.is_wide(operand):
                continue
            found.require_aligned(operand, width * element_bytes(operand.element))
            for loop, stride in enumerate(operand.strides):
                if loop != self.along:
                    found.require_multiple(stride, width)


def _launch(plan: _Plan, configuration: TransformConfiguration, kernels: Kernels) -> None:
    work, count = plan.work, configuration.threads
    make = partial(_Kernel, plan, configuration)
    kernel, made = kernels.of_work(work, count, make, "transform", configuration.attribute)
    threads = work.open.value(product([loop.extent for loop in plan.tile.loops]))
    blocks = arith.ceildivui(threads, index_constant(count))
    emit_launch(kernel, blocks, count, made.parameters.arguments())


class _Kernel:
    """Emits the body: a tile a thread."""

    def __init__(
        self, plan: _Plan, configuration: TransformConfiguration, parameters: Parameters
    ) -> None:
        self._plan, self._configuration = plan, configuration
        self.parameters, self._tile = parameters, plan.tile
        self._region = Region(plan.work, parameters)

    def emit(self) -> None:
        extents = [loop.extent for loop in self._tile.loops]
        number = arith.addi(
            arith.muli(gpu.block_id(gpu.Dimension.x), index_constant(self._configuration.threads)),
            gpu.thread_id(gpu.Dimension.x),
        )
        count = self.parameters.size(product(extents))
        choice = scf.IfOp(arith.cmpi(arith.CmpIPredicate.ult, number, count))
        with ir.InsertionPoint(choice.then_block):
            place: list[ir.Value] = []
            for extent in reversed(extents[1:]):
                number, within = divided(number, extent, 1, self.parameters)
                place.insert(0, within)
            self._emit_tile([number, *place])
            scf.YieldOp([])

    def _emit_tile(self, place: list[ir.Value]) -> None:
        """Elements of padded tensors are loaded one by one where not all of a tile's are there."""
        if not self._tile.padded:
            elements = self._elements(place, is_guarded=False)
        else:
            transform = self._plan.transform
            columns = self._columns()
            inside = WindowPoints.inside(self._tile, place, self.parameters)
            kinds = [transform.element.type] * len(columns)
            choice = scf.IfOp(inside, kinds, has_else=True)
            for block, is_guarded in ((choice.then_block, False), (choice.else_block, True)):
                assert block is not None
                with ir.InsertionPoint(block):
                    loaded = self._elements(place, is_guarded=is_guarded)
                    scf.YieldOp([loaded[column] for column in columns])
            elements = dict(zip(columns, choice.results, strict=True))
        self._store(place, self._plan.transform.apply(elements))

    def _columns(self) -> list[Place]:
        """The places of a tile's elements along the loops that are summed over."""
        extents, weights = self._plan.work.extents, self._plan.transform.weights
        return list(each_of(*(range(extents[each.loop].known) for each in weights)))

    def _elements(self, place: list[ir.Value], *, is_guarded: bool) -> dict[Place, ir.Value]:
        transform, collective = self._plan.transform, self._plan.work.collective
        points = WindowPoints(self._tile, place, self.parameters, is_guarded=is_guarded)
        loops = [each.loop for each in transform.weights]
        found: dict[Place, ir.Value] = {}
        for column in self._columns():
            at = dict(zip(loops, column, strict=True))
            point = points.at((0, 0), tuple(at[loop] for loop in collective))
            found[column] = point.value(transform.element)
        return found

    def _store(self, place: list[ir.Value], sums: dict[Place, ir.Value]) -> None:
        """Computes what follows, and stores as many results at once as the configuration says."""
        splits = self._plan.splits
        if not splits:
            self._store_all(place, sums, self._configuration.width)
            return
        results = _Results(self._plan, place, self._tile, self._region, self.parameters)
        left = {each.within: results.left(each) for each in splits}
        is_whole: ir.Value | None = None
        for each in splits:
            holds = is_below(index_constant(each.size - 1), left[each.within])
            is_whole = holds if is_whole is None else arith.andi(is_whole, holds)
        assert is_whole is not None
        choice = scf.IfOp(is_whole, has_else=True)
        with ir.InsertionPoint(choice.then_block):
            self._store_all(place, sums, self._configuration.width)
            scf.YieldOp([])
        assert choice.else_block is not None
        with ir.InsertionPoint(choice.else_block):
            self._store_those_left(place, sums, left)
            scf.YieldOp([])

    def _store_all(self, place: list[ir.Value], sums: dict[Place, ir.Value], width: int) -> None:
        plan = self._plan
        results = _Results(plan, place, self._tile, self._region, self.parameters)
        rows, along = plan.transform.row_loops, plan.along
        axis = 0 if along is None else rows.index(along)
        for first in plan.places:
            if first[axis] % width:
                continue
            group = [
                (*first[:axis], first[axis] + step, *first[axis + 1 :]) for step in range(width)
            ]
            results.store([(each, sums[each]) for each in group])

    def _store_those_left(
        self, place: list[ir.Value], sums: dict[Place, ir.Value], left: dict[int, ir.Value]
    ) -> None:
        """Stores one by one the results of which so many are there along some row loops."""
        plan = self._plan
        for at in plan.places:
            holds: ir.Value | None = None
            for loop, each in zip(plan.transform.row_loops, at, strict=True):
                if loop in left:
                    found = is_below(index_constant(each), left[loop])
                    holds = found if holds is None else arith.andi(holds, found)
            assert holds is not None
            choice = scf.IfOp(holds)
            with ir.InsertionPoint(choice.then_block):
                results = _Results(plan, place, self._tile, self._region, self.parameters)
                results.store([(at, sums[at])])
                scf.YieldOp([])


class _Results:
    """Places of a tile's results in memory, and what is made of their sums."""

    def __init__(
        self,
        plan: _Plan,
        place: list[ir.Value],
        tile: Tile,
        region: Region,
        parameters: Parameters,
    ) -> None:
        self._plan, self._place, self._tile = plan, place, tile
        self._region, self._parameters = region, parameters
        self._firsts: dict[int, ir.Value] = {}
        self._loaded: dict[tuple[int, Place], ir.Value] = {}
        self._operands = {operand.number: operand for operand in plan.work.operands}

    def left(self, split: Split) -> ir.Value:
        """How many results there are along a loop from where the tile begins."""
        first = self._index((0,) * len(self._plan.transform.row_loops), split.tile)
        begin = arith.muli(first, index_constant(split.size))
        return arith.subi(index_constant(split.count), begin)

    def store(self, group: Sequence[tuple[Place, ir.Value]]) -> None:
        """Stores neighbouring results."""
        work, values = self._plan.work, list[list[ir.Value]]()
        for at, sum_ in group:
            point = Point(
                self._region,
                frozenset(range(len(work.extents))),
                partial(self._load, [each for each, _ in group], at),
                partial(self._index, at),
            )
            point.known[self._plan.transform.sum.op.results[0]] = sum_
            values.append([point.value(each) for each in self._region.yielded])
        for number, operand in enumerate(work.outputs):
            made = [each[number] for each in values]
            alignment = len(made) * element_bytes(operand.element)
            store(self._address(operand, group[0][0]), operand.element, made, alignment)

    def _load(self, group: Sequence[Place], at: Place, number: int) -> ir.Value:
        """An operand's element for one of neighbouring results."""
        operand = self._operands[number]
        wanted = list(group) if self._plan.is_wide(operand) else [at]
        if (number, self._far(operand, at)) not in self._loaded:
            bytes_ = len(wanted) * element_bytes(operand.element)
            where = self._address(operand, wanted[0])
            values = load(where, operand.element, len(wanted), bytes_)
            for each, value in zip(wanted, values, strict=True):
                self._loaded[number, self._far(operand, each)] = value
        return self._loaded[number, self._far(operand, at)]

    def _far(self, operand: Operand, at: Place) -> Place:
        """What tells an operand's elements of a tile apart."""
        rows = self._plan.transform.row_loops
        return tuple(
            0 if operand.strides[loop] == ZERO else each
            for loop, each in zip(rows, at, strict=True)
        )

    def _address(self, operand: Operand, at: Place) -> ir.Value:
        number = operand.number
        if number not in self._firsts:
            work, loops = self._plan.work, self._tile.loops
            strides = [loop.stride_of(work, number) for loop in loops]
            steps = list(zip(self._place, strides, strict=True))
            first = self._parameters.place(operand.offset, steps)
            self._firsts[number] = address(
                self._parameters.pointer(operand.buffer), operand.element, first
            )
        rows = self._plan.transform.row_loops
        near, far = 0, list[Size]()
        for loop, each in zip(rows, at, strict=True):
            step = operand.strides[loop] * Size(each)
            if step.is_known:
                near += step.known
            else:
                far.append(step)
        index = index_constant(near)
        for step in far:
            index = arith.addi(index, self._parameters.size(step))
        where = self._firsts[number]
        return address(where, operand.element, index) if near or far else where

    def _index(self, at: Place, number: int) -> ir.Value:
        """The index of one of the operation's own loops."""
        rows = self._plan.transform.row_loops
        if number in rows:
            return index_constant(at[rows.index(number)])
        for loop, own in zip(self._tile.loops, self._place, strict=True):
            if number in loop.parts:
                return part_index(self._plan.work, loop, own, number, self._parameters)
        return index_constant(0)
