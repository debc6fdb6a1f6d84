"""reshape-idle-transposes: transposes that move no element become reshapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import rewrite_each
from ..tensors import collapsed, expanded, open_sizes


@register
@dataclass(frozen=True)
class ReshapeIdleTransposes(Pass):
    """Turns transposes that leave dims of more than one element in order into reshapes.

    A reshape is no kernel. Such are the heads of one token.

      %t = linalg.transpose ins(%x : tensor<2x1x12x64xf32>) outs(%e : tensor<2x12x1x64xf32>)
        permutation = [0, 2, 1, 3]
    becomes
      %c = tensor.collapse_shape %x [[0], [1, 2], [3]]
        : tensor<2x1x12x64xf32> into tensor<2x12x64xf32>
      %t = tensor.expand_shape %c [[0], [1, 2], [3]] output_shape [2, 12, 1, 64] : ...
    """

    name: ClassVar[str] = "reshape-idle-transposes"

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(op, {"linalg.transpose": _reshaped})


def _reshaped(op: ir.Operation) -> list[ir.Value] | None:
    if len(op.results) != 1:
        return None
    source, result = (
        ir.RankedTensorType(op.operands[0].type),
        ir.RankedTensorType(op.results[0].type),
    )
    order = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
    moved = [axis for axis in order if source.shape[axis] != 1]
    if not moved or moved != sorted(moved):
        return None
    kept = [source.shape[axis] for axis in moved]
    value = op.operands[0]
    if len(kept) < source.rank:
        kind = ir.RankedTensorType.get(kept, source.element_type)
        value = collapsed(value, kind, _groups(source.shape))
    if value.type == result:
        return [value]
    return [expanded(value, result, _groups(result.shape), open_sizes(value))]


def _groups(shape: Sequence[int]) -> list[list[int]]:
    """Dims in groups that each have one of more than one element."""
    groups: list[list[int]] = [[]]
    is_full = False
    for axis, size in enumerate(shape):
        if size != 1 and is_full:
            groups.append([])
        is_full = is_full or size != 1
        groups[-1].append(axis)
    return groups
