"""narrow-product-operands: products in f32 of what was extended read it as it was."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..products.contraction import read_product
from ..products.generic import rebuild
from ..products.narrow import find_narrow
from ..products.product import Product
from ..walking import operations_where


@register
@dataclass(frozen=True)
class NarrowProductOperands(Pass):
    """Makes a product in f32 of two operands extended from bf16, or f16, one of these operands.

    It computes the same: the product of two of their elements is exact in f32. Tensor cores
    compute it, and what is extended needs no memory.

      %x = linalg.generic ins(%a : tensor<?x8xbf16>) outs(... : tensor<?x8xf32>) { arith.extf }
      %w = linalg.generic ins(%b : tensor<8x4xbf16>) outs(... : tensor<8x4xf32>) { arith.extf }
      %y = linalg.matmul ins(%x, %w : ...) outs(%zeros : tensor<?x4xf32>)
    becomes
      %y = linalg.generic {... (m, k), (k, n) -> (m, n) ...} ins(%a, %b : ...) outs(%zeros : ...) {
        arith.extf, arith.extf, arith.mulf, arith.addf
      }
    """

    name: ClassVar[str] = "narrow-product-operands"

    def run(self, op: ir.Operation) -> None:
        for work in operations_where(op, may_be_product):
            product = read_product(work)
            if product is not None and product.accumulates:
                _narrow(work, product)


def may_be_product(op: ir.Operation) -> bool:
    """Returns whether an operation on tensors has two operands and a result, all of f32."""
    return (
        op.name.startswith("linalg.")
        and len(op.operands) == 3
        and len(op.results) == 1
        and all(
            isinstance(each.type, ir.RankedTensorType)
            and each.type.element_type == ir.F32Type.get(op.context)
            for each in op.operands
        )
    )


def _narrow(op: ir.Operation, product: Product) -> None:
    first = find_narrow(product.first.value)
    second = None if first is None else find_narrow(product.second.value)
    if first is None or second is None or first.element != second.element:
        return
    with op.location, ir.InsertionPoint(op):
        narrow = replace(
            product,
            first=replace(product.first, value=first.emit()),
            second=replace(product.second, value=second.emit()),
        )
    extend_operands(op, first.element)
    wide = list(op.operands)[:2]
    rebuild(op, narrow)
    for each in wide:
        _erase_unused(each)


def extend_operands(op: ir.Operation, element: ir.Type) -> None:
    """Lets an operation's region take its two operands in a narrower type."""
    block = op.regions[0].blocks[0]
    with op.location, ir.InsertionPoint.at_block_begin(block):
        for argument in list(block.arguments)[:2]:
            argument.set_type(element)
            wide = arith.ExtFOp(ir.F32Type.get(), argument)
            argument.replace_all_uses_except(wide.result, wide.operation)


def _erase_unused(value: ir.Value) -> None:
    """Erases what made a tensor that nothing reads any more: others are its readers alone then."""
    while not isinstance(value.owner, ir.Block) and not any(True for _ in value.uses):
        op = value.owner.operation
        if len(op.results) != 1 or not op.name.startswith(("linalg.", "tensor.")):
            return
        value = op.operands[0]
        op.erase()
