"""Communication between devices: calls of the support library, which calls NCCL."""

from __future__ import annotations

from ....dialects import llvm
from ....dialects.hir import (
    CoalesceOp,
    CommunicateOp,
    CommunicatorOp,
    RankOp,
    SharesMemoryOp,
    WaitOp,
)
from ....dialects.hir.element_types import ELEMENT_TYPES
from ....dialects.hir.kinds import COMMUNICATION
from ....dialects.hir.team import teams_of
from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...host.buffer import data_address
from ...pass_base import fail
from ...walking import operations_where
from ..index_arithmetic import IndexArithmetic
from .buffers import as_i64, extents_of
from .registry import lowers
from .state import ProgramState

_BACKENDS = ("nccl",)
# The numbers of compiler/runtime/nccl_abi.h.
_BYTES = 1
_TYPES = {
    "i8": 0,
    "ui8": 1,
    "i32": 2,
    "ui32": 3,
    "i64": 4,
    "ui64": 5,
    "f16": 6,
    "f32": 7,
    "f64": 8,
    "bf16": 9,
}
_TEAM, _ELEMENT = "hirc.team", "hirc.element"
_REDUCTIONS = {"sum": 0, "prod": 1, "max": 2, "min": 3, "avg": 4}
# The kind of a send-recv with peers.
_EXCHANGE = len(COMMUNICATION)


def mark_communications(program: ir.Operation) -> None:
    """Writes down what a communication's operands tell only until they are lowered."""
    for op in operations_where(program, lambda op: op.name == "hir.communicate"):
        team = op.operands[2].owner
        assert isinstance(team, ir.Operation | ir.OpView)
        # Devices are named only where there is one team.
        op.attributes[_TEAM] = ir.DenseI64ArrayAttr.get(teams_of(team.operation)[0])
        element = ir.MemRefType(op.operands[0].type).element_type
        op.attributes[_ELEMENT] = ir.StringAttr.get(str(element))


@lowers("hir.communicator")
def lower_communicator(op: CommunicatorOp, state: ProgramState) -> list[ir.Value]:
    """A call, with a variable in which it finds the communicator the next time."""
    emit = state.emit
    if "backend" in op.attributes:
        backend = ir.StringAttr(op.attributes["backend"]).value
        if backend not in _BACKENDS:
            fail(op, f"programs communicate over {', '.join(_BACKENDS)}, not '{backend}'")
    teams = teams_of(op.operation)
    if len(teams[0]) > 1 and not list(op.operation.results[0].uses):
        return [llvm.zero(emit.types.ptr)]  # Nobody has to come together for it.
    return [communicator_of(state, teams)]


def communicator_of(state: ProgramState, teams: list[list[int]]) -> ir.Value:
    """Returns the communicator of the one of the teams that the device is of."""
    emit = state.emit
    known = emit.zeroed_words("hirc_communicator", 1)
    arguments = [
        emit.address_of(known),
        emit.constant_words("hirc_teams", [device for team in teams for device in team]),
        emit.i64(len(teams)),
        emit.i64(len(teams[0])),
        emit.location(),
    ]
    return emit.value_of_call("hirc_communicator_of", arguments, emit.types.ptr)


@lowers("hir.rank")
def lower_rank(op: RankOp, state: ProgramState) -> list[ir.Value]:
    """Returns what the communicator knows."""
    emit = state.emit
    place = emit.value_of_call("hirc_communicator_rank", [op.communicator], emit.types.i64)
    return [arith.index_cast(ir.IndexType.get(), place)]


@lowers("hir.shares_memory")
def lower_shares_memory(op: SharesMemoryOp, state: ProgramState) -> list[ir.Value]:
    """Returns what the devices found together."""
    emit = state.emit
    arguments = [op.communicator, emit.location()]
    shares = emit.value_of_call("hirc_shares_memory", arguments, emit.types.i32)
    return [arith.cmpi(arith.CmpIPredicate.ne, shares, emit.i32(0))]


@lowers("hir.communicate")
def lower_communicate(op: CommunicateOp, state: ProgramState) -> list[ir.Value]:
    """A call, with a constant that describes the communication; gives the event of its end."""
    check_waited_for(op.operation)
    return [_communicate(op, state)]


