"""Building linalg.generic on buffers, or on tensors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ....dialects.mlir import ir

# Takes one element of every operand, inputs first; gives what the outputs' elements become.
Body = Callable[[Sequence[ir.Value]], Sequence[ir.Value]]
# A buffer or tensor and the loops that index it; a scalar has none.
Mapped = tuple[ir.Value, ir.AffineMap]


def emit_generic(
    loops: int,
    reduced: Collection[int],
    inputs: Sequence[Mapped],
    outputs: Sequence[Mapped],
    body: Body,
) -> ir.Operation:
    """Emits a linalg.generic with `loops` loops, of which `reduced` reduce; returns it.

    Its results are those of the outputs that are tensors.
    """
    mapped = [*inputs, *outputs]
    iterators = ["reduction" if loop in reduced else "parallel" for loop in range(loops)]
    op = ir.Operation.create(
        "linalg.generic",
        results=[value.type for value, _ in outputs if isinstance(value.type, ir.RankedTensorType)],
        operands=[value for value, _ in mapped],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for _, map_ in mapped]),
            "iterator_types": ir.ArrayAttr.get(
                [ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in iterators]
            ),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), len(outputs)]),
        },
        regions=1,
    )
    block = op.regions[0].blocks.append(*[_element(value.type) for value, _ in mapped])
    with ir.InsertionPoint(block):
        results = body(list(block.arguments))
        ir.Operation.create("linalg.yield", operands=list(results))
    return op


def map_of(loops: int, places: Sequence[int | None]) -> ir.AffineMap:
    """Returns the map of a buffer whose dims are indexed by those loops; by 0 where
    there is None.
    """
    return ir.AffineMap.get(
        loops,
        0,
        [
            ir.AffineConstantExpr.get(0) if place is None else ir.AffineDimExpr.get(place)
            for place in places
        ],
    )


def _element(kind: ir.Type) -> ir.Type:
    return kind.element_type if isinstance(kind, ir.ShapedType) else kind
