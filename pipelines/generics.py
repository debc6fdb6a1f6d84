"""Making linalg.generic operations, on tensors or buffers, at the insertion point."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from ..dialects.mlir import ir, scf
from .tensors import unwritten

# Takes one element of every operand, inputs first; gives what the outputs' elements become.
Body = Callable[[Sequence[ir.Value]], Sequence[ir.Value]]
# A buffer or tensor and the loops that index it; a scalar has none.
Mapped = tuple[ir.Value, ir.AffineMap]
# Operations of regions that take no instructions, or few.
_FREE = {
    "arith.constant",
    "arith.extf",
    "arith.extsi",
    "arith.extui",
    "arith.truncf",
    "arith.trunci",
    "linalg.index",
    "linalg.yield",
}


def bare_generic(
    loops: int, reduced: Collection[int], inputs: Sequence[Mapped], outputs: Sequence[Mapped]
) -> ir.Operation:
    """Emits a linalg.generic with `loops` loops, of which `reduced` reduce, its region still empty.

    Its results are those of the outputs that are tensors.
    """
    mapped = [*inputs, *outputs]
    kinds = ["reduction" if loop in reduced else "parallel" for loop in range(loops)]
    return ir.Operation.create(
        "linalg.generic",
        results=[value.type for value, _ in outputs if isinstance(value.type, ir.RankedTensorType)],
        operands=[value for value, _ in mapped],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for _, map_ in mapped]),
            "iterator_types": ir.ArrayAttr.get(
                [ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in kinds]
            ),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), len(outputs)]),
        },
        regions=1,
    )


def instructions_of(ops: Iterable[ir.Operation]) -> int:
    """Returns how many instructions operations of a region take, about."""
    return sum(op.name not in _FREE for op in ops)


def emit_generic(
    loops: int,
    reduced: Collection[int],
    inputs: Sequence[Mapped],
    outputs: Sequence[Mapped],
    body: Body,
) -> ir.Operation:
    """Emits the same with a region that computes the outputs' elements."""
    op = bare_generic(loops, reduced, inputs, outputs)
    block = op.regions[0].blocks.append(*(_element(value.type) for value in op.operands))
    with ir.InsertionPoint(block):
        ir.Operation.create("linalg.yield", operands=list(body(list(block.arguments))))
    return op


def each_of(
    operands: Sequence[ir.Value],
    elements: Sequence[ir.Type],
    body: Body,
    like: ir.Value | None = None,
) -> list[ir.Value]:
    """Returns tensors of such elements, computed of those of the operands in their place.

    All are as large as the first operand, or as `like`.
    """
    like = operands[0] if like is None else like
    rank = ir.RankedTensorType(like.type).rank
    same = ir.AffineMap.get_identity(rank)
    outputs = [(unwritten(like, element), same) for element in elements]
    inputs = [(each, same) for each in operands]
    return list(
        emit_generic(rank, (), inputs, outputs, lambda given: body(given[: len(operands)])).results
    )


def each_place(empty: ir.Value, element: Callable[[], ir.Value]) -> ir.Value:
    """Returns a tensor of this size, whose elements are computed of their place."""
    rank = ir.RankedTensorType(empty.type).rank
    output = (empty, ir.AffineMap.get_identity(rank))
    return emit_generic(rank, (), [], [output], lambda _: [element()]).results[0]


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


def loop_index(loop: int) -> ir.Value:
    """Returns the index of a loop, in the region of a linalg.generic."""
    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), loop)
    return ir.Operation.create(
        "linalg.index", results=[ir.IndexType.get()], attributes={"dim": number}
    ).results[0]


def reduce_over(loops: Sequence[int], kind: str, value: ir.Value) -> ir.Value:
    """Returns all values that a region has in the iterations of some loops, combined."""
    return _collective("hir.reduce_loops", loops, kind, value, [value.type])[0]


def find_over(loops: Sequence[int], kind: str, value: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Returns the extreme of these values and its place, in row-major order within the loops."""
    place = ir.IntegerType.get_signless(64)
    extreme, found = _collective("hir.find_loops", loops, kind, value, [value.type, place])
    return extreme, found


def _collective(
    name: str, loops: Sequence[int], kind: str, value: ir.Value, results: Sequence[ir.Type]
) -> Sequence[ir.Value]:
    attributes: dict[str, ir.Attribute] = {
        "kind": ir.StringAttr.get(kind),
        "loops": ir.DenseI64ArrayAttr.get(list(loops)),
    }
    return ir.Operation.create(name, results, [value], attributes).results


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


def _element(kind: ir.Type) -> ir.Type:
    return kind.element_type if isinstance(kind, ir.ShapedType) else kind
