"""expand-tensor-reshapes: tensor.reshape by sizes that are known when the program runs."""

from __future__ import annotations

import math
from functools import reduce
from typing import ClassVar

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import arith, cf, ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import index_constant, rewrite_each
from ..tensors import cast_to, size_of
from ..view_checks import checked_product
from ..walking import is_used, operations_where

_SHAPES = ("tensor.from_elements", "arith.constant")


@register
@dataclass(frozen=True)
class ExpandTensorReshapes(Pass):
    """Turns tensor.reshape into a collapsed and an expanded shape, whose sizes are values.

    A tensor that is collapsed to a dim known to be 0 has no elements, and is an empty one whose
    type says so: MLIR drops work on such tensors, and must not learn of it only once what the work
    begins with is part of it.

    Sizes in a tensor.from_elements are its operands; of another tensor they are read, for which the
    host waits. That they are those of the type, and of as many elements, is asserted.

      %y = tensor.reshape %x(%sizes) : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<4x?xf32>
    becomes
      %flat = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
      %y = tensor.expand_shape %flat [[0, 1]] output_shape [4, %n]
          : tensor<?xf32> into tensor<4x?xf32>
    """

    name: ClassVar[str] = "expand-tensor-reshapes"

    def run(self, op: ir.Operation) -> None:
        rewrite_each(op, {"tensor.reshape": _expand})
        rewrite_each(op, {"tensor.collapse_shape": _say_empty})
        # Tensors of index, of which there are no buffers, are gone then.
        for shape in operations_where(op, lambda inner: inner.name in _SHAPES):
            if not is_used(shape.results[0]):
                shape.erase()


def _expand(op: ir.Operation) -> list[ir.Value] | None:
    source, shape = op.operands
    kind = op.results[0].type
    if not isinstance(source.type, ir.RankedTensorType) or not isinstance(
        kind, ir.RankedTensorType
    ):
        return None
    given = ir.RankedTensorType(source.type)
    sizes = [_size_at(shape, axis) for axis in range(kind.rank)]
    for axis, (size, wanted) in enumerate(zip(sizes, kind.shape, strict=True)):
        if wanted != DYNAMIC:
            message = f"tensor.reshape: size {axis} is not the {wanted} that its type says"
            cf.AssertOp(_equal(size, index_constant(wanted)), message)
    old = [size_of(source, axis) for axis in range(given.rank)]
    cf.AssertOp(
        _have_as_many(sizes, old),
        "tensor.reshape: the sizes are not of as many elements as the tensor has",
    )
    flat = _flat(source, given, is_open=DYNAMIC in kind.shape, count=math.prod(kind.shape))
    return [_shaped(flat, kind, sizes)]


def _say_empty(op: ir.Operation) -> list[ir.Value] | None:
    source, kind = op.operands[0], ir.RankedTensorType(op.results[0].type)
    shape = ir.RankedTensorType(source.type).shape
    groups = [
        [ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)]
        for group in ir.ArrayAttr(op.attributes["reassociation"])
    ]
    known = [
        0 if size == DYNAMIC and any(shape[axis] == 0 for axis in group) else size
        for size, group in zip(kind.shape, groups, strict=True)
    ]
    if known == list(kind.shape):
        return None
    open_sizes: list[ir.Value] = []
    for size, group in zip(known, groups, strict=True):
        if size == DYNAMIC:
            sizes = [size_of(source, axis) for axis in group]
            open_sizes.append(reduce(arith.muli, sizes))
    empty = ir.RankedTensorType.get(known, kind.element_type)
    made = ir.Operation.create("tensor.empty", results=[empty], operands=open_sizes)
    return [cast_to(made.results[0], kind)]


def _size_at(shape: ir.Value, axis: int) -> ir.Value:
    """Element `axis` of a tensor of sizes, as an index."""
    made = None if isinstance(shape.owner, ir.Block) else shape.owner.operation
    if made is not None and made.name == "tensor.from_elements":
        size = made.operands[axis]
    elif made is not None and made.name == "arith.constant":
        return index_constant(ir.DenseIntElementsAttr(made.attributes["value"])[axis])
    else:
        element = ir.RankedTensorType(shape.type).element_type
        operands = [shape, index_constant(axis)]
        size = ir.Operation.create("tensor.extract", [element], operands).results[0]
    index = ir.IndexType.get()
    return size if size.type == index else arith.index_cast(index, size)


def _have_as_many(sizes: list[ir.Value], old: list[ir.Value]) -> ir.Value:
    """Returns whether sizes have the product of those of a tensor, and none is negative."""
    product, beyond = checked_product(sizes or [index_constant(1)])
    whole = index_constant(1)
    for size in old:
        whole = arith.muli(whole, size)
    return arith.andi(_equal(product, whole), _equal(beyond, index_constant(0)))


def _flat(source: ir.Value, given: ir.RankedTensorType, *, is_open: bool, count: int) -> ir.Value:
    """Returns the tensor with one dim: open where the result has an open size, else of `count`
    elements.
    """
    element = given.element_type
    size = DYNAMIC if DYNAMIC in given.shape else math.prod(given.shape)
    if given.rank == 0:
        flat = _view("tensor.expand_shape", source, ir.RankedTensorType.get([1], element), [])
    elif given.rank > 1:
        whole = ir.RankedTensorType.get([size], element)
        flat = _view("tensor.collapse_shape", source, whole, [list(range(given.rank))])
    else:
        flat = source
    return cast_to(flat, ir.RankedTensorType.get([DYNAMIC if is_open else count], element))


def _shaped(flat: ir.Value, kind: ir.RankedTensorType, sizes: list[ir.Value]) -> ir.Value:
    if kind.rank == 0:
        return _view("tensor.collapse_shape", flat, kind, [])
    if kind.rank == 1:
        return cast_to(flat, kind)
    return _view("tensor.expand_shape", flat, kind, [list(range(kind.rank))], sizes)


def _view(
    name: str,
    source: ir.Value,
    kind: ir.RankedTensorType,
    groups: list[list[int]],
    sizes: list[ir.Value] | None = None,
) -> ir.Value:
    i64 = ir.IntegerType.get_signless(64)
    attributes: dict[str, ir.Attribute] = {
        "reassociation": ir.ArrayAttr.get(
            [
                ir.ArrayAttr.get([ir.IntegerAttr.get(i64, axis) for axis in group])
                for group in groups
            ]
        )
    }
    operands = [source]
    if name == "tensor.expand_shape":
        shape = list(kind.shape)
        attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get(shape)
        pairs = zip(shape, sizes or [], strict=False)
        operands += [value for size, value in pairs if size == DYNAMIC]
    return ir.Operation.create(name, [kind], operands, attributes).results[0]


def _equal(first: ir.Value, second: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.eq, first, second)
