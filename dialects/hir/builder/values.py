"""The values of a program: making them, and using them as operands."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Protocol, cast

from ...mlir import ir
from ..element_types import ELEMENT_TYPES, ElementType
from ..layout import DYNAMIC
from .buffer import Buffer
from .element_names import element_type
from .emitter import Emitter, Scope
from .errors import BuildError
from .scalar import Scalar
from .sizes import Extent, Size

if TYPE_CHECKING:
    from .buffer import Operand
    from .program import Program


class Owned(Protocol):
    """A value of a program, known in a scope."""

    program: Program
    value: ir.Value
    scope: Scope


def is_whole(number: float) -> bool:
    """Returns whether a number has no fraction. A whole number of any length has none."""
    return isinstance(number, int) or (isfinite(number) and number.is_integer())


class Values(Emitter):
    """Turns MLIR's values into the builder's, and back."""

    # The axis that `over_streams` spreads.
    spread_axis: int | None = None

    def refuse_spread(self, what: str) -> None:
        """Refuses what `over_streams` would have no effect on."""
        if self.spread_axis is not None:
            raise BuildError(
                f"{what} has no axis that over_streams({self.spread_axis}) spreads",
                "write it before or after the `with`",
            )

    def _program(self) -> Program:
        """Returns the program that values belong to."""
        return cast("Program", self)

    # Making values.

    def new_buffer(self, value: ir.Value, shape: Sequence[Extent | None]) -> Buffer:
        """Returns the buffer that `value` is; sizes that are None are those its type says, or its
        own.
        """
        declared = ir.MemRefType(value.type).shape
        sizes: list[Extent] = []
        for axis, (size, known) in enumerate(zip(shape, declared, strict=True)):
            if known != DYNAMIC:
                sizes.append(known)
            else:
                sizes.append(self._size_of(value, axis, self.scope) if size is None else size)
        return Buffer(self._program(), value, tuple(sizes), self.scope)

    def new_scalar(self, value: ir.Value, name: str, scope: Scope | None = None) -> Scalar | Size:
        """Returns the scalar that `value` is; an index is a size called `name`."""
        scope = scope or self.scope
        if isinstance(value.type, ir.IndexType):
            return self.new_size(name, scope, lambda: value)
        return Scalar(self._program(), value, scope)

    def _size_of(self, value: ir.Value, axis: int, scope: Scope) -> Size:
        def measure() -> ir.Value:
            at = ir.InsertionPoint.after(cast(ir.Operation, value.owner))
            number = self.constant_value(self.index, axis)
            return self.emit("memref.dim", [value, number], [self.index], at=at).results[0]

        return self.new_size(f"size {axis} of the buffer", scope, measure)

    # Using them.

    def buffer_value(self, buffer: Buffer, what: str = "the operand") -> ir.Value:
        """Returns a buffer's value. Raises BuildError where it is none, or not known here."""
        if not isinstance(buffer, Buffer):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BuildError(f"{what} is a buffer, not {buffer!r}")
        return self.own(buffer, what)

    def own(self, value: Owned, what: str) -> ir.Value:
        """Returns the value, where it is of this program and known here; BuildError otherwise."""
        if not hasattr(value, "scope"):
            raise BuildError(f"{what} is not {value!r}")
        if value.program is not self._program():
            raise BuildError(
                f"{what} is of program {value.program.name}, this is {self.name}",
                "hand it over as an input: p.call(program, ...)",
            )
        self.require_visible(value.scope, what)
        return value.value

    def operand_value(self, operand: Operand, element: ElementType) -> ir.Value:
        """Returns a buffer's or scalar's value; a number as the scalar that stands
        for `element`.
        """
        if isinstance(operand, (Buffer, Scalar)):
            return self.own(operand, "the operand")
        if isinstance(operand, Size):
            return self.extent_value(operand)
        if isinstance(operand, (int, float)):  # pyright: ignore[reportUnnecessaryIsInstance]
            return self.number_value(operand, element)
        raise BuildError(f"an operand is a buffer, a scalar or a number, not {operand!r}")

    def any_value(self, value: Buffer | Scalar | Extent, what: str) -> ir.Value:
        """Returns the value of a buffer, scalar or size; a whole number is an index."""
        if isinstance(value, (int, Size)) and not isinstance(value, bool):
            return self.extent_value(value)
        if isinstance(value, (Buffer, Scalar)):
            return self.own(value, what)
        raise BuildError(
            f"{what} is a buffer or a scalar, not {value!r}",
            'p.constant(2.0, "f32") is a scalar of that value',
        )

    def number_value(self, number: int | float, element: ElementType) -> ir.Value:
        """Returns a constant for a number among elements of a type. BuildError: the type does not
        have it.

        A number beside unsigned elements is the signed one of the same bits.
        """
        if isinstance(number, bool) and element.kind != "truth":
            raise BuildError(f"{number} is an i1, not {element.name}", "write 1 or 0")
        if element.is_float:
            # What the host has no float for is computed with in f32.
            name = element.name if element.name in ("f64", "f16", "bf16") else "f32"
            return self.constant_value(self.type(name), number)
        bits = 8 * element.bytes if element.kind != "truth" else 1
        unsigned = element.kind in ("unsigned", "truth")
        low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        whole = is_whole(number)
        if element.kind == "complex" or not whole or not low <= number <= high:
            raise BuildError(
                f"{number!r} is no {element.name}", "cast to a type that has the number"
            )
        value = int(number)
        if bits > 1 and value > 2 ** (bits - 1) - 1:
            value -= 2**bits
        return self.constant_value(self.type(f"i{bits}"), value)

    def element(self, name: str) -> tuple[ElementType, ir.Type]:
        """Returns the element type called `name`, and MLIR's."""
        return element_type(name), self.type(element_type(name).name)

    def element_of(self, buffer: Buffer) -> ElementType:
        """Returns the element type of a buffer."""
        return ELEMENT_TYPES[buffer.element]
