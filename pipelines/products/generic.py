"""A product on tensors as a linalg.generic."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..hir.compute.generic import map_of
from .product import NO_LOOP, Indexed, Kind, Product


def rebuild(op: ir.Operation, product: Product) -> ir.Operation:
    """Puts a linalg.generic with the operation's region in its place, and returns it."""
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
    return generic


def _map(loops: int, operand: Indexed) -> ir.AffineMap:
    return map_of(loops, [None if loop == NO_LOOP else loop for loop in operand.dims])
