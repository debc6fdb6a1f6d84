"""hir.library_convolution: a call of the support library, for cuDNN."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ....dialects.hir.library_convolution import (
    GRADIENT,
    MOST_PLACES,
    LibraryConvolutionOp,
    dims_of,
    places_of,
)
from ....dialects.mlir import ir
from ...host.buffer import data_address, stack_array
from ..index_arithmetic import Index, IndexArithmetic
from .buffers import PLAN_CACHE_WORDS, as_i64, extents_of
from .registry import lowers
from .state import ProgramState

# The numbers of `struct hirc_convolution_site` (compiler/runtime/hirc_runtime.h): cudnnDataType and
# cudnnMathType.
_ELEMENTS = {"f32": 0, "f16": 2, "bf16": 9}
_EXACT, _ROUNDED = 3, 1


@lowers("hir.library_convolution")
def lower_library_convolution(op: LibraryConvolutionOp, state: ProgramState) -> list[ir.Value]:
    """One call, with a constant that describes it and a variable that keeps its plans."""
    emit = state.emit
    operands = list(op.operation.operands)
    site = emit.constant_words("hirc_convolution_site", _words(op.operation))
    cache = emit.zeroed_words("hirc_convolution_cache", PLAN_CACHE_WORDS)
    places = places_of(op.operation)
    extents = [
        as_i64(state, number)
        for value, dims in zip(operands, dims_of(op.operation), strict=True)
        for number in _extents(value, dims, places)
    ]
    emit.call(
        "hirc_convolution",
        [
            site,
            emit.address_of(cache),
            stack_array(emit, extents),
            *[data_address(emit, value) for value in operands],
            state.stream,
            emit.location(),
        ],
    )
    return []


def _words(op: ir.Operation) -> list[int]:
    """Returns what the support library is told, as `struct hirc_convolution_site`."""
    element = str(ir.MemRefType(op.operands[0].type).element_type)
    is_exact = element == ir.StringAttr(op.attributes["compute"]).value == "f32"
    words = [
        _ELEMENTS[element],
        _EXACT if is_exact else _ROUNDED,
        int(ir.StringAttr(op.attributes["direction"]).value == GRADIENT),
        int("transforms" in op.attributes),
        ir.IntegerAttr(op.attributes["groups"]).value,
        places_of(op),
    ]
    for name in ("strides", "padding", "dilations"):
        numbers = list(ir.DenseI64ArrayAttr(op.attributes[name]))
        words += [*numbers, *[0] * (MOST_PLACES - len(numbers))]
    return words


def _extents(buffer: ir.Value, dims: Sequence[int], places: int) -> list[Index]:
    """Returns the size and the stride of what each number in `dims` is."""
    known = extents_of(buffer)
    found: list[Index] = []
    for number in range(2 + places):
        axes = [axis for axis, each in enumerate(dims) if each == number]
        # The last of those that are one is the innermost.
        found.append(reduce(IndexArithmetic().multiply, [known.sizes[axis] for axis in axes], 1))
        found.append(known.strides[axes[-1]] if axes else 0)
    return found
