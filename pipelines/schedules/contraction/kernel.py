"""The kernels of a contraction: tiles of both factors pass through shared memory into registers."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects.mlir import arith, gpu, ir, scf, vector
from ...rewriting import constant
from ..elements import address, element_bytes, load
from ..parameters import Parameters
from ..shared import SharedMemory
from ..size import Size, product
from .configuration import Configuration, vector_of
from .form import Form
from .indices import Indices, Numbers, add, byte, i32, multiply, number, plus, times
from .results import Results
from .side import ENTRY_BYTES, Segment, Side, fill_tables


@dataclass(frozen=True)
class Tiles:
    """Says how many tiles lie along rows and columns; `terms` are those of each part of a sum."""

    form: Form
    configuration: Configuration
    rows: Size
    columns: Size
    terms: Size

    @property
    def count(self) -> Size:
        """The tiles of all results."""
        rests = Size(1)
        for step in self.form.steps.values():
            rests = rests * Size(step.by)
        return product([self.rows, self.columns, rests, self.form.count_of(self.form.batch)])


@dataclass(frozen=True)
class TilePlace:
    """The tile of a block: its first row and column, and the indices of other loops."""

    row: ir.Value
    column: ir.Value
    batch: Indices


def tile_place(tiles: Tiles, numbers: Numbers, tile: ir.Value) -> TilePlace:
    """Where the tile of a number lies; tiles of the same columns follow one another."""
    form, made = tiles.form, tiles.configuration
    rest, row = numbers.divided(tile, tiles.rows)
    rest, column = numbers.divided(rest, tiles.columns)
    for loop, step in form.steps.items():
        rest, own = numbers.divided(rest, Size(step.by))
        numbers.set_rest(loop, own)
    batch = numbers.split(rest, form.batch)
    return TilePlace(times(row, made.rows), times(column, made.columns), batch)


class ContractionKernel:
    """Emits the body. What it takes and needs can be seen after.

    With `scratch` sums of a part of the terms are stored there, by tile.
    """

    def __init__(self, tiles: Tiles, parameters: Parameters, scratch: ir.Value | None) -> None:
        self.form, self.configuration, self._tiles = tiles.form, tiles.configuration, tiles
        self.parameters = parameters
        self.shared = SharedMemory()
        self._scratch = scratch

    def emit(self) -> None:
        """Sums the products of a tile, computes what follows and stores it."""
        form, made = self.form, self.configuration
        self.thread = arith.index_castui(i32(), gpu.thread_id(gpu.Dimension.x))
        self.numbers = numbers = Numbers(form, self.parameters, self.thread)
        block = arith.index_castui(i32(), gpu.block_id(gpu.Dimension.x))
        part, tile = number(0), block
        if self._scratch is not None:
            part, tile = numbers.divided(block, self._tiles.count)
        place = tile_place(self._tiles, numbers, tile)
        self.sides = (
            Side(numbers, made, form.first, form.rows, made.rows),
            Side(numbers, made, form.second, form.columns, made.columns),
        )
        self._areas()
        self.sides[0].start(place.row, place.batch)
        self.sides[1].start(place.column, place.batch)
        begin, end = number(0), numbers.terms()
        if self._scratch is not None:
            each = numbers.size(self._tiles.terms)
            begin = multiply(part, each)
            end = arith.minui(end, add(begin, each))
        sums = self._sum(begin, end)
        if self._scratch is not None:
            self._keep(sums, self._scratch, block)
        else:
            self._finish(
                sums,
                Results(
                    numbers,
                    self.thread,
                    made.threads,
                    made.columns,
                    place.row,
                    place.column,
                    place.batch,
                ),
            )

    # Shared memory: stages of both sides, then tables; the tile of results lies over the stages.

    def _areas(self) -> None:
        made = self.configuration
        first, second = self.sides
        self.slot_bytes = first.stage_bytes + second.stage_bytes
        stages = made.stages * self.slot_bytes
        results = made.rows * made.columns * element_bytes(self.form.total)
        self.stages = self.shared.area(
            stages if self._scratch is not None else max(stages, results)
        )
        self.segment = made.segment
        if self._tiles.terms.is_known:
            self.segment = min(
                self.segment, -(-max(self._tiles.terms.known, 1) // made.terms) * made.terms
            )
        self.entries = self.segment + (made.stages - 1) * made.terms
        self.tables = {
            side: self.shared.area(self.entries * ENTRY_BYTES)
            for side in self.sides
            if side.has_table
        }

    # The sums.

    def _sum(self, begin: ir.Value, end: ir.Value) -> list[ir.Value]:
        """The thread's part of the tile, vectors of columns, of the terms from `begin` to `end`."""
        made = self.configuration
        self.unit = vector_of(element_bytes(self.form.total))
        self.row_unit = min(self.unit, made.thread_rows)
        zeros = constant(ir.VectorType.get([self.unit], self.form.total), 0)
        self.groups = max(made.thread_columns // self.unit, 1)
        sums: list[ir.Value] = [zeros] * (made.thread_rows * self.groups)
        self._read_places()
        if self._tiles.terms.is_known and self._tiles.terms.known <= self.segment:
            return self._add_segment(Segment(begin, end), arith.subi(end, begin), sums)
        loop = scf.ForOp(begin, end, number(self.segment), sums)
        with ir.InsertionPoint(loop.body):
            start = loop.induction_variable
            count = arith.minui(arith.subi(end, start), number(self.segment))
            segment = Segment(start, end)
            scf.YieldOp(self._add_segment(segment, count, list(loop.inner_iter_args)))
        results: list[ir.Value] = [*loop.results]
        return results

    def _add_segment(
        self, segment: Segment, count: ir.Value, sums: list[ir.Value]
    ) -> list[ir.Value]:
        """Adds the products of so many terms, whose tables fit into shared memory."""
        made = self.configuration
        gpu.barrier()
        if self.tables:
            fill_tables(self.numbers, made, segment, self.tables, self.entries)
            gpu.barrier()
        for stage in range(made.stages - 1):
            base = number(stage * made.terms)
            self._issue(segment, base, number(stage * self.slot_bytes))
        last = (made.stages - 1) * self.slot_bytes
        loop = scf.ForOp(number(0), count, number(made.terms), [*sums, number(0), number(last)])
        with ir.InsertionPoint(loop.body):
            *carried, reading, writing = loop.inner_iter_args
            _wait(made.stages - 2)
            gpu.barrier()
            base = plus(loop.induction_variable, (made.stages - 1) * made.terms)
            self._issue(segment, base, writing)
            carried = self._products(reading, list(carried))
            scf.YieldOp([*carried, self._next(reading), self._next(writing)])
        _wait(0)
        results: list[ir.Value] = [*loop.results]
        return results[: len(sums)]

    def _next(self, slot: ir.Value) -> ir.Value:
        following = plus(slot, self.slot_bytes)
        is_end = arith.cmpi(
            arith.CmpIPredicate.eq, following, number(self.configuration.stages * self.slot_bytes)
        )
        return arith.select(is_end, number(0), following)

    def _issue(self, segment: Segment, base: ir.Value, slot: ir.Value) -> None:
        first, second = self.sides
        start = byte(self.stages, slot)
        first.issue(segment, base, start, self.tables.get(first))
        start = byte(start, number(first.stage_bytes))
        second.issue(segment, base, start, self.tables.get(second))
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
        x = add(
            times(arith.remui(warp, number(warps_x)), lanes_x), arith.remui(lane, number(lanes_x))
        )
        y = add(
            times(arith.divui(warp, number(warps_x)), lanes_y), arith.divui(lane, number(lanes_x))
        )
        self.thread_x, self.thread_y = x, y

    def _products(self, slot: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        """Adds the products of one step, in the order of the terms."""
        made = self.configuration
        start = byte(self.stages, slot)
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
            where = byte(start, plus(times(at, unit * side.bytes), shift))
            kind = ir.VectorType.get([unit], side.factor.element)
            found.append(_load_vector(where, kind, unit * side.bytes))
        return found

    # The results.

    def _finish(self, sums: list[ir.Value], results: Results) -> None:
        """Takes the tile through shared memory, so that neighbouring threads store neighbours."""
        made, size = self.configuration, element_bytes(self.form.total)
        gpu.barrier()
        for place, part in enumerate(sums):
            index = add(times(self._row_of(place), made.columns), self._column_of(place))
            _store_vector(byte(self.stages, times(index, size)), part, self.unit * size)
        gpu.barrier()

        def value(row: ir.Value, column: ir.Value) -> ir.Value:
            index = add(times(row, made.columns), column)
            where = byte(self.stages, times(index, size))
            return load(where, self.form.total, 1, size)[0]

        results.store(number(0), made.rows, value)

    def _keep(self, sums: list[ir.Value], scratch: ir.Value, tile: ir.Value) -> None:
        """Stores the sums of a part of the terms, a tile after the other."""
        made, size = self.configuration, element_bytes(self.form.total)
        first = times(tile, made.rows * made.columns)
        start = address(self.parameters.pointer(scratch), self.form.total, first)
        for place, value in enumerate(sums):
            index = add(times(self._row_of(place), made.columns), self._column_of(place))
            _store_vector(byte(start, times(index, size)), value, self.unit * size)

    def _row_of(self, place: int) -> ir.Value:
        """The row of the tile that one of the thread's vectors lies in."""
        made = self.configuration
        row = place // self.groups
        down = made.rows // made.thread_rows
        by = row % self.row_unit + row // self.row_unit * down * self.row_unit
        return plus(times(self.thread_y, self.row_unit), by)

    def _column_of(self, place: int) -> ir.Value:
        made = self.configuration
        across = made.columns // made.thread_columns
        by = place % self.groups * across * self.unit
        return plus(times(self.thread_x, self.unit), by)


class PartsKernel:
    """Emits the body of the kernel that adds the parts of sums: some rows of a tile a block."""

    ROWS, THREADS = 8, 256

    def __init__(self, tiles: Tiles, parameters: Parameters, scratch: ir.Value) -> None:
        self._tiles, self.parameters, self._scratch = tiles, parameters, scratch

    @property
    def blocks_each(self) -> int:
        """How many blocks share a tile."""
        return self._tiles.configuration.rows // self.ROWS

    def emit(self) -> None:
        """Adds the parts in their order, computes what follows and stores it."""
        tiles, made = self._tiles, self._tiles.configuration
        total = tiles.form.total
        thread = arith.index_castui(i32(), gpu.thread_id(gpu.Dimension.x))
        numbers = Numbers(tiles.form, self.parameters, thread)
        block = arith.index_castui(i32(), gpu.block_id(gpu.Dimension.x))
        tile, slice_ = numbers.divided(block, Size(self.blocks_each))
        place = tile_place(tiles, numbers, tile)
        results = Results(
            numbers, thread, self.THREADS, made.columns, place.row, place.column, place.batch
        )
        pointer = self.parameters.pointer(self._scratch)
        size = made.rows * made.columns
        step = multiply(numbers.size(tiles.count), number(size))

        def value(row: ir.Value, column: ir.Value) -> ir.Value:
            at = add(times(tile, size), add(times(row, made.columns), column))
            found: ir.Value | None = None
            for _ in range(made.parts):
                where = address(pointer, total, at)
                (each,) = load(where, total, 1, element_bytes(total))
                found = each if found is None else _plus(found, each)
                at = add(at, step)
            assert found is not None
            return found

        results.store(times(slice_, self.ROWS), self.ROWS, value)


def _plus(one: ir.Value, other: ir.Value) -> ir.Value:
    is_float = isinstance(one.type, ir.FloatType)
    return arith.addf(one, other) if is_float else arith.addi(one, other)


def _store_vector(where: ir.Value, value: ir.Value, alignment: int) -> None:
    i64 = ir.IntegerType.get_signless(64)
    ir.Operation.create(
        "llvm.store",
        operands=[value, where],
        attributes={"alignment": ir.IntegerAttr.get(i64, alignment)},
    )


def _load_vector(where: ir.Value, kind: ir.Type, alignment: int) -> ir.Value:
    i64 = ir.IntegerType.get_signless(64)
    return ir.Operation.create(
        "llvm.load",
        results=[kind],
        operands=[where],
        attributes={"alignment": ir.IntegerAttr.get(i64, alignment)},
    ).results[0]


def _wait(groups: int) -> None:
    ir.Operation.create(
        "nvvm.cp.async.wait.group", attributes={"n": ir.IntegerAttr.get(i32(), groups)}
    )
