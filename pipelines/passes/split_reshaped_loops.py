"""split-reshaped-loops: operations on both sides of a reshape go over the same loops."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.generic import GENERIC
from ..fusion.normalize import finishes_product, is_contraction, is_normal
from ..fusion.split_spaces import split_spaces
from ..pass_base import Pass, register
from ..walking import is_used, operations_where

# What one round splits shows the next what else shares loops.
_MOST_ROUNDS = 4


@register
@dataclass(frozen=True)
class SplitReshapedLoops(Pass):
    """Splits the loops of operations that read or make a reshape, so that they can be fused.

    Takes the normal form of normalize-tensor-operations. Where one operation's result is collapsed
    for another, or expanded, the one in the shape of fewer dims gets the loops of the other, and
    with it all that shares its loops; reshapes, which are no kernel, come where these end. Nothing
    is done where one of them cannot be split, or is a product of matrices, whose schedules know
    rows and columns, or may be included in a product's kernel.

      %c = tensor.collapse_shape %p [[0, 1], [2]] : tensor<8x4x32xf32> into tensor<32x32xf32>
      %q = linalg.generic ins(%c) outs(%e) { exp } -> tensor<32x32xf32>
    becomes
      %r = linalg.generic ins(%p) outs(%f) { exp } -> tensor<8x4x32xf32>
      %q = tensor.collapse_shape %r [[0, 1], [2]] : tensor<8x4x32xf32> into tensor<32x32xf32>
    """

    name: ClassVar[str] = "split-reshaped-loops"

    def run(self, op: ir.Operation) -> None:
        parts_of: dict[ir.Block, list[ir.Operation]] = {}
        for work in operations_where(op, _is_part):
            parts_of.setdefault(work.block, []).append(work)
        for block, parts in parts_of.items():
            for _ in range(_MOST_ROUNDS):
                normal = set(parts)
                kept = {
                    each for each in parts if is_contraction(each) or finishes_product(each, normal)
                }
                if not split_spaces(parts, kept):
                    break
                parts = [each.operation for each in block if _is_part(each.operation)]


def _is_part(op: ir.Operation) -> bool:
    return op.name == GENERIC and any(map(is_used, op.results)) and is_normal(op)
