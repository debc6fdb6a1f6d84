"""hir.matmul."""

from __future__ import annotations

from ....dialects.mlir import ir
from .accumulator import accumulator
from .broadcast import Indexed, check_broadcast
from .operand import read_destination, read_operand
from .product import emit_product
from .registry import lowers
from .sizes import check_equal


@lowers("hir.matmul")
def lower_matmul(op: ir.Operation) -> None:
    """(..., m, k) times (..., k, n), in the loops of the result's dims and one of k."""
    result = read_destination(op)
    x, y = read_operand(op, 0), read_operand(op, 1)
    rank = len(result.shape)
    batch, m, n, k = rank - 2, rank - 2, rank - 1, rank
    x_batch, y_batch = len(x.shape) - 2, len(y.shape) - 2
    first = Indexed(x, [*range(batch - x_batch, batch), m, k], x_batch)
    second = Indexed(y, [*range(batch - y_batch, batch), k, n], y_batch)
    check_equal(op, (y, y_batch), (x, x_batch + 1))
    check_equal(op, (result, m), (x, x_batch))
    check_equal(op, (result, n), (y, y_batch + 1))
    repeats = check_broadcast(op, [first, second], result, batch)
    sums = accumulator(result)
    sums.fill(0)
    emit_product(sums, first, second, repeats)
    sums.finish()
