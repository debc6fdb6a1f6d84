"""`hir.set`: a copy."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .element_types import ELEMENT_TYPES
from .verify import OperationError, buffer, check_output, find_output, has_destination, verified
from .verify_elementwise import element_of_operand
from .views import expand_type


class SetOp(Hir.Operation, name="set"):
    """Copies `source`, converting the element type and broadcasting it to the destination's sizes.

    A scalar source fills the destination. Complex elements stay what they are.

    Example:
      %half = "hir.set"(%x) : (memref<8xf32>) -> memref<8xf16>
      "hir.set"(%zero, %y) : (f32, memref<8xf32>) -> ()
    """

    source: ext.Operand[Any]
    destination: ext.Operand[Any] | None
    buffer: ext.Result[Any] | None

    @staticmethod
    def verify_invariants(op: "SetOp") -> bool:
        return verified(op, _check)


def _check(op: SetOp) -> None:
    (source,), output = find_output(op, 1)
    element = element_of_operand(source, "the source")
    numbers = [each for each in ELEMENT_TYPES.values() if each.kind != "complex"]
    if isinstance(source.type, ir.MemRefType):
        shape = source.type.shape
        if has_destination(op):
            shape = expand_type(source.type, buffer(output, "the destination").shape).shape
    elif has_destination(op):
        shape = buffer(output, "the destination").shape
    else:
        raise OperationError("a scalar has no sizes: it needs a destination to fill")
    check_output(op, output, shape, [element] if element.kind == "complex" else numbers)
