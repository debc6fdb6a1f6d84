"""The kernels of a contraction: tiles of both factors pass through shared memory into registers."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, gpu, ir, scf
from ....dialects.records import dataclass
from ...i32 import block_in_grid, i32, is_below, thread_in_block
from ...rewriting import constant
from ..async_copies import commit_copies, wait_for_copies
from ..conditional_load import load_if
from ..elements import ACCESS_BYTES, address, element_bytes, load
from ..parameters import Parameters
from ..shared import SharedMemory
from ..size import Size, product
from ..warpgroup_matrices import PATTERN_BYTES
from ..work import Statistic
from .arithmetic import Matrices, Starts, Vectors, WarpgroupMatrices, store_vector
from .computed_side import ComputedSide, Given
from .configuration import AT_ONCE, PARTS_THREADS, Tiling, lane_units, power_of_two_from
from .form import Factor, Form, read_range
from .indices import Indices, Numbers, add, byte, multiply, number, plus, times
from .results import Results
from .side import ENTRY_BYTES, Segment, Side, fill_tables
from .statistics import Partials, Units, are_reduced, units_of
from .tile_statistics import Stored
from .totals import Totals

# A side, where its tile of a step begins, and the elements that a thread has loaded of it.
_Fetched = tuple[Side, ir.Value, list[ir.Value]]


@dataclass(frozen=True)
class Tiles:
    """Says how many tiles lie along rows and columns; `terms` are those of each part of a sum."""

    form: Form
    configuration: Tiling
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
    """Where the tile of a number lies; tiles of the same columns follow one another.

    Those of all rests of loops with a step come first: their results lie between one another, in
    the same pieces of memory, which the cache then writes once.
    """
    form, made = tiles.form, tiles.configuration
    rest = tile
    for loop, step in form.steps.items():
        rest, own = numbers.divided(rest, Size(step.by))
        numbers.set_rest(loop, own)
    rest, row = numbers.divided(rest, tiles.rows)
    rest, column = numbers.divided(rest, tiles.columns)
    batch = numbers.split(rest, form.batch)
    place = TilePlace(times(row, made.rows), times(column, made.columns), batch)
    ranged = read_range(form) if made.is_ranged else None
    if ranged is not None:
        is_of_rows = ranged.own == form.rows
        first, count = (place.row, made.rows) if is_of_rows else (place.column, made.columns)
        numbers.set_range(ranged, first, count)
    return place


def partials_of_tiles(form: Form, made: Tiling) -> list[Partials] | None:
    """Returns what the kernels store of statistics; None where they cannot compute them."""
    if not form.work.statistics:
        return []
    if form.steps:
        return None
    sizes = lane_units(made)
    if not sizes:
        return None
    # The threads beside one another take so many rows of a tile each.
    threads, rows = made.threads, made.rows
    if made.parts > 1:
        threads, rows = PARTS_THREADS, PartsKernel.rows_of(made)
    units = made.rows // (rows * made.columns // threads)
    found: list[Partials] = []
    for statistic in form.work.statistics:
        down = units_of(form.work, form.rows, statistic, [made.rows])
        across = units_of(form.work, form.columns, statistic, sizes)
        if across is None:
            across = _units_of_runs(form, statistic, sizes)
        if down is None or across is None:
            return None
        if down.per is not None:
            down = Units(down.kept, down.per * Size(units), down.size)
        found.append(Partials(statistic, form.work, form.batch, down, across))
    return found if are_reduced(found) else None


def _units_of_runs(form: Form, statistic: Statistic, sizes: Sequence[int]) -> Units | None:
    """Returns the units of columns of which a tile has several results, which begin anywhere."""
    kept = tuple(loop for loop in form.columns if loop not in statistic.loops)
    run = form.extent(form.columns[len(kept) :])
    if kept != form.columns[: len(kept)] or not run.is_known:
        return None
    size = next((each for each in sizes if each <= run.known), None)
    if size is None:
        return None
    return Units(kept, Size((run.known + size - 2) // size + 1), size, run.known)


class ContractionKernel:
    """Emits the body. What it takes and needs can be seen after.

    With `scratch` sums of a part of the terms are stored there, by tile; otherwise partials of
    statistics where `stored` says.
    """

    def __init__(
        self,
        tiles: Tiles,
        parameters: Parameters,
        scratch: ir.Value | None,
        stored: Sequence[Stored] = (),
    ) -> None:
        self._stored = stored
        self.form, self.configuration, self._tiles = tiles.form, tiles.configuration, tiles
        self.parameters = parameters
        self.shared = SharedMemory()
        self._scratch = scratch
        # Where in a stage what a side brings lies.
        self._offsets: dict[Side, int] = {}

    def emit(self) -> None:
        """Sums the products of a tile, computes what follows and stores it."""
        form = self.form
        self.thread = thread_in_block()
        self.numbers = numbers = Numbers(form, self.parameters, self.thread)
        block = block_in_grid()
        part, tile = number(0), block
        if self._scratch is not None:
            part, tile = numbers.divided(block, self._tiles.count)
        place = tile_place(self._tiles, numbers, tile)
        begin, end = number(0), numbers.terms()
        if self._scratch is None:
            self._emit_tile(place, begin, end, block)
            return
        each = numbers.size(self._tiles.terms)
        begin = multiply(part, each)
        end = arith.minui(end, add(begin, each))
        if not numbers.has_fewer_terms:
            self._emit_tile(place, begin, end, block)
            return
        # The kernel that adds the parts reads none without terms.
        exists = scf.IfOp(arith.cmpi(arith.CmpIPredicate.ult, begin, end))
        with ir.InsertionPoint(exists.then_block):
            self._emit_tile(place, begin, end, block)
            scf.YieldOp([])

    def _emit_tile(self, place: TilePlace, begin: ir.Value, end: ir.Value, block: ir.Value) -> None:
        """Sums the products of the terms from `begin` to `end`."""
        form, made, numbers = self.form, self.configuration, self.numbers
        self.sides = (
            _side(numbers, made, form.first, form.rows, made.rows),
            _side(numbers, made, form.second, form.columns, made.columns),
        )
        self._areas()
        arithmetic = Matrices if form.is_of_matrices else Vectors
        if made.is_of_warpgroups:
            arithmetic = WarpgroupMatrices
        self._arithmetic = arithmetic(form, made, self.sides)
        self.sides[0].start(place.row, place.batch)
        self.sides[1].start(place.column, place.batch)
        sums = self._sum(begin, end)
        if self._scratch is not None:
            self._keep(sums, self._scratch, block)
            return
        results = Results(
            *(numbers, self.thread, made.threads, made.rows, made.columns),
            *(place.row, place.column, place.batch),
            self._stored,
        )
        self._finish(sums, results)

    # Shared memory: stages of both sides, then tables; the tile of results lies over the stages.

    def _areas(self) -> None:
        made = self.configuration
        self._computed = [side for side in self.sides if isinstance(side, ComputedSide)]
        unit = PATTERN_BYTES if made.is_of_warpgroups else ACCESS_BYTES
        self.slot_bytes = 0
        # Of computed sides, where their tiles lie: two steps of them follow the stages.
        self._converted: dict[Side, int] = {}
        for side in self.sides:
            if side not in self._computed:
                side.base = self.slot_bytes
            self._offsets[side] = self.slot_bytes
            self.slot_bytes += _rounded_up(side.slot_bytes, unit)
        self._turn_bytes = 0
        for side in self._computed:
            self._converted[side] = self._turn_bytes
            self._turn_bytes += side.stage_bytes
        stages = made.stages * self.slot_bytes
        self._first_turn = stages
        stages += 2 * self._turn_bytes
        results = made.rows * made.columns * element_bytes(self.form.total)
        bytes_ = stages if self._scratch is not None else max(stages, results)
        if made.is_of_warpgroups:
            # Swizzles repeat from multiples of their pattern on.
            self.stages = _aligned(self.shared.area(bytes_ + PATTERN_BYTES), PATTERN_BYTES)
        else:
            self.stages = self.shared.area(bytes_)
        self.segment = made.segment
        if self._tiles.terms.is_known:
            # Segments of a known sum are equally long.
            terms = max(self._tiles.terms.known, 1)
            count = -(-terms // self.segment)
            self.segment = -(-terms // (count * made.terms)) * made.terms
            if self._computed and not any(side.has_table for side in self.sides):
                self.segment = -(-terms // made.terms) * made.terms
        tabled = [side for side in self.sides if side.has_table]
        self.table_unit = min((side.unit for side in tabled), default=1)
        for side in tabled:
            side.table_unit = self.table_unit
        self.entries = (self.segment + (made.stages - 1) * made.terms) // self.table_unit
        self.tables = {side: self.shared.area(self.entries * ENTRY_BYTES) for side in tabled}

    # The sums.

    def _sum(self, begin: ir.Value, end: ir.Value) -> list[ir.Value]:
        """The thread's part of the tile, vectors of columns, of the terms from `begin` to `end`."""
        sums: list[ir.Value] = self._arithmetic.start()
        count = len(sums)
        self._totals = Totals([each.type for each in sums]) if self._is_in_pieces else None
        if self._totals:
            sums += self._totals.start()
        if self._tiles.terms.is_known and self._tiles.terms.known <= self.segment:
            sums = self._add_segment(Segment(begin, end), arith.subi(end, begin), sums)
        else:
            loop = scf.ForOp(begin, end, number(self.segment), sums)
            with ir.InsertionPoint(loop.body):
                segment, terms = self._segment_at(loop.induction_variable, end)
                scf.YieldOp(self._add_segment(segment, terms, [*loop.inner_iter_args]))
            sums = [*loop.results]
        return self._totals.added(sums[:count], sums[count:]) if self._totals else sums

    @property
    def _is_in_pieces(self) -> bool:
        """Vectors begin anew every so many terms, and add what they have to totals then.

        The error of a sum grows with how many terms are added one after the other.
        """
        most = self._tiles.terms
        is_short = most.is_known and most.known <= AT_ONCE
        is_of_floats = isinstance(self.form.total, ir.FloatType)
        return isinstance(self._arithmetic, Vectors) and is_of_floats and not is_short

    def _segment_at(self, start: ir.Value, end: ir.Value) -> tuple[Segment, ir.Value]:
        """The segment from a term on, and how many terms it has."""
        count = arith.minui(arith.subi(end, start), number(self.segment))
        return Segment(start, end), count

    def _add_segment(
        self, segment: Segment, count: ir.Value, sums: list[ir.Value]
    ) -> list[ir.Value]:
        """Adds the products of so many terms, whose tables fit into shared memory."""
        made = self.configuration
        gpu.barrier()
        if self.tables:
            unit = self.table_unit
            fill_tables(self.numbers, made, segment, self.tables, self.entries, unit)
            gpu.barrier()
        self._fill_stages(segment)
        slots = [number(0), number((made.stages - 1) * self.slot_bytes)]
        if self._computed:
            given = [side.load(segment, number(0)) for side in self._computed]
            # What is loaded comes a step ahead of what is computed.
            self._ahead = [side.load(segment, number(made.terms)) for side in self._computed]
            self._compute(given, number(0), number(0))
            slots += [number(0), *self._values(self._ahead)]
        add = self._add_pieces if self._totals else self._steps
        carried = add(segment, number(0), count, [*sums, *slots])
        wait_for_copies(0)
        return carried[: len(sums)]

    def _fill_stages(self, segment: Segment) -> None:
        """Starts the copies of the first steps, to all stages but one."""
        made = self.configuration
        loop = scf.ForOp(number(0), number(made.stages - 1), number(1))
        with ir.InsertionPoint(loop.body):
            stage = loop.induction_variable
            slot = byte(self.stages, times(stage, self.slot_bytes))
            self._put(self._issue(segment, times(stage, made.terms), slot))
            scf.YieldOp([])

    def _add_pieces(
        self, segment: Segment, begin: ir.Value, end: ir.Value, carried: list[ir.Value]
    ) -> list[ir.Value]:
        """Adds the products of steps to sums; those of the terms before are set aside."""
        assert self._totals is not None
        piece = self._piece()
        loop = scf.ForOp(begin, end, number(piece), carried)
        with ir.InsertionPoint(loop.body):
            *sums, has_sums, has_totals, reading, writing = loop.inner_iter_args
            flags = self._totals.set_aside(sums, [has_sums, has_totals])
            last = arith.minui(plus(loop.induction_variable, piece), end)
            start = [*self._arithmetic.start(), reading, writing]
            *sums, reading, writing = self._steps(segment, loop.induction_variable, last, start)
            scf.YieldOp([*sums, *flags, reading, writing])
        return list(loop.results)

    def _piece(self) -> int:
        """Returns how many terms are added one after the other; of a known sum equally many."""
        step = self.configuration.terms
        whole = self._tiles.terms
        terms = min(self.segment, whole.known) if whole.is_known else self.segment
        steps = -(-terms // step)
        return -(-steps // -(-terms // AT_ONCE)) * step

    def _steps(
        self, segment: Segment, begin: ir.Value, end: ir.Value, carried: list[ir.Value]
    ) -> list[ir.Value]:
        """Adds the products of one step after another."""
        made = self.configuration
        loop = scf.ForOp(begin, end, number(made.terms), carried)
        with ir.InsertionPoint(loop.body):
            turn: ir.Value | None = None
            arguments, ahead = list[ir.Value](loop.inner_iter_args), list[ir.Value]()
            if self._computed:
                count = len(arguments) - len(self._values(self._ahead))
                arguments, ahead = arguments[:count], arguments[count:]
                turn = arguments.pop()
            *inner, reading, writing = arguments
            wait_for_copies(made.stages - 2)
            base = plus(loop.induction_variable, (made.stages - 1) * made.terms)
            starts, slot = self._starts(reading, turn), byte(self.stages, writing)
            following = plus(loop.induction_variable, made.terms)
            loaded: list[Given] = []
            if isinstance(self._arithmetic, WarpgroupMatrices):
                _publish_copies()
                gpu.barrier()
                loaded = self._load(segment, plus(following, made.terms))
                begun = self._arithmetic.begin(starts, [*inner])
                fetched = self._issue(segment, base, slot)
                if turn is not None:
                    given = self._given(ahead, segment, following)
                    self._compute(given, self._next(reading), self._next_turn(turn))
                carried = self._arithmetic.end(begun, [*inner])
                self._put(fetched)
            elif turn is not None:
                gpu.barrier()
                loaded = self._load(segment, plus(following, made.terms))
                fetched = self._issue(segment, base, slot)
                assert isinstance(self._arithmetic, Matrices)
                carried = self._arithmetic.add(starts, [*inner])
                given = self._given(ahead, segment, following)
                self._compute(given, self._next(reading), self._next_turn(turn))
                self._put(fetched)
            else:
                gpu.barrier()
                fetched = list[_Fetched]()

                def issue(
                    base: ir.Value = base,
                    slot: ir.Value = slot,
                    fetched: list[_Fetched] = fetched,
                ) -> None:
                    fetched.extend(self._issue(segment, base, slot))

                if self._totals and isinstance(self._arithmetic, Vectors) and not self._is_fetched:
                    # Late in the step: copies hold up the factors that are read after them. Few
                    # steps have no time for that: sums of one piece took 7 to 11 % longer.
                    carried = self._arithmetic.add(starts, [*inner], issue)
                else:
                    issue()
                    carried = self._arithmetic.add(starts, [*inner])
                self._put(fetched)
            turns = [] if turn is None else [self._next_turn(turn), *self._values(loaded)]
            scf.YieldOp([*carried, self._next(reading), self._next(writing), *turns])
        return list(loop.results)

    def _load(self, segment: Segment, base: ir.Value) -> list[Given]:
        return [side.load(segment, base) for side in self._computed]

    def _values(self, given: Sequence[Given]) -> list[ir.Value]:
        return [each for own in given for each in ComputedSide.values(own)]

    def _given(self, values: Sequence[ir.Value], segment: Segment, base: ir.Value) -> list[Given]:
        """What the sides are given for a step, of values that were loaded in the step before."""
        found, rest = list[Given](), values
        for side, like in zip(self._computed, self._ahead, strict=True):
            count = len(side.values(like))
            found.append(side.given(like, rest[:count], segment, base))
            rest = rest[count:]
        return found

    def _starts(self, reading: ir.Value, turn: ir.Value | None) -> Starts:
        """The addresses from which on both sides' tiles of a step lie."""
        slot = byte(self.stages, reading)
        first, second = (
            slot
            if turn is None or side not in self._computed
            else byte(self.stages, plus(turn, self._first_turn + self._converted[side]))
            for side in self.sides
        )
        return first, second

    def _next_turn(self, turn: ir.Value) -> ir.Value:
        return arith.subi(number(self._turn_bytes), turn)

    def _compute(self, given: Sequence[Given], slot: ir.Value, turn: ir.Value) -> None:
        """Computes the tiles of the step whose copies lie in a slot, once they are there."""
        wait_for_copies(self.configuration.stages - 2)
        for side, own in zip(self._computed, given, strict=True):
            start = byte(self.stages, plus(slot, self._offsets[side]))
            to = byte(self.stages, plus(turn, self._first_turn + self._converted[side]))
            side.compute(start, to, own)

    @property
    def _is_fetched(self) -> bool:
        return any(side.is_fetched for side in self.sides)

    def _issue(self, segment: Segment, base: ir.Value, slot: ir.Value) -> list[_Fetched]:
        """Starts the copies of a step to a stage, and loads what is too small for copies."""
        fetched: list[_Fetched] = []
        for side in self.sides:
            offset = self._offsets[side]
            start = byte(slot, number(offset)) if offset else slot
            table = self.tables.get(side)
            if side.is_fetched:
                fetched.append((side, start, side.fetch(segment, base, table)))
            else:
                side.issue(segment, base, start, table)
        commit_copies()
        return fetched

    def _put(self, fetched: list[_Fetched]) -> None:
        """Writes what was loaded to its stage."""
        for side, start, values in fetched:
            side.put(values, start)

    def _next(self, slot: ir.Value) -> ir.Value:
        following = plus(slot, self.slot_bytes)
        is_end = arith.cmpi(
            arith.CmpIPredicate.eq, following, number(self.configuration.stages * self.slot_bytes)
        )
        return arith.select(is_end, number(0), following)

    # The results.

    def _finish(self, sums: list[ir.Value], results: Results) -> None:
        """Takes the tile through shared memory, so that neighbouring threads store neighbours."""
        made, size = self.configuration, element_bytes(self.form.total)
        gpu.barrier()
        self._store_pieces(sums, self.stages)
        gpu.barrier()

        def value(row: ir.Value, column: ir.Value) -> ir.Value:
            index = add(times(row, made.columns), column)
            where = byte(self.stages, times(index, size))
            return load(where, self.form.total, 1, size)[0]

        results.store(number(0), made.rows, value)

    def _keep(self, sums: list[ir.Value], scratch: ir.Value, tile: ir.Value) -> None:
        """Stores the sums of a part of the terms, a tile after the other."""
        made = self.configuration
        first = times(tile, made.rows * made.columns)
        pointer = self.parameters.pointer(scratch)
        self._store_pieces(sums, address(pointer, self.form.total, first))

    def _store_pieces(self, sums: list[ir.Value], start: ir.Value) -> None:
        """Stores the thread's part of the tile, row by row from an address on."""
        size = element_bytes(self.form.total)
        for row, column, piece in self._arithmetic.pieces(sums):
            index = add(times(row, self.configuration.columns), column)
            count = ir.VectorType(piece.type).shape[0]
            store_vector(byte(start, times(index, size)), piece, count * size)


class PartsKernel:
    """Emits the body of the kernel that adds the parts of sums: some rows of a tile a block."""

    LEAST_ROWS = 8

    def __init__(
        self,
        tiles: Tiles,
        parameters: Parameters,
        scratch: ir.Value,
        stored: Sequence[Stored] = (),
    ) -> None:
        self._tiles, self.parameters, self._scratch = tiles, parameters, scratch
        self._stored = stored
        self.rows = self.rows_of(tiles.configuration)

    @classmethod
    def rows_of(cls, made: Tiling) -> int:
        """How many rows a block has: all of its threads have a result."""
        return min(made.rows, max(cls.LEAST_ROWS, PARTS_THREADS // power_of_two_from(made.columns)))

    @property
    def blocks_each(self) -> int:
        """How many blocks share a tile."""
        return self._tiles.configuration.rows // self.rows

    def emit(self) -> None:
        """Adds the parts in their order, computes what follows and stores it."""
        tiles, made = self._tiles, self._tiles.configuration
        total = tiles.form.total
        thread = thread_in_block()
        numbers = Numbers(tiles.form, self.parameters, thread)
        block = block_in_grid()
        tile, slice_ = numbers.divided(block, Size(self.blocks_each))
        place = tile_place(tiles, numbers, tile)
        terms = numbers.terms() if numbers.has_fewer_terms else None
        results = Results(
            *(numbers, thread, PARTS_THREADS, made.rows, made.columns),
            *(place.row, place.column, place.batch),
            self._stored,
        )
        pointer = self.parameters.pointer(self._scratch)
        size = made.rows * made.columns
        step = multiply(numbers.size(tiles.count), number(size))

        def value(row: ir.Value, column: ir.Value) -> ir.Value:
            at = add(times(tile, size), add(times(row, made.columns), column))
            found: ir.Value | None = None
            for part in range(made.parts):
                where = address(pointer, total, at)
                each = stored(part, where)
                found = each if found is None else _plus(found, each)
                at = add(at, step)
            assert found is not None
            return found

        def stored(part: int, where: ir.Value) -> ir.Value:
            if terms is None:
                return loaded(where)[0]
            exists = is_below(number(part * tiles.terms.known), terms)
            return load_if(exists, [constant(total, 0)], lambda: loaded(where))[0]

        def loaded(where: ir.Value) -> list[ir.Value]:
            return load(where, total, 1, element_bytes(total))

        results.store(times(slice_, self.rows), self.rows, value)


def _side(numbers: Numbers, made: Tiling, factor: Factor, own: tuple[int, ...], tile: int) -> Side:
    kind = Side if factor.makes is None else ComputedSide
    return kind(numbers, made, factor, own, tile)


def _rounded_up(bytes_: int, unit: int) -> int:
    return -(-bytes_ // unit) * unit


def _plus(one: ir.Value, other: ir.Value) -> ir.Value:
    is_float = isinstance(one.type, ir.FloatType)
    return arith.addf(one, other) if is_float else arith.addi(one, other)


def _publish_copies() -> None:
    """Lets products of warpgroups see what the thread's copies have written to shared memory."""
    ir.Operation.create(
        "nvvm.fence.proxy",
        attributes={
            "kind": ir.Attribute.parse("#nvvm.proxy_kind<async.shared>"),
            "space": ir.Attribute.parse("#nvvm.shared_space<cta>"),
        },
    )


def _aligned(start: ir.Value, bytes_: int) -> ir.Value:
    """The first address from `start` on that is a multiple of a power of two."""
    at = ir.Operation.create("llvm.ptrtoint", results=[i32()], operands=[start]).results[0]
    return byte(start, arith.andi(arith.subi(number(0), at), number(bytes_ - 1)))
