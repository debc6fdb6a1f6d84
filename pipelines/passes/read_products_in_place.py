"""read-products-in-place: matrix products read tensors as they are, not transposed copies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects.mlir import ir
from ..pass_base import Pass, register
from ..products.contraction import read_contraction
from ..products.fits import is_for_library
from ..products.generic import rebuild
from ..products.options import KERNEL_MULTIPLICATIONS, MatmulOptions
from ..products.reads import read_in_place
from ..walking import operations_where


@register
@dataclass(frozen=True)
class ReadProductsInPlace(Pass):
    """Lets products on tensors read what transposes and broadcasts read.

    The library takes operands of any strides, so that nothing is gained by a copy.

      %t = linalg.transpose ins(%w : tensor<8x4xf32>) outs(%empty : tensor<4x8xf32>)
        permutation = [1, 0]
      %y = linalg.matmul ins(%x, %t : ...) outs(%zeros : ...)
    becomes
      %y = linalg.generic {... (m, n, k) -> (n, k) ...} ins(%x, %w : ...) outs(%zeros : ...)
    """

    name: ClassVar[str] = "read-products-in-place"

    kernel_multiplications: int = KERNEL_MULTIPLICATIONS

    def run(self, op: ir.Operation) -> None:
        options = MatmulOptions(library=True, kernel_multiplications=self.kernel_multiplications)
        for work in operations_where(op, _may_be_product):
            product = read_contraction(work)
            if product is None or not product.accumulates:
                continue
            read = read_in_place(product)
            if read != product and is_for_library(read, options):
                rebuild(work, read)


def _may_be_product(op: ir.Operation) -> bool:
    return op.name.startswith("linalg.") and len(op.operands) == 3 and len(op.results) == 1
