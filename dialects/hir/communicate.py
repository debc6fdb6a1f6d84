"""`hir.communicate`: begins a collective communication."""

from collections.abc import Sequence
from typing import Any

from ..mlir import ext, ir
from .communicated_sizes import sizes_fit
from .dialect import Hir
from .kinds import COMMUNICATED_REDUCTION, COMMUNICATION
from .refusal import constant_value, numbers, refuse, whole_number
from .team import teams_of
from .value_types import CommunicatorType, RequestType


class CommunicateOp(Hir.Operation, name="communicate"):
    """Begins a communication of `kind` (one of COMMUNICATION in kinds.py) within a team.

    Both buffers are packed. Device number d of a team of n, counted in the order of the team, has
    part d of a buffer that is n times as large, the parts following one another in memory:

    - gather: the root's output is the inputs of all, one after another; allgather: everybody's;
    - scatter: device d's output is part d of the root's input;
    - broadcast: the outputs are the root's input;
    - reduce: the root's output is the inputs of all, combined; allreduce: everybody's;
      reduce-scatter: device d's output is part d of the combined inputs;
    - all-to-all: part e of device d's output is part d of device e's input;
    - send-recv: in a team of two, the other's output is the root's input; with two `peers`, every
      device sends its input to the first of them and receives its output from the second;
    - permute: device d's input is the output of the device `to[d]`, which is one of the team.

    `root`, a device of the team, is there for gather, scatter, broadcast, reduce and send-recv.
    What only the run can tell are `peers`, places in the team as hir.rank counts them: the root of
    these kinds, on which all agree, or where a send-recv sends to and receives from (-1: nowhere).
    `reduction`, one of COMMUNICATED_REDUCTION, for reduce, allreduce and reduce-scatter. Where only
    the root's input or output counts, the others' is any buffer of that type.

    Example:
      %request = "hir.communicate"(%x, %y, %team) {kind = "allreduce", reduction = "sum"}
        : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
    """

    kind: ir.StringAttr
    input: ext.Operand[Any]
    output: ext.Operand[Any]
    communicator: ext.Operand[CommunicatorType]
    peers: Sequence[ext.Operand[ir.IndexType]]
    request: ext.Result[RequestType]

    @staticmethod
    def verify_invariants(op: "CommunicateOp") -> bool:
        kind = op.kind.value
        if kind not in COMMUNICATION:
            return refuse(
                op, f"hir.communicate 'kind' is one of {', '.join(COMMUNICATION)}, not '{kind}'"
            )
        owner = op.communicator.owner
        if not isinstance(owner, ir.Operation | ir.OpView) or owner.name != "hir.communicator":
            return refuse(op, "the communicator of a communication comes from a hir.communicator")
        teams = teams_of(owner.operation)
        if not teams:
            return True  # The communicator's own verifier says so.
        return (
            _has_its_attributes(op, kind)
            and _devices_are_of_the_team(op, kind, teams)
            and sizes_fit(op, kind, op.input.type, op.output.type, len(teams[0]))
        )


_TAKES = {
    "root": ("gather", "scatter", "reduce", "broadcast", "send-recv"),
    "reduction": ("reduce", "allreduce", "reduce-scatter"),
    "to": ("permute",),
}


def _has_its_attributes(op: CommunicateOp, kind: str) -> bool:
    peers = len(op.peers)
    if peers and (kind not in _TAKES["root"] or "root" in op.attributes):
        return refuse(
            op,
            f"the 'peers' of a communication are what stands in place of 'root', for "
            f"{', '.join(_TAKES['root'])}; this is '{kind}'"
            + (" with a 'root'" if "root" in op.attributes else ""),
        )
    wanted = 2 if kind == "send-recv" else 1
    if peers not in (0, wanted):
        what = "whom a device sends to and whom it receives from" if wanted == 2 else "the root"
        return refuse(op, f"the 'peers' of a {kind} are {what}: {wanted}, not {peers}")
    for name, kinds in _TAKES.items():
        if name == "root" and peers:
            continue
        if (name in op.attributes) != (kind in kinds):
            there = "has none" if name in op.attributes else "has one, which is missing"
            return refuse(
                op, f"'{name}' is for {', '.join(kinds)}; a communication of kind '{kind}' {there}"
            )
    if "reduction" in op.attributes:
        reduction = op.attributes["reduction"]
        text = reduction.value if isinstance(reduction, ir.StringAttr) else str(reduction)
        if text not in COMMUNICATED_REDUCTION:
            known = ", ".join(COMMUNICATED_REDUCTION)
            return refuse(op, f"'reduction' is one of {known}, not '{text}'")
    return True


def _devices_are_of_the_team(op: CommunicateOp, kind: str, teams: list[list[int]]) -> bool:
    team = teams[0]
    least = -1 if kind == "send-recv" else 0
    for peer in op.peers:
        place = constant_value(peer)
        if place is not None and not least <= place < len(team):
            return refuse(
                op,
                f"a peer is a place in the team, {least} to {len(team) - 1}, not {place}",
            )
    if len(teams) > 1 and ("root" in op.attributes or "to" in op.attributes):
        return refuse(
            op,
            "'root' and 'to' are devices of one team, and the communicator has several: give "
            "places in the team as 'peers'",
        )
    devices = ", ".join(map(str, team))
    if "root" in op.attributes and whole_number(op, "root") not in team:
        return refuse(
            op, f"'root' is a device of the team ({devices}), not {op.attributes['root']}"
        )
    if "to" in op.attributes and sorted(numbers(op.attributes["to"]) or []) != sorted(team):
        return refuse(
            op,
            f"'to' names for each device of the team ({devices}) another to send to, each once; it "
            f"is {op.attributes['to']}",
        )
    if kind == "send-recv" and len(team) != 2 and not op.peers:
        return refuse(
            op,
            f"send-recv with a 'root' is between two devices; the team has {len(team)}: {devices}. "
            "In a larger one 'peers' say whom each sends to and receives from",
        )
    return True
