"""Short rows that pass through shared memory, so that a block reads and writes whole sectors.

The rows of a block are one stretch of memory. Where a thread or a few of a warp take a row, what a
warp accesses at once lies in pieces of this row and the next ones, and a sector is written as often
as instructions write parts of it. So the block copies the stretch to shared memory, 16 bytes a
thread, and what it computes from there to the output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ....dialects.mlir import arith, gpu, ir, scf
from ...rewriting import constant, index_constant
from ..cache_priority import read_policy
from ..conditional_load import load_if
from ..elements import ACCESS_BYTES, WORD_BYTES, address, element_bytes, load, store
from ..parameters import Parameters
from ..shared import SharedMemory
from ..work import Operand
from .plan import RowPlan
from .team import Team

_WORDS = ACCESS_BYTES // WORD_BYTES


class Staging:
    """The rows of the executing thread's block in shared memory: inputs, then outputs.

    `areas` has where the first of them begins, by the operands' numbers, and `row` is the thread's,
    or the last one where it has none.
    """

    def __init__(self, plan: RowPlan, team: Team, parameters: Parameters) -> None:
        self._plan, self._parameters = plan, parameters
        space, rows = plan.space, plan.configuration.rows
        self._operands = space.packed
        shared = SharedMemory()
        self.areas = {
            each.number: shared.area(rows * space.length.known * element_bytes(each.element))
            for each in self._operands
        }
        self.bytes = shared.bytes
        self._thread = gpu.thread_id(gpu.Dimension.x)
        self._first, self.row = team.first_row, team.row_of_block
        # How many rows there are; None where a block has all of them.
        self._rows: ir.Value | None = None
        if not space.count.is_multiple_of(rows):
            left = arith.subi(parameters.size(space.count), self._first)
            self._rows = arith.minui(left, index_constant(rows))
            self.row = arith.minui(self.row, arith.subi(self._rows, index_constant(1)))

    def bring(self) -> None:
        """Copies the inputs to shared memory, where all threads see them."""
        inputs = [each for each in self._operands if not each.is_output]
        for write in [write for each in inputs for write in self._read(each)]:
            write()
        if inputs:
            gpu.barrier()

    def take(self) -> None:
        """Copies the outputs from shared memory, once all threads have written them."""
        gpu.barrier()
        for operand in self._operands:
            if operand.is_output:
                self._write(operand)

    def _read(self, operand: Operand) -> list[Callable[[], None]]:
        """Loads what the thread copies of an input; returns what writes it to shared memory."""
        source, area = self._source(operand), self.areas[operand.number]
        policy = read_policy(self._plan.space.work, operand, self._parameters)
        i32 = ir.IntegerType.get_signless(32)
        writes: list[Callable[[], None]] = []
        for number, inside in self._pieces(operand):
            place = arith.muli(number, index_constant(_WORDS))
            read = partial(load, address(source, i32, place), i32, _WORDS, ACCESS_BYTES, policy)
            found = read() if inside is None else load_if(inside, [constant(i32, 0)] * _WORDS, read)
            where = address(area, i32, place)
            writes.append(partial(_where, inside, partial(store, where, i32, found, ACCESS_BYTES)))
        rest = self._rest(operand)
        if rest is not None:
            place, inside = rest
            element = operand.element
            read = partial(load, address(source, element, place), element, 1, 1)
            found = load_if(inside, [constant(element, 0)], read)
            where = address(area, element, place)
            writes.append(partial(_where, inside, partial(store, where, element, found, 1)))
        return writes

    def _write(self, operand: Operand) -> None:
        target, area = self._source(operand), self.areas[operand.number]
        i32, element = ir.IntegerType.get_signless(32), operand.element

        def copy(kind: ir.Type, place: ir.Value, count: int, alignment: int) -> None:
            values = load(address(area, kind, place), kind, count, alignment)
            store(address(target, kind, place), kind, values, alignment)

        for number, inside in self._pieces(operand):
            place = arith.muli(number, index_constant(_WORDS))
            _where(inside, partial(copy, i32, place, _WORDS, ACCESS_BYTES))
        rest = self._rest(operand)
        if rest is not None:
            place, inside = rest
            _where(inside, partial(copy, element, place, 1, 1))

    def _source(self, operand: Operand) -> ir.Value:
        """The address of the block's first row in global memory."""
        length = index_constant(self._plan.space.length.known)
        first = self._parameters.size(operand.offset)
        first = arith.addi(first, arith.muli(self._first, length))
        return address(self._parameters.pointer(operand.buffer), operand.element, first)

    def _pieces(self, operand: Operand) -> Iterator[tuple[ir.Value, ir.Value | None]]:
        """The numbers of the pieces that the thread copies, and whether they are there; None where
        they certainly are.
        """
        made, length = self._plan.configuration, self._plan.space.length.known
        size = element_bytes(operand.element)
        pieces = made.rows * length * size // ACCESS_BYTES
        count = index_constant(pieces)
        if self._rows is not None:
            elements = arith.muli(self._rows, index_constant(length))
            count = arith.divui(elements, index_constant(ACCESS_BYTES // size))
        for first in range(0, pieces, made.threads):
            number = arith.addi(self._thread, index_constant(first))
            is_there = self._rows is None and first + made.threads <= pieces
            below = arith.CmpIPredicate.ult
            yield number, None if is_there else arith.cmpi(below, number, count)

    def _rest(self, operand: Operand) -> tuple[ir.Value, ir.Value] | None:
        """The place of an element behind all pieces, which the thread copies, and whether it is
        there; None where there are none.
        """
        space, in_piece = self._plan.space, ACCESS_BYTES // element_bytes(operand.element)
        if self._rows is None or (space.count * space.length).is_multiple_of(in_piece):
            return None
        elements = arith.muli(self._rows, index_constant(space.length.known))
        covered = arith.muli(
            arith.divui(elements, index_constant(in_piece)), index_constant(in_piece)
        )
        place = arith.addi(covered, self._thread)
        return place, arith.cmpi(arith.CmpIPredicate.ult, place, elements)


def _where(condition: ir.Value | None, emit: Callable[[], None]) -> None:
    if condition is None:
        emit()
        return
    branch = scf.IfOp(condition)
    with ir.InsertionPoint(branch.then_block):
        emit()
        scf.YieldOp([])
