"""form-subpixel-convolutions: transposed convolutions in steps as ordinary ones."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..contractions.convolutions import generalize_convolutions, is_for_tensor_cores
from ..contractions.reads import set_apart
from ..contractions.subpixel import form_subpixel_convolution
from ..fusion.generic import has_tensors_only
from ..pass_base import Pass, register
from ..schedules.device import device_of_option


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
      %f = linalg.generic {(f, i, j, h, w, c)} { tensor.extract %w[%f, %c, 1 - %i, 1 - %j] } ...
      %p = linalg.generic {...} ins(%x, %f : tensor<8x64x14x14xbf16>, tensor<32x2x2x1x1x64xbf16>)
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
