"""What a kernel is given: pointers, sizes and scalars, each once, in the order of first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...dialects.mlir import arith, ir
from ..rewriting import index_constant
from .size import ONE, ZERO, OpenNumbers, Size

# Device memory, in PTX's and LLVM's numbering of address spaces.
GLOBAL = 1

# What the host passes: a value, a size, or what is computed from the open numbers.
_Given = ir.Value | Size | Callable[[OpenNumbers], ir.Value]


class Parameters:
    """Adds arguments to a kernel's entry block as its body asks for them.

    Pointers are in global memory. The values passed are the host's: `arguments` emits them at the
    current insertion point.
    """

    def __init__(self, entry: ir.Block, open_: OpenNumbers) -> None:
        self._entry = entry
        self._open = open_
        self._inside: dict[object, ir.Value] = {}
        self._given: list[_Given] = []

    def size(self, size: Size) -> ir.Value:
        """A size as an index value in the kernel."""
        if size.is_known:
            return index_constant(size.known)
        return self._add(size, size, ir.IndexType.get())

    def place(self, first: Size, steps: Iterable[tuple[ir.Value, Size]]) -> ir.Value:
        """A number of elements: `first` and so many strides of each size."""
        found = None if first == ZERO else self.size(first)
        for count, stride in steps:
            if stride == ZERO:
                continue
            step = count if stride == ONE else arith.muli(count, self.size(stride))
            found = step if found is None else arith.addi(found, step)
        return index_constant(0) if found is None else found

    def value(self, value: ir.Value) -> ir.Value:
        """A scalar or buffer of the host, as it is."""
        return self._add(("value", value), value, value.type)

    def computed(
        self, key: object, kind: ir.Type, emit: Callable[[OpenNumbers], ir.Value]
    ) -> ir.Value:
        """Returns what `emit` computes on the host; `key` identifies it."""
        return self._add(("computed", key), emit, kind)

    def pointer(self, buffer: ir.Value) -> ir.Value:
        """The address of a buffer's first element, `!llvm.ptr<1>`."""
        key = ("pointer", buffer)
        plain = self._add(("address", buffer), buffer, ir.Type.parse("!llvm.ptr"))
        return self.once(
            key,
            lambda: ir.Operation.create(
                "llvm.addrspacecast",
                results=[ir.Type.parse(f"!llvm.ptr<{GLOBAL}>")],
                operands=[plain],
            ).results[0],
        )

    def once(self, key: object, emit: Callable[[], ir.Value]) -> ir.Value:
        """Returns what `emit` computes of arguments when the kernel begins; `key` identifies it."""
        if key not in self._inside:
            with ir.InsertionPoint.at_block_begin(self._entry):
                self._inside[key] = emit()
        return self._inside[key]

    @property
    def types(self) -> list[ir.Type]:
        """The kernel's argument types."""
        return [argument.type for argument in self._entry.arguments]

    def arguments(self) -> list[ir.Value]:
        """Emits what the host passes."""
        return [
            self._open.value(given)
            if isinstance(given, Size)
            else (given if isinstance(given, ir.Value) else given(self._open))
            for given in self._given
        ]

    def _add(self, key: object, given: _Given, kind: ir.Type) -> ir.Value:
        if key not in self._inside:
            location = ir.Location.current
            assert location is not None
            self._inside[key] = self._entry.add_argument(kind, location)
            self._given.append(given)
        return self._inside[key]
