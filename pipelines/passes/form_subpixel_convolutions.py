"""form-subpixel-convolutions: transposed convolutions in steps as ordinary ones."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..contractions.convolutions import generalize_convolutions
from ..contractions.reads import set_apart
from ..contractions.subpixel import form_subpixel_convolution
from ..fusion.generic import has_tensors_only, multiplies_bytes
from ..pass_base import Pass, register
from ..schedules.device import Device, device_of_option
from ..schedules.warp_matrices import capability_for_bytes

_OF_16_BITS = {"bf16", "f16"}


@register
@dataclass(frozen=True)
class FormSubpixelConvolutions(Pass):
    """Makes transposed convolutions in steps, on tensor cores, ones of the image in steps of 1.

    The results of each phase of the step have filters of their own, with the places of the window
    that do not lie on zeros. Elements have 16 bits, or 8 on chips that multiply these, or with
    `allow_tf32` are f32 where warpgroups multiply.

      %z = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [8, 64, 14, 14] [1, 1, 2, 2] : ...
      %y = linalg.conv_2d_nchw_fchw ins(%z, %w : tensor<8x64x29x29xbf16>, ...)
    becomes
      %f = linalg.generic {(i, j, f, c, h, w)} { tensor.extract %w[%f, %c, 1 - %i, 1 - %j] } ...
      %p = linalg.generic {...} ins(%x, %f : tensor<8x64x14x14xbf16>, tensor<2x2x32x64x1x1xbf16>)
      %y = tensor.collapse_shape %p : tensor<8x32x14x2x14x2xf32> into tensor<8x32x28x28xf32>
    """

    name: ClassVar[str] = "form-subpixel-convolutions"

    chips: str = ""
    allow_tf32: bool = False

    def run(self, op: ir.Operation) -> None:
        device = device_of_option(self.chips)

        def is_wanted(found: ir.Operation) -> bool:
            return (
                has_tensors_only(found)
                and set_apart(found.operands[0]) is not None
                and is_for_tensor_cores(found, device, allow_tf32=self.allow_tf32)
            )

        for found in generalize_convolutions(op, is_wanted):
            form_subpixel_convolution(found, device)


def is_for_tensor_cores(op: ir.Operation, device: Device, *, allow_tf32: bool) -> bool:
    """Returns whether tensor cores multiply the factors of a convolution or product."""
    kinds = [ir.RankedTensorType(value.type).element_type for value in op.operands][:2]
    names = set(map(str, kinds))
    if multiplies_bytes(op):
        return device.capability >= capability_for_bytes(kinds[0])
    is_rounded = allow_tf32 and names == {"f32"}
    return names <= _OF_16_BITS or (is_rounded and device.has_warpgroup_products)
