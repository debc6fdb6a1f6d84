"""Scalars: integers and floats that the host computes with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ...mlir import ir
from .errors import BuildError
from .operators import Operators
from .sizes import Size

if TYPE_CHECKING:
    from .emitter import Scope
    from .program import Program


class Scalar(Operators["ScalarLike", Any]):
    """An integer, float or i1 value of the host; `type` is its name, "f32".

    Operators compute further scalars; with a buffer they compute a buffer. A number takes the type
    of the scalar it is computed with. Comparisons give i1, for branches and `where`.
    """

    def __init__(self, program: Program, value: ir.Value, scope: Scope) -> None:
        self.program = program
        self.value = value
        self.scope = scope

    @property
    def type(self) -> str:
        """The name of its type."""
        return str(self.value.type)

    def cast(self, to: str) -> Any:
        """Returns the same number as another type: a float or integer type, or "index", which is a
        size.
        """
        return self.program.cast_scalar(self, to)

    def apply(self, kind: str, *operands: Any) -> Any:
        if any(isinstance(each, Operators) and not is_scalar_like(each) for each in operands):
            return NotImplemented  # A buffer has its say.
        return self.program.compute_scalar(kind, *operands)

    def __bool__(self) -> bool:
        raise BuildError(
            "a scalar's value is known only when the program runs",
            "write `with p.branch(condition) as branch:`; the lesser and the greater of two are "
            "p.minimum and p.maximum",
        )

    def __repr__(self) -> str:
        return f"Scalar({self.type})"


# What may stand where a scalar is expected.
ScalarLike: TypeAlias = "Scalar | Size | int | float"


def is_scalar_like(value: object) -> bool:
    """Returns whether `value` is a scalar, a size, or a number."""
    return isinstance(value, (Scalar, Size, int, float))
