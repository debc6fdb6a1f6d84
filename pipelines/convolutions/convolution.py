"""A convolution on buffers: what hir.library_convolution says of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...dialects.hir.layout import DYNAMIC
from ...dialects.hir.library_convolution import (
    CHANNELS,
    FIRST_PLACE,
    FORWARD,
    GRADIENT,
    OUTER,
    LibraryConvolutionOp,
)
from ...dialects.mlir import ir
from ...dialects.records import dataclass


@dataclass(frozen=True)
class Place:
    """One dim along which a window moves."""

    stride: int = 1
    padding: int = 0
    dilation: int = 1


@dataclass(frozen=True)
class Numbered:
    """A buffer and what each of its dims is, by the numbers of hir.library_convolution."""

    value: ir.Value
    dims: tuple[int, ...]

    def size(self, number: int) -> int:
        """Returns the size of what has a number, DYNAMIC where the type leaves it open."""
        shape = ir.MemRefType(self.value.type).shape
        sizes = [size for size, each in zip(shape, self.dims, strict=True) if each == number]
        return DYNAMIC if DYNAMIC in sizes else prod(sizes)


@dataclass(frozen=True)
class Convolution:
    """A convolution, or with `is_gradient` the gradient of one's image."""

    image: Numbered
    weights: Numbered
    result: Numbered
    places: tuple[Place, ...]
    groups: int
    is_gradient: bool
    is_tf32: bool

    @property
    def element(self) -> str:
        return str(ir.MemRefType(self.image.value.type).element_type)

    @property
    def operands(self) -> tuple[Numbered, Numbered, Numbered]:
        return self.image, self.weights, self.result

    @property
    def channels(self) -> int:
        """How many channels are summed over, in a group."""
        return self.image.size(CHANNELS) // self.groups

    @property
    def images(self) -> int:
        return self.image.size(OUTER)

    def sizes(self, operand: Numbered) -> list[int]:
        """Returns an operand's sizes along the places."""
        return [operand.size(FIRST_PLACE + place) for place in range(len(self.places))]


def emit_call(convolution: Convolution, *, transforms: bool) -> None:
    """hir.library_convolution at the insertion point."""

    def numbers(each: Sequence[int]) -> ir.Attribute:
        return ir.DenseI64ArrayAttr.get(list(each))

    places = convolution.places
    attributes: dict[str, ir.Attribute] = {
        "compute": ir.StringAttr.get("tf32" if convolution.is_tf32 else "f32"),
        "direction": ir.StringAttr.get(GRADIENT if convolution.is_gradient else FORWARD),
        "groups": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), convolution.groups),
        "strides": numbers([each.stride for each in places]),
        "padding": numbers([each.padding for each in places]),
        "dilations": numbers([each.dilation for each in places]),
        "dims": ir.ArrayAttr.get([numbers(each.dims) for each in convolution.operands]),
    }
    if transforms and convolution.element == "f32" and not convolution.is_tf32:
        attributes["transforms"] = ir.UnitAttr.get()
    ir.Operation.create(
        LibraryConvolutionOp.OPERATION_NAME,
        operands=[each.value for each in convolution.operands],
        attributes=attributes,
    )
