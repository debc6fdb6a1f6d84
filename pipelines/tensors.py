"""Operations on tensors that many passes emit, at the insertion point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..dialects.mlir import ir
from .rewriting import index_constant


def dim_of(value: ir.Value, axis: int) -> ir.Value:
    """Returns the size of a tensor along an axis, read from the tensor: an index."""
    operands = [value, index_constant(axis)]
    return ir.Operation.create("tensor.dim", [ir.IndexType.get()], operands).results[0]


def size_of(value: ir.Value, axis: int) -> ir.Value:
    """Returns the same; a constant where the tensor's type has the size."""
    kind = ir.RankedTensorType(value.type)
    if kind.is_dynamic_dim(axis):
        return dim_of(value, axis)
    return index_constant(kind.shape[axis])


def open_sizes(value: ir.Value) -> list[ir.Value]:
    """Returns the sizes that a tensor's type leaves open, as `tensor.empty` takes them."""
    kind = ir.RankedTensorType(value.type)
    return [dim_of(value, axis) for axis in range(kind.rank) if kind.is_dynamic_dim(axis)]


def unwritten(like: ir.Value, element: ir.Type | None = None) -> ir.Value:
    """Returns a tensor of the sizes of another one, its elements of this type and not written."""
    kind = ir.RankedTensorType(like.type)
    made = ir.RankedTensorType.get(kind.shape, element or kind.element_type)
    return ir.Operation.create("tensor.empty", [made], open_sizes(like)).results[0]


def empty(sizes: Sequence[int | ir.Value], element: ir.Type) -> ir.Value:
    """Returns a tensor of these sizes, known ones and indices, that is not written."""
    open_ = ir.ShapedType.get_dynamic_size()
    shape = [size if isinstance(size, int) else open_ for size in sizes]
    given = [size for size in sizes if not isinstance(size, int)]
    made = ir.RankedTensorType.get(shape, element)
    return ir.Operation.create("tensor.empty", [made], given).results[0]


def fill(scalar: ir.Value, into: ir.Value) -> ir.Value:
    """Returns a tensor whose elements are all a scalar, written into another one."""
    made = ir.Operation.create(
        "linalg.fill",
        [into.type],
        [scalar, into],
        {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1])},
        regions=1,
    )
    element = ir.RankedTensorType(into.type).element_type
    block = made.regions[0].blocks.append(
        scalar.type, element, arg_locs=[made.location, made.location]
    )
    with ir.InsertionPoint(block):
        ir.Operation.create("linalg.yield", operands=[block.arguments[0]])
    return made.results[0]


def padded(
    value: ir.Value,
    kind: ir.Type,
    low: Sequence[int],
    high: Sequence[int],
    padding: ir.Value,
    open_high: Sequence[ir.Value] = (),
) -> ir.Value:
    """Returns a tensor with so many elements before and behind each dim, which are all a scalar.

    `open_high` has the numbers that `high` leaves open.
    """
    op = ir.Operation.create(
        "tensor.pad",
        [kind],
        [value, *open_high],
        {
            "static_low": ir.DenseI64ArrayAttr.get(list(low)),
            "static_high": ir.DenseI64ArrayAttr.get(list(high)),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, len(open_high)]),
        },
        regions=1,
    )
    places = [ir.IndexType.get()] * ir.RankedTensorType(kind).rank
    block = op.regions[0].blocks.append(*places, arg_locs=[op.location] * len(places))
    with ir.InsertionPoint(block):
        ir.Operation.create("tensor.yield", operands=[padding])
    return op.results[0]


def collapsed(value: ir.Value, kind: ir.Type, groups: Sequence[Sequence[int]]) -> ir.Value:
    """Returns a tensor in which each group of dims is one, if any is of several."""
    if value.type == kind:
        return value
    attributes: dict[str, ir.Attribute] = {"reassociation": reassociation_attribute(groups)}
    return ir.Operation.create("tensor.collapse_shape", [kind], [value], attributes).results[0]


def expanded(
    value: ir.Value,
    kind: ir.Type,
    groups: Sequence[Sequence[int]],
    sizes: Sequence[ir.Value] = (),
) -> ir.Value:
    """Returns a tensor each of whose dims is a group of them; `sizes` are the open ones."""
    attributes: dict[str, ir.Attribute] = {
        "reassociation": reassociation_attribute(groups),
        "static_output_shape": ir.DenseI64ArrayAttr.get(list(ir.RankedTensorType(kind).shape)),
    }
    return ir.Operation.create("tensor.expand_shape", [kind], [value, *sizes], attributes).results[
        0
    ]


