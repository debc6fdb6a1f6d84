"""A product on tensors as a linalg.generic."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from ...dialects.mlir import ir
from ..fusion.generic import carry_configuration
from ..hir.compute.generic import map_of
from ..tensors import reassociation_attribute
from .product import NO_LOOP, Indexed, LoopKind, Product


def rebuild(
    op: ir.Operation, product: Product, groups: Sequence[Sequence[object]] = ()
) -> ir.Operation:
    """Puts a linalg.generic with the operation's region in its place, and returns it.

    It asks for the kernel that the operation asked for.

    Where the result has more dims than before, `groups` has, for each one before, those it was.
    """
    kinds = [product.kind(loop) == LoopKind.K for loop in range(product.loops)]
    with op.location, ir.InsertionPoint(op):
        generic = ir.Operation.create(
            "linalg.generic",
            results=[product.result.value.type],
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
        result = _collapsed(generic.results[0], op.results[0].type, groups)
    op.results[0].replace_all_uses_with(result)
    op.regions[0].blocks[0].append_to(generic.regions[0])
    carry_configuration([op], generic)
    op.erase()
    return generic


def _collapsed(value: ir.Value, kind: ir.Type, groups: Sequence[Sequence[object]]) -> ir.Value:
    """Returns a tensor with several dims made one."""
    if value.type == kind:
        return value
    numbers = count()
    axes = [[next(numbers) for _ in group] for group in groups]
    return ir.Operation.create(
        "tensor.collapse_shape",
        results=[kind],
        operands=[value],
        attributes={"reassociation": reassociation_attribute(axes)},
    ).results[0]


def _map(loops: int, operand: Indexed) -> ir.AffineMap:
    return map_of(loops, [None if loop == NO_LOOP else loop for loop in operand.dims])
