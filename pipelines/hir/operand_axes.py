"""Which dims of its operands a dim of a compute operation's result comes from."""

from __future__ import annotations

from ...dialects.mlir import ir
from .compute_ops import ELEMENTWISE_OPS, inputs_of, output_of, rank_of


def operand_axes(op: ir.Operation, axis: int) -> list[tuple[ir.Value, int]]:
    """Returns the operands that have the dim `axis` of the result, each with its own number of it.

    Elementwise operations and batch dims broadcast: there the operand's size may be 1. A dim that
    a reduction made (of size 1) comes from none.
    """
    return [
        (operand, place)
        for operand, place in zip(inputs_of(op), places_of(op, axis), strict=True)
        if place is not None
    ]


def places_of(op: ir.Operation, axis: int) -> list[int | None]:
    """For each operand the number of its dim that is the result's dim `axis`, or None."""
    rank = rank_of(output_of(op))
    assert rank is not None
    inputs = inputs_of(op)
    if op.name in ELEMENTWISE_OPS:
        return [_aligned(operand, axis, rank) for operand in inputs]
    if op.name == "hir.reduce":
        return [_reduced_place(op, axis)]
    if op.name == "hir.matmul":
        return _matmul_places(inputs, axis, rank)
    return _linear_places(inputs, axis, rank)


def reduced_axes(op: ir.Operation) -> set[int]:
    """Returns the dims of its operand that a hir.reduce reduces."""
    axes = set(ir.DenseI64ArrayAttr(op.attributes["axes"]))
    rank = rank_of(op.operands[0])
    assert rank is not None
    return axes or set(range(rank))


def _aligned(operand: ir.Value, axis: int, rank: int) -> int | None:
    own = rank_of(operand)
    return None if own is None or axis < rank - own else axis - (rank - own)


def _reduced_place(op: ir.Operation, axis: int) -> int | None:
    reduced = reduced_axes(op)
    if "keep_dims" in op.attributes:
        return None if axis in reduced else axis
    rank = rank_of(op.operands[0])
    assert rank is not None
    return [dim for dim in range(rank) if dim not in reduced][axis]


def _matmul_places(inputs: list[ir.Value], axis: int, rank: int) -> list[int | None]:
    x, y = inputs
    if axis == rank - 1:
        return [None, _aligned(y, axis, rank)]
    if axis == rank - 2:
        return [_aligned(x, axis, rank), None]
    return [_aligned(x, axis, rank), _aligned(y, axis, rank)]


def _linear_places(inputs: list[ir.Value], axis: int, rank: int) -> list[int | None]:
    if axis == rank - 1:
        # The weight is (n, k), the bias (n).
        return [None, *(0 for _ in inputs[1:])]
    return [axis, *(None for _ in inputs[1:])]
