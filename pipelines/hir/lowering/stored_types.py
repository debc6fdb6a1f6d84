"""The types of generated code: every value has its stored element type."""

from __future__ import annotations

from ....dialects.hir.element_types import find_element_type
from ....dialects.mlir import ir


def stored_type(kind: ir.Type) -> ir.Type:
    """Returns the type that stands for `kind`: i8 for ui8, f32 for tf32, and so of a buffer's
    elements.
    """
    if isinstance(kind, ir.MemRefType):
        element = stored_type(kind.element_type)
        if element == kind.element_type:
            return kind
        return ir.MemRefType.get(kind.shape, element, kind.layout, kind.memory_space)
    element = find_element_type(kind)
    if element is None or element.stored_as == element.name:
        return kind
    return ir.Type.parse(element.stored_as, kind.context)


def is_unsigned(kind: ir.Type) -> bool:
    """Returns whether the type is an integer without a sign."""
    return isinstance(kind, ir.IntegerType) and (kind.is_unsigned or kind.width == 1)


def give_stored_types(root: ir.Operation) -> None:
    """Changes the types of all values within `root`; casts that then change nothing go."""
    casts: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        for result in op.results:
            result.set_type(stored_type(result.type))
        for region in op.regions:
            for block in region:
                for argument in block.arguments:
                    argument.set_type(stored_type(argument.type))
        if op.name == "builtin.unrealized_conversion_cast":
            casts.append(op)
        return ir.WalkResult.ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    for cast in casts:
        if [value.type for value in cast.operands] == [value.type for value in cast.results]:
            for result, value in zip(cast.results, cast.operands, strict=True):
                result.replace_all_uses_with(value)
            cast.erase()
