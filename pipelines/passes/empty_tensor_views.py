"""empty-tensor-views: collapsed and expanded shapes without elements are empty tensors."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import index_constant, rewrite_each
from ..tensors import size_of


@register
@dataclass(frozen=True)
class EmptyTensorViews(Pass):
    """Turns reshapes of tensors that have a size of 0, by their type, into tensor.empty.

    A buffer of open sizes and a 0 has no collapsed shape: its size would be open by one rule, and
    0 by another.

      %y = tensor.collapse_shape %x [[0, 1]] : tensor<?x0xf32> into tensor<?xf32>
    becomes
      %size = arith.muli %rows, %zero : index
      %y = tensor.empty(%size) : tensor<?xf32>
    """

    name: ClassVar[str] = "empty-tensor-views"

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(
            op, {"tensor.collapse_shape": _collapsed, "tensor.expand_shape": _expanded}
        )


def _collapsed(op: ir.Operation) -> list[ir.Value] | None:
    kind = _empty_kind(op)
    if kind is None:
        return None
    groups = [
        [ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)]
        for group in ir.ArrayAttr(op.attributes["reassociation"])
    ]
    sizes: list[ir.Value] = []
    for group, size in zip(groups, kind.shape, strict=True):
        if size == DYNAMIC:
            product = index_constant(1)
            for axis in group:
                product = arith.muli(product, size_of(op.operands[0], axis))
            sizes.append(product)
    return [ir.Operation.create("tensor.empty", [kind], sizes).results[0]]


def _expanded(op: ir.Operation) -> list[ir.Value] | None:
    kind = _empty_kind(op)
    if kind is None:
        return None
    return [ir.Operation.create("tensor.empty", [kind], list(op.operands)[1:]).results[0]]


def _empty_kind(op: ir.Operation) -> ir.RankedTensorType | None:
    """Returns the result's type where a size of either tensor is 0."""
    kind = ir.RankedTensorType(op.results[0].type)
    is_empty = 0 in kind.shape or 0 in ir.RankedTensorType(op.operands[0].type).shape
    return kind if is_empty else None
