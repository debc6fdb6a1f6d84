"""resolve-tensor-sizes: derives sizes of tensors from the operands of the tensors' operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ...dialects.mlir import ir, passmanager
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..walking import operations_where

# With one operand, upstream would fold it.
_HIDDEN = "builtin.unrealized_conversion_cast"
_MARK = "hir.hides_sizes"


@register
@dataclass(frozen=True)
class ResolveTensorSizes(Pass):
    """Runs upstream's `resolve-shaped-type-result-dims`, with correct sizes of updated tensors.

    Upstream derives the sizes of a linalg operation's results from its indexing maps. Where a
    result is not indexed by loops, as that of `hir.scatter`, whose map is a constant, it takes the
    constant. Such a result has the sizes of its destination.

      %y = linalg.generic {indexing_maps = [(d0) -> (d0), (d0) -> (0)],
                           iterator_types = ["parallel"]}
          ins(%x : tensor<?xf32>) outs(%d : tensor<?xf32>) {...}
      %e = tensor.expand_shape %y [[0, 1]] output_shape [%n, 1]
      %size = tensor.dim %e, %c0
    becomes, where upstream's gives 0,
      %size = tensor.dim %d, %c0
    """

    name: ClassVar[str] = "resolve-tensor-sizes"

    def run(self, op: ir.Operation) -> None:
        resolve_tensor_sizes(op)


def resolve_tensor_sizes(op: ir.Operation) -> None:
    """Runs the pass on a module."""
    upstream = passmanager.PassManager.parse(
        "builtin.module(resolve-shaped-type-result-dims)", op.context
    )
    # As between all passes of a stage: a window that is read once has no loop over its places, and
    # fewer iterations along a dim than the dim has elements.
    upstream.enable_verifier(False)
    is_left = True
    while is_left:
        for result, destination in [*_updates_elsewhere(op)]:
            _hide(result, destination)
        upstream.run(op)
        # Unused operations are gone. Sizes of the destinations are resolved in turn.
        hidden = operations_where(op, lambda inner: _MARK in inner.attributes)
        is_left = sum(_show(each) for each in hidden) > 0


def _updates_elsewhere(op: ir.Operation) -> Iterator[tuple[ir.OpResult, ir.Value]]:
    """Yields the results that are not indexed by loops, and their destinations."""
    for generic in operations_where(op, lambda inner: inner.name == "linalg.generic"):
        results = [*generic.results]
        maps = [*ir.ArrayAttr(generic.attributes["indexing_maps"])]
        destinations = [*generic.operands][len(generic.operands) - len(results) :]
        for result, place, destination in zip(
            results, maps[len(maps) - len(results) :], destinations, strict=True
        ):
            along = ir.AffineMapAttr(place).value.results
            if not all(isinstance(each, ir.AffineDimExpr) for each in along):
                yield result, destination


def _hide(result: ir.OpResult, destination: ir.Value) -> None:
    """Replaces a result, for its users, by an operation whose sizes upstream cannot derive."""
    owner = result.owner.operation
    with owner.location, ir.InsertionPoint.after(owner):
        mark: dict[str, ir.Attribute] = {_MARK: ir.UnitAttr.get()}
        hidden = ir.Operation.create(_HIDDEN, [result.type], [result, destination], mark)
    result.replace_all_uses_except(hidden.result, hidden)


def _show(hidden: ir.Operation) -> bool:
    """Undoes `_hide`; returns whether an operation reads the result's size."""
    result, destination = hidden.operands
    sizes = [use.owner for use in hidden.result.uses if use.owner.name == "tensor.dim"]
    for size in sizes:
        size.operands[0] = destination
    hidden.result.replace_all_uses_with(result)
    hidden.erase()
    return bool(sizes)
