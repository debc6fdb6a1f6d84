"""Writes a result to memory in the shape in which it is returned.

  %m = linalg.generic ... outs(%e : tensor<1x1xf32>) {...}
  %r = tensor.collapse_shape %m [] : tensor<1x1xf32> into tensor<f32>
  return %r : tensor<f32>
becomes
  %r = linalg.generic ... outs(%f : tensor<f32>) {...}
  return %r : tensor<f32>

The caller's memory is then the destination, and no copy is needed. Where dims not of size 1 are
split or collapsed, the destination is a view of that memory:

  %m = linalg.generic ... outs(%e : tensor<32x4xf32>) {...}
  %r = tensor.expand_shape %m [[0, 1], [2]] ... : tensor<32x4xf32> into tensor<8x4x4xf32>
becomes
  %c = tensor.collapse_shape %f [[0, 1], [2]] : tensor<8x4x4xf32> into tensor<32x4xf32>
  %m = linalg.generic ... outs(%c : tensor<32x4xf32>) {...}
  %r = tensor.expand_shape %m [[0, 1], [2]] ... : tensor<32x4xf32> into tensor<8x4x4xf32>
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

from ...dialects.mlir import arith, ir
from ..constants import constant_value
from ..rewriting import index_constant
from .access import Access, Coordinate, is_zero, reassociation, zero
from .generic import accesses_of, inputs_of, loop_count, make_generic, reducing_loops
from .node import is_integer_division

_SCALAR = ("arith.", "affine.apply", "tensor.dim")
_COLLAPSE, _EXPAND, _EMPTY = "tensor.collapse_shape", "tensor.expand_shape", "tensor.empty"


def write_reshaped(op: ir.Operation) -> None:
    """Replaces a linalg.generic in the normal form whose results are returned in another shape."""
    first = len(inputs_of(op))
    views = [_only_view(result) for result in op.results]
    for number, view in enumerate(views):
        if view is not None and _splits(view):
            if _is_returned(view.results[0]):
                _write_to_view(op, first + number, view)
            views[number] = None
    accesses = accesses_of(op)
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
    # What was reshaped may be reshaped again.
    write_reshaped(new)


def _only_view(value: ir.Value) -> ir.Operation | None:
    """Returns the reshape that is a value's only use, if only returns use what that gives."""
    users = [use.owner.operation for use in value.uses]
    if len(users) != 1 or users[0].name not in (_COLLAPSE, _EXPAND):
        return None
    result = users[0].results[0]
    return users[0] if _is_returned(result) or _only_view(result) is not None else None


def _is_returned(value: ir.Value) -> bool:
    returned = [use.owner.operation.name == "func.return" for use in value.uses]
    return bool(returned) and all(returned)


def _splits(view: ir.Operation) -> bool:
    """Returns whether a reshape splits or collapses dims not of size 1."""
    split = view.operands[0] if view.name == _COLLAPSE else view.results[0]
    shape = ir.RankedTensorType(split.type).shape
    return any(sum(shape[dim] != 1 for dim in dims) > 1 for dims in reassociation(view))


def _write_to_view(op: ir.Operation, number: int, view: ir.Operation) -> None:
    """Makes an operand that a result begins as a view of memory in the shape that is returned."""
    begun = op.operands[number]
    owner = begun.owner
    if isinstance(owner, ir.Block) or owner.operation.name != _EMPTY:
        return
    kind, old = view.results[0].type, list(owner.operation.operands)
    is_collapse = view.name == _COLLAPSE
    attributes: dict[str, ir.Attribute] = {"reassociation": view.attributes["reassociation"]}
    if is_collapse:
        shape = ir.RankedTensorType(begun.type).shape
        attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get(list(shape))
    elif not all(_precedes(size, op) for size in view.operands[1:]):
        return
    with op.location, ir.InsertionPoint(op):
        sizes = collapsed_sizes(view, old) if is_collapse else list(view.operands)[1:]
        whole = ir.Operation.create(_EMPTY, results=[kind], operands=sizes).results[0]
        op.operands[number] = ir.Operation.create(
            _EXPAND if is_collapse else _COLLAPSE,
            results=[begun.type],
            operands=[whole, *(old if is_collapse else [])],
            attributes=attributes,
        ).results[0]


def _precedes(value: ir.Value, op: ir.Operation) -> bool:
    """Returns whether a size is known before an operation; moves there what computes it."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.block != op.block:
        return True
    work = owner.operation
    if work.is_before_in_block(op):
        return True
    if not work.name.startswith(_SCALAR) or not all(_precedes(each, op) for each in work.operands):
        return False
    # By 0 nothing is divided before that is refused.
    if is_integer_division(work.name) and not constant_value(work.operands[1]):
        return False
    work.move_before(op)
    return True


def collapsed_sizes(view: ir.Operation, sizes: Sequence[ir.Value]) -> list[ir.Value]:
    """Emits the open sizes of what a tensor or buffer with these open sizes is collapsed to."""
    kind = ir.ShapedType(view.operands[0].type)
    given = iter(sizes)
    found: list[ir.Value] = []
    for dims in reassociation(view):
        known = prod(kind.shape[dim] for dim in dims if not kind.is_dynamic_dim(dim))
        open_sizes = [next(given) for dim in dims if kind.is_dynamic_dim(dim)]
        if open_sizes:
            factors = [*open_sizes, *([index_constant(known)] if known != 1 else [])]
            found.append(reduce(arith.muli, factors))
    return found


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
