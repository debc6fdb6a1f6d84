"""The kernel of a contraction: tiles of both factors pass through shared memory into registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ....dialects.mlir import arith, gpu, ir, scf, vector
from ...rewriting import constant
from ...walking import is_used
from ..elements import address, element_bytes, load, store
from ..parameters import Parameters
from ..region import Point
from ..shared import SharedMemory
from ..size import ONE, ZERO, Size
from .configuration import Configuration, is_along_terms, vector_of
from .form import Factor, Form, places_of

# Bits of a mask: that a row or column is there, and that a term is not.
_THERE, _MISSING = 1 << 30, -(1 << 31)
_ENTRY_BYTES = 8


@dataclass(frozen=True)
class Counts:
    """Says how many tiles lie along rows and columns, in each of how many products of matrices."""

    rows: Size
    columns: Size
    batch: Size


def i32() -> ir.Type:
    """The type of indices in the kernel."""
    return ir.IntegerType.get_signless(32)


def number(value: int) -> ir.Value:
    """A constant of 32 bits."""
    return constant(i32(), value)


def plus(value: ir.Value, by: int) -> ir.Value:
    """A number and another one that is known."""
    return arith.addi(value, number(by)) if by else value


def times(value: ir.Value, by: int) -> ir.Value:
    """A number multiplied by another one that is known."""
    return arith.muli(value, number(by)) if by != 1 else value


class _Side:
    """One factor's tiles: what a thread loads of them, and where."""

    def __init__(
        self,
        kernel: ContractionKernel,
        factor: Factor,
        own: tuple[int, ...],
        extent: Size,
        tile: int,
    ) -> None:
        form, made = kernel.form, kernel.configuration
        self.kernel, self.factor = kernel, factor
        self.own, self.extent, self.tile = own, extent, tile
        self.bytes = element_bytes(factor.element)
        self.along_terms = is_along_terms(form, factor, own)
        places = places_of(form, factor)
        assert places is not None
        self.places = places
        self.step = self._linear_step()
        self.has_table = bool(places) or self.step is None
        pad = vector_of(self.bytes) if self.along_terms else 0
        self.pitch = tile + pad
        self.stage_bytes = made.terms * self.pitch * self.bytes
        if self.along_terms:
            self.count_rows, self.count_terms = tile * made.terms // made.threads, 1
            self.row_step, self.term_step = made.threads // made.terms, 0
        else:
            self.count_rows = max(tile // made.threads, 1)
            self.count_terms = tile * made.terms // made.threads // self.count_rows
            self.row_step, self.term_step = made.threads, max(made.threads // tile, 1)

    def _linear_step(self) -> Size | None:
        """The stride of the number of a term, where all loops of terms lie behind one another."""
        work, terms = self.kernel.form.work, self.kernel.form.terms
        if not terms:
            return ZERO
        for outer, inner in pairwise(terms):
            if self.factor.strides[outer] != self.factor.strides[inner] * work.extents[inner]:
                return None
        return self.factor.strides[terms[-1]]

    def start(self, first: ir.Value, batch: dict[int, ir.Value]) -> None:
        """Computes where the thread's rows lie; `first` is the tile's first."""
        kernel = self.kernel
        thread, made = kernel.thread, kernel.configuration
        if self.along_terms:
            self.term = arith.andi(thread, number(made.terms - 1))
            row = arith.shrui(thread, number(made.terms.bit_length() - 1))
        elif self.tile <= made.threads:
            row = arith.andi(thread, number(self.tile - 1))
            self.term = arith.shrui(thread, number(self.tile.bit_length() - 1))
        else:
            row, self.term = thread, number(0)
        place = arith.addi(times(self.term, self.pitch), row)
        self.shared_place = times(place, self.bytes)
        self.offsets: list[ir.Value] = []
        self.masks: list[ir.Value] = []
        for each in range(self.count_rows):
            at = arith.addi(first, plus(row, each * self.row_step))
            indices = {**kernel.split(at, self.own), **batch}
            self.offsets.append(kernel.place(self.factor, indices))
            self.masks.append(self._mask(at, indices))

    def _mask(self, at: ir.Value, indices: dict[int, ir.Value]) -> ir.Value:
        """A bit for each place along each guarded axis, and one for the row itself."""
        kernel = self.kernel
        extent = kernel.size(self.extent)
        mask = number(0)
        bit = 0
        below = arith.CmpIPredicate.ult
        for guard, count in self.places:
            base = number(guard.constant)
            for loop, factor in guard.factors.items():
                if loop in indices:
                    base = arith.addi(base, times(indices[loop], factor))
            along = [loop for loop in kernel.form.terms if loop in guard.factors]
            by = guard.factors[along[0]] if along else 0
            for place in range(count):
                holds = arith.cmpi(below, plus(base, place * by), kernel.size(guard.bound))
                mask = arith.ori(mask, arith.select(holds, number(1 << bit), number(0)))
                bit += 1
        is_there = arith.cmpi(below, at, extent)
        return arith.select(is_there, arith.ori(mask, number(_THERE)), number(0))

    def needs(self, indices: dict[int, ir.Value]) -> ir.Value:
        """The bits that a term asks for."""
        needed = number(_THERE)
        bit = 0
        for guard, count in self.places:
            along = [loop for loop in self.kernel.form.terms if loop in guard.factors]
            one = number(1 << bit)
            needed = arith.ori(needed, arith.shli(one, indices[along[0]]) if along else one)
            bit += count
        return needed

    def issue(self, base: ir.Value, slot: ir.Value) -> None:
        """Starts the copies of one step: `base` is its first term in the segment, in i32."""
        kernel = self.kernel
        for term in range(self.count_terms):
            at = arith.addi(base, plus(self.term, term * self.term_step))
            offset, needed = kernel.term(self, at)
            for row in range(self.count_rows):
                place = arith.addi(self.offsets[row], offset)
                missing = arith.andi(arith.xori(self.masks[row], number(-1)), needed)
                is_there = arith.cmpi(arith.CmpIPredicate.eq, missing, number(0))
                size = arith.select(is_there, number(self.bytes), number(0))
                source = address(
                    kernel.parameters.pointer(self.factor.buffer),
                    self.factor.element,
                    arith.select(is_there, place, number(0)),
                )
                shift = (term * self.term_step * self.pitch + row * self.row_step) * self.bytes
                to = kernel.byte(slot, plus(self.shared_place, shift))
                _copy(to, source, self.bytes, size)


class ContractionKernel:
    """Emits the body. What it takes and needs can be seen after."""

    def __init__(
        self, form: Form, configuration: Configuration, counts: Counts, parameters: Parameters
    ) -> None:
        self.form, self.configuration, self.counts = form, configuration, counts
        self.parameters = parameters
        self.shared = SharedMemory()
        self._inside: dict[Size, ir.Value] = {}

    def emit(self) -> None:
        form, made = self.form, self.configuration
        self.thread = arith.index_castui(i32(), gpu.thread_id(gpu.Dimension.x))
        block = arith.index_castui(i32(), gpu.block_id(gpu.Dimension.x))
        rest, tile_row = self._divided(block, self.counts.rows)
        rest, tile_column = self._divided(rest, self.counts.columns)
        batch = self.split(rest, form.batch)
        self.batch = batch
        self.first_row = times(tile_row, made.rows)
        self.first_column = times(tile_column, made.columns)
        self.sides = (
            _Side(self, form.first, form.rows, form.extent(form.rows), made.rows),
            _Side(self, form.second, form.columns, form.extent(form.columns), made.columns),
        )
        self._areas()
        self.sides[0].start(self.first_row, batch)
        self.sides[1].start(self.first_column, batch)
        sums = self._sum()
        self._finish(sums)

    # Numbers.

    def size(self, size: Size) -> ir.Value:
        """A size in 32 bits."""
        if size.is_known:
            return number(size.known)
        value = self.parameters.size(size)
        return self.parameters.once(("i32", size), lambda: arith.index_cast(i32(), value))

    def split(self, at: ir.Value, loops: Sequence[int]) -> dict[int, ir.Value]:
        """The index of each of some loops in the iteration of a number."""
        found: dict[int, ir.Value] = {}
        rest = at
        for place, loop in enumerate(reversed(loops)):
            if place == len(loops) - 1:
                found[loop] = rest
            else:
                rest, found[loop] = self._divided(rest, self.form.work.extents[loop])
        return found

    def _divided(self, value: ir.Value, size: Size) -> tuple[ir.Value, ir.Value]:
        if size == ONE:
            return value, number(0)
        by = self.size(size)
        whole = arith.divui(value, by)
        return whole, arith.subi(value, arith.muli(whole, by))

    def place(self, factor: Factor, indices: dict[int, ir.Value]) -> ir.Value:
        """Where a factor's element lies, but for the terms' part."""
        found = self.size(factor.offset)
        for loop, index in indices.items():
            stride = factor.strides[loop]
            if stride != ZERO:
                step = index if stride == ONE else arith.muli(index, self.size(stride))
                found = arith.addi(found, step)
        return found

    def byte(self, start: ir.Value, offset: ir.Value) -> ir.Value:
        return address(start, ir.IntegerType.get_signless(8), offset)

    # Shared memory: stages of both sides, then tables; the tile of results lies over the stages.

    def _areas(self) -> None:
        made = self.configuration
        first, second = self.sides
        self.slot_bytes = first.stage_bytes + second.stage_bytes
        total = element_bytes(self.form.total)
        stages = made.stages * self.slot_bytes
        self.stages = self.shared.area(max(stages, made.rows * made.columns * total))
        known = self.form.extent(self.form.terms)
        self.segment = made.segment
        if known.is_known:
            self.segment = min(self.segment, -(-max(known.known, 1) // made.terms) * made.terms)
        entries = self.segment + (made.stages - 1) * made.terms
        self.tables: dict[int, ir.Value] = {}
        self.entries = entries
        for place, side in enumerate(self.sides):
            if side.has_table:
                self.tables[place] = self.shared.area(entries * _ENTRY_BYTES)

    def _fill_tables(self, start: ir.Value) -> None:
        """Writes where the terms of a segment lie, from the number `start` on."""
        if not self.tables:
            return
        made, form = self.configuration, self.form
        index = ir.IndexType.get()
        thread = arith.index_castui(index, self.thread)
        loop = scf.ForOp(
            thread,
            constant(index, self.entries),
            constant(index, made.threads),
        )
        with ir.InsertionPoint(loop.body):
            entry = arith.index_castui(i32(), loop.induction_variable)
            at = arith.addi(start, entry)
            is_there = arith.cmpi(arith.CmpIPredicate.ult, at, self.size(form.extent(form.terms)))
            indices = self.split(at, form.terms)
            for place, area in self.tables.items():
                side = self.sides[place]
                offset = number(0)
                for term, value in indices.items():
                    stride = side.factor.strides[term]
                    if stride != ZERO:
                        offset = arith.addi(offset, arith.muli(value, self.size(stride)))
                needed = arith.select(is_there, side.needs(indices), number(_MISSING))
                where = self.byte(area, times(entry, _ENTRY_BYTES))
                store(where, i32(), [offset, needed], _ENTRY_BYTES)
            scf.YieldOp([])

    def term(self, side: _Side, at: ir.Value) -> tuple[ir.Value, ir.Value]:
        """How far a term of the segment lies, and the bits it asks for."""
        place = self.sides.index(side)
        if side.has_table:
            where = self.byte(self.tables[place], times(at, _ENTRY_BYTES))
            offset, needed = load(where, i32(), 2, _ENTRY_BYTES)
            return offset, needed
        step = side.step
        assert step is not None
        whole = arith.addi(self._start, at)
        extent = self.size(self.form.extent(self.form.terms))
        is_there = arith.cmpi(arith.CmpIPredicate.ult, whole, extent)
        needed = arith.select(is_there, number(_THERE), number(_MISSING))
        return arith.muli(whole, self.size(step)), needed

    # The sums.

    def _sum(self) -> list[ir.Value]:
        """The thread's part of the tile, vectors of columns."""
        made = self.configuration
        self.unit = vector_of(element_bytes(self.form.total))
        self.row_unit = min(self.unit, made.thread_rows)
        kind = ir.VectorType.get([self.unit], self.form.total)
        zeros = constant(kind, 0)
        self.groups = max(made.thread_columns // self.unit, 1)
        sums: list[ir.Value] = [zeros] * (made.thread_rows * self.groups)
        self._read_places()
        extent = self.form.extent(self.form.terms)
        if extent.is_known and extent.known <= self.segment:
            return self._segment(number(0), number(-(-extent.known // made.terms)), sums)
        whole = self.size(extent)
        index = ir.IndexType.get()
        loop = scf.ForOp(
            constant(index, 0),
            arith.index_castui(index, whole),
            constant(index, self.segment),
            sums,
        )
        with ir.InsertionPoint(loop.body):
            start = arith.index_castui(i32(), loop.induction_variable)
            left = arith.minui(arith.subi(whole, start), number(self.segment))
            steps = arith.ceildivui(left, number(made.terms))
            scf.YieldOp(self._segment(start, steps, list(loop.inner_iter_args)))
        return list(loop.results)

    def _segment(self, start: ir.Value, steps: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        """Adds the products of terms whose tables fit into shared memory."""
        made = self.configuration
        self._start = start
        gpu.barrier()
        self._fill_tables(start)
        if self.tables:
            gpu.barrier()
        for stage in range(made.stages - 1):
            self._issue(number(stage * made.terms), number(stage * self.slot_bytes))
        last = (made.stages - 1) * self.slot_bytes
        loop = scf.ForOp(
            constant(i32(), 0),
            steps,
            constant(i32(), 1),
            [*sums, number(0), number(last)],
        )
        with ir.InsertionPoint(loop.body):
            *carried, reading, writing = loop.inner_iter_args
            _wait(made.stages - 2)
            gpu.barrier()
            base = times(plus(loop.induction_variable, made.stages - 1), made.terms)
            self._issue(base, writing)
            carried = self._products(reading, list(carried))
            scf.YieldOp([*carried, self._next(reading), self._next(writing)])
        _wait(0)
        return list(loop.results)[: len(sums)]

    def _next(self, slot: ir.Value) -> ir.Value:
        following = plus(slot, self.slot_bytes)
        is_end = arith.cmpi(
            arith.CmpIPredicate.eq, following, number(self.configuration.stages * self.slot_bytes)
        )
        return arith.select(is_end, number(0), following)

    def _issue(self, base: ir.Value, slot: ir.Value) -> None:
        first, second = self.sides
        start = self.byte(self.stages, slot)
        first.issue(base, start)
        second.issue(
            base, address(start, ir.IntegerType.get_signless(8), number(first.stage_bytes))
        )
        ir.Operation.create("nvvm.cp.async.commit.group")

    def _read_places(self) -> None:
        """The thread's place among those of the tile: a warp has 4 by 8 of them."""
        made = self.configuration
        across = made.columns // made.thread_columns
        lanes_x = min(8, across)
        lanes_y = 32 // lanes_x
        lane = arith.andi(self.thread, number(31))
        warp = arith.shrui(self.thread, number(5))
        warps_x = across // lanes_x
        x = arith.addi(
            times(arith.remui(warp, number(warps_x)), lanes_x), arith.remui(lane, number(lanes_x))
        )
        y = arith.addi(
            times(arith.divui(warp, number(warps_x)), lanes_y), arith.divui(lane, number(lanes_x))
        )
        self.thread_x, self.thread_y = x, y

    def _products(self, slot: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        """Adds the products of one step, in the order of the terms."""
        made = self.configuration
        start = self.byte(self.stages, slot)
        for term in range(made.terms):
            rows = self._fragment(0, start, term)
            vectors = self._fragment(1, start, term)
            for row in range(made.thread_rows):
                value = vector.extract(rows[row // self.row_unit], [], [row % self.row_unit])
                spread = vector.broadcast(vectors[0].type, value)
                for group, other in enumerate(vectors):
                    place = row * self.groups + group
                    sums[place] = self._add_product(sums[place], spread, other)
        return sums

    def _add_product(self, total: ir.Value, one: ir.Value, other: ir.Value) -> ir.Value:
        if isinstance(self.form.total, ir.FloatType):
            return vector.fma(one, other, total)
        return arith.addi(total, arith.muli(one, other))

    def _fragment(self, place: int, start: ir.Value, term: int) -> list[ir.Value]:
        """The thread's elements of a factor for a term, in vectors of neighbours."""
        made, side = self.configuration, self.sides[place]
        count = (made.thread_rows, made.thread_columns)[place]
        unit = (self.row_unit, self.unit)[place]
        across = (made.rows, made.columns)[place] // count
        at = (self.thread_y, self.thread_x)[place]
        base = self.sides[0].stage_bytes if place else 0
        found: list[ir.Value] = []
        for group in range(count // unit):
            shift = base + (term * side.pitch + group * across * unit) * side.bytes
            where = self.byte(start, plus(times(at, unit * side.bytes), shift))
            kind = ir.VectorType.get([unit], side.factor.element)
            found.append(_load_vector(where, kind, unit * side.bytes))
        return found

    # The results: through shared memory, so that neighbouring threads store neighbours.

    def _finish(self, sums: list[ir.Value]) -> None:
        made, form = self.configuration, self.form
        total = form.total
        size = element_bytes(total)
        gpu.barrier()
        unit = self.unit
        row_unit = self.row_unit
        down = made.rows // made.thread_rows
        across = made.columns // made.thread_columns
        for place, value in enumerate(sums):
            row, group = place // self.groups, place % self.groups
            at_row = plus(
                times(self.thread_y, row_unit),
                row % row_unit + row // row_unit * down * row_unit,
            )
            column = plus(times(self.thread_x, unit), group * across * unit)
            index = arith.addi(times(at_row, made.columns), column)
            where = self.byte(self.stages, times(index, size))
            elements = [vector.extract(value, [], [each]) for each in range(unit)]
            store(where, total, elements, unit * size)
        gpu.barrier()
        self._store_all()

    def _store_all(self) -> None:
        made, form = self.configuration, self.form
        size = element_bytes(form.total)
        assert made.columns <= made.threads
        column = arith.andi(self.thread, number(made.columns - 1))
        row = arith.shrui(self.thread, number(made.columns.bit_length() - 1))
        step = made.threads // made.columns
        rounds = made.rows // step
        whole_column = arith.addi(self.first_column, column)
        extent = form.extent(form.columns)
        is_there = arith.cmpi(arith.CmpIPredicate.ult, whole_column, self.size(extent))
        inside = scf.IfOp(is_there)
        with ir.InsertionPoint(inside.then_block):
            columns = self.split(whole_column, form.columns)
            unroll = min(4, rounds)
            loop = scf.ForOp(number(0), number(rounds), number(unroll))
            with ir.InsertionPoint(loop.body):
                spots = [
                    plus(
                        arith.addi(row, times(loop.induction_variable, step)),
                        each * step,
                    )
                    for each in range(unroll)
                ]
                self._store_rows(spots, column, columns, size)
                scf.YieldOp([])
            scf.YieldOp([])

    def _store_rows(
        self, spots: list[ir.Value], column: ir.Value, columns: dict[int, ir.Value], size: int
    ) -> None:
        made, form = self.configuration, self.form
        extent = form.extent(form.rows)
        found: list[tuple[Point, dict[int, ir.Value], ir.Value]] = []
        loaded: list[dict[int, ir.Value]] = []
        for spot in spots:
            at = arith.addi(self.first_row, spot)
            limit = plus(self.size(extent), -1)
            clamped = at
            if not extent.is_multiple_of(made.rows):
                clamped = arith.minui(at, limit)
            indices = {**self.split(clamped, form.rows), **columns, **self.batch}
            values = {
                operand.number: self._load(operand.number, indices)
                for operand in form.work.inputs
                if operand not in (form.first.operand, form.second.operand)
                and is_used(form.work.block.arguments[operand.number])
            }
            loaded.append(values)
            index = arith.addi(times(spot, made.columns), column)
            where = self.byte(self.stages, times(index, size))
            value = load(where, form.total, 1, size)[0]
            point = Point(
                form.region,
                frozenset(range(len(form.work.extents))),
                lambda number, indices=indices, values=values: (
                    values[number] if number in values else self._load(number, indices)
                ),
                lambda loop, indices=indices: self._index(loop, indices),
            )
            point.known[form.sum.results[0]] = value
            found.append((point, indices, at))
        results = [[point.value(value) for value in form.region.yielded] for point, _, _ in found]
        for (_, indices, at), values in zip(found, results, strict=True):
            if extent.is_multiple_of(made.rows):
                self._store_results(indices, values)
                continue
            is_there = arith.cmpi(arith.CmpIPredicate.ult, at, self.size(extent))
            inside = scf.IfOp(is_there)
            with ir.InsertionPoint(inside.then_block):
                self._store_results(indices, values)
                scf.YieldOp([])

    def _store_results(self, indices: dict[int, ir.Value], values: Sequence[ir.Value]) -> None:
        for operand, value in zip(self.form.work.outputs, values, strict=True):
            where = self._where(operand.number, indices)
            store(where, operand.element, [value], element_bytes(operand.element))

    def _load(self, operand: int, indices: dict[int, ir.Value]) -> ir.Value:
        found = next(each for each in self.form.work.operands if each.number == operand)
        return load(self._where(operand, indices), found.element, 1, element_bytes(found.element))[
            0
        ]

    def _where(self, operand: int, indices: dict[int, ir.Value]) -> ir.Value:
        found = next(each for each in self.form.work.operands if each.number == operand)
        place = self.size(found.offset)
        for loop, index in indices.items():
            stride = found.strides[loop]
            if stride != ZERO:
                place = arith.addi(place, arith.muli(index, self.size(stride)))
        return address(self.parameters.pointer(found.buffer), found.element, place)

    def _index(self, loop: int, indices: dict[int, ir.Value]) -> ir.Value:
        index = ir.IndexType.get()
        found = indices.get(loop)
        return constant(index, 0) if found is None else arith.index_castui(index, found)


def _load_vector(where: ir.Value, kind: ir.Type, alignment: int) -> ir.Value:
    i64 = ir.IntegerType.get_signless(64)
    return ir.Operation.create(
        "llvm.load",
        results=[kind],
        operands=[where],
        attributes={"alignment": ir.IntegerAttr.get(i64, alignment)},
    ).results[0]


def _copy(to: ir.Value, source: ir.Value, bytes_: int, read: ir.Value) -> None:
    """An asynchronous copy of so many bytes, of which `read` are read and the others 0."""
    ir.Operation.create(
        "nvvm.cp.async.shared.global",
        operands=[to, source, read],
        attributes={
            "size": ir.IntegerAttr.get(i32(), bytes_),
            "modifier": ir.Attribute.parse(
                f"#nvvm<load_cache_modifier {'cg' if bytes_ == 16 else 'ca'}>"
            ),
        },
    )


def _wait(groups: int) -> None:
    ir.Operation.create(
        "nvvm.cp.async.wait.group", attributes={"n": ir.IntegerAttr.get(i32(), groups)}
    )
