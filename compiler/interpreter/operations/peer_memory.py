"""Memory that the devices of a team share.

What a device puts arrives as late as the program allows: when the peer waits for the signal of it,
or comes to a barrier. So a program that reads too early is found to read what nothing was written
to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ....dialects.hir.team import teams_of
from ....dialects.mlir import ir
from .. import fault
from ..buffer import Buffer
from ..frame import Frame, is_written, mark_written
from ..memory import Allocation
from ..registry import interprets
from ..shapes import text_of
from ..team import Place
from ..torch_import import torch
from .communication import Communicator, Request, check_peer, own_team


@dataclass(eq=False)
class _Put:
    """Elements on their way into a peer's buffer."""

    elements: torch.Tensor
    into: Buffer
    is_there: bool = False

    def arrive(self) -> None:
        if not self.is_there:
            self.into.tensor.copy_(self.elements)
            mark_written(self.into)
        self.is_there = True


@dataclass(eq=False)
class _Shared:
    """What a team has of one allocation: each device's memory, which stays when that one frees it.

    `sent` are this device's puts by the place of the peer, in order; `signals` and `waits` count
    its signals to, and its waits for, each.
    """

    place: Place
    team: tuple[int, ...]
    number: int
    parts: list[Allocation]
    sent: dict[int, list[_Put]] = field(default_factory=dict[int, list[_Put]])
    signals: dict[int, int] = field(default_factory=dict[int, int])
    waits: dict[int, int] = field(default_factory=dict[int, int])

    @property
    def own(self) -> int:
        return self.team.index(self.place.rank)

    def part(self, view: Buffer, peer: int) -> Buffer:
        """Returns the same view of a peer's memory."""
        part = self.parts[peer]
        assert part.memory is not None
        flat = part.memory.view(view.tensor.dtype)
        tensor = flat.as_strided(view.sizes, view.strides, view.tensor.storage_offset())
        return Buffer(tensor, view.element, part, view.offset)

    def signal_key(self, sender: int, to: int, number: int) -> Any:
        return (self.team[sender],), ("signal", self.team, self.number, to, number)


def share(op: ir.Operation, frame: Frame, buffer: Buffer) -> None:
    """Lets the devices of a team know one another's memory, once all of them allocate it."""
    teams = Communicator(tuple(tuple(team) for team in teams_of(op)))
    place, team = own_team(op, frame, teams)
    if place.rank not in team:
        return
    # Later changes of the allocation are this device's own matter: it frees it.
    described = (text_of(buffer.sizes), buffer.element.name)
    mine = (described, replace(buffer.allocation), len(frame.interpreter.memory.allocations))
    given = place.exchange(team, mine, fault.where(op))
    for device, (theirs, *_) in zip(team, given, strict=True):
        if theirs != described:
            fault.fail(
                op,
                f"device {place.rank} allocates {' of '.join(described)}, device {device} "
                f"{' of '.join(theirs)}: memory that a team shares has one size",
            )
    parts = [part for _, part, _ in given]
    buffer.allocation.shared = _Shared(place, team, given[0][2], parts)


def _shared_by(buffer: Buffer) -> _Shared | None:
    """Returns None on a device that is not of the team."""
    shared = buffer.allocation.shared
    assert shared is None or isinstance(shared, _Shared)
    return shared


def _moved(op: ir.Operation, frame: Frame, shared_operand: int) -> tuple[_Shared | None, int]:
    """Returns who shares the memory, and the peer; checks that as many elements come as go."""
    source, target = (frame.buffer(op, operand) for operand in list(op.operands)[:2])
    shared = _shared_by((source, target)[shared_operand])
    peer = frame.number(op.operands[2])
    if shared is None:
        return None, -1
    check_peer(op, peer, -1, len(shared.team))
    if source.tensor.numel() != target.tensor.numel():
        fault.fail(
            op,
            f"the source has {source.tensor.numel()} elements and the target "
            f"{target.tensor.numel()}",
        )
    return shared, peer


@interprets("hir.put")
def put(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Takes the elements now; they arrive later."""
    shared, peer = _moved(op, frame, 1)
    if shared is None or peer < 0:
        return [Request()]
    source, target = (frame.buffer(op, operand) for operand in list(op.operands)[:2])
    frame.check_written(op, source)
    sent = [each for each in shared.sent.get(peer, []) if not each.is_there]
    shared.sent[peer] = sent
    sent.append(_Put(source.tensor.clone().reshape(target.sizes), shared.part(target, peer)))
    if peer == shared.own:
        sent[-1].arrive()
    if "signal" in op.attributes:
        number = shared.signals[peer] = shared.signals.get(peer, 0) + 1
        rank = shared.place.rank
        key = shared.signal_key(shared.own, peer, number)
        shared.place.exchanges.give(rank, key, list(sent))
    return [Request()]


@interprets("hir.get")
def get(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Takes what is in the peer's memory now."""
    shared, peer = _moved(op, frame, 0)
    if shared is None or peer < 0:
        return [Request()]
    source, target = (frame.buffer(op, operand) for operand in list(op.operands)[:2])
    part = shared.part(source, peer)
    if not is_written(part):
        fault.fail(
            op,
            f"'{op.name}' reads elements of device {shared.team[peer]} that nothing was written to",
            hint="a hir.barrier, or a signal, after it wrote them orders this after that",
        )
    frame.write_stored(target, part.tensor.clone().reshape(target.sizes))
    return [Request()]


@interprets("hir.wait_signal")
def wait_signal(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Waits for the peer's next signal; what it put until then arrives."""
    shared, peer = _shared_by(frame.buffer(op, op.operands[0])), frame.number(op.operands[1])
    if shared is None:
        return []
    check_peer(op, peer, -1, len(shared.team))
    if peer >= 0:
        number = shared.waits[peer] = shared.waits.get(peer, 0) + 1
        key = shared.signal_key(peer, shared.own, number)
        rank = shared.place.rank
        for each in shared.place.exchanges.collect(rank, key, fault.where(op))[0]:
            each.arrive()
    return []


@interprets("hir.barrier")
def barrier(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Waits for the team; what all of them put until then arrives."""
    shared = _shared_by(frame.buffer(op, op.operands[0]))
    if shared is not None:
        sent = {peer: list(puts) for peer, puts in shared.sent.items()}
        for theirs in shared.place.exchange(shared.team, sent, fault.where(op)):
            for each in theirs.get(shared.own, []):
                each.arrive()
    return []
