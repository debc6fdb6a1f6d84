"""hir.allocate: a fresh buffer, or the caller's where one was handed in."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.hir import AllocateOp
from ....dialects.mlir import arith, ir, memref, scf
from ...host.buffer import data_address
from ..index_arithmetic import Index, materialized
from ..memory.owners import is_shared_memory
from .buffers import as_i64, extents_of, pack
from .checks import refuse_unless_equal
from .conform import check_strides, wanted_strides
from .memory import fill_view_with_zeros, fill_with_zeros, planned
from .origins import memory_number
from .peer_memory import allocate_shared
from .registry import lowers
from .state import Memory, ProgramState


@lowers("hir.allocate")
def lower_allocate(op: AllocateOp, state: ProgramState) -> list[ir.Value]:
    """Sizes, strides and bytes as integers in line, and one call for the memory."""
    kind = ir.MemRefType(op.buffer.type)
    memory = planned(state, op, kind, list(op.sizes))
    number = state.origins.output_of(op.buffer)
    if number is None or number not in state.given:
        address = _allocate(op, state, memory)
        return [pack(state, kind, address, address, memory.sizes, memory.strides)]
    return [_given_or_allocated(op, state, memory, number)]


def _allocate(op: AllocateOp, state: ProgramState, memory: Memory) -> ir.Value:
    emit = state.emit
    if is_shared_memory(op):
        return allocate_shared(op, state, memory)
    size = as_i64(state, memory.bytes)
    number = emit.i32(memory_number(op))
    arguments = [size, number, state.stream, emit.location()]
    address = emit.value_of_call("hirc_allocate", arguments, emit.types.ptr)
    if "zero_init" in op.attributes:
        fill_with_zeros(state, address, memory.bytes)
    return address


def _given_or_allocated(
    op: AllocateOp, state: ProgramState, memory: Memory, number: int
) -> ir.Value:
    """Returns the buffer for output `number`.

    One that was handed in keeps its strides; where the type says strides, it is to have these.
    """
    kind, given = ir.MemRefType(op.buffer.type), state.given[number]
    wanted = wanted_strides(kind, memory.sizes)
    is_open = [
        axis for axis, stride in enumerate(wanted) if stride is None and memory.sizes[axis] != 1
    ]
    address = memref.extract_aligned_pointer_as_index(given)
    present = arith.cmpi(arith.CmpIPredicate.ne, address, materialized(0))
    index = ir.IndexType.get()
    test = scf.IfOp(present, [state.emit.types.ptr, *[index] * len(is_open)], has_else=True)
    with ir.InsertionPoint(test.then_block):
        end = scf.YieldOp([])
    with state.before(end):
        first, strides = _take(op, state, memory, number, wanted)
        end = _yield(end, first, [strides[axis] for axis in is_open])
    assert test.else_block is not None
    with ir.InsertionPoint(test.else_block):
        end = scf.YieldOp([])
    with state.before(end):
        first = _allocate(op, state, memory)
        _yield(end, first, [memory.strides[axis] for axis in is_open])
    first, *chosen = test.results
    strides = list(memory.strides)
    for axis, stride in zip(is_open, chosen, strict=True):
        strides[axis] = stride
    return pack(state, kind, first, first, memory.sizes, strides)


def _take(
    op: AllocateOp,
    state: ProgramState,
    memory: Memory,
    number: int,
    wanted: list[Index | None],
) -> tuple[ir.Value, list[Index]]:
    """Returns the address and the strides of what was handed in, once it has been found to fit."""
    kind, given = ir.MemRefType(op.buffer.type), state.given[number]
    what = f"the buffer handed in for {state.output_names[number]}"
    extents = extents_of(given)
    for axis, (size, needed) in enumerate(zip(extents.sizes, memory.sizes, strict=True)):
        message = f"{what} has size {{}} of axis {axis}, where the program gives {{}}"
        refuse_unless_equal(state, size, needed, message)
    check_strides(state, memory.sizes, extents.strides, wanted, what)
    first = data_address(state.emit, given)
    if "zero_init" in op.attributes:
        fill_view_with_zeros(state, first, memory.sizes, extents.strides, kind)
    return first, extents.strides


def _yield(end: scf.YieldOp, first: ir.Value, numbers: Sequence[Index]) -> scf.YieldOp:
    """Returns the terminator with values in place of the empty one."""
    values = [first, *(materialized(number) for number in numbers)]
    again = scf.YieldOp(values)
    end.operation.erase()
    return again
