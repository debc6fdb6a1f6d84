"""fuse-into-products: matrix products on tensors take in what they begin and end with."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..contractions.computed import COMPUTED
from ..pass_base import Pass, register
from ..products.contraction import read_contraction
from ..products.finished import FINISHED, is_finished_in_kernel
from ..products.fits import is_for_library
from ..products.flattened import flatten_reader
from ..products.fused import Following, begins_with_zeros, build, find_following
from ..products.options import KERNEL_MULTIPLICATIONS, MatmulOptions
from ..products.product import Product
from ..schedules.device import Device, device_of_option
from ..walking import operations_where


@register
@dataclass(frozen=True)
class FuseIntoProducts(Pass):
    """Makes one operation of a product that the library computes and what it can do in its call.

    That is the zeros a sum begins with, and an elementwise operation that alone reads it: one that
    rounds, adds a bias along one dim, and applies an activation that the library has; with
    `ignores_nan`, one that differs from it for a nan alone. It may be applied in
    the shape of a tensor.expand_shape. Elementwise operations are to be fused before.

    A product that hirc's kernel for the `chips` computes with what reads it in less time than the
    library is marked for form-contractions instead.

      %y = linalg.matmul ins(%x, %w : ...) outs(%zeros : tensor<?x8xf32>)
      %r = linalg.generic {...} ins(%y, %bias : ...) outs(%empty : ...) { addf, truncf }
    becomes
      %r = linalg.generic {...} ins(%x, %w, %bias : ...) outs(%empty : tensor<?x8xbf16>) {
        mulf, hir.reduce_loops addf, addf, truncf
      }
    """

    name: ClassVar[str] = "fuse-into-products"

    ignores_nan: bool = False
    kernel_multiplications: int = KERNEL_MULTIPLICATIONS
    chips: str = ""
    allow_tf32: bool = False

    def run(self, op: ir.Operation) -> None:
        options = MatmulOptions(library=True, kernel_multiplications=self.kernel_multiplications)
        device = device_of_option(self.chips)
        for work in operations_where(op, _may_be_product):
            product = read_contraction(work)
            if product is None or not begins_with_zeros(product) or COMPUTED in work.attributes:
                continue
            # What it becomes has the form of a reduction.
            if is_for_library(replace(product, is_reduction=True), options):
                following, is_finished = self._behind(work, product, device)
                if is_finished:
                    work.attributes[FINISHED] = ir.UnitAttr.get()
                else:
                    build(work, product, following)

    def _behind(
        self, work: ir.Operation, product: Product, device: Device
    ) -> tuple[Following | None, bool]:
        """Returns what the library does of what follows a product, and whether a kernel is to."""
        flattened = flatten_reader(work)
        following = find_following(work, product, ignores_nan=self.ignores_nan)
        is_finished = self._is_finished(work, product, following, device)
        if flattened is None:
            return following, is_finished
        if following is not None or is_finished:
            flattened.keep()
            return following, is_finished
        flattened.drop()
        following = find_following(work, product, ignores_nan=self.ignores_nan)
        return following, self._is_finished(work, product, following, device)

    def _is_finished(
        self, work: ir.Operation, product: Product, following: Following | None, device: Device
    ) -> bool:
        return is_finished_in_kernel(work, product, following, device, allow_tf32=self.allow_tf32)


def _may_be_product(op: ir.Operation) -> bool:
    # An elementwise operation that goes into a product is none itself.
    if not op.name.startswith("linalg.") or len(op.operands) != 3 or len(op.results) != 1:
        return False
    return op.name != "linalg.generic" or "reduction" in str(op.attributes["iterator_types"])
