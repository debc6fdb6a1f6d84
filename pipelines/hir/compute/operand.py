"""The operands of compute operations: buffers and scalars, in the types of generated code.

Operands that are tensors stand for buffers of their sizes.
"""

from __future__ import annotations

from ....dialects.hir.element_types import ELEMENT_TYPES, ElementType, find_element_type
from ....dialects.hir.program_inputs import input_name
from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...constants import constant_value
from ...pass_base import fail
from ...rewriting import constant
from ..compute_ops import destination_of
from ..lowering.stored_types import stored_type


@dataclass(frozen=True)
class Operand:
    """One operand. `value` is the program's own, `stored` the same with its stored type.

    `name` is how messages call it.
    """

    value: ir.Value
    stored: ir.Value
    element: ElementType
    name: str

    @property
    def is_buffer(self) -> bool:
        return isinstance(self.value.type, ir.ShapedType)

    @property
    def shape(self) -> list[int]:
        """A buffer's sizes as its type says them; of a scalar none."""
        kind = self.value.type
        return list(kind.shape) if isinstance(kind, ir.ShapedType) else []


def read_operand(op: ir.Operation, number: int) -> Operand:
    """Operand `number` of a compute operation, cast to its stored type before the operation."""
    value = op.operands[number]
    return Operand(value, as_stored(value), element_of(value.type), _name(op, value, number))


def read_destination(op: ir.Operation) -> Operand:
    """Returns the buffer that a compute operation writes; every one has it by now."""
    destination = destination_of(op)
    if destination is None:
        fail(op, f"'{op.name}' has no destination: run hir-insert-allocations first")
    return result_operand(destination)


def result_operand(buffer: ir.Value) -> Operand:
    """Returns a buffer that a result goes to."""
    return Operand(buffer, as_stored(buffer), element_of(buffer.type), "the result")


def element_of(value_type: ir.Type) -> ElementType:
    """Returns the element type of a buffer, or of the buffers that a scalar stands for."""
    if isinstance(value_type, ir.ShapedType):
        value_type = value_type.element_type
    if isinstance(value_type, ir.IndexType):
        return ELEMENT_TYPES["i64"]
    found = find_element_type(value_type)
    assert found is not None
    return found


def as_stored(value: ir.Value) -> ir.Value:
    """Returns a buffer or scalar with its stored type, cast at the insertion point where that
    differs.
    """
    kind = stored_type(value.type)
    if isinstance(kind, ir.IndexType):
        i64, known = ir.IntegerType.get_signless(64), constant_value(value)
        return arith.index_cast(i64, value) if known is None else constant(i64, known)
    if kind == value.type:
        return value
    return ir.Operation.create(
        "builtin.unrealized_conversion_cast", results=[kind], operands=[value]
    ).results[0]


def _name(op: ir.Operation, value: ir.Value, number: int) -> str:
    """Returns the name of an input of the program, else the operand's number."""
    if isinstance(value, ir.BlockArgument):
        program = value.owner.owner
        if program.operation.name == "hir.program" and "inputs" in program.attributes:
            return f"'{input_name(program.operation, value.arg_number)}'"
    return f"operand {number}"
