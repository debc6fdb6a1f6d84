"""lay-channels-together: convolutions and products read copies in which terms lie together."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..contractions.channels import lay_channels_together
from ..contractions.convolutions import generalize_convolutions, is_for_tensor_cores
from ..fusion.generic import multiplies_bytes
from ..pass_base import Pass, register
from ..products.contraction import read_contraction
from ..products.fits import is_for_tiles
from ..products.options import KERNEL_MULTIPLICATIONS
from ..schedules.device import device_of_option


@register
@dataclass(frozen=True)
class LayChannelsTogether(Pass):
    """Transposes operands of convolutions on tensor cores so that channels lie together.

    It does so where the convolution saves more time than the copies take, which fusion merges into
    the operations that compute the operands. Padding stays around the copy. Elements have 16 bits,
    or 8 on chips that multiply these, or with `allow_tf32` are f32 where warpgroups multiply. It
    also transposes operands of products of 8 bits, and with `products` those of products in tf32,
    which no library computes then. Pixels of few channels lie in chunks of 16 bytes of these, where
    warpgroups multiply. With `library` one computes convolutions of floats, which takes
    them as they lie.

      %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] { ... }
      %y = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<8x64x30x30xbf16>, ...)
    becomes
      %t = linalg.generic {(n, h, w, c) -> (n, c, h, w)} ins(%x) outs(...)
      %p = tensor.pad %t low[0, 1, 1, 0] high[0, 1, 1, 0] { ... }
      %y = linalg.generic {...} ins(%p, ... : tensor<8x30x30x64xbf16>, ...) { mulf, addf }
    and of 16 channels in place of 64, where warpgroups multiply,
      %e = tensor.expand_shape %x ... into tensor<8x2x8x28x28xbf16>
      %t = linalg.generic {(n, k, h, w, c) -> (n, k, c, h, w)} ins(%e) outs(...)
      %p = tensor.pad %t low[0, 0, 1, 1, 0] high[0, 0, 1, 1, 0] { ... }
      %y = linalg.generic {...} ins(%p, ... : tensor<8x2x30x30x8xbf16>, ...) { mulf, addf }
    """

    name: ClassVar[str] = "lay-channels-together"

    chips: str = ""
    allow_tf32: bool = False
    products: bool = False
    library: bool = False
    kernel_multiplications: int = KERNEL_MULTIPLICATIONS

    def run(self, op: ir.Operation) -> None:
        device = device_of_option(self.chips)

        def is_wanted(found: ir.Operation) -> bool:
            if self.library and not multiplies_bytes(found) and not self._is_product(found):
                return False
            return is_for_tensor_cores(found, device, allow_tf32=self.allow_tf32)

        for found in generalize_convolutions(op, is_wanted, self._is_product):
            lay_channels_together(found, has_boxes=device.has_warpgroup_products)

    def _is_product(self, op: ir.Operation) -> bool:
        """Returns whether an operation is a product in tf32 that no library computes."""
        product = read_contraction(op) if self.products and self.allow_tf32 else None
        return (
            product is not None
            and product.accumulates
            and product.first.element == "f32"
            and is_for_tiles(product, self.kernel_multiplications)
        )
