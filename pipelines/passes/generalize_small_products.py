"""generalize-small-products: products that hirc's kernels compute become generics."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.normalize import SMALL_PRODUCT
from ..pass_base import Pass, register
from ..products.contraction import may_be_product, read_product
from ..products.generic import rebuild
from ..products.options import KERNEL_MULTIPLICATIONS
from ..products.reads import read_in_place
from ..products.small import is_for_kernel
from ..walking import operations_where


@register
@dataclass(frozen=True)
class GeneralizeSmallProducts(Pass):
    """Makes small products linalg.generics that normalize-tensor-operations takes as reductions.

    They are those that the types say have up to `kernel_multiplications`, and others that a kernel
    computes in less time than the library; of 0 there are none. Elements are of any type.

      %y = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x8xf32>) outs(%zeros : ...)
    becomes
      %y = linalg.generic {..., hir.small_product} ins(%x, %w : ...) outs(%zeros : ...)
    """

    name: ClassVar[str] = "generalize-small-products"

    kernel_multiplications: int = KERNEL_MULTIPLICATIONS

    def run(self, op: ir.Operation) -> None:
        for work in operations_where(op, may_be_product):
            product = read_product(work)
            if product is None or not product.accumulates:
                continue
            read = read_in_place(product)
            if is_for_kernel(read, self.kernel_multiplications):
                rebuild(work, read).attributes[SMALL_PRODUCT] = ir.UnitAttr.get()
