"""How a view is spread over a mesh, as its buffer is."""

from __future__ import annotations

from math import prod

from ....dialects.hir.layout import DYNAMIC
from ....dialects.hir.mesh import Mesh, Spreads
from ....dialects.hir.spread import Spread
from ....dialects.mlir import ir


def view_spreads(
    op: ir.Operation, spreads: Spreads, mesh: Mesh, source: ir.MemRefType, view: ir.MemRefType
) -> tuple[Spreads, Spreads]:
    """Returns how the buffer of a view must be spread, where it is spread so; and the view's
    spreads.

    The types are those of the whole.
    """
    dims = {dim: _target(op, dim, mesh, spreads, source, view) for dim in _divided(spreads)}
    needed = tuple(
        Spread() if each.axis is not None and dims[each.axis] is None else each for each in spreads
    )
    found = tuple(each if each.axis is None else Spread(axis=dims[each.axis]) for each in needed)
    return needed, found


def _divided(spreads: Spreads) -> set[int]:
    return {each.axis for each in spreads if each.axis is not None}


def _target(
    op: ir.Operation,
    dim: int,
    mesh: Mesh,
    spreads: Spreads,
    source: ir.MemRefType,
    view: ir.MemRefType,
) -> int | None:
    """Returns the view's dim that is the buffer's; None where the view cannot be
    taken of a part.

    Parts of different sizes are those of a dim of as many elements alone.
    """
    target = _same(op, dim, mesh.parts(spreads, dim), source, view)
    if target is None or mesh.is_even(spreads, dim, source.shape[dim]):
        return target
    return target if source.shape[dim] == view.shape[target] else None


def _same(
    op: ir.Operation, dim: int, parts: int, source: ir.MemRefType, view: ir.MemRefType
) -> int | None:
    if op.name == "hir.permute":
        return list(ir.DenseI64ArrayAttr(op.attributes["order"])).index(dim)
    if op.name in ("hir.select", "hir.slice"):
        axis = ir.IntegerAttr(op.attributes["axis"]).value
        if dim == axis:
            return None
        return dim - (op.name == "hir.select" and dim > axis)
    if op.name == "hir.expand":
        return dim + view.rank - source.rank
    return _reshaped(list(source.shape), list(view.shape), dim, parts)


def _reshaped(source: list[int], view: list[int], dim: int, parts: int) -> int | None:
    """Returns the outermost dim of the view that what begins with `dim` becomes, if it divides
    evenly.
    """
    before = source[:dim]
    if source == view:
        return dim
    for target in range(len(view)):
        same = view[:target] == before
        known = DYNAMIC not in (*before, *view[:target])
        if same or (known and prod(before) == prod(view[:target])):
            size = view[target]
            if size == 1 and source[dim] != 1:
                continue
            # An open size is the only one: it is what the other sizes leave.
            if size not in (DYNAMIC, source[dim]) and (size % parts or source[dim] == DYNAMIC):
                return None
            return target
    return None
