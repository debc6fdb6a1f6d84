"""form-contractions: convolutions and other sums of products become operations of one form."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..contractions.computed import COMPUTED
from ..contractions.convolutions import generalize_convolutions
from ..contractions.factors import compute_factors
from ..contractions.finish import fuse_neighbours
from ..contractions.producers import read_own_producers
from ..contractions.reads import read_behind, read_behind_padding
from ..contractions.statistics import fuse_statistics, in_loops_of_statistics
from ..fusion.generic import GENERIC, has_tensors_only, outs_of
from ..fusion.normalize import SMALL_PRODUCT, is_normal, normalize, reduces_nothing
from ..fusion.sizes import Sizes
from ..fusion.tiles import ROUNDED, STATISTICS, TILES, is_for_tiles, is_for_windows, is_pooling
from ..pass_base import Pass, register
from ..products.contraction import read_contraction
from ..products.finished import FINISHED
from ..products.fits import is_for_tiles as is_product_for_tiles
from ..products.options import KERNEL_MULTIPLICATIONS
from ..schedules.device import TILES_CAPABILITY, device_of_option
from ..walking import operations_where


@register
@dataclass(frozen=True)
class FormContractions(Pass):
    """Makes convolutions linalg.generics that sum in their region, with what is done around them.

    That is the value that sums begin with, the elementwise operation that alone reads the result,
    and zeros around what is read: these are no longer written to memory. Nor is what poolings of
    small windows pad. For the `chips` whose kernels of tiles reduce their results it includes
    what does. With `products` it does so
    with those of matrices, but for the small ones of up to `kernel_multiplications`; without, with
    those that fuse-into-products marked, and those that mark-computed-factors did, with what makes
    their factors. With `allow_tf32` factors of f32 may be rounded.

      %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] { ... %zero }
      %y = linalg.conv_2d_nchw_fchw ins(%p, %w : ...) outs(%bias : ...)
      %r = linalg.generic {...} ins(%y : ...) { maximumf }
    becomes
      %r = linalg.generic {...} ins(%w, %b : ...) outs(%empty : ...) {
        tensor.extract %x in scf.if, mulf, hir.reduce_loops addf, addf, maximumf
      }
    """

    name: ClassVar[str] = "form-contractions"

    allow_tf32: bool = False
    products: bool = False
    kernel_multiplications: int = KERNEL_MULTIPLICATIONS
    chips: str = ""

    def run(self, op: ir.Operation) -> None:
        sizes: dict[ir.Block, Sizes] = {}
        for found in generalize_convolutions(op, is_product=self._is_product):
            if reduces_nothing(found):
                found.results[0].replace_all_uses_with(outs_of(found)[0])
                found.erase()
                continue
            computed = _computed_in(found)
            found.attributes[SMALL_PRODUCT] = ir.UnitAttr.get()
            new = normalize(found, set())
            if new is None:
                del found.attributes[SMALL_PRODUCT]
                continue
            found.erase()
            block = new.block
            if block not in sizes:
                sizes[block] = Sizes(block)
            new = fuse_neighbours(new, sizes[block])
            if is_for_tiles(new):
                made = read_own_producers(new, computed) if computed else None
                if made is None:
                    new = self._with_statistics(new, sizes[block])
                else:
                    new = compute_factors(made)
                new.attributes[TILES] = ir.UnitAttr.get()
                if self.allow_tf32:
                    new.attributes[ROUNDED] = ir.UnitAttr.get()
            elif is_for_windows(new):
                read_behind(new, apart=False, out_of_order=True)

        for found in operations_where(op, _is_pooling):
            read_behind_padding(found)

    def _with_statistics(self, op: ir.Operation, sizes: Sizes) -> ir.Operation:
        """Returns a sum that reads its factors where they come from, and reduces its results."""
        if not self.chips or device_of_option(self.chips).capability < TILES_CAPABILITY:
            return read_behind(op)
        found, has_statistics = fuse_statistics(read_behind(in_loops_of_statistics(op)), sizes)
        if has_statistics:
            found.attributes[STATISTICS] = ir.UnitAttr.get()
        return found

    def _is_product(self, op: ir.Operation) -> bool:
        """Returns whether an operation is a product of matrices that a kernel of tiles is to
        compute.
        """
        if FINISHED in op.attributes or COMPUTED in op.attributes:
            return True
        product = read_contraction(op) if self.products else None
        if product is None or not product.accumulates:
            return False
        # What it becomes has the form of a reduction.
        formed = replace(product, is_reduction=True)
        return is_product_for_tiles(formed, self.kernel_multiplications)


def _computed_in(op: ir.Operation) -> list[int]:
    """Returns which factors are to be computed where they are read."""
    if COMPUTED not in op.attributes:
        return []
    return list(ir.DenseI64ArrayAttr(op.attributes[COMPUTED]))


def _is_pooling(op: ir.Operation) -> bool:
    return op.name == GENERIC and has_tensors_only(op) and is_normal(op) and is_pooling(op)
