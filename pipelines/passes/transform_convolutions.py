"""transform-convolutions: convolutions become products of what is transformed (Winograd's)."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..contractions.convolutions import generalize_convolutions
from ..contractions.finish import fuse_neighbours
from ..contractions.winograd import transform_convolution
from ..fusion.sizes import Sizes
from ..pass_base import Pass, register
from ..schedules.device import device_of_option


@register
@dataclass(frozen=True)
class TransformConvolutions(Pass):
    """Makes convolutions in f32 products of transformed tiles where that takes less time.

    These are convolutions in steps of 1, of one to three dims, with known sizes. Errors grow with
    the tiles: docs/matrix-products.md has bounds.

      %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<8x64x58x58xf32>, tensor<96x64x3x3xf32>) ...
    becomes
      %t = linalg.generic ins(%x) { hir.matrix_element, ... } -> tensor<6x6x64x8x14x14xf32>
      %u = linalg.generic ins(%w) { hir.matrix_element, ... } -> tensor<6x6x96x64xf32>
      %p = linalg.generic ins(%u, %t : tensor<36x96x64xf32>, tensor<36x64x1568xf32>) { mulf, addf }
      %y = linalg.generic ins(%p) { hir.matrix_element, ... } -> tensor<8x96x56x56xf32>
    """

    name: ClassVar[str] = "transform-convolutions"

    chips: str = ""

    def run(self, op: ir.Operation) -> None:
        device = device_of_option(self.chips)
        sizes: dict[ir.Block, Sizes] = {}
        for found in generalize_convolutions(op):
            made = transform_convolution(found, device)
            if made is not None:
                if made.block not in sizes:
                    sizes[made.block] = Sizes(made.block)
                fuse_neighbours(made, sizes[made.block])
