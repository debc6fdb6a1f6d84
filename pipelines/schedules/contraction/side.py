"""One factor's tiles in shared memory: what each thread copies there, and from where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ....dialects.mlir import arith, ir, scf
from ....dialects.records import dataclass
from ...i32 import i32, is_below
from ...rewriting import constant
from ..async_copies import copy_async
from ..elements import address, element_bytes, load, store
from ..size import ZERO, Size
from .configuration import (
    COPIED_BYTES,
    ROW_BYTES,
    Run,
    Tiling,
    is_along_terms,
    power_of_two_from,
    run_of,
    vector_of,
)
from .form import Factor, Form, places_of
from .indices import Indices, Numbers, add, both, byte, multiply, number, plus, times

# Bits of a mask: that a row or column is there, and that a term is not.
_THERE, _MISSING = 1 << 30, -(1 << 31)
# A place and the bits that a term asks for.
ENTRY_BYTES = 8


@dataclass(frozen=True)
class Segment:
    """Terms of a sum: those from the number `start` on that are below `end`."""

    start: ir.Value
    end: ir.Value


@dataclass(frozen=True)
class _Row:
    """A row that a thread copies: how many elements lie before it, `more` of them by a constant.

    `lacks` has the bits of the places that are not there, where some are guarded. Otherwise `bytes`
    are how many of a copy are: None where certainly all. A condition would take one of the few
    registers that there are for these.
    """

    offset: ir.Value
    more: int
    lacks: ir.Value | None
    bytes: ir.Value | None


@dataclass(frozen=True)
class _Term:
    """A term that a thread copies: how many elements lie before it, `more` of them by a constant.

    `needed` are the bits that it asks for, where places are guarded, and `is_there` says otherwise
    whether the term is.
    """

    offset: ir.Value
    more: int
    needed: ir.Value | None
    is_there: ir.Value | None


@dataclass(frozen=True)
class _Copy:
    """What a thread copies of a row and a term: to the byte `shift` after its first in a stage."""

    shift: int
    row: _Row
    term: _Term

    @property
    def more(self) -> int:
        """How many elements lie before it besides those before the row and those of the term."""
        return self.row.more + self.term.more

    def read(self, bytes_: int) -> ir.Value:
        """Returns how many bytes there are, all or none."""
        is_there, found = self.term.is_there, self.row.bytes
        if is_there is None:
            assert self.row.lacks is not None
            assert self.term.needed is not None
            missing = arith.andi(self.row.lacks, self.term.needed)
            is_there = arith.cmpi(arith.CmpIPredicate.eq, missing, number(0))
        return arith.select(is_there, number(bytes_) if found is None else found, number(0))


class Side:
    """The tiles of one factor, `tile` of its `own` loops by a step of terms.

    Elements lie in shared memory by term, neighbours of a term together; or by row where copies
    take several terms of a row. Where neighbours in memory are terms, neighbouring threads copy
    these, and otherwise those of one term.
    """

    def __init__(
        self,
        numbers: Numbers,
        made: Tiling,
        factor: Factor,
        own: tuple[int, ...],
        tile: int,
    ) -> None:
        form = numbers.form
        self.numbers, self.made, self.factor, self.own, self.tile = numbers, made, factor, own, tile
        self.bytes = element_bytes(factor.element)
        self.along_terms = is_along_terms(form, factor, own)
        # Of those that lie together threads copy a power of two.
        self.copied = tile if self.along_terms else power_of_two_from(tile)
        places = places_of(form, factor)
        assert places is not None
        self.places = places
        self.step = self._linear_step()
        self.has_table = bool(places) or self.step is None
        is_wide = made.is_wide or factor.makes is not None
        run = run_of(form, factor, own) if is_wide else Run(1)
        # Each thread has a copy to make: of a small tile's elements it takes fewer at once.
        self.width = min(run.width, self.copied * made.terms // made.threads)
        self.is_by_row = run.is_of_terms
        self.is_fetched = self.width * self.bytes < COPIED_BYTES
        # How many terms an entry of its table is of.
        self.table_unit = 1
        # How many copies a thread makes in a step, of how many rows and terms.
        if self.along_terms:
            # The length of a row in shared memory, or of a term.
            self.pitch = made.terms if self.is_by_row else tile + self._padding(form)
            across = made.terms // self.width
            self.count_rows, self.count_terms = tile * across // made.threads, 1
            self.row_step, self.term_step = made.threads // across, 0
        else:
            self.pitch = self.copied + (self._padding(form) if form.is_of_matrices else 0)
            across = self.copied // self.width
            self.count_rows = max(across // made.threads, 1)
            self.count_terms = across * made.terms // made.threads // self.count_rows
            self.row_step = made.threads * self.width
            self.term_step = max(made.threads // across, 1)
        copied = self.count_rows * self.count_terms * self.width * made.threads
        assert copied == self.copied * made.terms, "threads copy a whole step of the tile"
        self.stage_bytes = (tile if self.is_by_row else made.terms) * self.pitch * self.bytes
        # What a stage has of it.
        self.slot_bytes = self.stage_bytes
        # Where the tile lies, from the address on that products are told.
        self.base = 0

    def _padding(self, form: Form) -> int:
        """Returns by how much rows exceed a tile, so that accesses along terms meet in no bank."""
        return 2 * vector_of(self.bytes) if form.is_rounded else vector_of(self.bytes)

    @property
    def unit(self) -> int:
        """How many terms a copy takes."""
        return self.width if self.is_by_row else 1

    def swizzled(self, row: ir.Value, piece: ir.Value) -> ir.Value:
        """Where a piece of a row lies in shared memory, of rows that are a copy's pieces.

        Any pieces of the same number of 8 neighbouring rows lie in different banks.
        """
        pieces = self.pitch // self.width
        shift = (ROW_BYTES // (self.pitch * self.bytes)).bit_length() - 1
        moved = arith.andi(arith.shrui(row, number(shift)), number(pieces - 1))
        return arith.xori(piece, moved)

    def _linear_step(self) -> Size | None:
        """The stride of the number of a term, where all loops of terms lie behind one another."""
        form = self.numbers.form
        if self.numbers.range or any(step.term in form.terms for step in form.steps.values()):
            return None
        if not form.terms:
            return ZERO
        for outer, inner in pairwise(form.terms):
            if self.factor.strides[outer] != self.factor.strides[inner] * form.work.extents[inner]:
                return None
        return self.factor.strides[form.terms[-1]]

    def _place(self) -> ir.Value:
        """Returns the first row that the thread copies; sets its first term, and where both lie."""
        made, thread = self.made, self._thread()
        piece: ir.Value | None = None
        if self.along_terms:
            across = made.terms // self.width
            piece = arith.andi(thread, number(across - 1))
            self.term = times(piece, self.width)
            row = arith.shrui(thread, number(across.bit_length() - 1))
        else:
            across = self.copied // self.width
            row, self.term = thread, number(0)
            if across <= made.threads:
                row = arith.andi(thread, number(across - 1))
                self.term = arith.shrui(thread, number(across.bit_length() - 1))
            row = times(row, self.width)
        if self.is_by_row and piece is not None:
            near = times(self.swizzled(row, piece), self.width)
            self.shared_place = times(add(times(row, self.pitch), near), self.bytes)
        else:
            self.shared_place = times(add(times(self.term, self.pitch), row), self.bytes)
        return row

    def start(self, first: ir.Value, batch: Indices) -> None:
        """Computes where the thread's rows lie; `first` is the tile's first."""
        numbers, row = self.numbers, self._place()
        rows: list[_Row] = []
        for each in range(self.count_rows):
            # Known distances are part of addresses.
            is_known = each > 0 and self._is_along_rows()
            far = self.factor.strides[self.own[0]].known * each * self.row_step if is_known else 0
            if is_known and self._is_whole and not self.places:
                rows.append(_Row(rows[0].offset, far, None, None))
                continue
            at = add(first, plus(row, each * self.row_step))
            counted = {**numbers.split(at, self.own), **batch}
            whole = numbers.whole(counted)
            # A factor that is read with steps lies by these.
            indices = {
                loop: counted[loop] if self._has_step(loop) else whole[loop] for loop in counted
            }
            if is_known:
                offset = rows[0].offset
            else:
                place = numbers.place(self.factor.offset, self.factor.strides, indices)
                offset = add(place, self._shift())
            if self.places:
                rows.append(_Row(offset, far, self._lacks(at, indices, whole), None))
            else:
                is_there, bytes_ = self._is_row_there(at, whole), number(self.bytes * self.width)
                there = None if is_there is None else arith.select(is_there, bytes_, number(0))
                rows.append(_Row(offset, far, None, there))
        self._rows = rows

    def _is_along_rows(self) -> bool:
        """Returns whether all rows are as far apart, by a known number."""
        (loop, *more) = self.own
        return (
            not more and self.factor.strides[loop].is_known and loop not in self.numbers.form.steps
        )

    def _thread(self) -> ir.Value:
        return self.numbers.thread

    def _has_step(self, loop: int) -> bool:
        step = self.numbers.form.steps.get(loop)
        return step is not None and step.factor is self.factor

    def _shift(self) -> ir.Value:
        """Returns how far the first step lies, of the loops with a step."""
        found = number(0)
        for loop, step in self.numbers.form.steps.items():
            if step.factor is self.factor:
                shift = self.numbers.shifts[loop]
                found = add(found, self.numbers.distance(shift, loop, self.factor.strides))
        return found

    @property
    def _is_whole(self) -> bool:
        """Whether no tile certainly goes beyond the last row."""
        count = self.numbers.form.count_of(self.own)
        return self.copied == self.tile and count.is_multiple_of(self.tile)

    def _is_row_there(self, at: ir.Value, whole: Indices) -> ir.Value | None:
        """Returns whether a row is; None where it certainly is."""
        numbers = self.numbers
        more = numbers.are_there({loop: whole[loop] for loop in self.own})
        if self._is_whole:
            return more
        return both(more, is_below(at, numbers.size(numbers.form.count_of(self.own))))

    def _lacks(self, at: ir.Value, indices: Indices, whole: Indices) -> ir.Value:
        """A bit for each place along each guarded axis that is not there, and one for the row."""
        numbers, form = self.numbers, self.numbers.form
        lacks, bit = number(0), 0
        for guard, count in self.places:
            base = number(guard.constant)
            by = next((guard.factors[loop] for loop in form.terms if loop in guard.factors), 0)
            stepped = next((loop for loop in form.steps if form.steps[loop].guard is guard), None)
            if stepped is not None:
                step = form.steps[stepped]
                base, by = numbers.shifts[stepped], step.slope
                base = add(base, indices[stepped])
            else:
                for loop, factor in guard.factors.items():
                    if loop in indices:
                        base = add(base, times(indices[loop], factor))
            for place in range(count):
                holds = is_below(plus(base, place * by), numbers.size(guard.bound))
                lacks = arith.ori(lacks, arith.select(holds, number(0), number(1 << bit)))
                bit += 1
        # A term that is not there asks for a bit that every row lacks.
        lacks = arith.ori(lacks, number(_MISSING))
        is_there = self._is_row_there(at, whole)
        return lacks if is_there is None else arith.select(is_there, lacks, number(-1))

    def _needs(self, indices: Indices) -> ir.Value:
        """The bits that a term asks for."""
        needed, bit = number(_THERE), 0
        for guard, count in self.places:
            along = [loop for loop in self.numbers.form.terms if loop in guard.factors]
            one = number(1 << bit)
            needed = arith.ori(needed, arith.shli(one, indices[along[0]]) if along else one)
            bit += count
        return needed

    def enter(self, table: ir.Value, entry: ir.Value, counted: Indices, is_there: ir.Value) -> None:
        """Writes an entry of the table: where a term lies, of which are counted."""
        form, numbers = self.numbers.form, self.numbers
        offset = number(0)
        for loop, index in counted.items():
            stride = self.factor.strides[loop]
            step = form.step_of_term(loop)
            if step is not None and step.factor is not self.factor:
                index = numbers.term(loop, index)
            if stride != ZERO:
                offset = add(offset, multiply(index, numbers.size(stride)))
        needed = arith.select(is_there, self._needs(counted), number(_MISSING))
        store(byte(table, times(entry, ENTRY_BYTES)), i32(), [offset, needed], ENTRY_BYTES)

    def issue(
        self, segment: Segment, base: ir.Value, slot: ir.Value, table: ir.Value | None
    ) -> None:
        """Starts the copies of one step: `base` is its first term in the segment."""
        bytes_, own = self.bytes * self.width, byte(slot, self.shared_place)
        kind = self.factor.element
        starts: dict[ir.Value, ir.Value] = {}
        sources: dict[tuple[ir.Value, ir.Value], ir.Value] = {}
        for each in self._copies(segment, base, table):
            # Where nothing is there, nothing is read, whatever the address is.
            size = each.read(bytes_)
            row, term = each.row.offset, each.term.offset
            if row not in starts:
                starts[row] = address(self._pointer(), kind, row)
            if (row, term) not in sources:
                # From where the row begins: to add in 32 bits first takes twice the instructions.
                sources[row, term] = address(starts[row], kind, term)
            source = sources[row, term]
            if each.more:
                i64 = ir.IntegerType.get_signless(64)
                source = address(source, kind, constant(i64, each.more))
            copy_async(_past(own, each.shift), source, size, bytes_)

    def fetch(self, segment: Segment, base: ir.Value, table: ir.Value | None) -> list[ir.Value]:
        """Loads what a thread brings of one step, of elements that are too small for copies."""
        kind = self.factor.element
        found: list[ir.Value] = []
        sums: dict[tuple[ir.Value, ir.Value], ir.Value] = {}
        for each in self._copies(segment, base, table):
            key = each.row.offset, each.term.offset
            if key not in sums:
                sums[key] = add(*key)
            place = plus(sums[key], each.more)
            is_there = arith.cmpi(arith.CmpIPredicate.ne, each.read(self.bytes), number(0))
            inside = arith.select(is_there, place, constant(place.type, 0))
            where = address(self._pointer(), kind, inside)
            (value,) = load(where, kind, 1, self.bytes)
            found.append(arith.select(is_there, value, constant(kind, 0)))
        return found

    def put(self, values: Sequence[ir.Value], slot: ir.Value) -> None:
        """Writes what was fetched to shared memory."""
        own = byte(slot, self.shared_place)
        for shift, value in zip(self._shifts(), values, strict=True):
            store(_past(own, shift), self.factor.element, [value], self.bytes)

    def _pointer(self) -> ir.Value:
        return self.numbers.parameters.pointer(self.factor.buffer)

    def _shifts(self) -> list[int]:
        """Returns how far apart a thread's elements of a step lie in shared memory, in bytes."""
        along = self.pitch if self.is_by_row else 1
        return [
            (term * self.term_step * self.pitch + row * self.row_step * along) * self.bytes
            for term in range(self.count_terms)
            for row in range(self.count_rows)
        ]

    def _copies(self, segment: Segment, base: ir.Value, table: ir.Value | None) -> Iterator[_Copy]:
        """Yields what a thread copies of one step."""
        shifts = iter(self._shifts())
        for term in self._terms(segment, base, table):
            for row in self._rows:
                yield _Copy(next(shifts), row, term)

    def _terms(self, segment: Segment, base: ir.Value, table: ir.Value | None) -> list[_Term]:
        """The terms of one step, of the segment's `base`-th on, that a thread copies."""
        numbers, form, made = self.numbers, self.numbers.form, self.made
        apart = [each * self.term_step for each in range(self.count_terms)]
        if table is not None:
            return [self._in_table(table, add(base, plus(self.term, each))) for each in apart]
        assert self.step is not None
        first = add(segment.start, base)
        own = add(first, self.term)
        step = numbers.size(self.step)
        if self.step.is_known:
            offset = multiply(own, step)
            offsets = [(offset, each * self.step.known) for each in apart]
        else:
            offsets = [(multiply(plus(own, each), step), 0) for each in apart]
        # Of whole steps all terms are there, or none is.
        is_even = form.extent(form.terms).is_multiple_of(made.terms)
        return [
            _Term(*offset, None, is_below(first if is_even else plus(own, each), segment.end))
            for offset, each in zip(offsets, apart, strict=True)
        ]

    def _in_table(self, table: ir.Value, at: ir.Value) -> _Term:
        """What the table says of a term of the segment."""
        entry = arith.divui(at, number(self.table_unit)) if self.table_unit > 1 else at
        offset, needed = load(byte(table, times(entry, ENTRY_BYTES)), i32(), 2, ENTRY_BYTES)
        if self.places:
            return _Term(offset, 0, needed, None)
        is_there = arith.cmpi(arith.CmpIPredicate.sge, needed, number(0))
        return _Term(offset, 0, None, is_there)


def fill_tables(
    numbers: Numbers,
    made: Tiling,
    segment: Segment,
    tables: dict[Side, ir.Value],
    entries: int,
    unit: int,
) -> None:
    """Writes where the terms of a segment lie, every `unit`-th of them."""
    index = ir.IndexType.get()
    loop = scf.ForOp(
        arith.index_castui(index, numbers.thread),
        constant(index, entries),
        constant(index, made.threads),
    )
    with ir.InsertionPoint(loop.body):
        entry = arith.index_castui(i32(), loop.induction_variable)
        at = add(segment.start, times(entry, unit))
        is_there = is_below(at, segment.end)
        counted = numbers.split_term(at)
        for side, table in tables.items():
            side.enter(table, entry, counted, is_there)
        scf.YieldOp([])


def _past(start: ir.Value, bytes_: int) -> ir.Value:
    """The address a known number of bytes further."""
    return byte(start, number(bytes_)) if bytes_ else start
