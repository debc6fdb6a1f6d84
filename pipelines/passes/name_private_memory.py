"""name-private-memory: private memory is what upstream's dialects call it."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..walking import operations_where

_NUMBER = 5
_FUNCTIONS = ("gpu.func", "func.func")
# Where buffers come from: of functions, their arguments and attributions.
_SOURCES = (*_FUNCTIONS, "memref.alloca", "memref.memory_space_cast")


@register
@dataclass(frozen=True)
class NamePrivateMemory(Pass):
    """Gives buffers in the memory space 5, as gpu.func's documentation has them, the space's name.

    Upstream lowers that alone to where a thread's own memory lies.

      gpu.func @k() private(%p : memref<4xf32, 5>) kernel
    becomes
      gpu.func @k() private(%p : memref<4xf32, #gpu.address_space<private>>) kernel
    """

    name: ClassVar[str] = "name-private-memory"

    def run(self, op: ir.Operation) -> bool:
        sources = operations_where(op, lambda inner: inner.name in _SOURCES)
        if not any(_named(value.type) for source in sources for value in _values(source)):
            return False
        for inner in operations_where(op, lambda _: True):
            for value in _values(inner):
                named = _named(value.type)
                if named is not None:
                    value.set_type(named)
            if inner.name in _FUNCTIONS:
                _rename_signature(inner)
        return True


def _values(op: ir.Operation) -> list[ir.Value]:
    """Returns what an operation makes: results, and the arguments of its blocks."""
    blocks = [block for region in op.regions for block in region]
    return [*op.results, *(each for block in blocks for each in block.arguments)]


def _named(kind: ir.Type) -> ir.Type | None:
    """Returns a buffer's type with the space's name; None of what is not of that number."""
    if not isinstance(kind, ir.MemRefType):
        return None
    space = kind.memory_space
    if not isinstance(space, ir.IntegerAttr) or space.value != _NUMBER:
        return None
    private = ir.Attribute.parse("#gpu.address_space<private>")
    return ir.MemRefType.get(kind.shape, kind.element_type, kind.layout, private)


def _rename_signature(function: ir.Operation) -> None:
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    inputs, results = (
        [_named(each) or each for each in some] for some in (kind.inputs, kind.results)
    )
    renamed = ir.FunctionType.get(inputs, results)
    if renamed != kind:
        function.attributes["function_type"] = ir.TypeAttr.get(renamed)
