"""hir.matmul."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..hir.compute.accumulator import accumulator
from ..hir.compute.broadcast import Indexed, Repeats, check_broadcast
from ..hir.compute.operand import Operand, read_destination, read_operand
from ..hir.compute.registry import lowers
from ..hir.compute.sizes import check_equal
from .loops import emit_product, emit_sum, is_one_operation


@lowers("hir.matmul")
def lower_matmul(op: ir.Operation) -> None:
    """(..., m, k) times (..., k, n), in the loops of the result's dims and one of k."""
    result, first, second = read_matmul(op)
    repeats = check_matmul(op, result, first, second)
    if is_one_operation(result, first, second):
        emit_sum(result, (first, second), repeats)
        return
    sums = accumulator(result)
    sums.fill(0)
    emit_product(sums, first, second, repeats)
    sums.finish()


def read_matmul(op: ir.Operation) -> tuple[Operand, Indexed, Indexed]:
    """Returns the result and the operands of a hir.matmul; the last loop is that of k."""
    result = read_destination(op)
    x, y = read_operand(op, 0), read_operand(op, 1)
    rank = len(result.shape)
    batch, m, n, k = rank - 2, rank - 2, rank - 1, rank
    x_batch, y_batch = len(x.shape) - 2, len(y.shape) - 2
    first = Indexed(x, [*range(batch - x_batch, batch), m, k], x_batch)
    second = Indexed(y, [*range(batch - y_batch, batch), k, n], y_batch)
    return result, first, second


def check_matmul(op: ir.Operation, result: Operand, first: Indexed, second: Indexed) -> Repeats:
    """Checks the sizes that types leave open."""
    x, y, rank = first.operand, second.operand, len(result.shape)
    check_equal(op, (y, second.exact), (x, first.exact + 1))
    check_equal(op, (result, rank - 2), (x, first.exact))
    check_equal(op, (result, rank - 1), (y, second.exact + 1))
    return check_broadcast(op, [first, second], result, rank - 2)
