"""Sums over a window of which each result has factors of its own, as in depthwise convolutions.

A thread computes some neighbouring results, in some rows below one another. It first loads what
their windows cover, each element once, in pieces as wide as alignment lets it; what windows of
other threads share comes from the first-level cache.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import product as each_of

from ....dialects.mlir import arith, ir, math, scf
from ....dialects.records import dataclass
from ...i32 import block_in_grid, is_below, thread_in_block
from ...rewriting import constant
from ...walking import is_used
from ..conditional_load import load_if
from ..device import Device
from ..elements import ACCESS_BYTES, address, element_bytes, load, store
from ..parameters import Parameters
from ..region import Point
from ..size import ONE, ZERO, Size, product
from ..work import Operand
from .form import Factor, Form, Guard
from .indices import Indices, Numbers, add, both, number, plus, times
from .results import inside

# The places of a window, all of which are products in a thread's code.
MOST_TERMS = 64
_WIDTHS = (8, 4, 2, 1)

# A result among a thread's: its row and its column.
_Result = tuple[int, int]


class Stencil:
    """What each thread takes of a form: `rows` results along `down`, and `width` along `across`.

    The widths of accesses are those that known strides allow in buffers that begin at multiples of
    what an access takes.
    """

    def __init__(self, form: Form, device: Device) -> None:
        self.form = form
        strides = form.work.outputs[0].strides
        loops = (*form.batch, *form.rows, *form.columns)
        self.loops = sorted(loops, key=lambda loop: -strides[loop].known)
        self.across = self.loops[-1]
        self.down = self.loops[-2] if len(self.loops) > 1 else None
        self._device, self._table = device, device.tables.stencils
        self.threads = self._table.threads
        self.rows = self.width = 1
        best: tuple[float, int, int] | None = None
        for width in _WIDTHS:
            self.width = width
            if width == 1 or self._is_width():
                self.rows = self._most_rows()
                found = self._cycles(), width, self.rows
                best = found if best is None or found[0] < best[0] else best
        assert best is not None
        _, self.width, self.rows = best

    def _most_rows(self) -> int:
        rows, table, form = 1, self._table, self.form
        if self.down is None:
            return rows
        strides = form.work.outputs[0].strides
        products = table.products if all(each.is_known for each in strides) else table.few_products
        most = products // (form.extent(form.terms).known * self.width)
        while rows < table.rows and 2 * rows <= most:
            rows *= 2
        extent = form.work.extents[self.down]
        while extent.is_known and rows > 1 and rows >= 2 * extent.known:
            rows //= 2
        results = product([form.work.extents[loop] for loop in self.loops])
        device = self._device
        threads = device.multiprocessors * device.threads // table.least_share
        while results.is_known and rows > 1 and results.known // (rows * self.width) < threads:
            rows //= 2
        return rows

    def _cycles(self) -> float:
        """Returns the cycles that a multiprocessor takes for a result, but for the memory's."""
        form, table, results = self.form, self._table, self.rows * self.width
        instructions, bytes_ = table.other, 0.0
        instructions += results * form.extent(form.terms).known
        for factor in (form.first, form.second):
            places = {place_of(factor, self.steps_of(*each)) for each in self.wanted()}
            pieces = _pieces(list(places), self.piece_of(factor), factor.offset.known)
            instructions += 2 * sum(1 for _ in pieces)
            instructions += len(places) if factor.extension is not None else 0
            # Neighbours along a row come from the first-level cache.
            rows = len({(each.open, each.row, each.moved) for each in places})
            if _lies_along(factor, self.across):
                size = factor.strides[self.across].known * element_bytes(factor.element)
                bytes_ += rows * self.width * size
        for output in form.work.outputs:
            piece = self.piece_of(output)
            instructions += 2 * results // piece
            # A sector that several instructions write is written as often.
            bytes_ += results * element_bytes(output.element) * self.width / piece
        idle = -form.work.extents[self.across].known % self.width if self.width > 1 else 0
        share = 1 + idle / max(form.work.extents[self.across].known, 1)
        return max(share * instructions / table.instructions, bytes_ / table.cache_bytes) / results

    def wanted(self) -> list[tuple[_Result, tuple[int, ...]]]:
        """The results of a thread, and the places of their windows."""
        extents = self.form.work.extents
        results = each_of(range(self.rows), range(self.width))
        places = list(each_of(*(range(extents[loop].known) for loop in self.form.terms)))
        return [(result, place) for result in results for place in places]

    def steps_of(self, result: _Result, place: tuple[int, ...]) -> dict[int, int]:
        """How far along loops a place in the window of a result lies."""
        found = {**dict(zip(self.form.terms, place, strict=True)), self.across: result[1]}
        return found if self.down is None else {**found, self.down: result[0]}

    @property
    def steps(self) -> dict[int, int]:
        """How many results a thread has along loops."""
        found = {self.across: self.width}
        return found if self.down is None else {**found, self.down: self.rows}

    @property
    def wide(self) -> list[Factor | Operand]:
        """What is accessed in pieces, and so must begin where they may."""
        factors = [each for each in (self.form.first, self.form.second) if self.piece_of(each) > 1]
        return [*factors, *(each for each in self.form.work.outputs if self.piece_of(each) > 1)]

    def counts(self) -> list[Size]:
        """How many threads lie along each loop."""
        work, steps = self.form.work, self.steps
        return [work.open.divided_up(work.extents[loop], steps.get(loop, 1)) for loop in self.loops]

    def piece_of(self, found: Factor | Operand) -> int:
        """The most elements of an access: all threads' first ones lie multiples of it apart."""
        most = ACCESS_BYTES // element_bytes(found.element)
        if not found.offset.is_known:
            return 1
        sizes = [found.strides[loop] * Size(self.steps.get(loop, 1)) for loop in self.loops]
        if isinstance(found, Operand):
            most = min(most, self.width if found.strides[self.across] == ONE else 1)
            inner = [found.strides[loop] for loop in self.loops if loop != self.across]
            sizes = [*sizes, *inner, found.offset]
        else:
            guard = along_memory(found)
            # A piece then has elements that are all there, or none of them.
            if guard is not None:
                sizes += [guard.bound, Size(guard.constant - found.offset.known)]
        while not all(size.is_multiple_of(most) for size in sizes):
            most //= 2
        return most

    def _is_width(self) -> bool:
        """Returns whether neighbouring results' windows are read in pieces of as many elements, and
        threads that reach beyond a row's end are few.
        """
        factors = (self.form.first, self.form.second)
        extent = self.form.work.extents[self.across]
        least = min(element_bytes(factor.element) for factor in factors)
        if not extent.is_known or self.width * least > ACCESS_BYTES:
            return False
        return -extent.known % self.width * self._table.most_idle <= extent.known and any(
            self.piece_of(factor) >= self.width and _lies_along(factor, self.across)
            for factor in factors
        )


