"""`hir.library_convolution`: a convolution that cuDNN computes."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .layout import DYNAMIC, strides_and_offset
from .verify import (
    OperationError,
    attribute_of,
    buffer,
    check_unit,
    integer_of,
    integers_of,
    verified,
)

FORWARD, GRADIENT = "forward", "data_gradient"
DIRECTIONS = (FORWARD, GRADIENT)
MOST_PLACES = 3
# The numbers in `dims`: of images and filters, of channels, and of the first of the places.
OUTER, CHANNELS, FIRST_PLACE = 0, 1, 2
NO_DIM = -1

_NAMES = ("the image", "the weights", "the result")
_DIMS = "an array of one array<i64: ...> an operand: what each of its dims is, -1 for none"
# The element types, with how convolutions of them may be computed.
COMPUTES = {"f32": ("f32", "tf32"), "f16": ("f32",), "bf16": ("f32",)}


class LibraryConvolutionOp(Hir.Operation, name="library_convolution"):
    """A convolution, by one call of cuDNN on the current stream.

    `dims` says what each dim of the operands is: 0 the images, and of weights the filters; 1 the
    channels, and of a result what filters give; 2 and more the places, of a window along which
    there are one to three. Two neighbours with the same number are one, the outer first; -1 is for
    a dim of size 1 that is none, and what no dim has is of size 1. `strides`, `padding` and
    `dilations` have a number for each of the places; each side has the same padding. Channels and
    filters are in so many `groups`, and weights have the channels of one.

    With `direction` "forward" an element of the result is the sum of

      image[n, c, i * stride + k * dilation - padding] * weights[f, c, k]

    over channels c of its group and places k in the window. With "data_gradient" it is the gradient
    of such a convolution's image, the `image` here that of its result, as in a transposed
    convolution: weights then have the image's channels first, and the result's second. `compute`
    is the type that is multiplied: f32, or tf32 of f32. With `transforms` what is multiplied may be
    transformed (Winograd, Fourier) instead.

    Example:
      "hir.library_convolution"(%x, %w, %y) {
        compute = "f32", direction = "forward", groups = 1 : i64, strides = array<i64: 2, 2>,
        padding = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
        dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>]
      } : (memref<8x3x32x32xf32>, memref<16x3x3x3xf32>, memref<8x16x16x16xf32>) -> ()
    """

    compute: ir.StringAttr
    direction: ir.StringAttr
    groups: ir.IntegerAttr
    dims: ir.ArrayAttr
    image: ext.Operand[Any]
    weights: ext.Operand[Any]
    output: ext.Operand[Any]

    @staticmethod
    def verify_invariants(op: "LibraryConvolutionOp") -> bool:
        return verified(op, _check)


def dims_of(op: ir.Operation) -> list[list[int]]:
    """Returns what each dim of each operand is."""
    return [list(ir.DenseI64ArrayAttr(each)) for each in ir.ArrayAttr(op.attributes["dims"])]


def places_of(op: ir.Operation) -> int:
    """Returns along how many dims the window moves."""
    return len(ir.DenseI64ArrayAttr(op.attributes["strides"]))


def _check(op: LibraryConvolutionOp) -> None:
    types = [buffer(value, name) for value, name in zip(op.operation.operands, _NAMES, strict=True)]
    _check_elements(op, [str(each.element_type) for each in types])
    direction = attribute_of(op, "direction", ir.StringAttr, "a string").value
    if direction not in DIRECTIONS:
        raise OperationError(f"direction is one of {', '.join(DIRECTIONS)}, not {direction}")
    check_unit(op, "transforms")
    places = _check_window(op)
    dims = _checked_dims(op, types, places)
    sizes = [
        _sizes(kind, each, places, name)
        for kind, each, name in zip(types, dims, _NAMES, strict=True)
    ]
    _check_channels(op, sizes, is_gradient=direction == GRADIENT)
    _check_places(op, sizes, is_gradient=direction == GRADIENT)


def _check_elements(op: LibraryConvolutionOp, elements: list[str]) -> None:
    element = elements[0]
    if element not in COMPUTES or set(elements) != {element}:
        listed = ", ".join(COMPUTES)
        raise OperationError(f"its operands are all of one of {listed}, not {', '.join(elements)}")
    compute = attribute_of(op, "compute", ir.StringAttr, "a string").value
    if compute not in COMPUTES[element]:
        listed = " or ".join(COMPUTES[element])
        raise OperationError(f"compute of {element} is {listed}, not {compute}")


def _check_window(op: LibraryConvolutionOp) -> int:
    """Returns along how many dims the window moves."""
    strides = integers_of(op, "strides")
    if not 1 <= len(strides) <= MOST_PLACES:
        raise OperationError(f"strides has one to {MOST_PLACES} numbers, not {len(strides)}")
    for name, least in (("strides", 1), ("padding", 0), ("dilations", 1)):
        numbers = integers_of(op, name)
        if len(numbers) != len(strides) or min(numbers) < least:
            raise OperationError(
                f"{name} has {len(strides)} numbers as strides, of {least} or more; it is {numbers}"
            )
    if integer_of(op, "groups") < 1:
        raise OperationError(f"groups is 1 or more, not {integer_of(op, 'groups')}")
    return len(strides)


def _checked_dims(
    op: LibraryConvolutionOp, types: list[ir.MemRefType], places: int
) -> list[list[int]]:
    arrays = list(attribute_of(op, "dims", ir.ArrayAttr, _DIMS))
    if not all(isinstance(each, ir.DenseI64ArrayAttr) for each in arrays):
        raise OperationError(f"dims is {_DIMS}; it is {op.attributes['dims']}")
    dims = dims_of(op.operation)
    ranks, wanted = [len(each) for each in dims], [each.rank for each in types]
    if ranks != wanted:
        raise OperationError(f"dims is of operands with {ranks} dims, and they have {wanted}")
    for name, kind, each in zip(_NAMES, types, dims, strict=True):
        if not all(NO_DIM <= number < FIRST_PLACE + places for number in each):
            raise OperationError(
                f"the numbers in dims are {NO_DIM} to {FIRST_PLACE + places - 1}; those of {name} "
                f"are {each}"
            )
        groups = list(_runs(each))
        if len({number for number, _ in groups}) != len(groups):
            raise OperationError(
                f"dims of {name} with the same number are neighbours; its dims are {each}"
            )
        for number, axes in groups:
            _check_run(kind, number, axes, name)
    return dims


def _runs(dims: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Yields the numbers of an operand, but for none, and the dims that each has."""
    runs: list[tuple[int, list[int]]] = []
    for axis, number in enumerate(dims):
        if runs and runs[-1][0] == number != NO_DIM:
            runs[-1][1].append(axis)
        else:
            runs.append((number, [axis]))
    return ((number, axes) for number, axes in runs if number != NO_DIM)


