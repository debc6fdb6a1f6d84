"""convert-pad-to-linalg: a padded tensor is written once, element by element."""

from __future__ import annotations

from functools import reduce
from typing import ClassVar

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..generics import each_place, element_or, loop_index
from ..pass_base import Pass, register
from ..rewriting import index_constant
from ..tensors import dim_of
from ..walking import operations_where

_PAD = "tensor.pad"
_DYNAMIC = ir.ShapedType.get_dynamic_size()


@register
@dataclass(frozen=True)
class ConvertPadToLinalg(Pass):
    """Turns tensor.pad into a linalg.generic that picks an element of the source, or the padding.

    Otherwise all of it would be filled, and most of that overwritten. Left are those whose padding
    depends on where it is.

      %y = tensor.pad %x low[%l] high[%h] { ... tensor.yield %v } : tensor<?xf32> to tensor<?xf32>
    becomes
      %y = linalg.generic ... outs(%empty : tensor<?xf32>) {
        %i = linalg.index 0 : index
        %place = arith.subi %i, %l : index
        %is_within = arith.cmpi ult, %place, %size : index
        %e = scf.if %is_within -> f32 { tensor.extract %x[%place] } else { %v }
        linalg.yield %e : f32
      }
    """

    name: ClassVar[str] = "convert-pad-to-linalg"

    def run(self, op: ir.Operation) -> None:
        for pad in operations_where(op, lambda inner: inner.name == _PAD):
            value = _padding(pad)
            if value is not None:
                with pad.location, ir.InsertionPoint(pad):
                    pad.results[0].replace_all_uses_with(_picked(pad, value))
                pad.erase()


def _padding(pad: ir.Operation) -> ir.Value | None:
    """Returns the value that is padded with, where it comes from outside or is a constant."""
    block = pad.regions[0].blocks[0]
    value = list(block)[-1].operation.operands[0]
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None if owner == block else value
    if owner.operation.block != block:
        return value
    if owner.operation.name != "arith.constant":
        return None
    with ir.InsertionPoint(pad):
        return owner.operation.clone().results[0]


def _picked(pad: ir.Operation, value: ir.Value) -> ir.Value:
    """Emits the padded tensor."""
    source, kind = pad.operands[0], ir.RankedTensorType(pad.results[0].type)
    sizes = [dim_of(source, axis) for axis in range(kind.rank)]
    lows, highs = _amounts(pad)
    open_sizes = [
        arith.addi(arith.addi(low, size), high)
        for low, size, high, known in zip(lows, sizes, highs, kind.shape, strict=True)
        if known == _DYNAMIC
    ]
    empty = ir.Operation.create("tensor.empty", results=[kind], operands=open_sizes).results[0]

    def element() -> ir.Value:
        places = [arith.subi(loop_index(axis), low) for axis, low in enumerate(lows)]
        below = arith.CmpIPredicate.ult
        within = [arith.cmpi(below, place, size) for place, size in zip(places, sizes, strict=True)]
        return element_or(reduce(arith.andi, within), source, places, value)

    return each_place(empty, element)


def _amounts(pad: ir.Operation) -> tuple[list[ir.Value], list[ir.Value]]:
    """Returns how many elements go before and after each dim's."""
    segments = list(ir.DenseI32ArrayAttr(pad.attributes["operandSegmentSizes"]))
    found: list[list[ir.Value]] = []
    first = segments[0]
    for name, count in zip(("static_low", "static_high"), segments[1:], strict=True):
        given = iter(list(pad.operands)[first : first + count])
        first += count
        known = ir.DenseI64ArrayAttr(pad.attributes[name])
        found.append(
            [next(given) if number == _DYNAMIC else index_constant(number) for number in known]
        )
    return found[0], found[1]
