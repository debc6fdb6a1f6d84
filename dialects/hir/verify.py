"""What the verifiers of the memory, view and compute operations share."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from ..mlir import ir
from .element_rules import ElementError
from .element_types import ELEMENT_TYPES, ElementType
from .layout import (
    DYNAMIC,
    LayoutError,
    buffer_type,
    is_same_or_more_open,
    show_sizes,
    strides_and_offset,
)
from .shapes import may_be_equal
from .values import not_a_buffer

Op = TypeVar("Op", bound=ir.OpView)
Attribute = TypeVar("Attribute", bound=ir.Attribute)


class OperationError(ValueError):
    """What is wrong with an operation: what was expected and what came."""


def verified(op: Op, check: Callable[[Op], None]) -> bool:
    """Runs a check; reports what it raises as an error at the operation."""
    try:
        check(op)
    except (OperationError, LayoutError, ElementError) as error:
        op.location.emit_error(f"{op.operation.name}: {error}")
        return False
    return True


def buffer(value: ir.Value, name: str) -> ir.MemRefType:
    """Returns the type of a value that is a buffer; `name` is what the operation
    calls the value.
    """
    found = value.type
    reason = not_a_buffer(found)
    if reason or not isinstance(found, ir.MemRefType):
        raise OperationError(f"{name} is a buffer; {found} {reason}")
    return found


def element_of(found: ir.MemRefType) -> ElementType:
    """Returns the element type of a buffer."""
    return ELEMENT_TYPES[str(found.element_type)]


def attribute_of(op: ir.OpView, name: str, kind: type[Attribute], wanted: str) -> Attribute:
    """Returns an attribute that must be there; `wanted` describes it."""
    found = op.attributes.get(name, None)
    if not isinstance(found, kind):
        raise OperationError(f"{name} is {wanted}, not {'left out' if found is None else found}")
    return found


def integer_of(op: ir.OpView, name: str) -> int:
    """Returns the value of an integer attribute."""
    return attribute_of(op, name, ir.IntegerAttr, "an integer").value


def integers_of(op: ir.OpView, name: str) -> list[int]:
    """Returns the values of an array<i64: ...> attribute."""
    return list(attribute_of(op, name, ir.DenseI64ArrayAttr, "an array<i64: ...>"))


def check_unit(op: ir.OpView, name: str) -> None:
    """A flag is there or not; it has no value."""
    if name in op.attributes:
        attribute_of(op, name, ir.UnitAttr, "a flag without value")


def check_open_sizes(given: int, shape: Sequence[int], name: str = "the result") -> None:
    """There is one operand for each size that is open."""
    wanted = list(shape).count(DYNAMIC)
    if given != wanted:
        raise OperationError(
            f"it takes one size for each open size of {name}: {show_sizes(shape)} has {wanted}, "
            f"there are {given}"
        )


def check_same_or_more_open(op: ir.OpView, inferred: ir.MemRefType) -> None:
    """The result's type says what follows from the operands, or leaves some of it open."""
    declared = buffer(result_of(op), "the result")
    if not is_same_or_more_open(inferred, declared):
        raise OperationError(
            f"the result is {inferred}, or the same with sizes, strides or offset left open (?); "
            f"it is declared as {declared}"
        )


def operands_of(op: ir.OpView, least: int, most: int | None) -> list[ir.Value]:
    """Returns the operands; their number is in a range, which is open above where
    `most` is None.
    """
    operands = list(op.operation.operands)
    if len(operands) < least or (most is not None and len(operands) > most):
        wanted = str(least)
        if most != least:
            wanted += " or more" if most is None else f" to {most}"
        noun = "operand" if wanted == "1" else "operands"
        raise OperationError(f"it takes {wanted} {noun}, not {len(operands)}")
    return operands


def result_of(op: ir.OpView) -> ir.Value:
    """Returns the result of an operation that has one."""
    if len(op.operation.results) != 1:
        raise OperationError(f"it has one result, not {len(op.operation.results)}")
    return op.operation.results[0]


def find_output(op: ir.OpView, count: int) -> tuple[list[ir.Value], ir.Value]:
    """Returns the first `count` operands, and what is written: the operand after them, or the
    result.
    """
    operands = operands_of(op, count, count + 1)
    return operands[:count], one_output(op, operands[count:])


def one_output(op: ir.OpView, destinations: Sequence[ir.Value]) -> ir.Value:
    """Returns the one value that is written: the destination or the result."""
    outputs = [*destinations, *op.operation.results]
    if len(outputs) != 1:
        has = "both" if outputs else "neither"
        raise OperationError(
            f"it has either a destination, its last operand, or a result; this one has {has}"
        )
    return outputs[0]


def has_destination(op: ir.OpView) -> bool:
    """Returns whether an operation with an optional destination has one, and so no result."""
    return not op.operation.results


def check_output(
    op: ir.OpView, output: ir.Value, shape: Sequence[int], elements: Sequence[ElementType]
) -> None:
    """Sizes, element type and layout of what a compute operation writes, and its stream axis."""
    name = "the destination" if has_destination(op) else "the result"
    declared = buffer(output, name)
    if not may_be_equal(declared.shape, shape):
        raise OperationError(
            f"{name} has sizes {show_sizes(shape)}, not {show_sizes(declared.shape)}"
        )
    if (element := element_of(declared)) not in elements:
        listed = " or ".join(each.name for each in elements)
        raise OperationError(f"{name} is of {listed}, not {element.name}")
    strides, _ = strides_and_offset(declared)
    if has_destination(op):
        if any(
            size not in (0, 1, DYNAMIC) and stride == 0
            for size, stride in zip(declared.shape, strides, strict=True)
        ):
            raise OperationError(
                f"the destination {declared} has one place for several elements (stride 0)"
            )
    elif not is_same_or_more_open(buffer_type(declared.shape, declared.element_type), declared):
        raise OperationError(
            f"the result is packed, {buffer_type(declared.shape, declared.element_type)}, "
            f"not {declared}; other strides take a destination"
        )
    if "stream_axis" in op.attributes and not 0 <= integer_of(op, "stream_axis") < declared.rank:
        raise OperationError(
            f"stream_axis is an axis of {name}, which is of rank {declared.rank}, "
            f"not {integer_of(op, 'stream_axis')}"
        )
