"""fuse-attention: products with a softmax between them become one operation on tensors."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.generic import GENERIC, reducing_loops
from ..pass_base import Pass, register
from ..schedules.device import device_of_option
from ..walking import is_used, operations_where


@register
@dataclass(frozen=True)
class FuseAttention(Pass):
    """Makes one linalg.generic of scaled dot-product attention, so that no score is stored.

    Takes what fuse-tensor-operations leaves. Recognized is a product whose one operand a softmax
    makes of another product, with whatever is done to the scores on the way; through reshapes, and
    through transposes and repetitions of queries, keys and values, and through gathers of keys and
    values. Many rows read those whose heads do not lie in rows, as an image's channels, from
    copies, and are copied where results are to lie so. Powers may be divided by their total after
    the second product. Not fused are heads of one row of which neighbours in memory belong to
    different ones, as for each pixel of an image its surroundings. `chips` are those that there
    must be a kernel for.

      %s = linalg.generic {...} ins(%q, %k) outs(%e1) { mulf, hir.reduce_loops addf }
      %p = linalg.generic {...} ins(%s) outs(%e2) { hir.reduce_loops maximumf, subf, exp,
             hir.reduce_loops addf, divf }
      %y = linalg.generic {...} ins(%p, %v) outs(%e3) { mulf, hir.reduce_loops addf }
    becomes
      %y = linalg.generic {...} ins(%q, %k, %v) outs(%e3) { all of it }
    """

    name: ClassVar[str] = "fuse-attention"

    chips: str = ""

    def run(self, op: ir.Operation) -> None:
        found = operations_where(op, _may_be_product)
        if len(found) < 2:
            return
        # Imported late: small programs do not wait for it.
        from ..attention.merge import merge
        from ..schedules.attention.schedule import is_scheduled, lies_across

        device = device_of_option(self.chips)
        # In this order: what becomes part of an operation comes before the product that ends it.
        for work in found:
            merge(work, lambda each: is_scheduled(each, device) and not lies_across(each))


def _may_be_product(op: ir.Operation) -> bool:
    return (
        op.name.startswith("linalg.")
        and len(op.results) == 1
        and len(op.operands) in (3, 4)
        and is_used(op.results[0])
        # What follows a product may become part of it.
        and (op.name != GENERIC or bool(reducing_loops(op)))
    )
