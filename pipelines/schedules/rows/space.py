"""A linalg.generic's iterations as rows: each is reduced along by itself."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.records import dataclass
from ...walking import is_used
from ..collective import levels_of
from ..elements import ACCESS_BYTES, element_bytes
from ..size import ONE, ZERO, Size
from ..space import Loop, collapsed, total
from ..work import Operand, Work

# What so many iterations read lies in a cache, whatever its order.
_FEW_ITERATIONS = 1 << 20
_WORD_BYTES = 4


@dataclass(frozen=True)
class RowSpace:
    """The loops of a work: `rows` number the rows, `columns` the elements of each.

    Both are outermost first. There is always a column loop.
    """

    work: Work
    rows: tuple[Loop, ...]
    columns: tuple[Loop, ...]

    @property
    def inner(self) -> Loop:
        """The loop along which neighbouring elements of a row lie."""
        return self.columns[-1]

    @property
    def count(self) -> Size:
        """How many rows there are."""
        return total(self.rows)

    @property
    def length(self) -> Size:
        """The elements of a row."""
        return total(self.columns)

    @property
    def varying(self) -> frozenset[int]:
        """The operation's own loops that change along a row."""
        return frozenset(part for loop in self.columns for part in loop.parts)

    def stride(self, operand: Operand, loop: Loop) -> Size:
        return loop.stride_of(self.work, operand.number)

    def is_along(self, operand: Operand) -> bool:
        """Returns whether an operand has elements of its own along a row."""
        return any(self.stride(operand, loop) != ZERO for loop in self.columns)

    def is_large(self, operand: Operand) -> bool:
        """Returns whether it also has, as far as is known, elements of its own for each row.

        Of what neighbours in a row share there are few: the scales of channels.
        """
        return self.stride(operand, self.inner) != ZERO and (
            not self.rows or any(self.stride(operand, loop) != ZERO for loop in self.rows)
        )

    def is_used(self, operand: Operand) -> bool:
        """Returns whether the region uses an operand's elements, or gives them."""
        argument = self.work.block.arguments[operand.number]
        return operand.is_output or is_used(argument)

    def is_contiguous(self, operand: Operand) -> bool:
        """Returns whether neighbouring elements of a row are neighbours in memory."""
        return self.stride(operand, self.inner) == ONE

    @property
    def along(self) -> list[Operand]:
        """The operands with elements along a row that are used."""
        return [
            operand
            for operand in self.work.operands
            if self.is_along(operand) and self.is_used(operand)
        ]

    @property
    def packed(self) -> list[Operand]:
        """The operands whose rows, of known length, follow one another in memory without gaps."""
        if len(self.rows) != 1 or len(self.columns) != 1 or not self.length.is_known:
            return []
        (rows,), length = self.rows, self.length
        contiguous = filter(self.is_contiguous, self.along)
        return [each for each in contiguous if self.stride(each, rows) == length]

    @property
    def has_outputs_along(self) -> bool:
        return any(operand.is_output for operand in self.along)

    @property
    def is_light(self) -> bool:
        """Returns whether rows are only read, for sums and the like of simple values."""
        has_one_level = len(levels_of(self.work)) == 1
        return not self.has_outputs_along and self.work.is_simple and has_one_level

    @property
    def widest(self) -> int:
        """The elements of the widest vectors; 1 where nothing is contiguous."""
        sizes = [element_bytes(each.element) for each in self.along if self.is_contiguous(each)]
        return ACCESS_BYTES // min(sizes) if sizes else 1

    @property
    def words(self) -> int:
        """Registers that one element of the large inputs takes in all, at least 1."""
        return max(1, sum(max(1, element_bytes(each.element) // 4) for each in self._large_inputs))

    @property
    def bytes(self) -> int:
        """Bytes of one element of the large inputs in all, at least 1."""
        return max(1, sum(element_bytes(each.element) for each in self._large_inputs))

    def held_bytes(self, width: int) -> int:
        """Bytes of a vector of the large inputs in registers, in which its elements wait as they
        lie in memory; smaller ones than of 16 bits, of which a thread has enough, count like those.

        A single element has a register.
        """
        least = 2 if width > 1 else _WORD_BYTES
        sizes = (element_bytes(each.element) for each in self._large_inputs)
        elements = width * max(least, sum(max(least, size) for size in sizes))
        return elements + self.place_words * _WORD_BYTES

    @property
    def place_words(self) -> int:
        """Registers in which a thread keeps where a vector lies: its index in two loops where the
        assembler does not know their sizes.
        """
        return 0 if self.length.is_known or len(self.columns) == 1 else 2

    @property
    def is_one_of_words(self) -> bool:
        """Returns whether all that is read along rows is one large input of elements of 32 bits."""
        inputs = [each for each in self.along if not each.is_output]
        sizes = [element_bytes(each.element) for each in inputs]
        return sizes == [4] and inputs == self._large_inputs

    @property
    def _large_inputs(self) -> list[Operand]:
        return [each for each in self.along if not each.is_output and self.is_large(each)]


def read_rows(work: Work) -> RowSpace | None:
    """The rows of a work, or None where they do not lie along memory.

    A work whose outputs change along some of the reduced loops alone has none.
    """
    if not work.collectives or not work.outputs:
        return None
    if any(op.name == "hir.scan_loop" for op in work.collectives):
        return None
    space = rows_of(work)
    for operand in work.outputs:
        strides = [space.stride(operand, loop) for loop in space.columns]
        if ZERO in strides and space.is_along(operand):
            return None
    if _weight(space, work.parallel) > _weight(space, work.collective):
        return None
    return space


def rows_of(work: Work) -> RowSpace:
    """The rows of a work that has reductions, however they lie."""
    columns = collapsed(work, _in_memory_order(work, work.collective))
    if not columns:
        columns = [Loop(work.collective, ONE, tuple(ZERO for _ in work.operands))]
    return RowSpace(work, tuple(collapsed(work, work.parallel)), tuple(columns))


def _weight(space: RowSpace, loops: Sequence[int]) -> int:
    """Bytes of an element of each large operand whose neighbours in memory are along `loops`.

    Where all fits a cache, others count like them: a few long reads are as good as many short ones.
    """
    size = space.count * space.length
    is_small = size.is_known and size.known <= _FEW_ITERATIONS
    return sum(
        element_bytes(operand.element)
        for operand in space.along
        if (is_small or space.is_large(operand))
        and any(operand.strides[loop] == ONE and space.work.extents[loop] != ONE for loop in loops)
    )


def _in_memory_order(work: Work, loops: Sequence[int]) -> list[int]:
    """The loops by the strides of the operand with most of them, the smallest last."""

    def used(operand: Operand) -> int:
        return sum(stride != ZERO for stride in operand.strides)

    reference = max(work.operands, key=used)

    def key(loop: int) -> tuple[int, int]:
        stride = reference.strides[loop]
        return (-len(stride.open), -stride.known)

    return sorted(loops, key=key)
