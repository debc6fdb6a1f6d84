"""Images of which a convolution reads every so many'th place alone.

Where the steps of a window and its dilation have a common factor, all places that are read leave
the same remainder by it: the convolution is one in smaller steps, with less dilation, of an image
of these places. A copy of the image then takes no others, and may be laid out for steps of one. A
window of one place has any dilation, and a single result any steps.
"""

from __future__ import annotations

from math import gcd

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.access import Access, Coordinate, expression, linear_terms
from ..fusion.generic import accesses_of, loop_extents
from ..rewriting import constant
from ..tensors import every, padded
from ..walking import made_by
from .edges import bare


@dataclass(frozen=True)
class _Dim:
    """A dim of the image: every `by`-th place is read, of these `size`, at `index`."""

    by: int
    size: int
    index: ir.AffineExpr


def thinned(op: ir.Operation, *, but_inner: bool = False) -> Access | None:
    """Returns how a convolution reads an image of those places alone that it reads.

    With `but_inner` neighbours in memory stay together. Returns None where it may read all, or
    reads zeros around the image alone. The image is made before the convolution, which stays as it
    is.
    """
    image = accesses_of(op)[0]
    extents = loop_extents(op)
    dims = [_dim(each, extents) for each in image.index]
    if but_inner:
        dims[_inner(image)] = None
    if not any(dims):
        return None
    with op.location, ir.InsertionPoint(op):
        value, lows, highs = bare(image.value)
        if made_by(value, "tensor.pad") is not None:
            return None  # By other numbers than zero.
        kind = ir.RankedTensorType(value.type)
        places: list[slice] = []
        around: list[tuple[int, int]] = []
        for dim, size, low, high in zip(dims, kind.shape, lows, highs, strict=True):
            by, whole = (dim.by, dim.size) if dim is not None else (1, low + size + high)
            before = -(-low // by)
            first = before * by - low
            count = min(-(-(size - first) // by), whole - before)
            if count < 1:
                return None
            places.append(slice(first, first + (count - 1) * by + 1, by))
            around.append((before, whole - before - count))
        made = every(value, places)
        if any(map(sum, around)):
            sizes = [
                size + sum(each)
                for size, each in zip(ir.RankedTensorType(made.type).shape, around, strict=True)
            ]
            wide = ir.RankedTensorType.get(sizes, kind.element_type)
            zero = constant(kind.element_type, 0)
            before, behind = ([each[side] for each in around] for side in range(2))
            made = padded(made, wide, before, behind, zero)
    index = [own if dim is None else dim.index for dim, own in zip(dims, image.index, strict=True)]
    return Access(made, tuple(index))


def _inner(image: Access) -> int:
    """Returns the dim along which neighbours in memory lie."""
    shape = ir.RankedTensorType(image.value.type).shape
    return max((dim for dim, size in enumerate(shape) if size > 1), default=0)


def _dim(index: Coordinate, extents: dict[int, int]) -> _Dim | None:
    """Returns which places along a dim are read; None where these may be all."""
    linear = linear_terms(expression(index))
    if linear is None or linear[0] or len(linear[1]) != 2 or min(linear[1].values()) < 1:
        return None
    moving = {loop: by for loop, by in linear[1].items() if extents[loop] > 1}
    common = gcd(*moving.values())
    if common < 2:
        return None
    # Loops of one iteration stay, as what tells the dim of a window.
    factors = {loop: moving.get(loop, common) // common for loop in linear[1]}
    size = 1 + sum(by * (extents[loop] - 1) for loop, by in factors.items())
    first, second = (expression(loop) * by for loop, by in factors.items())
    return _Dim(common, size, first + second)
