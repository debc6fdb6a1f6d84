"""pad-product-rows: products of 16-bit elements have rows that begin at multiples of 16 bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects.mlir import ir
from ..pass_base import Pass, register
from ..products.contraction import read_contraction
from ..products.fits import is_for_library
from ..products.options import KERNEL_MULTIPLICATIONS, MatmulOptions
from ..products.padded_rows import pad_rows
from ..walking import operations_where


@register
@dataclass(frozen=True)
class PadProductRows(Pass):
    """Pads the rows of tensors of products of f16 and bf16 that the library computes.

    It does so where the library then takes less time, by more than copies take. Operations on
    tensors read padded rows, and write them, without one; what else reads them reads a copy. It is
    to come last: identities are copies here.

      %e = tensor.empty() : tensor<8192x50257xbf16>
      %y = linalg.generic {...} ins(%x, %w : ...) outs(%e : tensor<8192x50257xbf16>)
      return %y
    becomes
      %p = tensor.empty() : tensor<8192x50264xbf16>
      %s = tensor.extract_slice %p[0, 0] [8192, 50257] [1, 1] : ...
      %y = linalg.generic {...} ins(%x, %w : ...) outs(%s : tensor<8192x50257xbf16>)
      %r = linalg.generic {...} ins(%y : ...) outs(%e : ...) { linalg.yield }
      return %r
    """

    name: ClassVar[str] = "pad-product-rows"

    kernel_multiplications: int = KERNEL_MULTIPLICATIONS

    def run(self, op: ir.Operation) -> None:
        options = MatmulOptions(library=True, kernel_multiplications=self.kernel_multiplications)
        for work in operations_where(op, _may_be_product):
            product = read_contraction(work)
            if product is not None and is_for_library(product, options):
                pad_rows(work, product)


def _may_be_product(op: ir.Operation) -> bool:
    return op.name.startswith("linalg.") and len(op.operands) in (3, 4) and len(op.results) == 1
