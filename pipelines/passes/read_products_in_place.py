"""read-products-in-place: matrix products read tensors as they are, not transposed copies."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.generic import multiplies_bytes
from ..pass_base import Pass, register
from ..products.contraction import may_be_product, read_contraction, read_product
from ..products.fits import is_for_library, is_for_tiles
from ..products.generic import rebuild
from ..products.options import KERNEL_MULTIPLICATIONS, MatmulOptions
from ..products.reads import read_in_place
from ..products.split_loops import split_loops
from ..schedules.device import device_of_option
from ..walking import operations_where


@register
@dataclass(frozen=True)
class ReadProductsInPlace(Pass):
    """Lets products on tensors read what transposes and broadcasts read.

    The library takes operands of any strides, so that nothing is gained by a copy. One dim that was
    made of two, as of sequences and heads, is two loops again where that spares copies of operands
    or of the result, and not too many calls are needed for it.

      %t = linalg.transpose ins(%w : tensor<8x4xf32>) outs(%empty : tensor<4x8xf32>)
        permutation = [1, 0]
      %y = linalg.matmul ins(%x, %t : ...) outs(%zeros : ...)
    becomes
      %y = linalg.generic {... (m, n, k) -> (n, k) ...} ins(%x, %w : ...) outs(%zeros : ...)
    """

    name: ClassVar[str] = "read-products-in-place"

    chips: str = ""
    kernel_multiplications: int = KERNEL_MULTIPLICATIONS

    def run(self, op: ir.Operation) -> None:
        options = MatmulOptions(library=True, kernel_multiplications=self.kernel_multiplications)
        device = device_of_option(self.chips)
        for work in operations_where(op, may_be_product):
            is_of_bytes = multiplies_bytes(work)
            product = read_product(work) if is_of_bytes else read_contraction(work)
            if product is None or not product.accumulates:
                continue
            read = read_in_place(product)
            if not is_of_bytes:
                if not is_for_library(read, options) or split_loops(work, read, options, device):
                    continue
            elif not is_for_tiles(read, self.kernel_multiplications):
                continue
            if read != product:
                rebuild(work, read)
