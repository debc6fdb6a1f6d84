"""A factor that threads compute: what its elements are made of comes first, then its tiles.

What a unit reads is on its way to shared memory some steps ahead, as tiles of others are. A step
before it is multiplied a thread computes its units of it, of what it has copied there itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...i32 import i32, is_below
from ...rewriting import constant
from ...walking import defining_operation
from ..async_copies import copy_async
from ..elements import (
    ACCESS_BYTES,
    WORD_BYTES,
    address,
    element_bytes,
    elements_of_words,
    load,
    store,
    words_of,
)
from ..size import ZERO
from ..warp_matrices import packed
from .configuration import Tiling
from .form import Factor
from .indices import Indices, Numbers, add, byte, number, plus, times
from .quick_points import Byte, QuickPoint
from .side import Segment, Side
from .units import Read, When, reads_of, unit_of


@dataclass(frozen=True, eq=False)
class _Term:
    """The first term of some units: its indices, and whether it is there."""

    indices: Indices
    is_there: ir.Value


# The elements of operands by their numbers, and those of which row and which term they are.
_Loaded = Mapping[tuple[int, int, int], Sequence[ir.Value]]
# What was loaded for a step.
Given = tuple[list[_Term], _Loaded]


class ComputedSide(Side):
    """The tiles of a factor that the region makes.

    A stage has what is copied for a step, thread by thread: each computes of what it has copied.
    """

    def __init__(
        self,
        numbers: Numbers,
        made: Tiling,
        factor: Factor,
        own: tuple[int, ...],
        tile: int,
    ) -> None:
        super().__init__(numbers, made, factor, own, tile)
        unit = unit_of(numbers.form, factor, own)
        assert unit is not None, "there are units"
        self._unit = unit
        self._reads = reads_of(numbers.form, factor, unit, is_wide=made.is_wide)
        self.has_table = False
        units = self.count_rows * self.count_terms
        self._shifts_of_copies: dict[Read, int] = {}
        self.slot_bytes = 0
        for read in self._reads:
            if read.when is When.COPIED:
                self._shifts_of_copies[read] = self.slot_bytes
                self.slot_bytes += units * made.threads * read.bytes

    def start(self, first: ir.Value, batch: Indices) -> None:
        """Computes where what the thread reads lies, and loads what is the same for all terms."""
        numbers, row = self.numbers, self._place()
        extent = numbers.form.count_of(self.own)
        self._indices: list[Indices] = []
        for each in range(self.count_rows):
            at = add(first, plus(row, each * self.row_step))
            if not self._is_whole:
                # Others are as the last ones: nothing reads them.
                own = 1 if self._unit.is_of_terms else len(self._unit.elements)
                at = arith.minui(at, plus(numbers.size(extent), -own))
            self._indices.append({**numbers.split(at, self.own), **batch})
        self._starts = {
            (read, row): numbers.place(read.operand.offset, read.operand.strides, indices)
            for read in self._reads
            for row, indices in enumerate(self._indices)
        }
        self._before = self._load(When.BEFORE, [_Term({}, _true())])

    def issue(
        self, segment: Segment, base: ir.Value, slot: ir.Value, table: ir.Value | None
    ) -> None:
        """Starts the copies of what one step is made of."""
        for term, found in enumerate(self._terms_at(segment, base)):
            for row in range(self.count_rows):
                for read in self._shifts_of_copies:
                    where = self._where(read, row, found)
                    to = self._copied(read, slot, term, row)
                    bytes_ = min(read.bytes, ACCESS_BYTES)
                    size = arith.select(found.is_there, number(bytes_), number(0))
                    for more in range(0, read.bytes, bytes_):
                        far = number(more)
                        copy_async(byte(to, far), byte(where, far), size, bytes_)

    def load(self, segment: Segment, base: ir.Value) -> Given:
        """Loads what else one step is made of."""
        terms = self._terms_at(segment, base)
        return terms, self._load(When.LOADED, terms)

    @staticmethod
    def values(given: Given) -> list[ir.Value]:
        """Returns what was loaded, as values that the next step may be given."""
        return list(dict.fromkeys(each for values in given[1].values() for each in values))

    def given(
        self, like: Given, values: Sequence[ir.Value], segment: Segment, base: ir.Value
    ) -> Given:
        """Returns such values as what was loaded for a step, `like` it was for another one."""
        known = dict(zip(self.values(like), values, strict=True))
        loaded = {key: [known[each] for each in found] for key, found in like[1].items()}
        return self._terms_at(segment, base), loaded

    def compute(self, slot: ir.Value, to: ir.Value, given: Given) -> None:
        """Computes the thread's units of a step, and writes them to the tile at an address."""
        terms, loaded = given
        copied: dict[tuple[int, int, int], list[ir.Value]] = {}
        self._words_of_copies: dict[tuple[int, int, int], list[ir.Value]] = {}
        for term in range(len(terms)):
            for row in range(self.count_rows):
                for read in self._shifts_of_copies:
                    key = read.operand.number, row, term
                    where = self._copied(read, slot, term, row)
                    words = load(
                        where, i32(), read.bytes // WORD_BYTES, min(read.bytes, ACCESS_BYTES)
                    )
                    self._words_of_copies[key] = words
                    copied[key] = elements_of_words(words, read.operand.element)
        own = byte(to, self.shared_place)
        shifts = iter(self._shifts())
        for term, found in enumerate(terms):
            for row in range(self.count_rows):
                values = self._values(row, term, found, {**loaded, **copied})
                shift = next(shifts)
                where = byte(own, number(shift)) if shift else own
                words = self._words(values)
                store(where, words[0].type, words, ACCESS_BYTES)

    # What is read.

    def _terms_at(self, segment: Segment, base: ir.Value) -> list[_Term]:
        """The first terms of the thread's units of one step."""
        found: list[_Term] = []
        for each in range(self.count_terms):
            at = add(add(segment.start, base), plus(self.term, each * self.term_step))
            is_there = is_below(at, segment.end)
            inside = arith.select(is_there, at, number(0))
            found.append(_Term(self.numbers.split_term(inside), is_there))
        return found

    def _load(
        self, when: When, terms: Sequence[_Term]
    ) -> dict[tuple[int, int, int], list[ir.Value]]:
        found: dict[tuple[int, int, int], list[ir.Value]] = {}
        known: dict[tuple[Read, ir.Value], list[ir.Value]] = {}
        for read in self._reads:
            if read.when is not when:
                continue
            for row in range(self.count_rows):
                for term, each in enumerate(terms):
                    key = read, self._at(read, row, each)
                    if key not in known:
                        known[key] = self._elements(read, row, each)
                    found[read.operand.number, row, term] = known[key]
        return found

    def _elements(self, read: Read, row: int, term: _Term) -> list[ir.Value]:
        """Loads what a unit needs of an operand: neighbours, or its elements one by one."""
        kind, size = read.operand.element, element_bytes(read.operand.element)
        if read.width > 1:
            alignment = min(read.bytes, ACCESS_BYTES)
            return load(self._where(read, row, term), kind, read.width, alignment)
        start = self._where(read, row, term)
        if read.places is not None:
            by_place = {
                place: load(address(start, kind, number(place)) if place else start, kind, 1, size)
                for place in dict.fromkeys(read.places)
            }
            return [by_place[place][0] for place in read.places]
        found: list[ir.Value] = []
        for each in self._unit.elements:
            own = {loop: number(index) for loop, index in each.items() if index}
            far = self.numbers.place(ZERO, read.operand.strides, own)
            found += load(address(start, kind, far), kind, 1, size)
        return found

    def _at(self, read: Read, row: int, term: _Term) -> ir.Value:
        start = self._starts[read, row]
        if not any(read.operand.strides[loop] != ZERO for loop in term.indices):
            return start
        return add(start, self.numbers.place(ZERO, read.operand.strides, term.indices))

    def _where(self, read: Read, row: int, term: _Term) -> ir.Value:
        pointer = self.numbers.parameters.pointer(read.operand.buffer)
        return address(pointer, read.operand.element, self._at(read, row, term))

    def _copied(self, read: Read, slot: ir.Value, term: int, row: int) -> ir.Value:
        """Where the thread's copy for a unit lies in a stage."""
        shift = self._shifts_of_copies[read]
        shift += (term * self.count_rows + row) * self.made.threads * read.bytes
        return byte(slot, plus(times(self._thread(), read.bytes), shift))

    # What is computed.

    @cached_property
    def _narrowed(self) -> ir.Value:
        """The value in f32 that the factor's element is rounded from; else the element."""
        made = self.factor.makes
        assert made is not None
        if self.numbers.region.argument_number(made) is None:
            op = defining_operation(made)
            if op.name == "arith.truncf" and op.operands[0].type == ir.F32Type.get():
                return op.operands[0]
        return made

    def _values(self, row: int, term: int, found: _Term, loaded: _Loaded) -> list[ir.Value]:
        """The elements of a unit, in f32 where they are rounded last."""
        numbers, unit = self.numbers, self._unit
        reads = {read.operand.number: read for read in self._reads}
        indices = {**self._indices[row], **found.indices}

        def of(operand: int) -> Sequence[ir.Value]:
            read = reads[operand]
            if read.when is When.BEFORE:
                return self._before[operand, row, 0]
            return loaded[operand, row, term]

        def element(operand: int, place: int) -> ir.Value:
            read, values = reads[operand], of(operand)
            if read.width > 1 or len(values) == 1:
                assert read.places is not None
                return values[read.places[place]]
            return values[place]

        def byte_of(operand: int, place: int) -> Byte | None:
            read, words = reads[operand], self._words_of_copies.get((operand, row, term))
            if words is None or element_bytes(read.operand.element) != 1:
                return None
            at = 0 if read.places is None else read.places[place]
            return Byte(words[at // WORD_BYTES], at % WORD_BYTES)

        every = frozenset(range(len(numbers.work.extents)))
        pairs: dict[tuple[ir.Value, int], list[ir.Value]] = {}
        whole = QuickPoint(
            numbers.region,
            every,
            lambda operand: element(operand, 0),
            lambda loop: _index(indices.get(loop)),
            lambda operand: byte_of(operand, 0),
            pairs,
        )
        points = [
            QuickPoint(
                numbers.region,
                unit.loops,
                lambda operand, place=place: element(operand, place),
                lambda loop, place=place: self._index_at(loop, place, indices),
                lambda operand, place=place: byte_of(operand, place),
                pairs,
                outer=whole,
            )
            for place in range(len(unit.elements))
        ]
        values = [point.value(self._narrowed) for point in points]
        if numbers.form.extent(numbers.form.terms).is_multiple_of(self.made.terms):
            return values
        nothing = constant(values[0].type, 0)
        return [arith.select(found.is_there, value, nothing) for value in values]

    def _words(self, values: Sequence[ir.Value]) -> list[ir.Value]:
        element = self.factor.element
        if values[0].type == element:
            return words_of(values)
        pairs = zip(values[::2], values[1::2], strict=True)
        return [packed(low, high, element) for low, high in pairs]

    def _index_at(self, loop: int, place: int, indices: Indices) -> ir.Value:
        within = self._unit.elements[place][loop]
        extent = self.numbers.work.extents[loop]
        if extent.is_known and extent.known == self._unit.length(loop):
            return constant(ir.IndexType.get(), within)
        return _index(plus(indices[loop], within))


def _index(value: ir.Value | None) -> ir.Value:
    index = ir.IndexType.get()
    return constant(index, 0) if value is None else arith.index_castui(index, value)


def _true() -> ir.Value:
    return constant(ir.IntegerType.get_signless(1), 1)