def _lies_along(factor: Factor, loop: int) -> bool:
    """Returns whether a loop's steps in a factor are so short that pieces are of use."""
    stride = factor.strides[loop]
    return stride.is_known and 0 < stride.known * element_bytes(factor.element) < ACCESS_BYTES


def along_memory(factor: Factor) -> Guard | None:
    """Returns the guard along whose axis neighbours in memory lie."""
    for guard in factor.guards:
        if all(factor.strides[loop] == Size(by) for loop, by in guard.factors.items()):
            return guard
    return None


@dataclass(frozen=True)
class _Place:
    """An element of a factor: how far it lies from the thread's first, in open sizes and elements
    of `row`, and `at` elements further; and how far along each guarded axis.
    """

    open: tuple[tuple[tuple[int, ...], int], ...]
    row: int
    moved: tuple[int, ...]
    at: int


def place_of(factor: Factor, steps: Mapping[int, int]) -> _Place:
    """Returns the element so many steps further along some loops than a thread's first."""
    moved = [
        sum(by * steps.get(loop, 0) for loop, by in guard.factors.items())
        for guard in factor.guards
    ]
    far: dict[tuple[int, ...], int] = {}
    for loop, count in steps.items():
        stride = factor.strides[loop]
        if stride != ZERO and count:
            far[stride.open] = far.get(stride.open, 0) + count * stride.known
    near = far.pop((), 0)
    at, along = near, along_memory(factor)
    if along is not None:
        number_ = factor.guards.index(along)
        at, moved[number_] = moved[number_], 0
    return _Place(tuple(sorted(far.items())), near - at, tuple(moved), at)


