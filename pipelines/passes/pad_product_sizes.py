"""pad-product-sizes: products of 16-bit elements have sizes that the library computes fast."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..products.contraction import read_contraction
from ..products.fits import is_for_library
from ..products.options import KERNEL_MULTIPLICATIONS, MatmulOptions
from ..products.padded_sizes import pad_sizes
from ..schedules.device import device_of_option
from ..walking import operations_where


@register
@dataclass(frozen=True)
class PadProductSizes(Pass):
    """Makes sizes multiples of 8 along rows of products of f16 and bf16 that the library computes.

    It does so where the library then takes less time, by more than copies take. Operands are copied
    to padded ones, but for weights whose memory has room for more rows. What reads the result reads
    its part of what is written; who cannot reads a copy. It is to come last: identities are copies
    here. `chips`, joined by `+`, are those that the program is built for.

      %y = linalg.generic {...} ins(%x, %w : tensor<8192x768xbf16>, tensor<50257x768xbf16>)
                                outs(%e : tensor<8192x50257xbf16>)
      return %y
    becomes, with a weight %w : tensor<50264x768xbf16>,
      %p = linalg.generic {...} ins(%x, %w : ...) outs(%f : tensor<8192x50264xbf16>)
      %s = tensor.extract_slice %p[0, 0] [8192, 50257] [1, 1] : ...
      %r = linalg.generic {...} ins(%s : ...) outs(%g : ...) { linalg.yield }
      return %r
    """

    name: ClassVar[str] = "pad-product-sizes"

    chips: str = ""
    kernel_multiplications: int = KERNEL_MULTIPLICATIONS

    def run(self, op: ir.Operation) -> None:
        options = MatmulOptions(library=True, kernel_multiplications=self.kernel_multiplications)
        device = device_of_option(self.chips)
        for work in operations_where(op, _may_be_product):
            product = read_contraction(work)
            if product is not None and is_for_library(product, options):
                pad_sizes(work, product, device)


def _may_be_product(op: ir.Operation) -> bool:
    return op.name.startswith("linalg.") and 3 <= len(op.operands) <= 5 and len(op.results) == 1
