"""How the column schedule divides an operation's iterations among threads and blocks."""

from __future__ import annotations

from ....dialects.records import dataclass
from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..size import ONE
from ..tables import ColumnTable
from ..work import Operand
from .configuration import Kind
from .space import ColumnSpace

# Elements of the vectors of all unrolled iterations, which are as many copies of the region.
MOST_COPIES = 64
_WORD_BYTES = 4
# Those of a thread are a multiple of it (CUDA C++ Programming Guide: a warp has units of 256).
_REGISTERS_AT_ONCE = 8


@dataclass(frozen=True)
class ColumnPlan:
    """Vectors of `width` columns; a block takes `lanes` of them, each by several threads.

    Of a block's threads, `threads / lanes` take every so many of the collective iterations of the
    same vector, `unroll` at a time. Where it is `skewed`, neighbouring lanes make one vector less
    of whole columns: each row's vectors begin at its aligned addresses. Where it is `open`, a block
    has its lanes in x and the threads of a vector in y, and the launch says how many.
    """

    space: ColumnSpace
    width: int
    lanes: int
    unroll: int
    threads: int
    skewed: bool = False
    open: bool = False

    @property
    def table(self) -> ColumnTable:
        """What was measured of the device."""
        return table_of(self.space)

    @property
    def kind(self) -> Kind:
        return Kind.SKEWED if self.skewed else Kind.ALIGNED

    @property
    def depth(self) -> int:
        """The threads that share a vector."""
        return self.threads // self.lanes

    @property
    def chunk(self) -> int:
        """The iterations that a block takes at once."""
        return self.depth * self.unroll

    @property
    def block_columns(self) -> int:
        """The columns of a block."""
        return (self.lanes - self.skewed) * self.width

    @property
    def fills_blocks(self) -> bool:
        """Whether every thread certainly has a vector."""
        return not self.open and self.space.columns.is_multiple_of(self.lanes * self.width)

    def is_vector(self, operand: Operand) -> bool:
        """Returns whether an operand's elements of a vector of columns are neighbours."""
        return self.space.lane_stride(operand) == ONE

    def alignment(self, operand: Operand) -> int:
        """The alignment in bytes of an operand's accesses."""
        size = element_bytes(operand.element)
        return min(ACCESS_BYTES, self.width * size) if self.is_vector(operand) else size

    def kept(self) -> int | None:
        """The iterations of a thread where their elements stay in registers between passes."""
        passes = len(self.space.levels) + bool(self.space.full_outputs)
        if passes == 1 or not self.space.iterations.is_known:
            return None
        count = max(1, -(-self.space.iterations.known // self.depth))
        words = sum(
            max(1, self.width * element_bytes(each.element) // 4)
            for each in self.space.large
            if not each.is_output
        )
        fits = count * words <= self.table.kept_words and count * self.width <= 2 * MOST_COPIES
        return count if fits and self.space.iterations.known else None

    @property
    def bytes_under_way(self) -> int:
        """What a block loads at once."""
        size = sum(element_bytes(each.element) for each in self.space.large)
        return self.threads * self.unroll * self.width * size

    def resident_blocks(self, device: Device) -> int:
        """Returns how many blocks a multiprocessor's registers hold, by an estimate; one at least.

        Every thread has vectors under way and running values of a vector's columns.
        """
        running = sum(
            max(1, element_bytes(kind) // 4)
            for level in self.space.levels
            for each in level
            for kind in each.types
        )
        table = self.table
        registers = table.open_registers if self.open else table.other_registers
        registers = table.skewed_registers if self.skewed else registers
        registers += self.bytes_under_way // (4 * self.threads) + self.width * running
        registers = -(-registers // _REGISTERS_AT_ONCE) * _REGISTERS_AT_ONCE
        most = min(device.registers // (registers * self.threads), device.threads // self.threads)
        return max(most, 1)


def table_of(space: ColumnSpace) -> ColumnTable:
    """The numbers of the device that columns are computed on."""
    device = space.work.device
    assert device is not None
    return device.tables.columns


def plan_of(space: ColumnSpace, width: int, lanes: int) -> ColumnPlan:
    """A plan with as many iterations under way as keep the memory busy where blocks are many."""
    size = width * min(element_bytes(each.element) for each in space.large)
    table = table_of(space)
    most = min(table.most_unroll, max(table.unroll, table.narrow_bytes // size))
    unroll = _unrolled(space, width, most)
    return ColumnPlan(space, width, lanes, unroll, table.threads)


def narrow_plan(space: ColumnSpace) -> ColumnPlan:
    """A plan of single columns."""
    return plan_of(space, 1, table_of(space).lanes)


def deep_plan(space: ColumnSpace, width: int) -> ColumnPlan:
    """A plan for columns that fill the device with few blocks: many threads for few columns."""
    table = table_of(space)
    unroll = _unrolled(space, width, table.deep_unroll)
    return ColumnPlan(space, width, table.deep_lanes, unroll, table.many_threads)


def skewed_plan(space: ColumnSpace, width: int) -> ColumnPlan:
    """A plan for rows of any alignment; those of a thread are a multiple of 16 bytes apart."""
    table = table_of(space)
    lanes = min(table.skewed_lanes, table.many_threads // width)
    # Elements that are widened leave room for one block alone, which has as much under way as two.
    is_widened = ACCESS_BYTES // width < _WORD_BYTES
    unroll = _unrolled(space, width, table.deep_unroll if is_widened else table.unroll)
    return ColumnPlan(space, width, lanes, unroll, table.many_threads, True)


def _unrolled(space: ColumnSpace, width: int, most: int) -> int:
    """The iterations under way where so many are for one operand."""
    return max(1, min(max(2, most // len(space.large)), MOST_COPIES // width))
