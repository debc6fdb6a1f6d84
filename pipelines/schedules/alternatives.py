"""Launches of which one is made, by what is seen of sizes, strides and addresses at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects.hir.layout import strides_and_offset
from ...dialects.mlir import arith, ir, memref
from ..hir.loops import emit_either
from ..rewriting import index_constant
from .elements import element_bytes
from .size import ZERO, OpenNumbers, Size
from .work import Operand


class Conditions:
    """Collects what must hold, as code of the host; what is known is decided at once."""

    def __init__(self, open_: OpenNumbers) -> None:
        self._open = open_
        self._value: ir.Value | None = None
        self.never = False

    @property
    def value(self) -> ir.Value | None:
        """Whether all hold; None where they certainly do."""
        return self._value

    def require(self, value: ir.Value | None) -> None:
        """Adds one that code has computed; None holds."""
        if value is not None:
            self._value = value if self._value is None else arith.andi(self._value, value)

    def require_multiple(self, size: Size, number: int) -> None:
        """A size is a multiple of a number."""
        if size.is_multiple_of(number):
            return
        if size.is_known:
            self.never = True
            return
        rest = arith.remui(self._open.value(size), index_constant(number))
        self.require(arith.cmpi(arith.CmpIPredicate.eq, rest, index_constant(0)))

    def require_same_rest(self, one: Size, other: Size, number: int) -> None:
        """Two sizes differ by a multiple of a power of two."""
        if one == other or (one.is_multiple_of(number) and other.is_multiple_of(number)):
            return
        if one.is_known and other.is_known:
            self.never = self.never or (one.known - other.known) % number != 0
            return
        apart = arith.subi(self._open.value(one), self._open.value(other))
        rest = arith.andi(apart, index_constant(number - 1))
        self.require(arith.cmpi(arith.CmpIPredicate.eq, rest, index_constant(0)))

    def require_at_most(self, size: Size, most: int) -> None:
        """A size is no larger than a number."""
        if size.is_known:
            self.never = self.never or size.known > most
            return
        self.require(
            arith.cmpi(arith.CmpIPredicate.ule, self._open.value(size), index_constant(most))
        )

    def require_at_least(self, size: Size, least: int) -> None:
        """A size is no smaller than a number."""
        if size.is_known:
            self.never = self.never or size.known < least
            return
        self.require(
            arith.cmpi(arith.CmpIPredicate.uge, self._open.value(size), index_constant(least))
        )

    def require_same_alignment(self, one: Operand, other: Operand, alignment: int) -> None:
        """The elements of two operands' first iterations lie equally far past such addresses."""
        apart = arith.subi(self._first_address(one), self._first_address(other))
        rest = arith.andi(apart, index_constant(alignment - 1))
        self.require(arith.cmpi(arith.CmpIPredicate.eq, rest, index_constant(0)))

    def require_aligned(self, operand: Operand, alignment: int) -> None:
        """The element of the first iteration has an address that is a multiple of `alignment`."""
        size = element_bytes(operand.element)
        first = operand.offset.known * size if operand.offset.is_known else 1
        if alignment > size and not (_is_allocated(operand.buffer) and first % alignment == 0):
            self._require_multiple_address(self._first_address(operand), alignment)

    def require_aligned_buffer(self, buffer: ir.Value, element: ir.Type, alignment: int) -> None:
        """A buffer's first element has an address that is a multiple of `alignment`."""
        if alignment > element_bytes(element) and not _is_allocated(buffer):
            self._require_multiple_address(self._address(buffer, element, ZERO), alignment)

    def _require_multiple_address(self, where: ir.Value, alignment: int) -> None:
        rest = arith.andi(where, index_constant(alignment - 1))
        self.require(arith.cmpi(arith.CmpIPredicate.eq, rest, index_constant(0)))

    def _first_address(self, operand: Operand) -> ir.Value:
        """The address of the first iteration's element."""
        return self._address(operand.buffer, operand.element, operand.offset)

    def _address(self, buffer: ir.Value, element: ir.Type, by: Size) -> ir.Value:
        """The address of the element that lies so many past a buffer's first."""
        metadata = memref.ExtractStridedMetadataOp(buffer)
        base = memref.extract_aligned_pointer_as_index(buffer)
        offset = arith.addi(list(metadata.results)[1], self._open.value(by))
        return arith.addi(base, arith.muli(offset, index_constant(element_bytes(element))))


def _is_allocated(buffer: ir.Value) -> bool:
    """Returns whether a buffer begins where the program's memory does, which is aligned."""
    owner = buffer.owner
    if isinstance(owner, ir.Block) or strides_and_offset(ir.MemRefType(buffer.type))[1] != 0:
        return False
    # See structure.py: it is one of those that stand in for such buffers.
    return owner.operation.name == "hir.allocate"


Alternative = tuple[Callable[[Conditions], None], Callable[[], None]]


def emit_first_that_holds(
    open_: OpenNumbers, alternatives: Sequence[Alternative], otherwise: Callable[[], None]
) -> None:
    """Emits each alternative under its conditions, where none before it holds.

    An alternative is what adds its conditions, and what emits its launch. Those that never hold
    are left out, and those after one that always does.
    """
    if not alternatives:
        otherwise()
        return
    (conditions, launch), *rest = alternatives
    found = Conditions(open_)
    conditions(found)
    if found.never:
        emit_first_that_holds(open_, rest, otherwise)
    elif found.value is None:
        launch()
    else:
        emit_either(found.value, launch, lambda: emit_first_that_holds(open_, rest, otherwise))
