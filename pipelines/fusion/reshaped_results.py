"""Writes a result in the shape in which it is returned, where only dims of size 1 differ.

  %m = linalg.generic ... outs(%e : tensor<1x1xf32>) {...}
  %r = tensor.collapse_shape %m [] : tensor<1x1xf32> into tensor<f32>
  return %r : tensor<f32>
becomes
  %r = linalg.generic ... outs(%f : tensor<f32>) {...}
  return %r : tensor<f32>

The caller's memory is then the destination, and no copy is needed.
"""

from __future__ import annotations

from ...dialects.mlir import ir
from .access import Access, Coordinate, is_zero, reassociation, zero
from .generic import accesses_of, inputs_of, loop_count, make_generic, reducing_loops

_COLLAPSE, _EXPAND, _EMPTY = "tensor.collapse_shape", "tensor.expand_shape", "tensor.empty"


def write_reshaped(op: ir.Operation) -> None:
    """Replaces a linalg.generic in the normal form whose results are returned in another shape."""
    accesses, first = accesses_of(op), len(inputs_of(op))
    views = [_only_view(result) for result in op.results]
    outputs = [
        access if view is None else _reshaped(access, view)
        for access, view in zip(accesses[first:], views, strict=True)
    ]
    if all(output is None or view is None for output, view in zip(outputs, views, strict=True)):
        return
    written = [
        access if output is None else output
        for access, output in zip(accesses[first:], outputs, strict=True)
    ]
    with op.location, ir.InsertionPoint(op):
        block, loops = op.regions[0].blocks[0], loop_count(op)
        new = make_generic(accesses[:first], written, loops, reducing_loops(op), block, of=[op])
    for old, result, view, output in zip(op.results, new.results, views, outputs, strict=True):
        if view is None or output is None:
            old.replace_all_uses_with(result)
        else:
            view.results[0].replace_all_uses_with(result)
            view.erase()
    op.erase()


def _only_view(value: ir.Value) -> ir.Operation | None:
    """Returns the reshape that is a value's only use, if only returns use the reshape."""
    users = [use.owner.operation for use in value.uses]
    if len(users) != 1 or users[0].name not in (_COLLAPSE, _EXPAND):
        return None
    returned = [use.owner.operation.name == "func.return" for use in users[0].results[0].uses]
    return users[0] if returned and all(returned) else None


def _reshaped(access: Access, view: ir.Operation) -> Access | None:
    """Emits the access to a reshaped result; returns None where dims not of size 1 differ."""
    kind = ir.RankedTensorType(view.results[0].type)
    owner = access.value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != _EMPTY:
        return None
    index = _index(access, view)
    sizes = list(owner.operation.operands)
    if index is None or sum(map(kind.is_dynamic_dim, range(kind.rank))) != len(sizes):
        return None
    with owner.operation.location, ir.InsertionPoint(owner.operation):
        empty = ir.Operation.create(_EMPTY, results=[kind], operands=sizes).results[0]
    return Access(empty, index)


def _index(access: Access, view: ir.Operation) -> tuple[Coordinate, ...] | None:
    is_collapse = view.name == _COLLAPSE
    split = access.value if is_collapse else view.results[0]
    shape = ir.RankedTensorType(split.type).shape
    index: list[Coordinate] = [zero()] * (len(reassociation(view)) if is_collapse else len(shape))
    kept = 0
    for group, dims in enumerate(reassociation(view)):
        large = [dim for dim in dims if shape[dim] != 1]
        if len(large) > 1:
            return None
        if large:
            source, target = (large[0], group) if is_collapse else (group, large[0])
            index[target] = access.index[source]
            kept += 1
    # A dim that is left out has one index only.
    places = [each for each in access.index if isinstance(each, int) or not is_zero(each)]
    return tuple(index) if kept == len(places) else None
