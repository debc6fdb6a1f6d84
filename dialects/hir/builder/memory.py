"""The memory of a program's builder: allocating, freeing, sharing."""

from __future__ import annotations

from collections.abc import Sequence

from ...mlir import ir
from ...records import dataclass
from ..allocate import MEMORY_KINDS
from ..domain import allocate_type, plan
from ..domain_steps import Domain
from ..layout import DYNAMIC, LayoutError
from .buffer import Buffer
from .communicator import Communicator
from .errors import BuildError
from .sizes import Extent, Size, divide, extreme
from .steps import Reorder, Step, step_attribute
from .values import Values


class Memory(Values):
    """Allocates, frees and aliases buffers."""

    def allocate(
        self,
        shape: Sequence[Extent],
        element: str,
        order: Sequence[int] | None = None,
        domain: Sequence[Step] | None = None,
        memory: str = "device",
        zero_init: bool = False,
        output: int | None = None,
        team: Communicator | None = None,
    ) -> Buffer:
        """Returns a fresh buffer of the logical sizes `shape`.

        `order` lists the dims from outermost to innermost in memory; `domain` is steps from the
        logical dims to memory (hirc.steps). `memory` is "device", "pinned", "managed" or
        "symmetric", which a `team` may share. `output` is the number of the program's output that
        it is.
        """
        if memory not in MEMORY_KINDS:
            raise BuildError(f"memory is one of {', '.join(MEMORY_KINDS)}, not {memory!r}")
        result, extents, values, attributes = self._allocation(shape, element, order, domain)
        if memory != "device":
            attributes["memory"] = self.string(memory)
        if team is not None:
            self.own(team, "the team")
            rows: list[ir.Attribute] = [self.integers(row) for row in team.teams]
            one = len(rows) == 1
            attributes["team" if one else "teams"] = (
                rows[0] if one else ir.ArrayAttr.get(rows, self.context)
            )
        if zero_init:
            attributes["zero_init"] = self.unit()
        if output is not None:
            attributes["output"] = self.integer(output)
        return self.new_buffer(self.value("hir.allocate", values, result, attributes), extents)

    def reuse(
        self,
        storage: Buffer,
        shape: Sequence[Extent],
        element: str,
        order: Sequence[int] | None = None,
        domain: Sequence[Step] | None = None,
        zero_init: bool = False,
    ) -> Buffer:
        """Returns a fresh buffer in the memory of `storage`, which is not used any more."""
        result, extents, values, attributes = self._allocation(shape, element, order, domain)
        if zero_init:
            attributes["zero_init"] = self.unit()
        operands = [self.buffer_value(storage, "the storage"), *values]
        return self.new_buffer(self.value("hir.reuse", operands, result, attributes), extents)

    def deallocate(self, buffer: Buffer) -> None:
        """Frees a buffer's memory, in the order of the current stream."""
        self.emit("hir.deallocate", [self.buffer_value(buffer)])

    def alias(self, buffer: Buffer, target: Buffer) -> None:
        """Makes `buffer` lie in the memory of `target`: what produces it writes there."""
        self.emit("hir.alias", [self.buffer_value(buffer), self.buffer_value(target, "the target")])

    def _allocation(
        self,
        shape: Sequence[Extent],
        element: str,
        order: Sequence[int] | None,
        domain: Sequence[Step] | None,
    ) -> tuple[ir.MemRefType, Sequence[Extent], list[ir.Value], dict[str, ir.Attribute]]:
        """Returns the type, the sizes, the operands for the open logical sizes, and
        the attributes.
        """
        if order is not None and domain is not None:
            raise BuildError("an allocation has an order or a domain, not both")
        sizes = self.sizes(shape)
        attributes: dict[str, ir.Attribute] = {}
        steps: tuple[Step, ...] = ()
        element_type = self.element(element)[1]
        if order is not None:
            steps = (Reorder(tuple(order)),)
            attributes["order"] = self.integers(order)
        if domain is not None:
            steps = tuple(domain)
            listed = [step_attribute(self, step) for step in steps]
            attributes["domain"] = ir.ArrayAttr.get(listed, self.context)
        logical = tuple(DYNAMIC if isinstance(size, Size) else size for size in sizes)
        described = Domain(logical, steps)
        open_sizes = [size for size in sizes if isinstance(size, Size)]
        try:
            result = allocate_type(described, element_type)
            found = plan(described, open_sizes, _Extents(self)).sizes
        except LayoutError as error:
            raise BuildError(str(error)) from None
        if tuple(result.shape) != logical:
            written = [-1 if size == DYNAMIC else size for size in logical]
            attributes["logical"] = self.integers(written)
        return result, found, [self.extent_value(size) for size in open_sizes], attributes

    def sizes(self, shape: Sequence[Extent]) -> list[Extent]:
        """Returns the sizes of a shape. BuildError: one of them is no size."""
        if isinstance(shape, (int, Size)):
            raise BuildError(f"a shape is a tuple of sizes, not {shape!r}", f"write ({shape},)")
        for size in shape:
            if isinstance(size, Size) and size.program is not self:
                raise BuildError(
                    f"the size {size} is of program {size.program.name}, this is {self.name}",
                    "hand it over as an input",
                )
            if not isinstance(size, Size) and (not isinstance(size, int) or size < 0):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise BuildError(
                    f"a size is a number from 0 on or a size of the program, not {size!r}"
                )
        return list(shape)


@dataclass(frozen=True)
class _Extents:
    """Arithmetic of symbolic sizes, for domains."""

    memory: Memory

    def constant(self, value: int) -> Extent:
        return value

    def multiply(self, a: Extent, b: Extent) -> Extent:
        return a * b

    def ceil_divide(self, a: Extent, b: Extent) -> Extent:
        return divide(self.memory, "ceildiv", a, b)

    def maximum(self, a: Extent, b: Extent) -> Extent:
        return extreme(self.memory, "max", a, b)
