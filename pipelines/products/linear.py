"""hir.linear."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects.mlir import arith, ir
from ..generics import map_of
from ..hir.compute.accumulator import Accumulator, accumulator
from ..hir.compute.broadcast import Indexed
from ..hir.compute.casts import resize
from ..hir.compute.elements import load
from ..hir.compute.operand import Operand, read_destination, read_operand
from ..hir.compute.registry import lowers
from ..hir.compute.sizes import check_equal
from ..hir.compute_ops import inputs_of
from .loops import emit_product, emit_sum, is_one_operation


@lowers("hir.linear")
def lower_linear(op: ir.Operation) -> None:
    """(..., k) times the transpose of (n, k), and the bias of (n) added at the end."""
    result, first, second, biases = read_linear(op)
    check_linear(op, result, first, second, biases)
    if is_one_operation(result, first, second):
        _emit_at_once(result, (first, second), biases)
        return
    sums = accumulator(result)
    sums.fill(0)
    emit_product(sums, first, second, {})
    finish_linear(sums, biases)


def read_linear(op: ir.Operation) -> tuple[Operand, Indexed, Indexed, list[Operand]]:
    """Returns the result and the operands of a hir.linear, its bias last; the last loop is that of
    k.
    """
    result = read_destination(op)
    x, weight, *biases = (read_operand(op, number) for number in range(len(inputs_of(op))))
    rank = len(result.shape)
    n, k = rank - 1, rank
    return result, Indexed(x, [*range(n), k], 0), Indexed(weight, [n, k], 0), biases


def check_linear(
    op: ir.Operation,
    result: Operand,
    first: Indexed,
    second: Indexed,
    biases: Sequence[Operand],
) -> None:
    """Checks the sizes that types leave open."""
    x, weight, n = first.operand, second.operand, len(result.shape) - 1
    check_equal(op, (weight, 1), (x, n))
    for axis in range(n):
        check_equal(op, (result, axis), (x, axis))
    check_equal(op, (result, n), (weight, 0))
    for bias in biases:
        check_equal(op, (bias, 0), (weight, 0))


def finish_linear(sums: Accumulator, biases: Sequence[Operand]) -> None:
    """Adds the bias, where there is one, and stores the result."""
    if not biases:
        sums.finish()
    for bias in biases:
        map_ = map_of(sums.rank, [sums.rank - 1])
        sums.finish(_adding(bias, sums.result), [(bias.stored, map_)])


def _emit_at_once(
    result: Operand, operands: tuple[Indexed, Indexed], biases: Sequence[Operand]
) -> None:
    rank = len(result.shape)
    if not biases:
        emit_sum(result, operands, {})
    for bias in biases:
        addend = bias.stored, map_of(rank + 1, [rank - 1])
        emit_sum(result, operands, {}, [addend], _adding(bias, result))


def _adding(bias: Operand, result: Operand) -> Callable[..., ir.Value]:
    """Returns what adds a bias's element to a sum."""

    def add(number: ir.Value, stored: ir.Value) -> ir.Value:
        addend = load(stored, bias.element)
        if result.element.is_float:
            return arith.addf(number, addend)
        return arith.addi(number, resize(addend, bias.element, result.element))

    return add
