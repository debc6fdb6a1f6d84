"""Buffers: what a program computes with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ...mlir import ir
from .errors import BuildError
from .kind_methods import KindMethods
from .operators import Operators
from .scalar import ScalarLike
from .sizes import Extent

if TYPE_CHECKING:
    from .emitter import Scope
    from .program import Program
    from .viewing import Index


class Buffer(KindMethods, Operators["Operand", "Buffer"]):
    """A buffer of a program: its element type, and its sizes as far as they are known.

    Indexing, `permute`, `reshape` and `expand` give views of the same memory; operators and the
    kinds (`x.gelu()`, `x.sum(1)`) give fresh buffers; `y[0] = x` copies into a view.
    """

    def __init__(
        self, program: Program, value: ir.Value, shape: tuple[Extent, ...], scope: Scope
    ) -> None:
        self.program = program
        self.value = value
        self.shape = shape
        self.scope = scope

    def kinds_of(self) -> tuple[Program, tuple[Buffer, ...]]:
        return self.program, (self,)

    @property
    def type(self) -> ir.MemRefType:
        """MLIR's type."""
        return cast(ir.MemRefType, self.value.type)

    @property
    def element(self) -> str:
        """The name of the element type: "f32"."""
        return str(self.type.element_type)

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self.shape)

    def apply(self, kind: str, *operands: Any) -> Buffer:
        return self.program.compute_kind(kind, *operands)

    def __matmul__(self, other: Buffer) -> Buffer:
        return self.program.matmul(self, other)

    def __rmatmul__(self, other: Buffer) -> Buffer:
        return self.program.matmul(other, self)

    def __getitem__(self, index: Index) -> Buffer:
        return self.program.view_at(self, index)

    def __setitem__(self, index: Index, source: Operand) -> None:
        self.program.set(source, out=self[index])

    def permute(self, *order: int | Sequence[int]) -> Buffer:
        """Returns the view whose dim `i` is dim `order[i]` of this."""
        return self.program.permute(self, _flat(order))

    @property
    def T(self) -> Buffer:
        """The view with all dims in reverse order."""
        return self.program.permute(self, range(self.rank)[::-1])

    def reshape(self, *sizes: Extent | Sequence[Extent]) -> Buffer:
        """Returns the view of the same elements in row-major order with other sizes;
        one may be -1.
        """
        return self.program.reshape(self, _flat(sizes))

    def expand(self, *sizes: Extent | Sequence[Extent]) -> Buffer:
        """Returns the view that repeats dims of size 1 and adds leading ones; -1 keeps a size."""
        return self.program.expand(self, _flat(sizes))

    def cast(self, to: str) -> Buffer:
        """Returns a fresh buffer with the elements as another type."""
        return self.program.cast(self, to)

    def copy(self) -> Buffer:
        """Returns a fresh, packed copy."""
        return self.program.set(self)

    def deallocate(self) -> None:
        """Frees the memory, in the order of the current stream."""
        self.program.deallocate(self)

    def __len__(self) -> int:
        raise BuildError("a buffer has no len()", "its sizes are x.shape")

    def __iter__(self) -> None:
        raise BuildError(
            "a buffer is not iterated over in Python", "write `with p.loop(0, x.shape[0]) as i:`"
        )

    def __bool__(self) -> bool:
        raise BuildError(
            "a buffer has no truth value while the program is built",
            "p.branch takes a scalar; elements are chosen by p.where",
        )

    def __repr__(self) -> str:
        sizes = ", ".join(str(size) for size in self.shape)
        return f"Buffer([{sizes}], {self.element})"


def _flat(numbers: Sequence[Any]) -> Sequence[Any]:
    """Numbers, one by one or in one tuple."""
    one = len(numbers) == 1 and isinstance(numbers[0], Sequence)
    return numbers[0] if one else numbers


# What compute operations take.
Operand: TypeAlias = "Buffer | ScalarLike"