def is_stencil(form: Form) -> bool:
    """Returns whether one factor varies with all loops of the results, and the window is small."""
    terms = form.extent(form.terms)
    if (form.rows and form.columns) or form.steps or not form.terms:
        return False
    if not (form.rows or form.columns or form.batch):
        return False
    if not terms.is_known or terms.known > MOST_TERMS:
        return False
    return any(factor.guards or _is_in_windows(form, factor) for factor in _factors(form))


def _factors(form: Form) -> tuple[Factor, Factor]:
    return form.first, form.second


def _is_in_windows(form: Form, factor: Factor) -> bool:
    """Returns whether a factor is read at sums of loops."""
    if factor.operand is None:
        return False
    maps = ir.ArrayAttr(form.work.op.attributes["indexing_maps"])
    map_ = ir.AffineMapAttr(maps[factor.operand.number]).value
    return any(isinstance(each, ir.AffineAddExpr) for each in map_.results)


class StencilKernel:
    """Emits the body: some results a thread."""

    def __init__(self, stencil: Stencil, counts: list[Size], parameters: Parameters) -> None:
        self._stencil, self._form = stencil, stencil.form
        self._counts, self.parameters = counts, parameters

    def emit(self) -> None:
        """Computes the thread's results, if there are any."""
        stencil = self._stencil
        thread = thread_in_block()
        self._numbers = numbers = Numbers(self._form, self.parameters, thread)
        block = block_in_grid()
        at = arith.addi(arith.muli(block, number(stencil.threads)), thread)
        exists = scf.IfOp(is_below(at, numbers.size(product(self._counts))))
        with ir.InsertionPoint(exists.then_block):
            indices: dict[int, ir.Value] = {}
            for loop, count in reversed(list(zip(stencil.loops, self._counts, strict=True))):
                at, indices[loop] = numbers.divided(at, count)
                indices[loop] = times(indices[loop], stencil.steps.get(loop, 1))
            self._compute(indices)
            scf.YieldOp([])

    def _compute(self, indices: Indices) -> None:
        form, stencil = self._form, self._stencil
        self._rest = _Rest(stencil, self._numbers, indices)
        loaded = [_Elements(factor, self._rest) for factor in (form.second, form.first)]
        self._load_shared(indices)
        totals: dict[_Result, ir.Value] = {}
        for result, place in stencil.wanted():
            other, one = (each.at(stencil.steps_of(result, place)) for each in loaded)
            totals[result] = self._added(totals.get(result), one, other)
        self._store(indices, totals)

    def _added(self, total: ir.Value | None, one: ir.Value, other: ir.Value) -> ir.Value:
        if isinstance(one.type, ir.FloatType):
            return arith.mulf(one, other) if total is None else math.fma(one, other, total)
        more = arith.muli(one, other)
        return more if total is None else arith.addi(total, more)

    def _load_shared(self, indices: Indices) -> None:
        """Loads what all results of a thread have in common, such as a bias."""
        form = self._form
        self._shared = {
            operand.number: self._load(operand, indices)
            for operand in form.work.inputs
            if operand not in (form.first.operand, form.second.operand)
            and is_used(form.work.block.arguments[operand.number])
            and all(operand.strides[loop] == ZERO for loop in self._stencil.steps)
        }

    def _store(self, indices: Indices, totals: Mapping[_Result, ir.Value]) -> None:
        """Computes what follows, and stores it where there is such a result."""
        stencil, outputs = self._stencil, self._form.work.outputs
        extent = self._form.work.extents[stencil.across]
        piece = max(map(stencil.piece_of, outputs))
        while not extent.is_multiple_of(piece):
            piece //= 2
        for row in range(stencil.rows):
            with inside(self._rest.holds((row, 0))):
                for first in range(0, stencil.width, piece):
                    with inside(self._rest.holds((0, first))):
                        columns = range(first, first + piece)
                        self._store_there(indices, {(row, at): totals[row, at] for at in columns})

    def _store_there(self, indices: Indices, totals: Mapping[_Result, ir.Value]) -> None:
        stencil, form = self._stencil, self._form
        found: list[list[ir.Value]] = []
        for (row, column), total in totals.items():
            own = {**indices, stencil.across: plus(indices[stencil.across], column)}
            if stencil.down is not None:
                own[stencil.down] = plus(indices[stencil.down], row)
            found.append(self._values(own, total))
        row, first = next(iter(totals))
        for operand, values in zip(form.work.outputs, zip(*found, strict=True), strict=True):
            count = min(stencil.piece_of(operand), len(values))
            kind, size = operand.element, element_bytes(operand.element)
            for place in range(0, len(values), count):
                own = {**indices, stencil.across: plus(indices[stencil.across], first + place)}
                if stencil.down is not None:
                    own[stencil.down] = plus(indices[stencil.down], row)
                piece = values[place : place + count]
                store(self._where(operand, own), kind, piece, count * size)

    def _values(self, indices: Indices, total: ir.Value) -> list[ir.Value]:
        """The region's results at some indices."""
        form = self._form
        operands = {operand.number: operand for operand in form.work.operands}

        def element(operand: int) -> ir.Value:
            if operand in self._shared:
                return self._shared[operand]
            return self._load(operands[operand], indices)

        index = ir.IndexType.get()
        point = Point(
            self._numbers.region,
            frozenset(range(len(form.work.extents))),
            element,
            lambda loop: (
                arith.index_castui(index, indices[loop]) if loop in indices else constant(index, 0)
            ),
        )
        point.known[form.sum.results[0]] = total
        return [point.value(each) for each in self._numbers.region.yielded]

    def _load(self, operand: Operand, indices: Indices) -> ir.Value:
        kind = operand.element
        return load(self._where(operand, indices), kind, 1, element_bytes(kind))[0]

    def _where(self, operand: Operand, indices: Indices) -> ir.Value:
        place = self._numbers.place(operand.offset, operand.strides, indices)
        return address(self.parameters.pointer(operand.buffer), operand.element, place)


