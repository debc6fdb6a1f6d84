"""lay-channels-together: convolutions of 16-bit elements read copies with their channels last."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..contractions.channels import element_is_small, lay_channels_together
from ..contractions.convolutions import generalize_convolutions
from ..pass_base import Pass, register


@register
@dataclass(frozen=True)
class LayChannelsTogether(Pass):
    """Transposes what convolutions on tensor cores read so that channels lie together.

    That is where the product saves more time than the copies take, which fusion makes part of what
    makes the tensors. Padding stays around the copy.

      %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] { ... }
      %y = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<8x64x30x30xbf16>, ...)
    becomes
      %t = linalg.generic {(n, h, w, c) -> (n, c, h, w)} ins(%x) outs(...)
      %p = tensor.pad %t low[0, 1, 1, 0] high[0, 1, 1, 0] { ... }
      %y = linalg.generic {...} ins(%p, ... : tensor<8x30x30x64xbf16>, ...) { mulf, addf }
    """

    name: ClassVar[str] = "lay-channels-together"

    def run(self, op: ir.Operation) -> None:
        for found in generalize_convolutions(op, _is_of_small_elements):
            lay_channels_together(found)


def _is_of_small_elements(op: ir.Operation) -> bool:
    return all(
        element_is_small(ir.RankedTensorType(value.type).element_type)
        for value in list(op.operands)[:2]
    )
