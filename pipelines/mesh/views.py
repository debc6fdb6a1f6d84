"""Which dims of a view of a tensor are dims of that: reshapes, slices, and copies like them."""

from __future__ import annotations

from ...dialects.hir.layout import DYNAMIC
from ...dialects.hir.mesh import Mesh, Spreads
from ...dialects.hir.spread import Spread
from ...dialects.mlir import ir
from ..fusion.access import reassociation

COLLAPSE = "tensor.collapse_shape"
EXPAND = "tensor.expand_shape"
INSERT = "tensor.insert_slice"
# Their first operand is what the result is of; of tensor.concat all are.
VIEWS = (COLLAPSE, EXPAND, "tensor.cast", "tensor.extract_slice", "tensor.pad", "tensor.concat")

Pairs = list[tuple[int, int]]


def dim_pairs(op: ir.Operation, source: ir.RankedTensorType, view: ir.RankedTensorType) -> Pairs:
    """Returns the dims of the tensor, each with the view's dim of which a part is a part of it.

    The types are those of the whole. Of a reshape, they are the outermost dims of each group.
    """
    dims = range(source.rank)
    if op.name in (COLLAPSE, EXPAND):
        return _grouped(op, source, view)
    if op.name == "tensor.cast":
        return [(dim, dim) for dim in dims]
    if op.name == "tensor.concat":
        axis = ir.IntegerAttr(op.attributes["dim"]).value
        return [(dim, dim) for dim in dims if dim != axis]
    if op.name == "tensor.pad":
        low, high = (_numbers(op, f"static_{side}") for side in ("low", "high"))
        return [(dim, dim) for dim in dims if low[dim] == high[dim] == 0]
    if source.rank != view.rank:
        return []
    offsets, sizes, steps = (
        _numbers(op, f"static_{what}") for what in ("offsets", "sizes", "strides")
    )
    return [
        (dim, dim)
        for dim in dims
        if offsets[dim] == 0 and steps[dim] == 1 and sizes[dim] == source.shape[dim] != DYNAMIC
    ]


def inserted_dims(
    op: ir.Operation, part: ir.RankedTensorType, into: ir.RankedTensorType
) -> dict[int, int]:
    """Returns the dims along which a tensor.insert_slice fills all of what it inserts into, each
    with the same dim of what is inserted. The types are those of the whole.
    """
    offsets, sizes, steps = (
        _numbers(op, f"static_{what}") for what in ("offsets", "sizes", "strides")
    )
    found: dict[int, int] = {}
    place = 0
    for dim, size in enumerate(sizes):
        if place == part.rank or part.shape[place] != size:
            # A dim of one element, which what is inserted has not.
            continue
        if offsets[dim] == 0 and steps[dim] == 1 and size == into.shape[dim] != DYNAMIC:
            found[dim] = place
        place += 1
    return found


def _grouped(op: ir.Operation, source: ir.RankedTensorType, view: ir.RankedTensorType) -> Pairs:
    many, few = (source, view) if op.name == COLLAPSE else (view, source)
    found: Pairs = []
    for dim, group in enumerate(reassociation(op)):
        outer = next((each for each in group if many.shape[each] != 1), None)
        if outer is None or (DYNAMIC in (few.shape[dim], many.shape[outer]) and len(group) > 1):
            continue
        found.append((outer, dim) if op.name == COLLAPSE else (dim, outer))
    return found


def view_spreads(
    pairs: Pairs,
    spreads: Spreads,
    mesh: Mesh,
    source: ir.RankedTensorType,
    view: ir.RankedTensorType,
) -> Spreads:
    """Returns how a view is spread; whole along axes that divide what it is not divided by.

    Parts of different sizes are those of a dim of as many elements alone.
    """
    to = dict(pairs)
    found = tuple(
        Spread(axis=to[each.axis]) if each.axis in to else Spread(reduction=each.reduction)
        for each in spreads
    )
    uneven = {
        after
        for before, after in pairs
        if source.shape[before] != view.shape[after]
        and not (
            mesh.is_even(spreads, before, source.shape[before])
            and mesh.is_even(found, after, view.shape[after])
        )
    }
    return tuple(Spread() if each.axis in uneven else each for each in found)


def _numbers(op: ir.Operation, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name]))
