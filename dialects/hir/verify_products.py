"""What the verifiers of hir.matmul and hir.linear share."""

from collections.abc import Sequence

from ..mlir import ir
from .element_rules import operand_element, product_results
from .element_types import ElementType
from .verify import OperationError, element_of, integer_of


def product_elements(operands: Sequence[ir.MemRefType]) -> list[ElementType]:
    """The element types a product of these operands may have, the operands' own first."""
    element = operand_element([element_of(operand) for operand in operands], [])
    if not element.is_float and not element.is_integer:
        raise OperationError(f"it takes floats and integers, not {element.name}")
    return product_results(element)


def check_steps(op: ir.OpView) -> None:
    """The steps that a product asks for are one or more."""
    if "overlap_steps" in op.attributes and integer_of(op, "overlap_steps") < 1:
        raise OperationError(
            f"overlap_steps is a number of steps, 1 or more, not {integer_of(op, 'overlap_steps')}"
        )
