"""What allocations share: the plan of a buffer's memory, and filling it with zeros."""

from __future__ import annotations

from ....dialects.hir.domain import plan
from ....dialects.hir.domain_steps import read_domain
from ....dialects.hir.layout import DYNAMIC, LayoutError
from ....dialects.mlir import ir
from ...host.buffer import stack_array
from ...host.types import element_bytes
from ...pass_base import fail
from ..index_arithmetic import CheckedArithmetic, Index, IndexArithmetic, index_of
from .buffers import as_i64
from .checks import refuse_memory_sizes
from .state import Memory, ProgramState

# The attributes that the memory, and what messages say of it, depend on.
_SAID = ("logical", "order", "domain", "output")
_MOST_BYTES = 2**63 - 1


def planned(
    state: ProgramState, op: ir.OpView, kind: ir.MemRefType, open_sizes: list[ir.Value]
) -> Memory:
    """Returns the memory that a hir.allocate or hir.reuse describes, computed in line, once for
    all.
    """
    said = [op.attributes.get(name, None) for name in _SAID]
    asked = kind.element_type, *kind.shape, *said, *open_sizes
    found = state.frame.find_planned(asked)
    if found is None:
        found = state.frame.planned[asked] = _plan(state, op, kind, open_sizes)
    return found


def _plan(
    state: ProgramState, op: ir.OpView, kind: ir.MemRefType, open_sizes: list[ir.Value]
) -> Memory:
    arithmetic = CheckedArithmetic()
    sizes = [index_of(size) for size in open_sizes]
    try:
        domain = read_domain(op, kind.shape)
        found = plan(domain, sizes, arithmetic)
    except LayoutError as error:
        fail(op, f"{op.operation.name}: {error}")
    each = element_bytes(kind.element_type)
    total = IndexArithmetic().multiply(found.elements, each)
    logical = list(found.sizes)
    if isinstance(total, int) and total > _MOST_BYTES:
        fail(op, f"{op.operation.name}: {total} bytes are more than a buffer can have")
    # Strides are numbers of elements: where the bytes fit, they do.
    shape = "x".join("?" if size == DYNAMIC else str(size) for size in kind.shape)
    what = f"{op.operation.name} of {shape}x{kind.element_type}"
    number = state.origins.output_of(op.operation.results[0])
    if number is not None:
        what += f" for {state.output_names[number]}"
    overflow = arithmetic.exceeds(found.elements, _MOST_BYTES // each, logical)
    refuse_memory_sizes(state, [*sizes, *logical], overflow, what)
    return Memory(total, logical, list(found.strides))


def fill_with_zeros(state: ProgramState, address: ir.Value, total: Index) -> None:
    """Fills memory in the order of the current stream."""
    emit = state.emit
    passed = [address, emit.i32(0), as_i64(state, total), state.stream, emit.location()]
    emit.call("hirc_fill_bytes", passed)


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
