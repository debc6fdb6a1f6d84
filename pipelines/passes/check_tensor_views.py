"""check-tensor-views: what a program says of its tensors' sizes is checked when it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import cf, indexing_maps, ir
from ...dialects.records import dataclass
from ..hir.access_checks import check_accesses, is_indexed
from ..pass_base import Pass, register
from ..size_assertions import assert_equal
from ..view_checks import (
    Condition,
    as_value,
    conditions_of_cast,
    conditions_of_expansion,
    conditions_of_slice,
    equal,
    mixed,
    operand_groups,
    shape_of,
    size_of,
)
from ..walking import operations_where
from .resolve_tensor_sizes import resolve_tensor_sizes
from .select_host_programs import MARK

_VIEWS = ("tensor.cast", "tensor.expand_shape", "tensor.extract_slice", "tensor.insert_slice")


@register
@dataclass(frozen=True)
class CheckTensorViews(Pass):
    """Adds an assertion to each view of a tensor that is valid for some sizes only.

    Such views are casts to known sizes, expanded shapes, and slices that are read or written. It
    also adds one to each linalg operation whose indexing maps compute indices, or that only copies.
    Facts that follow from types are not checked, and assertions that fold away cost nothing.

      %y = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
    becomes
      %size = tensor.dim %x, %zero : tensor<?xf32>
      %fits = arith.cmpi eq, %size, %four : index
      cf.assert %fits, "tensor.cast: the size of dim 0 is not the 4 that its type says"
      %y = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
    """

    name: ClassVar[str] = "check-tensor-views"

    def run(self, op: ir.Operation) -> None:
        functions = operations_where(op, lambda inner: MARK in inner.attributes)
        for function in functions:
            for view in operations_where(function, lambda inner: inner.name in _VIEWS):
                with view.location, ir.InsertionPoint(view):
                    for fits, message in _conditions(view):
                        cf.AssertOp(fits, f"{view.name}: {message}")
        accesses = [each for function in functions for each in operations_where(function, _indexes)]
        checked = [check_accesses(each) for each in accesses]
        checked += [_check_copy(each) for each in accesses if _copies(each)]
        if any(checked):
            # An operation that reads a tensor's size would keep it from being fused.
            resolve_tensor_sizes(op)


def _indexes(op: ir.Operation) -> bool:
    return is_indexed(op) and bool(op.results)


def _copies(op: ir.Operation) -> bool:
    """Returns whether a linalg operation gives what it reads, element by element.

    Canonicalization makes it a cast, or nothing, and no kernel compares its operands' sizes.
    """
    (end, *others) = op.regions[0].blocks[0].operations
    return (
        end.operation.name == "linalg.yield"
        and not others
        and all(map_ == ir.AffineMap.get_identity(map_.n_dims) for map_ in indexing_maps(op))
        and all(isinstance(each.type, ir.RankedTensorType) for each in op.operands)
    )


def _check_copy(op: ir.Operation) -> bool:
    """Adds assertions that all operands have the first one's sizes; returns whether any."""
    is_checked = False
    first, *others = op.operands
    with op.location, ir.InsertionPoint(op):
        for number, other in enumerate(others, 1):
            for axis, sizes in enumerate(zip(shape_of(first), shape_of(other), strict=True)):
                if DYNAMIC in sizes:
                    which = f"dim {axis} of operand 0 and dim {axis} of operand {number}"
                    text = f"{which} are one loop of {op.name} and must have the same size"
                    assert_equal(size_of(first, axis), size_of(other, axis), text, "{0} and {1}")
                    is_checked = True
    return is_checked


def _conditions(view: ir.Operation) -> Iterator[Condition]:
    """Yields what must hold, and what is wrong where it does not."""
    match view.name:
        case "tensor.cast":
            ends = view.operands[0], view.results[0]
            if all(isinstance(each.type, ir.RankedTensorType) for each in ends):
                yield from conditions_of_cast(*ends)
        case "tensor.expand_shape":
            yield from conditions_of_expansion(view)
        case "tensor.extract_slice":
            yield from conditions_of_slice(view, view.operands[0], operand_groups(view)[1:])
        case _:
            yield from conditions_of_slice(view, view.operands[1], operand_groups(view)[2:])
            yield from _of_inserted(view)


def _of_inserted(view: ir.Operation) -> Iterator[Condition]:
    """A slice must have the sizes of what is written to it."""
    source = view.operands[0]
    given = mixed(view, "static_sizes", operand_groups(view)[3])
    sizes, shape, rank = iter(given), shape_of(source), len(given)
    for axis, wanted in enumerate(shape):
        size = next(sizes)
        # Sizes of 1 that the source does not have.
        while rank > len(shape) and size == 1 and wanted != 1:
            size = next(sizes)
        if wanted == DYNAMIC or not isinstance(size, int):
            message = f"the size of dim {axis} of what is inserted is not that of the slice"
            yield equal(size_of(source, axis), as_value(size)), message
