"""What a kernel is given: pointers, sizes and scalars, each once, in the order of first use."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..rewriting import index_constant
from .size import OpenNumbers, Size

# Device memory, in PTX's and LLVM's numbering of address spaces.
GLOBAL = 1


class Parameters:
    """Adds arguments to a kernel's entry block as its body asks for them.

    Pointers are in global memory. The values passed are the host's: `arguments` emits them at the
    current insertion point.
    """

    def __init__(self, entry: ir.Block, open_: OpenNumbers) -> None:
        self._entry = entry
        self._open = open_
        self._inside: dict[object, ir.Value] = {}
        self._given: list[ir.Value | Size] = []

    def size(self, size: Size) -> ir.Value:
        """A size as an index value in the kernel."""
        if size.is_known:
            return index_constant(size.known)
        return self._add(size, size, ir.IndexType.get())

    def value(self, value: ir.Value) -> ir.Value:
        """A scalar or buffer of the host, as it is."""
        return self._add(("value", value), value, value.type)

    def pointer(self, buffer: ir.Value) -> ir.Value:
        """The address of a buffer's first element, `!llvm.ptr<1>`."""
        key = ("pointer", buffer)
        if key not in self._inside:
            plain = self._add(("address", buffer), buffer, ir.Type.parse("!llvm.ptr"))
            with ir.InsertionPoint.at_block_begin(self._entry):
                self._inside[key] = ir.Operation.create(
                    "llvm.addrspacecast",
                    results=[ir.Type.parse(f"!llvm.ptr<{GLOBAL}>")],
                    operands=[plain],
                ).results[0]
        return self._inside[key]

    @property
    def types(self) -> list[ir.Type]:
        """The kernel's argument types."""
        return [argument.type for argument in self._entry.arguments]

    def arguments(self) -> list[ir.Value]:
        """Emits what the host passes."""
        return [
            self._open.value(given) if isinstance(given, Size) else given for given in self._given
        ]

    def _add(self, key: object, given: ir.Value | Size, kind: ir.Type) -> ir.Value:
        if key not in self._inside:
            self._inside[key] = self._entry.add_argument(kind, ir.Location.current)
            self._given.append(given)
        return self._inside[key]
