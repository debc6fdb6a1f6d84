"""mark-computed-factors: products whose kernels are to compute what their factors are made of."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..contractions.computed import COMPUTED, computed_in_place
from ..pass_base import Pass, register
from ..products.contraction import may_be_product, read_contraction
from ..products.fits import is_for_tiles
from ..products.fused import begins_with_zeros
from ..products.options import KERNEL_MULTIPLICATIONS
from ..schedules.device import device_of_option
from ..walking import operations_where


@register
@dataclass(frozen=True)
class MarkComputedFactors(Pass):
    """Marks products that form-contractions makes one with the operations that make their factors.

    These are elementwise, on tensors, and nothing else reads what they make. A model of the time
    for the `chips` says whether tiles are to compute it, again for each tile of the other factor,
    or an operation of its own once.

      %d = linalg.generic ins(%w, %s : tensor<8x4xi8>, tensor<8xbf16>) { sitofp, mulf }
      %y = linalg.generic ins(%x, %d : ...) outs(%zeros : ...) { mulf, addf }
    becomes
      %d = ...
      %y = linalg.generic {hir.computed_factors = array<i64: 1>, ...}
        ins(%x, %d : ...) outs(%zeros : ...) { mulf, addf }
    """

    name: ClassVar[str] = "mark-computed-factors"

    chips: str = ""
    kernel_multiplications: int = KERNEL_MULTIPLICATIONS

    def run(self, op: ir.Operation) -> None:
        device = device_of_option(self.chips)
        for work in operations_where(op, may_be_product):
            product = read_contraction(work)
            if product is None or not begins_with_zeros(product):
                continue
            if not is_for_tiles(product, self.kernel_multiplications):
                continue
            computed = computed_in_place(work, product, device)
            if computed:
                work.attributes[COMPUTED] = ir.DenseI64ArrayAttr.get(computed)
