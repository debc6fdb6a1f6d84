"""What allocations share: the plan of a buffer's memory, and filling it with zeros."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects.hir.domain import plan
from ....dialects.hir.domain_steps import read_domain
from ....dialects.hir.layout import LayoutError
from ....dialects.mlir import ir
from ...host.buffer import stack_array
from ...host.types import element_bytes
from ...pass_base import fail
from ..index_arithmetic import Index, IndexArithmetic, index_of
from .buffers import as_i64
from .checks import refuse_negative_sizes
from .state import ProgramState


@dataclass(frozen=True)
class Memory:
    """The bytes of an allocation, and the sizes and strides of the buffer in it."""

    bytes: Index
    sizes: list[Index]
    strides: list[Index]


def planned(
    state: ProgramState, op: ir.OpView, kind: ir.MemRefType, open_sizes: list[ir.Value]
) -> Memory:
    """The memory that a hir.allocate or hir.reuse describes, computed in line."""
    arithmetic = IndexArithmetic()
    sizes = [index_of(size) for size in open_sizes]
    refuse_negative_sizes(state, sizes, op.operation.name)
    try:
        domain = read_domain(op, kind.shape)
        found = plan(domain, sizes, arithmetic)
    except LayoutError as error:
        fail(op, f"{op.operation.name}: {error}")
    total = arithmetic.multiply(found.elements, element_bytes(kind.element_type))
    return Memory(total, list(found.sizes), list(found.strides))


def fill_with_zeros(state: ProgramState, address: ir.Value, total: Index) -> None:
    """Fills memory in the order of the current stream."""
    emit = state.emit
    emit.checked_call("cudaMemsetAsync", [address, emit.i32(0), as_i64(state, total), state.stream])


def fill_view_with_zeros(
    state: ProgramState,
    first: ir.Value,
    sizes: list[Index],
    strides: list[Index],
    kind: ir.MemRefType,
) -> None:
    """Fills a view whose first element is at `first` in the order of the current stream."""
    emit = state.emit
    emit.call(
        "hirc_zero_strided",
        [
            first,
            emit.i64(len(sizes)),
            stack_array(emit, [as_i64(state, size) for size in sizes]),
            stack_array(emit, [as_i64(state, stride) for stride in strides]),
            emit.i64(element_bytes(kind.element_type)),
            state.stream,
            emit.location(),
        ],
    )
