"""Activations of products that are computed in another shape."""

from __future__ import annotations

from ...dialects.mlir import indexing_maps, ir
from .finish import read_activation
from .fused import Following, clone_body, find_following, is_elementwise
from .product import Product


def find_following_reshaped(
    op: ir.Operation, product: Product, *, ignores_nan: bool = False
) -> Following | None:
    """Returns what find_following finds, with an activation from behind a tensor.expand_shape.

    That is then part of the elementwise operation before it.

      %s = linalg.generic ins(%y, %bias : ...) { addf, truncf }
      %e = tensor.expand_shape %s [[0, 1], [2]] ...
      %r = linalg.generic ins(%e : ...) { maximumf }
    becomes
      %s = linalg.generic ins(%y, %bias : ...) { addf, truncf, maximumf }
      %r = tensor.expand_shape %s [[0, 1], [2]] ...
    """
    following = find_following(op, product, ignores_nan=ignores_nan)
    if following is None or following.product.activation:
        return following
    expanded = _lone_reader(following.op)
    if expanded is None or expanded.name != "tensor.expand_shape":
        return following
    reader = _lone_reader(expanded)
    if reader is None or reader.operands[0] != expanded.results[0]:
        return following
    if not _is_activation(reader, ignores_nan=ignores_nan):
        return following
    # What the activation refers to comes before it.
    following.op.move_before(reader)
    expanded.move_before(reader)
    _append(following.op, reader)
    reader.results[0].replace_all_uses_with(expanded.results[0])
    reader.erase()
    return find_following(op, product, ignores_nan=ignores_nan)


def _lone_reader(op: ir.Operation) -> ir.Operation | None:
    """Returns what alone reads an operation's result, where it is beside it."""
    uses = list(op.results[0].uses)
    if len(uses) != 1 or uses[0].owner.operation.block != op.block:
        return None
    return uses[0].owner.operation


def _is_activation(op: ir.Operation, *, ignores_nan: bool) -> bool:
    """Returns whether an operation makes of each element, in its place, what the library can make
    of it.
    """
    if not is_elementwise(op, 0) or len(op.operands) != 2:
        return False
    if op.results[0].type != op.operands[0].type:
        return False
    block = op.regions[0].blocks[0]
    element = block.arguments[0].type
    identity = ir.AffineMap.get_identity(ir.ShapedType(op.results[0].type).rank)
    if any(each != identity for each in indexing_maps(op)):
        return False
    end = list(block)[-1].operation
    total = block.arguments[0]
    return bool(read_activation(end.operands[0], total, [], element, ignores_nan=ignores_nan))


def _append(op: ir.Operation, reader: ir.Operation) -> None:
    """Lets an elementwise operation compute what another one makes of its result."""
    end = list(op.regions[0].blocks[0])[-1].operation
    source = reader.regions[0].blocks[0]
    with ir.InsertionPoint(end):
        end.operands[0] = clone_body(source, {source.arguments[0]: end.operands[0]})
