"""Arithmetic of indices in a contraction's kernels: in 32 bits, and in 64 of buffers beyond."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....dialects.mlir import arith, ir
from ...i32 import i32, is_below
from ...rewriting import constant
from ..elements import address
from ..parameters import Parameters
from ..region import Region
from ..size import ONE, ZERO, Size, product
from ..work import Work
from .form import Form, Range, is_far

# An index for each of some loops of the operation.
Indices = Mapping[int, ir.Value]

_NO_WRAP = "#arith.overflow<nsw>"


def number(value: int) -> ir.Value:
    """A constant of 32 bits."""
    return constant(i32(), value)


def add(one: ir.Value, other: ir.Value) -> ir.Value:
    """The sum of two numbers, which fits: so that constants in it become part of addresses."""
    return arith.addi(*_alike(one, other), overflow_flags=ir.Attribute.parse(_NO_WRAP))


def multiply(one: ir.Value, other: ir.Value) -> ir.Value:
    """The product of two numbers, which fits."""
    return arith.muli(*_alike(one, other), overflow_flags=ir.Attribute.parse(_NO_WRAP))


def _alike(one: ir.Value, other: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Two numbers, both in 64 bits where one is."""
    if one.type == other.type:
        return one, other
    return in_64_bits(one), in_64_bits(other)


def in_64_bits(value: ir.Value) -> ir.Value:
    """A number of either width, in 64 bits."""
    i64 = ir.IntegerType.get_signless(64)
    return value if value.type == i64 else arith.extsi(i64, value)


def plus(value: ir.Value, by: int) -> ir.Value:
    """A number and another one that is known."""
    return add(value, constant(value.type, by)) if by else value


def times(value: ir.Value, by: int) -> ir.Value:
    """A number multiplied by another one that is known."""
    return multiply(value, constant(value.type, by)) if by != 1 else value


def both(one: ir.Value | None, other: ir.Value) -> ir.Value:
    """Returns whether both hold; None does."""
    return other if one is None else arith.andi(one, other)


def byte(start: ir.Value, offset: ir.Value) -> ir.Value:
    """The address so many bytes further."""
    return address(start, ir.IntegerType.get_signless(8), offset)


class Places:
    """Sizes of an operation as a kernel sees them, and places in its loops.

    `thread` is the thread's number in its block; `region` has what the kernel is given.
    """

    def __init__(self, work: Work, parameters: Parameters, thread: ir.Value) -> None:
        self.work = work
        self.parameters = parameters
        self.thread = thread
        self.region = Region(work, parameters)
        # For the strides of each buffer, whether offsets need 64 bits.
        self._far: dict[tuple[Size, ...], bool] = {}

    def count(self, loop: int) -> Size:
        """Returns how many iterations a loop has."""
        return self.work.extents[loop]

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
        for loop in reversed(loops[1:]):
            rest, found[loop] = self.divided(rest, self.count(loop))
        if loops:
            found[loops[0]] = rest
        return found

    def divided(self, value: ir.Value, size: Size) -> tuple[ir.Value, ir.Value]:
        """The quotient and the rest."""
        if size == ONE:
            return value, number(0)
        by = self.size(size)
        whole = arith.divui(value, by)
        return whole, arith.subi(value, arith.muli(whole, by))

    def place(self, offset: Size, strides: Sequence[Size], indices: Indices) -> ir.Value:
        """Returns how many elements lie before some indices; in 64 bits where 32 may not do."""
        found: ir.Value | None = None
        for loop, index in indices.items():
            if strides[loop] != ZERO:
                step = self.distance(index, loop, strides)
                found = step if found is None else add(found, step)
        first = self._in_64_bits(offset) if self._is_far(strides) else self.size(offset)
        if found is None:
            return first
        return found if offset == ZERO else add(found, first)

    def distance(self, count: ir.Value, loop: int, strides: Sequence[Size]) -> ir.Value:
        """Returns how many elements so many steps along a loop are, as wide as `place`."""
        stride = strides[loop]
        if self._is_far(strides):
            return times(in_64_bits(count), stride.known)
        return count if stride == ONE else multiply(count, self.size(stride))

    def _is_far(self, strides: Sequence[Size]) -> bool:
        key = tuple(strides)
        if key not in self._far:
            self._far[key] = is_far(self.work, strides)
        return self._far[key]

    def _in_64_bits(self, size: Size) -> ir.Value:
        i64 = ir.IntegerType.get_signless(64)
        if size.is_known:
            return constant(i64, size.known)
        return arith.index_cast(i64, self.parameters.size(size))


