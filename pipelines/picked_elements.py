"""A tensor made element by element, each picked from another tensor where that has one."""

from __future__ import annotations

from collections.abc import Sequence

from ..dialects.mlir import ir, scf


def generic_over(empty: ir.Value, kind: ir.RankedTensorType) -> tuple[ir.Operation, ir.Block]:
    """Returns a linalg.generic that makes each element of a tensor, and its region's block, empty
    yet.
    """
    identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(kind.rank))
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    generic = ir.Operation.create(
        "linalg.generic",
        results=[kind],
        operands=[empty],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([identity]),
            "iterator_types": ir.ArrayAttr.get([parallel] * kind.rank),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 1]),
        },
        regions=1,
    )
    location = ir.Location.current
    assert location is not None
    return generic, generic.regions[0].blocks.append(kind.element_type, arg_locs=[location])


def loop_index(loop: int) -> ir.Value:
    """Returns the index of a loop, in the region of a linalg.generic."""
    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), loop)
    return ir.Operation.create(
        "linalg.index", results=[ir.IndexType.get()], attributes={"dim": number}
    ).results[0]


def element_or(
    is_within: ir.Value, source: ir.Value, places: Sequence[ir.Value], otherwise: ir.Value
) -> ir.Value:
    """Returns an element of the source where it has one, or another value."""
    choice = scf.IfOp(is_within, [otherwise.type], has_else=True)
    with ir.InsertionPoint(choice.then_block):
        scf.YieldOp(
            ir.Operation.create(
                "tensor.extract", results=[otherwise.type], operands=[source, *places]
            ).results
        )
    assert choice.else_block is not None
    with ir.InsertionPoint(choice.else_block):
        scf.YieldOp([otherwise])
    return choice.results[0]
