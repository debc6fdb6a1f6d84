"""Convolutions, and products that no library computes, as linalg.generics."""

from __future__ import annotations

from collections.abc import Callable

from ...dialects.mlir import apply_transform, ir
from ..fusion.generic import (
    GENERIC,
    accesses_of,
    has_tensors_only,
    inputs_of,
    multiplies_bytes,
    reducing_loops,
    sums_products,
)
from ..schedules.device import Device
from ..schedules.warp_matrices import capability_for_bytes
from ..walking import is_used, operations_where

_CONVOLUTIONS = ("linalg.conv_", "linalg.depthwise_conv_")
_PRODUCTS = ("linalg.matmul", "linalg.batch_matmul", "linalg.contract")
_INTEGER_BITS = (32, 64)
_OF_16_BITS = {"bf16", "f16"}
# Marks what is to be generalized, and what was.
_MARK = "hir.convolution"
_SCRIPT = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @generalize(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match attributes {hir.convolution} in %root
      : (!transform.any_op) -> !transform.any_op
    %1 = transform.structured.generalize %0 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
"""


def generalize_convolutions(
    root: ir.Operation,
    is_wanted: Callable[[ir.Operation], bool] = lambda op: True,
    is_product: Callable[[ir.Operation], bool] = lambda op: False,
) -> list[ir.Operation]:
    """Returns the convolutions on tensors within `root`, as linalg.generics, in the order of the
    source.

    They include convolutions that are linalg.generics already, and products of integers, of
    elements of a byte, and those for which `is_product` holds.
    """
    named = operations_where(root, lambda op: _is_named(op, is_product) and is_wanted(op))
    generic = operations_where(root, lambda op: _is_generic(op, is_product) and is_wanted(op))
    if not named and not generic:
        return []
    for op in (*named, *generic):
        op.attributes[_MARK] = ir.UnitAttr.get()
    if named:
        for op in generic:
            del op.attributes[_MARK]
        script = ir.Module.parse(_SCRIPT, root.context)
        apply_transform(root, script.body.operations[0].operation, script.operation)
        for op in generic:
            op.attributes[_MARK] = ir.UnitAttr.get()
    found = operations_where(root, lambda op: op.name == GENERIC and _MARK in op.attributes)
    for op in found:
        del op.attributes[_MARK]
    return found


def is_for_tensor_cores(op: ir.Operation, device: Device, *, allow_tf32: bool) -> bool:
    """Returns whether tensor cores multiply the factors of a convolution or product."""
    kinds = [ir.RankedTensorType(value.type).element_type for value in op.operands][:2]
    names = set(map(str, kinds))
    if multiplies_bytes(op):
        return device.capability >= capability_for_bytes(kinds[0])
    is_rounded = allow_tf32 and names == {"f32"}
    return names <= _OF_16_BITS or (is_rounded and device.has_warpgroup_products)


def _is_named(op: ir.Operation, is_product: Callable[[ir.Operation], bool]) -> bool:
    if op.name in _PRODUCTS:
        return _is_of_two(op) and (_has_no_library(op) or is_product(op))
    return op.name.startswith(_CONVOLUTIONS) and _is_of_two(op)


def _has_no_library(op: ir.Operation) -> bool:
    """Returns whether no library computes an operation.

    Its elements are integers of one type, or it multiplies elements of a byte.
    """
    if multiplies_bytes(op):
        return True
    (kind, *more) = {str(ir.RankedTensorType(value.type).element_type) for value in op.operands}
    return not more and kind in [f"i{bits}" for bits in _INTEGER_BITS]


def _is_generic(op: ir.Operation, is_product: Callable[[ir.Operation], bool]) -> bool:
    """Returns whether it sums products of two operands, of which one is read at sums of loops.

    Products of matrices are not, except those without a library, and those for which `is_product`
    holds.
    """
    if op.name != GENERIC or not has_tensors_only(op) or not reducing_loops(op):
        return False
    if not _is_of_two(op):
        return False
    reads = accesses_of(op)[: len(inputs_of(op))]
    is_of_matrices = all(isinstance(each, int) for read in reads for each in read.index)
    if is_of_matrices and not _has_no_library(op) and not is_product(op):
        return False
    return sums_products(op)


def _is_of_two(op: ir.Operation) -> bool:
    return (
        has_tensors_only(op)
        and len(op.results) == 1
        and len(inputs_of(op)) == 2
        and all(isinstance(value.type, ir.RankedTensorType) for value in op.operands)
        and is_used(op.results[0])
    )