class Numbers(Places):
    """The same of a form. Loops with a step are counted in steps, of the block's rest of each."""

    def __init__(self, form: Form, parameters: Parameters, thread: ir.Value) -> None:
        super().__init__(form.work, parameters, thread)
        self.form = form
        self._rests: dict[int, ir.Value] = {}
        # Of loops with a step: how far the first place that counts reads, but for the loop itself.
        self.shifts: dict[int, ir.Value] = {}
        # Of their terms, or of themselves without: the first place that counts, and how many do.
        self._first: dict[int, ir.Value] = {}
        self._count: dict[int, ir.Value] = {}
        self.range: Range | None = None

    def count(self, loop: int) -> Size:
        return self.form.count(loop)

    def set_rest(self, loop: int, rest: ir.Value) -> None:
        """Says which of the rests of a loop with a step the block takes."""
        step = self.form.steps[loop]
        self._rests[loop] = rest
        by, every, common = number(step.by), number(step.every), step.common
        # slope_in k + rest + constant is to be 0 modulo by.
        beyond = arith.remui(plus(rest, step.constant % step.by), by)
        inverse = pow(step.slope % step.every, -1, step.every) if step.every > 1 else 0
        negative = arith.subi(number(step.by), beyond)
        first = arith.remui(times(arith.divui(negative, number(common)), inverse), every)
        count = arith.divui(arith.subi(number(step.extent + step.every - 1), first), every)
        if common > 1:
            rest_of = arith.remui(beyond, number(common))
            is_any = arith.cmpi(arith.CmpIPredicate.eq, rest_of, number(0))
            count = arith.select(is_any, count, number(0))
        total = add(plus(rest, step.constant), times(first, step.slope_in))
        self.shifts[loop] = arith.divsi(total, by)
        place = loop if step.term is None else step.term
        self._first[place], self._count[place] = first, count

    def terms(self) -> ir.Value:
        """Returns how many terms a sum has."""
        found = self.size(
            product(
                [
                    self.form.work.extents[loop]
                    for loop in self.form.terms
                    if loop not in self._count
                ]
            )
        )
        for count in self._count.values():
            found = multiply(found, count)
        return found

    def set_range(self, found: Range, first: ir.Value, tile: int) -> None:
        """Leaves out places that no row or column has of a tile that begins at the `first`."""
        self.range = found
        size, guard = self.work.extents[found.loop], found.guard
        total = self.form.count_of(found.own).known
        last = arith.minui(plus(first, tile - 1), number(total - 1))
        inner = number(found.inner)
        (outer, low), (far, high) = (
            self.divided(arith.divui(at, inner), size) for at in (first, last)
        )
        is_same = arith.cmpi(arith.CmpIPredicate.eq, outer, far)
        low = arith.select(is_same, low, number(0))
        high = arith.select(is_same, high, number(size.known - 1))
        by, slope = guard.factors[found.term], guard.factors[found.loop]
        # The places k for which 0 <= constant + slope i + by k < bound, of an i that is there.
        before = arith.subi(number(by - 1 - guard.constant), times(high, slope))
        through = arith.subi(number(guard.bound.known - 1 - guard.constant + by), times(low, slope))
        begin, end = (
            arith.divui(arith.maxsi(each, number(0)), number(by)) for each in (before, through)
        )
        end = arith.minui(end, number(self.work.extents[found.term].known))
        self._first[found.term] = begin
        self._count[found.term] = arith.subi(arith.maxui(end, begin), begin)

    @property
    def has_fewer_terms(self) -> bool:
        """Whether some sums have fewer terms than others, or none."""
        return bool(self._count)

    def split_term(self, at: ir.Value) -> dict[int, ir.Value]:
        """The loops' indices of the term of a number; of terms with a step those that count."""
        found: dict[int, ir.Value] = {}
        rest = at
        for loop in reversed(self.form.terms[1:]):
            extent = self.form.work.extents[loop]
            if loop in self._count or not extent.is_known:
                # Of no terms none is asked for, but they are counted.
                count = self._count[loop] if loop in self._count else self.size(extent)
                by = arith.maxui(count, number(1))
                whole = arith.divui(rest, by)
                rest, found[loop] = whole, arith.subi(rest, arith.muli(whole, by))
            else:
                rest, found[loop] = self.divided(rest, extent)
        for loop in self.form.terms[:1]:
            found[loop] = rest
        if self.range is not None:
            term = self.range.term
            found[term] = add(found[term], self._first[term])
        return found

    def term(self, loop: int, counted: ir.Value) -> ir.Value:
        """The index of a place of a term with a step, counted among those that count."""
        step = self.form.step_of_term(loop)
        assert step is not None
        return add(times(counted, step.every), self._first[loop])

    def whole(self, indices: Indices) -> dict[int, ir.Value]:
        """The operation's own indices."""
        found = dict(indices)
        for loop, step in self.form.steps.items():
            if loop in found:
                found[loop] = add(times(found[loop], step.by), self._rests[loop])
        return found

    def are_there(self, indices: Indices) -> ir.Value | None:
        """Returns whether the operation has an iteration at its own indices, of loops with a step.

        None where it certainly has.
        """
        holds: ir.Value | None = None
        for loop, step in self.form.steps.items():
            extent = self.form.work.extents[loop]
            if loop in indices and not extent.is_multiple_of(step.by):
                holds = both(holds, is_below(indices[loop], self.size(extent)))
        return holds