class _Rest:
    """Says which of a thread's results there are, where its rows or columns may reach beyond."""

    def __init__(self, stencil: Stencil, numbers: Numbers, indices: Indices) -> None:
        self.stencil, self.numbers, self.indices = stencil, numbers, indices
        # All of them here, as what asks for one first may be executed where others are not.
        self._known: dict[tuple[int, int], ir.Value] = {}
        for loop, steps in stencil.steps.items():
            extent = stencil.form.work.extents[loop]
            for by in range(1, 1 if extent.is_multiple_of(steps) else steps):
                at = plus(indices[loop], by)
                self._known[loop, by] = is_below(at, numbers.size(extent))

    def holds(self, result: _Result, apart: Collection[int] = ()) -> ir.Value | None:
        """Returns whether there is a result; None where there certainly is.

        Loops `apart` are not asked about.
        """
        stencil, found = self.stencil, None
        for loop, by in zip((stencil.down, stencil.across), result, strict=True):
            if loop is None or not by or loop in apart:
                continue
            if (loop, by) in self._known:
                found = both(found, self._known[loop, by])
        return found


class _Elements:
    """The elements of one factor that a thread's results need, each loaded once."""

    def __init__(self, factor: Factor, rest: _Rest) -> None:
        stencil = rest.stencil
        self._factor, self._rest, self._numbers = factor, rest, rest.numbers
        self._first = self._numbers.place(factor.offset, factor.strides, rest.indices)
        self._bases = [self._base(guard) for guard in factor.guards]
        self._along = along_memory(factor)
        self._holds: dict[tuple[int, int], ir.Value] = {}
        self._loaded: dict[_Place, ir.Value] = {}
        self._extended: dict[_Place, ir.Value] = {}
        # The first row and the first column of a result that needs an element.
        needs: dict[_Place, _Result] = {}
        for (row, column), window_place in stencil.wanted():
            place = place_of(factor, stencil.steps_of((row, column), window_place))
            least = needs.get(place, (row, column))
            needs[place] = min(row, least[0]), min(column, least[1])
        for piece in _pieces(list(needs), stencil.piece_of(factor), factor.offset.known):
            self._load(piece, [needs[each] for each in piece])

    def at(self, steps: Mapping[int, int]) -> ir.Value:
        """The element so many steps further along some loops, as what is multiplied."""
        place, extension = place_of(self._factor, steps), self._factor.extension
        if extension is None:
            return self._loaded[place]
        if place not in self._extended:
            self._extended[place] = ir.Operation.create(
                extension.name,
                results=[extension.results[0].type],
                operands=[self._loaded[place]],
            ).results[0]
        return self._extended[place]

    def _base(self, guard: Guard) -> ir.Value:
        found = number(guard.constant)
        for loop, by in guard.factors.items():
            if loop in self._rest.indices:
                found = add(found, times(self._rest.indices[loop], by))
        return found

    def _load(self, places: Sequence[_Place], needs: Sequence[_Result]) -> None:
        """Loads neighbours in one access."""
        factor, numbers = self._factor, self._numbers
        first, count = places[0], len(places)
        where = plus(self._first, first.row + first.at)
        for open_, known in first.open:
            where = add(where, numbers.size(Size(known, open_)))
        holds: ir.Value | None = None
        for place, guard in enumerate(factor.guards):
            moved = first.at if guard is self._along else first.moved[place]
            holds = both(holds, self._is_there(place, moved))
        # What guards test is where memory is, whichever results need it.
        tested = {loop for guard in factor.guards for loop in guard.factors}
        least, most = (
            (way(row for row, _ in needs), way(column for _, column in needs)) for way in (min, max)
        )
        some, every = (self._rest.holds(each, tested) for each in (least, most))
        holds = holds if some is None else both(holds, some)

        def loaded(begin: int = 0, size: int = count) -> list[ir.Value]:
            pointer = numbers.parameters.pointer(factor.buffer)
            element = address(pointer, factor.element, plus(where, begin))
            return load(element, factor.element, size, size * element_bytes(factor.element))

        zeros = [constant(factor.element, 0)] * count

        def loaded_one_by_one() -> list[ir.Value]:
            """Those that results need that are there: memory may end before others."""
            found: list[ir.Value] = []
            for at, need in enumerate(needs):
                exists = self._rest.holds(need, tested)
                one = partial(loaded, at, 1)
                found += one() if exists is None else load_if(exists, zeros[:1], one)
            return found

        def loaded_there() -> list[ir.Value]:
            if every is None or every is some:
                return loaded()
            whole = scf.IfOp(every, [each.type for each in zeros], has_else=True)
            assert whole.else_block is not None
            for block, emit in ((whole.then_block, loaded), (whole.else_block, loaded_one_by_one)):
                with ir.InsertionPoint(block):
                    scf.YieldOp(emit())
            return [*whole.results]

        values = loaded_there() if holds is None else load_if(holds, zeros, loaded_there)
        self._loaded.update(zip(places, values, strict=True))

    def _is_there(self, guard: int, by: int) -> ir.Value:
        key = guard, by
        if key not in self._holds:
            bound = self._numbers.size(self._factor.guards[guard].bound)
            self._holds[key] = is_below(plus(self._bases[guard], by), bound)
        return self._holds[key]


def _pieces(wanted: Sequence[_Place], widest: int, offset: int) -> Iterator[list[_Place]]:
    """Yields neighbours that are wanted, in as many as begin at a multiple of how many they are.

    A thread's first element lies `offset` past such a multiple.
    """
    left = dict.fromkeys(
        sorted(wanted, key=lambda each: (each.open, each.row, each.moved, each.at))
    )
    while left:
        first = next(iter(left))
        count = widest
        while True:
            found = [
                _Place(first.open, first.row, first.moved, first.at + each) for each in range(count)
            ]
            is_aligned = (offset + first.row + first.at) % count == 0
            if is_aligned and all(each in left for each in found):
                break
            count //= 2
        for each in found:
            del left[each]
        yield found
