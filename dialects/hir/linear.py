"""`hir.linear`: a product with a transposed weight, and a bias."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .shapes import linear_shape
from .verify import (
    OperationError,
    attribute_of,
    buffer,
    check_output,
    element_of,
    one_output,
    operands_of,
    verified,
)
from .verify_products import check_steps, product_elements


class LinearOp(Hir.Operation, name="linear"):
    """(..., k) times the transpose of (n, k), plus a bias of (n) where there is one.

    The result's element type is as of hir.matmul; the bias has it too, or the operands' own.
    `overlap_steps` is as there.

    Example:
      %y = "hir.linear"(%x, %w, %bias) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
        : (memref<8x4xf32>, memref<2x4xf32>, memref<2xf32>) -> memref<8x2xf32>
    """

    x: ext.Operand[Any]
    weight: ext.Operand[Any]
    bias: ext.Operand[Any] | None
    destination: ext.Operand[Any] | None
    buffer: ext.Result[Any] | None

    @staticmethod
    def verify_invariants(op: "LinearOp") -> bool:
        return verified(op, _check)


def _check(op: LinearOp) -> None:
    x, weight, *rest = operands_of(op, 2, 4)
    wanted = "array<i32: 1, 1, bias, destination>, where 1 says that there is one and 0 that not"
    segments = list(attribute_of(op, "operandSegmentSizes", ir.DenseI32ArrayAttr, wanted))
    if segments not in ([1, 1, b, len(rest) - b] for b in (0, 1)) or max(segments) > 1:
        raise OperationError(f"operandSegmentSizes is {wanted}; it is {segments}")
    biases = rest[: segments[2]]
    output = one_output(op, rest[len(biases) :])
    types = [buffer(x, "x"), buffer(weight, "the weight")]
    elements = product_elements(types)
    bias = buffer(biases[0], "the bias") if biases else None
    if bias and element_of(bias) not in (elements[0], element_of(buffer(output, "the output"))):
        raise OperationError(
            f"the bias is of the operands' element type or the result's, not {bias.element_type}"
        )
    shape = linear_shape(types[0].shape, types[1].shape, bias.shape if bias else None)
    check_output(op, output, shape, elements)
    check_steps(op)