def _check_run(kind: ir.MemRefType, number: int, axes: list[int], name: str) -> None:
    """Checks that dims which are one step through memory as one, as far as the type says."""
    strides, _ = strides_and_offset(kind)
    for outer, inner in pairwise(axes):
        known = strides[outer], strides[inner], kind.shape[inner]
        if DYNAMIC not in known and known[0] != known[1] * known[2] and kind.shape[outer] != 1:
            raise OperationError(
                f"dims {outer} and {inner} of {name} are both {number}, and a step of the outer "
                f"one is {known[0]} elements, not {known[1] * known[2]}"
            )


def _sizes(kind: ir.MemRefType, dims: Sequence[int], places: int, name: str) -> list[int]:
    """Returns the sizes by the numbers in `dims`."""
    found = [1] * (FIRST_PLACE + places)
    for axis, number in enumerate(dims):
        if number == NO_DIM and kind.shape[axis] != 1:
            raise OperationError(f"dim {axis} of {name} is none, and so has size 1")
    for number, axes in _runs(dims):
        sizes = [kind.shape[axis] for axis in axes]
        found[number] = DYNAMIC if DYNAMIC in sizes else prod(sizes)
    return found


def _check_channels(op: LibraryConvolutionOp, sizes: list[list[int]], *, is_gradient: bool) -> None:
    image, weights, result = sizes
    groups = integer_of(op, "groups")
    # Of what the forward convolution reads and gives.
    read, given = (result, image) if is_gradient else (image, result)
    for one, other, what in (
        (image[OUTER], result[OUTER], "images of the image and of the result"),
        (given[CHANNELS], weights[OUTER], "filters and the channels that they are of"),
        (
            read[CHANNELS],
            DYNAMIC if weights[CHANNELS] == DYNAMIC else weights[CHANNELS] * groups,
            "channels and those of the weights in all groups",
        ),
    ):
        if DYNAMIC not in (one, other) and one != other:
            raise OperationError(f"the {what} are as many, not {one} and {other}")
    if weights[OUTER] != DYNAMIC and weights[OUTER] % groups:
        raise OperationError(f"{weights[OUTER]} filters are no multiple of {groups} groups")


def _check_places(op: LibraryConvolutionOp, sizes: list[list[int]], *, is_gradient: bool) -> None:
    image, weights, result = sizes
    read, given = (result, image) if is_gradient else (image, result)
    for place, (stride, padding, dilation) in enumerate(
        zip(*(integers_of(op, name) for name in ("strides", "padding", "dilations")), strict=True)
    ):
        known = [each[FIRST_PLACE + place] for each in (read, weights, given)]
        if DYNAMIC in known or 0 in known:
            continue
        size, window, results = known
        reach = dilation * (window - 1) + 1
        whole = (size + 2 * padding - reach) // stride + 1
        # An image that is not padded may have more than is read.
        fits = results <= whole if padding == 0 and not is_gradient else results == whole
        if not fits:
            raise OperationError(
                f"along place {place} windows of {window} have {whole} places, not {results}"
            )
