"""read-products-in-place: matrix products read tensors as they are, not transposed copies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ...dialects.mlir import ir
from ..hir.compute.generic import map_of
from ..pass_base import Pass, register
from ..products.contraction import read_contraction
from ..products.fits import is_for_library
from ..products.options import LEAST_MULTIPLICATIONS, MatmulOptions
from ..products.product import NO_LOOP, Indexed, Kind, Product
from ..products.reads import read_through
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

    least_multiplications: int = LEAST_MULTIPLICATIONS

    def run(self, op: ir.Operation) -> None:
        options = MatmulOptions(library=True, least_multiplications=self.least_multiplications)
        for work in operations_where(op, _may_be_product):
            product = read_contraction(work)
            if product is None or not product.accumulates:
                continue
            read = replace(
                product,
                first=read_through(product.first),
                second=read_through(product.second),
            )
            if read == product or not _is_same(read, product):
                continue
            if is_for_library(read, options):
                _rebuild(work, read)


def _may_be_product(op: ir.Operation) -> bool:
    return op.name.startswith("linalg.") and len(op.operands) == 3 and len(op.results) == 1


def _is_same(read: Product, product: Product) -> bool:
    """Whether the loops still are those of a product, and their sizes known from it."""
    if read.loops != product.loops:
        return False
    kinds = [read.kind(loop) for loop in range(read.loops)]
    return all(kind in (Kind.M, Kind.N, Kind.K, Kind.BATCH) for kind in kinds)


def _rebuild(op: ir.Operation, product: Product) -> None:
    """Puts a linalg.generic with the operation's region in its place."""
    kinds = [product.kind(loop) == Kind.K for loop in range(product.loops)]
    with op.location, ir.InsertionPoint(op):
        generic = ir.Operation.create(
            "linalg.generic",
            results=[result.type for result in op.results],
            operands=[each.value for each in product.matrices],
            attributes={
                "indexing_maps": ir.ArrayAttr.get(
                    [ir.AffineMapAttr.get(_map(product.loops, each)) for each in product.matrices]
                ),
                "iterator_types": ir.ArrayAttr.get(
                    [
                        ir.Attribute.parse(
                            f"#linalg.iterator_type<{'reduction' if is_k else 'parallel'}>"
                        )
                        for is_k in kinds
                    ]
                ),
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([2, 1]),
            },
            regions=1,
        )
    op.regions[0].blocks[0].append_to(generic.regions[0])
    op.results[0].replace_all_uses_with(generic.results[0])
    op.erase()


def _map(loops: int, operand: Indexed) -> ir.AffineMap:
    return map_of(loops, [None if loop == NO_LOOP else loop for loop in operand.dims])
