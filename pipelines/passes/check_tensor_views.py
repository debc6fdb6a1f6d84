"""check-tensor-views: what a program says of its tensors' sizes is checked when it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import arith, cf, ir
from ..pass_base import Pass, register
from ..rewriting import index_constant
from ..walking import operations_where
from .select_host_programs import MARK

_Predicate = arith.CmpIPredicate
_VIEWS = ("tensor.cast", "tensor.expand_shape", "tensor.extract_slice", "tensor.insert_slice")


@register
@dataclass(frozen=True)
class CheckTensorViews(Pass):
    """Adds an assertion to each view that is none unless sizes are as it says.

    Views are casts to known sizes, expanded shapes, and slices that are read or written. What types
    say already is not checked, and what folds away costs nothing.

      %y = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
    becomes
      %size = tensor.dim %x, %zero : tensor<?xf32>
      %fits = arith.cmpi eq, %size, %four : index
      cf.assert %fits, "tensor.cast: the size of dim 0 is not the 4 that its type says"
      %y = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
    """

    name: ClassVar[str] = "check-tensor-views"

    def run(self, op: ir.Operation) -> None:
        for function in operations_where(op, lambda inner: MARK in inner.attributes):
            for view in operations_where(function, lambda inner: inner.name in _VIEWS):
                with view.location, ir.InsertionPoint(view):
                    for fits, message in _conditions(view):
                        cf.AssertOp(fits, f"{view.name}: {message}")


def _conditions(view: ir.Operation) -> Iterator[tuple[ir.Value, str]]:
    """What must hold, and what is wrong where it does not."""
    match view.name:
        case "tensor.cast":
            yield from _of_cast(view)
        case "tensor.expand_shape":
            yield from _of_expansion(view)
        case "tensor.extract_slice":
            yield from _of_slice(view, view.operands[0], _groups(view)[1:])
        case _:
            yield from _of_slice(view, view.operands[1], _groups(view)[2:])
            yield from _of_inserted(view)


def _groups(view: ir.Operation) -> list[list[ir.Value]]:
    """The operands of a slice: its tensors, one a group, its offsets, sizes and strides."""
    operands = list(view.operands)
    groups: list[list[ir.Value]] = []
    for count in ir.DenseI32ArrayAttr(view.attributes["operandSegmentSizes"]):
        groups.append(operands[:count])
        del operands[:count]
    return groups


def _of_cast(view: ir.Operation) -> Iterator[tuple[ir.Value, str]]:
    source, result = view.operands[0], view.results[0]
    if not all(isinstance(each.type, ir.RankedTensorType) for each in (source, result)):
        return
    for axis, (size, wanted) in enumerate(zip(_shape(source), _shape(result), strict=True)):
        if size == DYNAMIC and wanted != DYNAMIC:
            message = f"the size of dim {axis} is not the {wanted} that its type says"
            yield _equal(_size(source, axis), index_constant(wanted)), message


def _of_expansion(view: ir.Operation) -> Iterator[tuple[ir.Value, str]]:
    source, *open_sizes = view.operands
    sizes = _mixed(view, "static_output_shape", open_sizes)
    groups = [
        [ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)]
        for group in ir.ArrayAttr(view.attributes["reassociation"])
    ]
    for axis, group in enumerate(groups):
        parts = [sizes[place] for place in group]
        if all(isinstance(part, int) for part in parts) and _shape(source)[axis] != DYNAMIC:
            continue
        whole = _size(source, axis)
        product = signs = _value(parts[0])
        fits: ir.Value | None = None
        for part in parts[1:]:
            if part == 1:
                continue
            product, high = arith.mului_extended(product, _value(part))
            signs = arith.ori(signs, _value(part))
            none = _equal(high, index_constant(0))
            fits = none if fits is None else arith.andi(fits, none)
        if fits is not None:  # beside a 0, a negative size makes up no elements too
            fits = arith.andi(fits, arith.cmpi(_Predicate.sge, signs, index_constant(0)))
        same = _equal(product, whole)
        shown = ", ".join(map(str, group))
        yield (
            same if fits is None else arith.andi(fits, same),
            f"the sizes of dims {shown} do not make up the size of dim {axis} of the operand",
        )


def _of_slice(
    view: ir.Operation, whole: ir.Value, groups: Sequence[Sequence[ir.Value]]
) -> Iterator[tuple[ir.Value, str]]:
    """Every element of the slice must be one of the whole; an empty slice begins within it."""
    names = ("static_offsets", "static_sizes", "static_strides")
    offsets, sizes, strides = (
        _mixed(view, name, group) for name, group in zip(names, groups, strict=True)
    )
    for axis, (offset, size, stride) in enumerate(zip(offsets, sizes, strides, strict=True)):
        limit = _shape(whole)[axis]
        known = [offset, size, stride, limit]
        if all(isinstance(each, int) for each in known) and limit != DYNAMIC:
            continue
        extent = _size(whole, axis)
        room, fits = extent, None
        if offset != 0:
            # A negative offset is a great number here.
            fits = arith.cmpi(_Predicate.ule, _value(offset), extent)
            room = arith.subi(extent, _value(offset))
        if stride != 1:
            room, moves = _steps(_value(offset), extent, room, stride)
            if moves is not None:
                fits = moves if fits is None else arith.andi(fits, moves)
        within = arith.cmpi(_Predicate.ule, _value(size), room)
        yield (
            within if fits is None else arith.andi(fits, within),
            f"the slice's offset, size and stride go beyond the size of dim {axis}",
        )


def _steps(
    offset: ir.Value, extent: ir.Value, room: ir.Value, stride: int | ir.Value
) -> tuple[ir.Value, ir.Value | None]:
    """How many elements a slice has at most, and, unless it is known, that its stride is not 0.

    `room` elements lie from the offset on; a negative stride goes from there to the first.
    """
    if isinstance(stride, int) and stride > 0:
        return arith.ceildivui(room, index_constant(stride)), None
    step, zero, one = _value(stride), index_constant(0), index_constant(1)
    moves = None if isinstance(stride, int) and stride else arith.cmpi(_Predicate.ne, step, zero)
    is_begun = arith.cmpi(_Predicate.ult, offset, extent)
    behind = arith.select(is_begun, arith.addi(offset, one), zero)
    is_backward = arith.cmpi(_Predicate.slt, step, zero)
    length = arith.select(is_backward, arith.subi(zero, step), arith.maxsi(step, one))
    return arith.ceildivui(arith.select(is_backward, behind, room), length), moves


def _of_inserted(view: ir.Operation) -> Iterator[tuple[ir.Value, str]]:
    """A slice must have the sizes of what is written to it."""
    source = view.operands[0]
    given = _mixed(view, "static_sizes", _groups(view)[3])
    sizes, shape, rank = iter(given), _shape(source), len(given)
    for axis, wanted in enumerate(shape):
        size = next(sizes)
        # Sizes of 1 that the source does not have.
        while rank > len(shape) and size == 1 and wanted != 1:
            size = next(sizes)
        if wanted == DYNAMIC or not isinstance(size, int):
            message = f"the size of dim {axis} of what is inserted is not that of the slice"
            yield _equal(_size(source, axis), _value(size)), message


def _mixed(view: ir.Operation, name: str, operands: Sequence[ir.Value]) -> list[int | ir.Value]:
    """Numbers that are known, by an attribute, and operands for the others."""
    given = iter(operands)
    static = ir.DenseI64ArrayAttr(view.attributes[name])
    return [next(given) if each == DYNAMIC else each for each in static]


def _value(size: int | ir.Value) -> ir.Value:
    return index_constant(size) if isinstance(size, int) else size


def _shape(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


def _size(value: ir.Value, axis: int) -> ir.Value:
    size = _shape(value)[axis]
    if size != DYNAMIC:
        return index_constant(size)
    operands = [value, index_constant(axis)]
    kind = ir.IndexType.get()
    return ir.Operation.create("tensor.dim", results=[kind], operands=operands).results[0]


def _equal(first: ir.Value, second: ir.Value) -> ir.Value:
    return arith.cmpi(_Predicate.eq, first, second)
