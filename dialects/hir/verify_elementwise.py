"""The verifier of the elementwise operations: hir.unary, hir.binary, hir.ternary."""

from collections.abc import Mapping, Sequence

from ..mlir import ir
from .element_rules import SCALARS, element_results, kind_takes, operand_element, takes_for
from .element_types import ELEMENT_TYPES, ElementType, find_element_type
from .kinds import Gives, Kind
from .shapes import broadcast_shape
from .verify import (
    OperationError,
    attribute_of,
    buffer,
    check_output,
    element_of,
    find_output,
    has_destination,
)


def find_kind(op: ir.OpView, table: Mapping[str, Kind]) -> tuple[str, Kind]:
    """Returns the name and the description of an operation's kind."""
    name = attribute_of(op, "kind", ir.StringAttr, "a string").value
    if name not in table:
        raise OperationError(f"kind is one of {', '.join(table)}, not '{name}'")
    return name, table[name]


def check_takes(name: str, kind: Kind, element: ElementType) -> None:
    """The kind is defined for the operands' element type."""
    if element.kind == "complex":
        raise OperationError(f"{element.name} is stored and copied, not computed with")
    if not kind_takes(kind, element):
        raise OperationError(f"{name} takes {takes_for(kind)}, not {element.name}")


def check_elementwise(op: ir.OpView, table: Mapping[str, Kind], names: Sequence[str]) -> None:
    """Operands, kind and output; `names` are what the operation calls its operands."""
    operands, output = find_output(op, len(names))
    name, kind = find_kind(op, table)
    types = [
        element_of_operand(operand, called) for operand, called in zip(operands, names, strict=True)
    ]
    shapes = [value.type.shape for value in operands if isinstance(value.type, ir.MemRefType)]
    if name == "where":
        if types[0].name != "i1":
            raise OperationError(f"the first operand of where is of i1, not {types[0].name}")
        operands, types = operands[1:], types[1:]
    is_buffer = [isinstance(operand.type, ir.MemRefType) for operand in operands]
    buffers = [element for element, found in zip(types, is_buffer, strict=True) if found]
    scalars = [element for element, found in zip(types, is_buffer, strict=True) if not found]
    written = buffer(output, "the destination" if has_destination(op) else "the result")
    given = element_of(written) if kind.gives == Gives.SAME else None
    element = operand_element(buffers, scalars, given)
    check_takes(name, kind, element)
    if not shapes and not has_destination(op):
        raise OperationError(
            "scalars alone have no sizes: an operand is a buffer, or there is a destination"
        )
    shape = broadcast_shape(shapes) if shapes else written.shape
    check_output(op, output, shape, element_results(kind, element))


def element_of_operand(value: ir.Value, name: str) -> ElementType:
    """Returns the element type of a buffer, or the type of a scalar; an index counts as i64."""
    if isinstance(value.type, ir.MemRefType):
        return element_of(buffer(value, name))
    scalar = ELEMENT_TYPES["i64"] if isinstance(value.type, ir.IndexType) else None
    scalar = scalar or find_element_type(value.type)
    if scalar is None:
        raise OperationError(f"{name} is a buffer or a scalar ({SCALARS}), not {value.type}")
    return scalar
