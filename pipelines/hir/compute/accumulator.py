"""Reductions into memory: an accumulator is filled, reduced into, and finished into the result.

The accumulator is the result itself where that holds the type in which sums are kept, else a buffer
of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dialects.hir.element_types import ElementType
from ....dialects.hir.layout import DYNAMIC, buffer_type
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...generics import Mapped, emit_generic, map_of
from ...rewriting import constant
from ..fresh_buffers import allocate
from .elements import computing_type, is_rounded, store
from .operand import Operand
from .sizes import size_of


@dataclass(frozen=True)
class Accumulator:
    """The buffer that a reduction goes to, of the sizes of `result`."""

    buffer: ir.Value
    result: Operand

    @property
    def element(self) -> ElementType:
        """The element type of the result, in whose computing type numbers are accumulated."""
        return self.result.element

    @property
    def rank(self) -> int:
        return len(self.result.shape)

    def fill(self, number: float) -> None:
        """Sets every element to a number."""
        fill(self.buffer, number)

    def finish(
        self,
        compute: Callable[..., ir.Value] | None = None,
        inputs: Sequence[Mapped] = (),
    ) -> None:
        """Stores the result, rounded once, and frees the accumulator.

        `compute` takes the accumulated number and the elements of the inputs.
        """
        is_own = self.buffer != self.result.stored
        if not is_own and compute is None and not is_rounded(self.element):
            return
        identity = map_of(self.rank, range(self.rank))
        own = [(self.buffer, identity)] if is_own else []

        def body(arguments: Sequence[ir.Value]) -> Sequence[ir.Value]:
            *given, last = arguments
            values = given if is_own else [last, *given]
            number = values[0] if compute is None else compute(*values)
            return [store(number, self.element) if self.element.is_float else number]

        emit_generic(self.rank, (), [*own, *inputs], [(self.result.stored, identity)], body)
        if is_own:
            ir.Operation.create("hir.deallocate", operands=[self.buffer])


def accumulator(result: Operand) -> Accumulator:
    """Returns an accumulator of the result's sizes and computing type."""
    kind = computing_type(result.element)
    if ir.MemRefType(result.stored.type).element_type == kind:
        return Accumulator(result.stored, result)
    return Accumulator(scratch(result, kind), result)


def scratch(result: Operand, kind: ir.Type) -> ir.Value:
    """Returns a packed buffer of the result's sizes."""
    sizes = [size_of((result, axis)) for axis, size in enumerate(result.shape) if size == DYNAMIC]
    return allocate(buffer_type(result.shape, kind), sizes)


def fill(buffer: ir.Value, number: float) -> None:
    """Sets every element of a buffer to a number."""
    kind = ir.MemRefType(buffer.type)
    output = (buffer, map_of(kind.rank, range(kind.rank)))
    emit_generic(kind.rank, (), [], [output], lambda _: [constant(kind.element_type, number)])
