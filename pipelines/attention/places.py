"""Places of elements, as loops that are split where reshapes ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import prod

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.access import reassociation

_COLLAPSE, _EXPAND = "tensor.collapse_shape", "tensor.expand_shape"
VIEWS = (_COLLAPSE, _EXPAND)


@dataclass(eq=False)
class Loop:
    """A loop of `size` iterations, DYNAMIC where no type says them.

    Once it is split it stands for its `parts`, outermost first.
    """

    size: int
    parts: list[Loop] = field(default_factory=list)

    @property
    def whole(self) -> list[Loop]:
        """The loops it stands for."""
        if not self.parts:
            return [self]
        return [each for part in self.parts for each in part.whole]


@dataclass(frozen=True)
class Place:
    """The element of a tensor at an index: of each dim the loops that number it."""

    value: ir.Value
    dims: tuple[tuple[Loop, ...], ...]

    @property
    def index(self) -> list[list[Loop]]:
        """The loops of each dim, as they are split by now."""
        return [[each for loop in dim for each in loop.whole] for dim in self.dims]


def behind_view(place: Place) -> Place | None:
    """Returns the same element of the tensor that a reshape is a view of; None where it is no
    reshape.
    """
    owner = place.value.owner
    if isinstance(owner, ir.Block):
        return None
    op = owner.operation
    if op.name == _COLLAPSE:
        return _split(op, place, op.operands[0])
    if op.name == _EXPAND:
        return _joined(op, place, op.operands[0])
    return None


def through_view(op: ir.Operation, place: Place) -> Place | None:
    """Returns the element of a reshape's result that is one of its operand."""
    if op.name == _EXPAND:
        return _split(op, place, op.results[0])
    if op.name == _COLLAPSE:
        return _joined(op, place, op.results[0])
    return None


def _joined(op: ir.Operation, place: Place, value: ir.Value) -> Place:
    """Returns the element where several dims are one."""
    groups = [
        tuple(loop for dim in group for loop in place.dims[dim]) for group in reassociation(op)
    ]
    return Place(value, tuple(groups))


def _split(op: ir.Operation, place: Place, value: ir.Value) -> Place | None:
    """Returns the element where one dim is several; None where it cannot be told which loops are
    whose.
    """
    shape = ir.RankedTensorType(value.type).shape
    dims: list[tuple[Loop, ...]] = [()] * len(shape)
    for loops, group in zip(place.index, reassociation(op), strict=True):
        found = _distribute(loops, [shape[dim] for dim in group])
        if found is None:
            return None
        for dim, own in zip(group, found, strict=True):
            dims[dim] = own
    return Place(value, tuple(dims))


def _distribute(loops: list[Loop], sizes: Sequence[int]) -> list[tuple[Loop, ...]] | None:
    """Returns the loops of each dim of a group, whose sizes have the same product."""
    found: list[tuple[Loop, ...]] = [()] * len(sizes)
    dims = [dim for dim, size in enumerate(sizes) if size != 1]
    loops = list(loops)
    # Equal sizes at the ends are certain, and what is left between them is as large.
    while dims and loops and sizes[dims[0]] == loops[0].size != DYNAMIC:
        found[dims.pop(0)] = (loops.pop(0),)
    while dims and loops and sizes[dims[-1]] == loops[-1].size != DYNAMIC:
        found[dims.pop()] = (loops.pop(),)
    while len(dims) > 1 and len(loops) > 1:
        size, loop = sizes[dims[-1]], loops.pop()
        if DYNAMIC in (size, loop.size):
            return None
        if loop.size % size == 0:
            loop.parts = [Loop(loop.size // size), Loop(size)]
            loops.append(loop.parts[0])
            found[dims.pop()] = (loop.parts[1],)
            continue
        taken = [loop]
        while prod(each.size for each in taken) < size and loops and loops[-1].size != DYNAMIC:
            taken.insert(0, loops.pop())
        if prod(each.size for each in taken) != size:
            return None
        found[dims.pop()] = tuple(taken)
    if len(dims) == 1 and loops:
        found[dims[0]] = tuple(loops)
    elif len(loops) == 1 and dims:
        loops[0].parts = [Loop(sizes[dim]) for dim in dims]
        for dim, part in zip(dims, loops[0].parts, strict=True):
            found[dim] = (part,)
    elif dims or loops:
        return None
    return found
