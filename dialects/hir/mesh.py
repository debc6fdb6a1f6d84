"""Meshes of devices, and how a buffer is spread over one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from ..mlir import ir
from ..records import dataclass
from .refusal import numbers
from .spread import Spread, parse_spread

# Each is written out where devices communicate.
_MOST_DEVICES = 65_536
# What a function on tensors says of its mesh, and of how its arguments and results are spread.
MESH = "hir.mesh"
SPREAD = "hir.spread"
# One spread for each axis of a mesh. Where several divide one dim, the mesh's outer axes divide it
# first.
Spreads = tuple[Spread, ...]


@dataclass(frozen=True)
class Mesh:
    """Devices in rows and columns: the sizes of the mesh's axes, its devices in row-major order."""

    shape: tuple[int, ...]
    devices: tuple[int, ...]

    @property
    def places(self) -> list[tuple[int, ...]]:
        """The coordinates of the devices, in their order."""
        return list(product(*map(range, self.shape)))

    def teams(self, axis: int) -> list[list[int]]:
        """Returns the devices that differ along one axis alone, in its order; a team for each such
        row.
        """
        rows: dict[tuple[int, ...], list[int]] = {}
        for device, place in zip(self.devices, self.places, strict=True):
            rows.setdefault((*place[:axis], *place[axis + 1 :]), []).append(device)
        return list(rows.values())

    def normal(self, spreads: Spreads) -> Spreads:
        """Returns the spreads, whole along axes of one device, however they are written."""
        return tuple(
            spread if size > 1 else Spread()
            for spread, size in zip(spreads, self.shape, strict=True)
        )

    def parts(self, spreads: Spreads, dim: int) -> int:
        """Into how many parts a dim of the buffer is divided."""
        return prod(
            size for spread, size in zip(spreads, self.shape, strict=True) if spread.axis == dim
        )

    def part(self, spreads: Spreads, dim: int, size: int) -> int:
        """Returns the size of the first part of a dim of `size` elements, the largest; an open one
        is open.
        """
        return size if size < 0 else -(-size // self.parts(spreads, dim))

    def is_even(self, spreads: Spreads, dim: int, size: int) -> bool:
        """Returns whether all parts of a dim are of one size, as those of an open one are."""
        return size < 0 or size % self.parts(spreads, dim) == 0

    def may_divide(self, spreads: Spreads, dim: int, size: int) -> bool:
        """Returns whether a dim may be divided so: into equal parts, or along one axis alone.

        There the last parts are smaller, or empty, as those of torch.chunk.
        """
        axes = sum(each.axis == dim for each in self.normal(spreads))
        return axes <= 1 or self.is_even(spreads, dim, size)

    def uneven(self, spreads: Spreads, shape: Sequence[int]) -> list[int]:
        """Returns the dims of a buffer whose parts are not all of one size."""
        return [dim for dim, size in enumerate(shape) if not self.is_even(spreads, dim, size)]

    def division_fault(self, spreads: Spreads, shape: Sequence[int]) -> str | None:
        """What is wrong with dividing a buffer of these sizes so, or None."""
        for dim, size in enumerate(shape):
            if not self.may_divide(spreads, dim, size):
                return (
                    f"{self.uneven_text(spreads, dim, size)}, as several axes of the mesh have to; "
                    "divide it by one, or leave it whole"
                )
        return None

    def uneven_text(self, spreads: Spreads, dim: int, size: int) -> str:
        """Says that the parts of a dim are not all of one size."""
        return f"{self.parts(spreads, dim)} devices do not divide {size} elements evenly"


def mesh_of_shape(shape: tuple[int, ...]) -> Mesh:
    """Returns the mesh of these sizes, whose devices are numbered row by row."""
    return Mesh(shape, tuple(range(prod(shape))))


def mesh_fault(attribute: ir.Attribute, devices: int | None = None) -> str | None:
    """What is wrong with an attribute that is a mesh's sizes (of so many devices), or None."""
    shape = numbers(attribute)
    if not shape or min(shape) < 1:
        return f"'mesh' is the sizes of its axes, as array<i64: 2, 4>; it is {attribute}"
    if prod(shape) > _MOST_DEVICES:
        return f"'mesh' {attribute} has {prod(shape)} devices, and at most {_MOST_DEVICES} make one"
    if devices is not None and prod(shape) != devices:
        return f"'mesh' {attribute} has {prod(shape)} devices, and the team {devices}"
    return None


def read_spreads(attribute: ir.Attribute | None, rank: int, axes: int) -> Spreads | str:
    """Returns the spreads of an attribute, of a buffer of that rank; or what is wrong with it."""
    if not isinstance(attribute, ir.ArrayAttr) or len(attribute) != axes:
        return f"over a mesh of {axes} axes there is a list of {axes} spreads, one an axis"
    spreads: list[Spread] = []
    for each in attribute:
        if not isinstance(each, ir.StringAttr):
            return "a spread is whole, partial:KIND or axis:N"
        spread = parse_spread(each.value, rank)
        if isinstance(spread, str):
            return spread
        spreads.append(spread)
    if len({spread.reduction for spread in spreads} - {None}) > 1:
        return "the parts along all axes are combined by one reduction"
    return tuple(spreads)


def spreads_attribute(spreads: Sequence[Spread]) -> ir.Attribute:
    """Returns the attribute of spreads."""
    return ir.ArrayAttr.get([ir.StringAttr.get(str(spread)) for spread in spreads])
