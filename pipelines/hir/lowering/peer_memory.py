"""Memory that a team shares: calls of the support library, which copies between devices."""

from __future__ import annotations

from ....dialects.hir import AllocateOp, BarrierOp, GetOp, PutOp, WaitSignalOp
from ....dialects.hir.team import teams_of
from ....dialects.mlir import ir
from ...host.buffer import data_address
from ...host.types import element_bytes
from ..index_arithmetic import IndexArithmetic
from .buffers import as_i64, extents_of
from .communication import check_waited_for, communicator_of
from .registry import lowers
from .state import Memory, ProgramState


def allocate_shared(op: AllocateOp, state: ProgramState, memory: Memory) -> ir.Value:
    """Returns the memory that the team allocates together, in one call."""
    emit = state.emit
    arguments = [
        communicator_of(state, teams_of(op.operation)),
        as_i64(state, memory.bytes),
        emit.i32(int("zero_init" in op.attributes)),
        state.stream,
        emit.location(),
    ]
    return emit.value_of_call("hirc_symmetric_allocate", arguments, emit.types.ptr)


@lowers("hir.put")
def lower_put(op: PutOp, state: ProgramState) -> list[ir.Value]:
    """A call; gives the event of its end."""
    return [_moved("hirc_put", op, state, [state.emit.i32(int("signal" in op.attributes))])]


@lowers("hir.get")
def lower_get(op: GetOp, state: ProgramState) -> list[ir.Value]:
    """A call; gives the event of its end."""
    return [_moved("hirc_get", op, state, [])]


def _moved(name: str, op: PutOp | GetOp, state: ProgramState, more: list[ir.Value]) -> ir.Value:
    emit = state.emit
    check_waited_for(op.operation)
    buffers = [op.source, op.target]
    each = element_bytes(ir.MemRefType(op.source.type).element_type)
    arithmetic = IndexArithmetic()
    sizes = [
        as_i64(state, arithmetic.multiply(arithmetic.product(extents_of(buffer).sizes), each))
        for buffer in buffers
    ]
    arguments = [
        *(data_address(emit, buffer) for buffer in buffers),
        *sizes,
        as_i64(state, op.peer),
        *more,
        state.stream,
        emit.location(),
    ]
    return emit.value_of_call(name, arguments, emit.types.ptr)


@lowers("hir.wait_signal")
def lower_wait_signal(op: WaitSignalOp, state: ProgramState) -> list[ir.Value]:
    """The stream waits; the host goes on."""
    emit = state.emit
    peer = as_i64(state, op.peer)
    where = [state.stream, emit.location()]
    emit.call("hirc_wait_signal", [data_address(emit, op.buffer), peer, *where])
    return []


@lowers("hir.barrier")
def lower_barrier(op: BarrierOp, state: ProgramState) -> list[ir.Value]:
    """The stream waits for the team's; the host goes on."""
    emit = state.emit
    emit.call("hirc_barrier", [data_address(emit, op.buffer), state.stream, emit.location()])
    return []
