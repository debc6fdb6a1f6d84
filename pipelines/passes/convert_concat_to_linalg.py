"""convert-concat-to-linalg: a concatenation is written once, by one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..contractions.computed import makes_factor
from ..generics import each_place, element_or, loop_index
from ..pass_base import Pass, register
from ..rewriting import constant, index_constant, rewrite_each
from ..schedules.device import device_of_option
from ..size_assertions import assert_equal
from ..tensors import size_of

# More tensors than that are copied one by one: each costs every element a comparison.
_MOST = 8


@register
@dataclass(frozen=True)
class ConvertConcatToLinalg(Pass):
    """Turns tensor.concat into a linalg.generic that picks each element from the tensor it is of.

    Otherwise each tensor would be copied by a kernel of its own, which writes but parts of the
    rows. Left are those of many tensors. With `to_fuse` it is for those that one operation alone
    reads, to compute with each element: fusion makes one of the two. With `factors` those are left
    of equal parts that make a factor of a product of few rows: for some of the `chips` that may be
    one operation with what makes these.

      %z = tensor.concat dim(0) %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    becomes
      %z = linalg.generic ... outs(%empty : tensor<?xf32>) {
        %i = linalg.index 0 : index
        %place = arith.subi %i, %x_size : index
        %is_y = arith.cmpi ult, %place, %y_size : index
        %e = scf.if %is_y -> f32 { tensor.extract %y[%place] } else { %zero }
        %is_x = arith.cmpi ult, %i, %x_size : index
        %f = scf.if %is_x -> f32 { tensor.extract %x[%i] } else { %e }
        linalg.yield %f : f32
      }
    """

    name: ClassVar[str] = "convert-concat-to-linalg"

    to_fuse: bool = False
    factors: bool = False
    chips: str = ""

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(op, {"tensor.concat": self._rewritten})

    def _rewritten(self, op: ir.Operation) -> list[ir.Value] | None:
        if self.to_fuse and (not _is_computed_with(op) or self._makes_factor(op)):
            return None
        return _concatenate(op)

    def _makes_factor(self, op: ir.Operation) -> bool:
        return self.factors and makes_factor(op, device_of_option(self.chips))


def _is_computed_with(op: ir.Operation) -> bool:
    """Returns whether one elementwise operation alone reads the result, and does not
    only move it.
    """
    readers = [use.owner.operation for use in op.results[0].uses]
    if len(set(readers)) != 1 or readers[0].name != "linalg.generic":
        return False
    kinds = str(readers[0].attributes["iterator_types"])
    return "parallel" in kinds and "reduction" not in kinds and len(_body(readers[0])) > 1


def _body(op: ir.Operation) -> list[ir.OpView]:
    return list(op.regions[0].blocks[0].operations)


def _concatenate(op: ir.Operation) -> list[ir.Value] | None:
    kind = ir.RankedTensorType(op.results[0].type)
    sources = list(op.operands)
    is_plain = isinstance(kind.element_type, ir.IntegerType | ir.FloatType)
    if not is_plain or not 1 < len(sources) <= _MOST:
        return None
    along = ir.IntegerAttr(op.attributes["dim"]).value
    extents = [size_of(source, along) for source in sources]
    firsts = [index_constant(0)]
    for extent in extents:
        firsts.append(arith.addi(firsts[-1], extent))
    open_sizes = [
        firsts[-1] if axis == along else _agreed_size(sources, axis)
        for axis in range(kind.rank)
        if kind.shape[axis] == DYNAMIC
    ]
    empty = ir.Operation.create("tensor.empty", results=[kind], operands=open_sizes).results[0]
    zero = constant(kind.element_type, 0)

    def element() -> ir.Value:
        value, loops = zero, [loop_index(axis) for axis in range(kind.rank)]
        for source, first, extent in reversed(list(zip(sources, firsts, extents, strict=False))):
            place = arith.subi(loops[along], first)
            # What lies before the tensor is a great number here.
            is_within = arith.cmpi(arith.CmpIPredicate.ult, place, extent)
            places = [*loops[:along], place, *loops[along + 1 :]]
            value = element_or(is_within, source, places, value)
        return value

    return [each_place(empty, element)]


def _agreed_size(sources: Sequence[ir.Value], axis: int) -> ir.Value:
    """Returns the size that all have along an axis, checked where the types leave it open."""
    first, *others = sorted(sources, key=lambda each: _shape(each)[axis] == DYNAMIC)
    size = size_of(first, axis)
    for other in others:
        if _shape(other)[axis] == DYNAMIC:
            message = f"dim {axis} of all tensors of tensor.concat must have the same size"
            assert_equal(size_of(other, axis), size, message, "{0} and {1}")
    return size


def _shape(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)