def _communicate(op: CommunicateOp, state: ProgramState) -> ir.Value:
    emit = state.emit
    buffers = [op.input, op.output]
    counts = [
        as_i64(state, IndexArithmetic().product(extents_of(buffer).sizes)) for buffer in buffers
    ]
    arguments = [
        op.communicator,
        emit.constant_words("hirc_communication", _words(op.operation)),
        *(data_address(emit, buffer) for buffer in buffers),
        *counts,
        *_peers(op, state),
        state.stream,
        emit.location(),
    ]
    return emit.value_of_call("hirc_communicate", arguments, emit.types.ptr)


def _peers(op: CommunicateOp, state: ProgramState) -> list[ir.Value]:
    """Returns the root's place, or that to send to; and the place to receive from."""
    peers = [as_i64(state, peer) for peer in op.peers]
    if not peers:
        team, root = list(ir.DenseI64ArrayAttr(op.operation.attributes[_TEAM])), 0
        if "root" in op.attributes:
            root = team.index(ir.IntegerAttr(op.attributes["root"]).value)
        peers = [state.emit.i64(root)]
    return peers if len(peers) == 2 else [*peers, state.emit.i64(-1)]


@lowers("hir.coalesce")
def lower_coalesce(op: CoalesceOp, state: ProgramState) -> list[ir.Value]:
    """Two calls around those of its communications, which come before the operation."""
    emit = state.emit
    check_waited_for(op.operation)
    emit.call("hirc_communication_group_begin", [emit.location()])
    for inner in list(op.body.blocks[0]):
        inner.operation.move_before(op.operation)
        if not isinstance(inner, CommunicateOp):
            continue
        with state.before(inner):
            event = _communicate(inner, state)
        inner.operation.results[0].replace_all_uses_with(event)
        inner.operation.erase()
    event = emit.value_of_call(
        "hirc_communication_group_end", [state.stream, emit.location()], emit.types.ptr
    )
    return [event]


@lowers("hir.wait")
def lower_wait(op: WaitOp, state: ProgramState) -> list[ir.Value]:
    """The stream waits; the host goes on."""
    emit = state.emit
    emit.call("hirc_communication_wait", [op.request, state.stream, emit.location()])
    return []


def check_waited_for(op: ir.Operation) -> None:
    """Fails where nothing waits for a communication."""
    if not list(op.results[0].uses):
        fail(
            op,
            "nothing waits for this communication: its buffers may be used, and freed, while it is "
            "still under way; add a hir.wait of its request",
        )


@dataclass(frozen=True)
class _Units:
    """How NCCL takes an element: so many units of a type."""

    type: int
    number: int
    bytes: int


def _words(op: ir.Operation) -> list[int]:
    """Returns the communication as `struct hirc_communication` (compiler/runtime/communicate.h)."""
    team = list(ir.DenseI64ArrayAttr(op.attributes[_TEAM]))
    units = _units(op)
    reduction = 0
    if "reduction" in op.attributes:
        reduction = _REDUCTIONS[ir.StringAttr(op.attributes["reduction"]).value]
    to: list[int] = []
    if "to" in op.attributes:
        to = [team.index(device) for device in ir.DenseI64ArrayAttr(op.attributes["to"])]
    kind = COMMUNICATION.index(ir.StringAttr(op.attributes["kind"]).value)
    if len(list(op.operands)) == 5:
        kind = _EXCHANGE
    return [kind, units.type, units.number, units.bytes, reduction, *to]


def _units(op: ir.Operation) -> _Units:
    """What is only moved may be of any type; what is combined is of one that NCCL combines."""
    element = ELEMENT_TYPES[ir.StringAttr(op.attributes[_ELEMENT]).value]
    reduction = op.attributes.get("reduction")
    if reduction is None:
        if element.name in _TYPES:
            return _Units(_TYPES[element.name], 1, element.bytes)
        return _Units(_BYTES, element.bytes, 1)
    kind = ir.StringAttr(reduction).value
    if element.kind == "complex" and kind == "sum":
        part = element.name.removeprefix("complex<").removesuffix(">")
        return _Units(_TYPES[part], 2, element.bytes // 2)
    if element.name not in _TYPES or (kind == "avg" and not element.is_float):
        known = ", ".join(_TYPES)
        fail(
            op,
            f"'{kind}' of {element.name} cannot be communicated: NCCL combines {known}, and "
            "averages floats alone; convert with hir.set before and after",
        )
    return _Units(_TYPES[element.name], 1, element.bytes)
