"""hir.linear."""

from __future__ import annotations

from collections.abc import Callable

from ....dialects.mlir import arith, ir
from ..compute_ops import inputs_of
from .accumulator import accumulator
from .broadcast import Indexed
from .casts import resize
from .elements import load
from .generic import map_of
from .operand import Operand, read_destination, read_operand
from .product import emit_product
from .registry import lowers
from .sizes import check_equal


@lowers("hir.linear")
def lower_linear(op: ir.Operation) -> None:
    """(..., k) times the transpose of (n, k), and the bias of (n) added at the end."""
    result = read_destination(op)
    x, weight, *biases = (read_operand(op, number) for number in range(len(inputs_of(op))))
    rank = len(result.shape)
    n, k = rank - 1, rank
    check_equal(op, (weight, 1), (x, n))
    for axis in range(n):
        check_equal(op, (result, axis), (x, axis))
    check_equal(op, (result, n), (weight, 0))
    for bias in biases:
        check_equal(op, (bias, 0), (weight, 0))
    sums = accumulator(result)
    sums.fill(0)
    emit_product(sums, Indexed(x, [*range(n), k], 0), Indexed(weight, [n, k], 0), {})
    if not biases:
        sums.finish()
    for bias in biases:
        sums.finish(_adding(bias, result), [(bias.stored, map_of(rank, [n]))])


def _adding(bias: Operand, result: Operand) -> Callable[..., ir.Value]:
    """What adds a bias's element to a sum."""

    def add(number: ir.Value, stored: ir.Value) -> ir.Value:
        addend = load(stored, bias.element)
        if result.element.is_float:
            return arith.addf(number, addend)
        return arith.addi(number, resize(addend, bias.element, result.element))

    return add
