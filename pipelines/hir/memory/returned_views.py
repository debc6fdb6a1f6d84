"""Buffers that are returned in another shape, allocated in that shape.

  %y = "hir.allocate"() : () -> memref<8x48x13xf32>
  linalg.generic ... outs(%y : memref<8x48x13xf32>)
  %v = memref.expand_shape %y [[0], [1, 2], [3]] output_shape [8, 2, 24, 13] : ...
  "hir.output"(%v) : (memref<8x2x24x13xf32>) -> ()
becomes
  %w = "hir.allocate"() : () -> memref<8x2x24x13xf32>
  %y = memref.collapse_shape %w [[0], [1, 2], [3]] : ...
  linalg.generic ... outs(%y : memref<8x48x13xf32>)
  "hir.output"(%w) : (memref<8x2x24x13xf32>) -> ()

So callers can hand the memory in, and the output is no part of other memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.hir.layout import has_identity_layout
from ....dialects.mlir import ir
from ...fusion.reshaped_results import collapsed_sizes
from ...walking import defining_op, is_used
from ..fresh_buffers import allocate
from .owners import is_known_before, outputs_of

_COLLAPSE, _EXPAND = "memref.collapse_shape", "memref.expand_shape"
# Besides arithmetic, what sizes need.
_SCALAR = ("cf.assert", "memref.dim")


def allocate_as_returned(block: ir.Block) -> None:
    """Allocates what a program's outputs are views of in their shapes, where that is all of it.

    That is where reshapes alone are between, and no other output shows the memory.
    """
    outputs = outputs_of(block)
    chains = [_views(output.operands[0]) for output in outputs]
    roots = [_root(views, output) for views, output in zip(chains, outputs, strict=True)]
    known = [root for root in roots if root is not None]
    found = [
        (root, views, output)
        for root, views, output in zip(roots, chains, outputs, strict=True)
        if root is not None and views and known.count(root) == 1 and _is_whole(root, views, block)
    ]
    for root, views, output in found:
        _allocate(root, views, output)


def _views(value: ir.Value) -> list[ir.Operation]:
    """Returns the reshapes that a value is made by, the last one first."""
    found: list[ir.Operation] = []
    op = defining_op(value)
    while op is not None and op.name in (_COLLAPSE, _EXPAND):
        found.append(op)
        op = defining_op(op.operands[0])
    return found


def _root(views: Sequence[ir.Operation], output: ir.Operation) -> ir.Operation | None:
    """Returns what gives the memory of an output."""
    return defining_op(views[-1].operands[0] if views else output.operands[0])


def _is_whole(root: ir.Operation, views: Sequence[ir.Operation], block: ir.Block) -> bool:
    """Returns whether it is a packed allocation like others, in the program's own block."""
    if root.name != "hir.allocate" or root.block != block or len(root.attributes):
        return False
    kinds = [root.results[0].type, *(view.results[0].type for view in views)]
    return all(has_identity_layout(ir.MemRefType(kind)) for kind in kinds)


def _allocate(root: ir.Operation, views: Sequence[ir.Operation], output: ir.Operation) -> None:
    sizes = _sizes(root, views)
    if sizes is None:
        return
    with root.location, ir.InsertionPoint(root):
        whole = value = allocate(ir.MemRefType(views[0].results[0].type), sizes[0])
        for view, own in zip(views, sizes[1:], strict=True):
            value = _undone(view, value, own)
    root.results[0].replace_all_uses_with(value)
    root.erase()
    output.operands[0] = whole
    for view in views:
        if not is_used(view.results[0]):
            view.erase()


def _undone(view: ir.Operation, value: ir.Value, sizes: Sequence[ir.Value]) -> ir.Value:
    """Emits what a reshape is given, as a view of what it gives."""
    kind = view.operands[0].type
    attributes: dict[str, ir.Attribute] = {"reassociation": view.attributes["reassociation"]}
    if view.name == _EXPAND:
        return ir.Operation.create(_COLLAPSE, [kind], [value], attributes).results[0]
    shape = list(ir.MemRefType(kind).shape)
    attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get(shape)
    return ir.Operation.create(_EXPAND, [kind], [value, *sizes], attributes).results[0]


def _sizes(root: ir.Operation, views: Sequence[ir.Operation]) -> list[list[ir.Value]] | None:
    """Returns the open sizes of what each reshape gives, the last one first, and of the root.

    None where one is not known before the root.
    """
    found = [list(root.operands)]
    if any(view.name == _EXPAND and len(view.operands) > 1 for view in views):
        _compute_early(root, views[0])
    for view in reversed(views):
        if view.name == _EXPAND:
            found.insert(0, list(view.operands)[1:])
            if not all(is_known_before(size, root) for size in found[0]):
                return None
        else:
            with root.location, ir.InsertionPoint(root):
                found.insert(0, collapsed_sizes(view, found[0]))
    return found


def _compute_early(root: ir.Operation, end: ir.Operation) -> None:
    """Moves what computes sizes, and assertions, from between two operations to before the first.

    So an assertion still comes before what divides by the number that it is about.
    """
    block = root.block
    operations = [op.operation for op in block]
    for op in operations[operations.index(root) + 1 : operations.index(end)]:
        is_scalar = op.name.startswith("arith.") or op.name in _SCALAR
        if is_scalar and all(is_known_before(operand, root) for operand in op.operands):
            op.move_before(root)
