"""hir.library_matmul: a call of the support library, for cuBLASLt."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.hir.layout import DYNAMIC
from ....dialects.hir.library_matmul import LibraryMatmulOp, bias_and_addend, dims_of
from ....dialects.mlir import ir
from ...host.buffer import data_address, stack_array
from ..index_arithmetic import Index
from .buffers import PLAN_CACHE_WORDS, as_i64, extents_of
from .registry import lowers
from .state import ProgramState

# The numbers of `struct hirc_matmul_site` (compiler/runtime/hirc_runtime.h): cudaDataType,
# cublasComputeType, and the support library's own.
_ELEMENTS = {"f32": 0, "f64": 1, "f16": 2, "bf16": 14}
_COMPUTES = {"f32": 68, "f64": 70, "tf32": 77}
_ACTIVATIONS = {"": 0, "relu": 1, "gelu_tanh": 2}
_OPERANDS = 5


@lowers("hir.library_matmul")
def lower_library_matmul(op: LibraryMatmulOp, state: ProgramState) -> list[ir.Value]:
    """One call, with a constant that describes the product and a variable that keeps its plans."""
    emit = state.emit
    # None stands for a bias or an addend that is not there.
    places = [0, 1, 2, *bias_and_addend(op.operation)]
    operands = [None if place is None else op.operation.operands[place] for place in places]
    given = dims_of(op.operation)
    dims = [[] if place is None else given[place] for place in places]
    loops = 1 + max((loop for each in dims for loop in each), default=-1)
    addresses = [emit.null() if value is None else data_address(emit, value) for value in operands]
    words = _words(op.operation, operands, dims, loops)
    site = emit.constant_words("hirc_matmul_site", words)
    cache = emit.zeroed_words("hirc_matmul_cache", PLAN_CACHE_WORDS)
    extents = stack_array(emit, _extents(state, operands, dims, loops))
    emit.call(
        "hirc_matmul",
        [
            site,
            emit.address_of(cache),
            extents,
            *addresses,
            state.stream,
            emit.location(),
        ],
    )
    return []


def _words(
    op: ir.Operation,
    operands: Sequence[ir.Value | None],
    dims: Sequence[Sequence[int]],
    loops: int,
) -> list[int]:
    """Returns what the support library is told of the product, as `struct hirc_matmul_site`."""
    activation = ""
    if "activation" in op.attributes:
        activation = ir.StringAttr(op.attributes["activation"]).value
    kinds = [
        sum(1 << number for number, each in enumerate(dims) if loop in each)
        for loop in range(loops)
    ]
    return [
        _ELEMENTS[_element(op.operands[0])],
        _ELEMENTS[_element(op.operands[2])],
        _COMPUTES[ir.StringAttr(op.attributes["compute"]).value],
        _ACTIVATIONS[activation],
        *[int(added is not None) for added in operands[3:]],
        loops,
        *kinds,
    ]


def _element(buffer: ir.Value) -> str:
    return str(ir.MemRefType(buffer.type).element_type)


def _extents(
    state: ProgramState,
    operands: Sequence[ir.Value | None],
    dims: Sequence[Sequence[int]],
    loops: int,
) -> list[ir.Value]:
    """For each loop its size and the operands' strides."""
    known = [None if value is None else extents_of(value) for value in operands]
    found: list[ir.Value] = []
    for loop in range(loops):
        size: Index | None = None
        strides: list[Index] = [0] * _OPERANDS
        for number, (value, extents, each) in enumerate(zip(operands, known, dims, strict=True)):
            if value is None or extents is None or loop not in each:
                continue
            axis = list(each).index(loop)
            strides[number] = extents.strides[axis]
            if size is None or ir.MemRefType(value.type).shape[axis] != DYNAMIC:
                size = extents.sizes[axis]
        assert size is not None
        found += [as_i64(state, number) for number in (size, *strides)]
    return found