def part_of(
    value: ir.Value,
    kind: ir.Type,
    sizes: Sequence[ir.Value] = (),
    starts: Mapping[int, int | ir.Value] | None = None,
) -> ir.Value:
    """Returns the slice of that type, of which `sizes` are the open ones, from 0 where no dim's
    start is given.
    """
    return _slice("tensor.extract_slice", kind, kind, [value], sizes, starts or {})


def put_in(
    part: ir.Value,
    whole: ir.Value,
    sizes: Sequence[ir.Value] = (),
    starts: Mapping[int, int | ir.Value] | None = None,
) -> ir.Value:
    """Returns a tensor with another one, of which `sizes` are the open ones, in place of its slice
    from 0 where no dim's start is given.
    """
    return _slice("tensor.insert_slice", whole.type, part.type, [part, whole], sizes, starts or {})


def every(value: ir.Value, places: Sequence[slice]) -> ir.Value:
    """Returns the elements at these places along each dim, up to a known stop in known steps."""
    kind = ir.RankedTensorType(value.type)
    sizes = [len(range(each.start, each.stop, each.step)) for each in places]
    attributes: dict[str, ir.Attribute] = {
        f"static_{name}": ir.DenseI64ArrayAttr.get(list(numbers))
        for name, numbers in (
            ("offsets", [each.start for each in places]),
            ("sizes", sizes),
            ("strides", [each.step for each in places]),
        )
    }
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, 0, 0, 0])
    made = ir.RankedTensorType.get(sizes, kind.element_type)
    return ir.Operation.create("tensor.extract_slice", [made], [value], attributes).results[0]


def _slice(
    name: str,
    result: ir.Type,
    part: ir.Type,
    operands: Sequence[ir.Value],
    sizes: Sequence[ir.Value],
    starts: Mapping[int, int | ir.Value],
) -> ir.Value:
    shape = list(ir.RankedTensorType(part).shape)
    given = [starts[dim] for dim in sorted(starts)]
    computed = [each for each in given if not isinstance(each, int)]
    offsets = [starts.get(dim, 0) for dim in range(len(shape))]
    open_ = ir.ShapedType.get_dynamic_size()
    counts = [*[1] * len(operands), len(computed), len(sizes), 0]
    return ir.Operation.create(
        name,
        [result],
        [*operands, *computed, *sizes],
        {
            "static_offsets": ir.DenseI64ArrayAttr.get(
                [each if isinstance(each, int) else open_ for each in offsets]
            ),
            "static_sizes": ir.DenseI64ArrayAttr.get(shape),
            "static_strides": ir.DenseI64ArrayAttr.get([1] * len(shape)),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get(counts),
        },
    ).results[0]


def cast_to(value: ir.Value, kind: ir.Type) -> ir.Value:
    """Returns a tensor as one of another type, which may know other sizes."""
    if value.type == kind:
        return value
    return ir.Operation.create("tensor.cast", [kind], [value]).results[0]


def dims_in_runs(counts: Sequence[int]) -> list[list[int]]:
    """Returns dims that follow one another, in groups of so many each."""
    starts = [sum(counts[:at]) for at in range(len(counts))]
    return [list(range(at, at + count)) for at, count in zip(starts, counts, strict=True)]


def reassociation_attribute(groups: Sequence[Sequence[int]]) -> ir.ArrayAttr:
    """Returns the attribute of a reshape that makes one dim of each group, or a group of each."""
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get(
        [ir.ArrayAttr.get([ir.IntegerAttr.get(i64, dim) for dim in group]) for group in groups]
    )


def copied_to(room: ir.Value, value: ir.Value, order: Sequence[int]) -> ir.Value:
    """Returns a copy of a tensor with its dims in another order, in memory that is given."""
    kind = ir.RankedTensorType(room.type)
    rank = kind.rank
    maps = [
        ir.AffineMap.get(rank, 0, [ir.AffineDimExpr.get(order.index(dim)) for dim in range(rank)]),
        ir.AffineMap.get_identity(rank),
    ]
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    op = ir.Operation.create(
        "linalg.generic",
        results=[kind],
        operands=[value, room],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps]),
            "iterator_types": ir.ArrayAttr.get([parallel] * rank),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]),
        },
        regions=1,
    )
    _yield_first(op, [kind.element_type] * 2)
    return op.results[0]


def _yield_first(op: ir.Operation, kinds: Sequence[ir.Type]) -> None:
    """Gives an operation a region that yields its first argument."""
    block = op.regions[0].blocks.append(*kinds, arg_locs=[op.location] * len(kinds))
    with ir.InsertionPoint(block):
        ir.Operation.create("linalg.yield", operands=[block.arguments[0]])
