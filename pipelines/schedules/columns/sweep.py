"""Loops over every so many of a range of iterations, several at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dialects.mlir import arith, ir, scf
from ....dialects.records import dataclass
from ...rewriting import index_constant
from ..size import Size

# Takes iterations' numbers, whether each is one (None: it is), and running values; gives the last.
Step = Callable[[list[ir.Value], list[ir.Value | None], list[ir.Value]], list[ir.Value]]


@dataclass(frozen=True)
class Sweep:
    """A thread's iterations: those of its `row` of a block's `depth`, from `begin` to `end`.

    The depth is a value where the launch says it. `extent` is the number of all iterations, None
    where the range may be any; where the thread's are part of them, `begin` is a multiple of what a
    block takes at once. Where `extent` is not known, `end` lies less than 2^31 after `begin`, also
    with what a block takes at once.
    """

    row: ir.Value
    depth: int | ir.Value
    begin: ir.Value
    end: ir.Value
    extent: Size | None

    def go(self, unroll: int, starts: Sequence[ir.Value], step: Step) -> list[ir.Value]:
        """Emits the step for `unroll` iterations at a time, and once more for those left over."""
        chunk = self._threads(unroll)
        running: list[ir.Value] = list(starts)
        first = arith.addi(self.begin, self.row)
        known = self.extent.known if self.extent is not None and self.extent.is_known else None
        if known is None or chunk is None:
            first, *running = self._while_all_are_there(unroll, running, step)
        elif known >= chunk:
            size = index_constant(chunk)
            count = arith.divui(arith.subi(self.end, self.begin), size)
            done = arith.addi(self.begin, arith.muli(count, size))
            loop = scf.ForOp(first, done, size, running)
            with ir.InsertionPoint(loop.body):
                numbers = self._numbers(loop.induction_variable, unroll)
                scf.YieldOp(step(numbers, [None] * unroll, list(loop.inner_iter_args)))
            running = [*loop.results]
            first = arith.addi(done, self.row)
        if self.extent is not None and chunk is not None and self.extent.is_multiple_of(chunk):
            return running
        left, certain = unroll, 0
        if known is not None and chunk is not None:
            depth = chunk // unroll
            left, certain = -(-(known % chunk) // depth), known % chunk // depth
        some = arith.cmpi(arith.CmpIPredicate.ult, first, self.end)
        rest = scf.IfOp(some, [value.type for value in running], has_else=True)
        with ir.InsertionPoint(rest.then_block):
            others, valid = self._after(first, left, certain)
            scf.YieldOp(step([first, *others], [None, *valid], running))
        assert rest.else_block is not None
        with ir.InsertionPoint(rest.else_block):
            scf.YieldOp(running)
        return [*rest.results]

    def _while_all_are_there(
        self, unroll: int, running: list[ir.Value], step: Step
    ) -> list[ir.Value]:
        """Emits the step for `unroll` iterations as often as the thread has so many.

        Returns the number of the next one, and what is running. A division by a number that is not
        known would keep the first loads waiting. They are counted in 32 bits: of 64, LLVM makes
        each address a running value of the loop, of two registers.
        """
        index, i32 = ir.IndexType.get(), ir.IntegerType.get_signless(32)
        size, past, count, row = (
            arith.index_cast(i32, each)
            for each in (
                self._after_threads(unroll),
                self._after_threads(unroll - 1),
                arith.subi(self.end, self.begin),
                self.row,
            )
        )
        loop = scf.ForOp(row, arith.subi(count, past), size, [row, *running])
        with ir.InsertionPoint(loop.body):
            place = loop.induction_variable
            _, *values = loop.inner_iter_args
            first = arith.addi(self.begin, arith.index_castui(index, place))
            found = step(self._numbers(first, unroll), [None] * unroll, list[ir.Value](values))
            scf.YieldOp([arith.addi(place, size), *found])
        place, *values = loop.results
        return [arith.addi(self.begin, arith.index_castui(index, place)), *values]

    def _numbers(self, first: ir.Value, count: int) -> list[ir.Value]:
        """The thread's next iterations."""
        return [arith.addi(first, self._after_threads(each)) for each in range(count)]

    def all(self, count: int) -> tuple[list[ir.Value], list[ir.Value | None]]:
        """The numbers of all of the thread's iterations, of `count` at most, and which there are.

        Of those that there are not, one that there is stands in; there is one in all at least.
        """
        assert self.extent is not None
        assert isinstance(self.depth, int)
        is_there: ir.Value | None = None
        first = arith.addi(self.begin, self.row)
        if self.extent.known < self.depth:
            is_there = arith.cmpi(arith.CmpIPredicate.ult, first, self.end)
            last = arith.subi(self.end, index_constant(1))
            first = arith.select(is_there, first, last)
        numbers, valid = self._after(first, count, self.extent.known // self.depth)
        return [first, *numbers], [is_there, *valid]

    def _threads(self, times: int) -> int | None:
        """So many times the block's depth; None where the launch says what that is."""
        return self.depth * times if isinstance(self.depth, int) else None

    def _after_threads(self, times: int) -> ir.Value:
        """The same as a value."""
        if isinstance(self.depth, int):
            return index_constant(self.depth * times)
        return arith.muli(self.depth, index_constant(times))

    def _after(
        self, first: ir.Value, count: int, certain: int
    ) -> tuple[list[ir.Value], list[ir.Value | None]]:
        """The `count - 1` iterations after the first; the first stands in for those past the end.

        Of all `count`, the first `certain` are there.
        """
        numbers: list[ir.Value] = []
        valid: list[ir.Value | None] = []
        for place in range(1, count):
            number = arith.addi(first, self._after_threads(place))
            if place < certain:
                numbers.append(number)
                valid.append(None)
                continue
            is_there = arith.cmpi(arith.CmpIPredicate.ult, number, self.end)
            numbers.append(arith.select(is_there, number, first))
            valid.append(is_there)
        return numbers, valid


class when:
    """Emits what follows in the `with` block under a condition, if there is one."""

    def __init__(self, condition: ir.Value | None) -> None:
        self._point: ir.InsertionPoint | None = None
        if condition is not None:
            self._point = ir.InsertionPoint(scf.IfOp(condition).then_block)

    def __enter__(self) -> None:
        if self._point is not None:
            self._point.__enter__()

    def __exit__(self, *exception: object) -> None:
        if self._point is not None:
            scf.YieldOp([])
            self._point.__exit__(*exception)


def chosen(
    condition: ir.Value | None, values: Sequence[ir.Value], others: Sequence[ir.Value]
) -> list[ir.Value]:
    """The values where the condition holds, if there is one, else the others."""
    if condition is None:
        return list(values)
    return [arith.select(condition, a, b) for a, b in zip(values, others, strict=True)]
