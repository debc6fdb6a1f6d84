"""expand-atomic-product: memref.atomic_rmw of products, which no instruction does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import rewrite_each

# Of the enumeration arith::AtomicRMWKind.
_PRODUCTS = {12: arith.mulf, 13: arith.muli}


@register
@dataclass(frozen=True)
class ExpandAtomicProduct(Pass):
    """Turns memref.atomic_rmw mulf and muli into memref.generic_atomic_rmw, a loop of cmpxchg.

      %old = memref.atomic_rmw mulf %v, %m[%i] : (f32, memref<4xf32>) -> f32
    becomes
      %old = memref.generic_atomic_rmw %m[%i] : memref<4xf32> {
      ^bb0(%current: f32):
        %product = arith.mulf %current, %v : f32
        memref.atomic_yield %product : f32
      }
    """

    name: ClassVar[str] = "expand-atomic-product"
    subjects: ClassVar[tuple[str, ...]] = ("memref.atomic_rmw",)

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(op, {"memref.atomic_rmw": _expand})


def _expand(op: ir.Operation) -> Sequence[ir.Value] | None:
    multiply = _PRODUCTS.get(ir.IntegerAttr(op.attributes["kind"]).value)
    if multiply is None:
        return None
    value, *place = op.operands
    generic = ir.Operation.create(
        "memref.generic_atomic_rmw", results=[value.type], operands=place, regions=1
    )
    body = generic.regions[0].blocks.append(value.type)
    with ir.InsertionPoint(body):
        product = multiply(body.arguments[0], value)
        ir.Operation.create("memref.atomic_yield", operands=[product])
    return [generic.results[0]]
