"""Communication: what all of a team have, and what each makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....dialects.hir.element_types import ElementType
from ....dialects.hir.mesh import Mesh, read_spreads
from ....dialects.hir.team import teams_of
from ....dialects.mlir import ir
from .. import fault
from ..buffer import Buffer
from ..frame import Frame
from ..mesh_parts import assemble, combine, part_of
from ..registry import interprets
from ..shapes import text_of
from ..team import Exchanges, Place
from ..torch_import import torch

_ALONE = "start it as a team: hirc-run --interpret --devices=N"


@dataclass(frozen=True)
class Request:
    """A communication, done already."""


@dataclass(frozen=True)
class Communicator:
    """Teams of one size; a device takes part in the one that it is of."""

    teams: tuple[tuple[int, ...], ...]

    def team(self, rank: int) -> tuple[int, ...]:
        """Returns the team of a device; any where it is of none."""
        return next((team for team in self.teams if rank in team), self.teams[0])


def _place(op: ir.Operation, frame: Frame, devices: Sequence[int]) -> Place:
    """Where this run stands. A program that is run alone is device 0, or a team's only one."""
    place = frame.interpreter.place
    if place is None:
        if len(set(devices)) > 1:
            fault.refuse(op, f"a team of {len(set(devices))} devices is run here by one", _ALONE)
        return Place(devices[0], Exchanges(1))
    if max(devices) >= place.exchanges.size:
        fault.fail(
            op,
            f"device {max(devices)} is one of the team, and {place.exchanges.size} run the program",
        )
    return place


@interprets("hir.communicator")
def communicator(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return [Communicator(tuple(tuple(team) for team in teams_of(op)))]


@interprets("hir.rank")
def rank(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    place, team = own_team(op, frame, frame.value(op.operands[0]))
    return [team.index(place.rank) if place.rank in team else -1]


@interprets("hir.shares_memory")
def shares_memory(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return [True]


def own_team(
    op: ir.Operation, frame: Frame, communicator: Communicator
) -> tuple[Place, tuple[int, ...]]:
    """Where this run stands, and the team that communicates with it."""
    place = _place(op, frame, [device for team in communicator.teams for device in team])
    return place, communicator.team(place.rank)


@interprets("hir.communicate")
def communicate(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Every kind is made of the inputs of all."""
    place, team = own_team(op, frame, frame.value(op.operands[2]))
    if place.rank not in team:
        return [Request()]
    source, target = (frame.buffer(op, operand) for operand in list(op.operands)[:2])
    kind = ir.StringAttr(op.attributes["kind"]).value
    peers = [frame.value(peer) for peer in list(op.operands)[3:]]
    for peer in peers:
        check_peer(op, peer, -1 if len(peers) == 2 else 0, len(team))
    if len(peers) == 2:
        _exchange_with_peers(op, frame, place, team, peers)
        return [Request()]
    root = ir.IntegerAttr(op.attributes["root"]).value if "root" in op.attributes else None
    if peers:
        root = team[peers[0]]
    reduction = (
        ir.StringAttr(op.attributes["reduction"]).value if "reduction" in op.attributes else None
    )
    counts = kind not in ("broadcast", "scatter", "send-recv") or place.rank == root
    numbers = frame.read(op, source).reshape(-1) if counts else None
    described = (kind, reduction, root, source.element.name, source.tensor.numel())
    given = place.exchange(team, (described, numbers), fault.where(op))
    for device, (theirs, _) in zip(team, given, strict=True):
        if theirs != described:
            fault.fail(
                op, f"device {place.rank} takes part as {described}, device {device} as {theirs}"
            )
    parts: dict[int | None, Any] = dict(zip(team, (part for _, part in given), strict=True))
    job = _Job(place.rank, list(team), parts, source.element, root, reduction)
    if kind == "permute":
        to = list(ir.DenseI64ArrayAttr(op.attributes["to"]))
        result = parts[team[to.index(place.rank)]]
    else:
        result = _KINDS[kind](job)
    if result is None:
        return [Request()]
    if target.tensor.numel() != result.numel():
        fault.fail(
            op,
            f"{kind} in a team of {len(team)} gives {result.numel()} elements, and the output, "
            f"{text_of(target.sizes)} ({target.name}), has {target.tensor.numel()}",
        )
    frame.write(target, result.reshape(target.sizes))
    return [Request()]


def check_peer(op: ir.Operation, peer: int, least: int, size: int) -> None:
    if not least <= peer < size:
        fault.fail(op, f"place {peer} of a team of {size}, where places are {least} to {size - 1}")


def _exchange_with_peers(
    op: ir.Operation, frame: Frame, place: Place, team: Sequence[int], peers: Sequence[int]
) -> None:
    """A send-recv with peers: every device sends to one and receives from another, or nobody."""
    source, target = (frame.buffer(op, operand) for operand in list(op.operands)[:2])
    own, (to, sender) = team.index(place.rank), peers
    numbers = frame.read(op, source).reshape(-1) if to >= 0 else None
    described = ("send-recv with peers", source.element.name)
    given = place.exchange(team, (described, to, sender, numbers), fault.where(op))
    for device, (theirs, *_) in zip(team, given, strict=True):
        if theirs != described:
            fault.fail(
                op, f"device {place.rank} takes part as {described}, device {device} as {theirs}"
            )
    senders = [number for number, (_, theirs, _, _) in enumerate(given) if theirs == own]
    if senders != ([sender] if sender >= 0 else []):
        who = ", ".join(str(team[number]) for number in senders) or "none"
        whom = team[sender] if sender >= 0 else "none"
        fault.fail(
            op, f"device {place.rank} receives from {whom}, and those that send to it are: {who}"
        )
    if sender < 0:
        return
    result = given[sender][3]
    if target.tensor.numel() != result.numel():
        fault.fail(
            op,
            f"device {team[sender]} sends {result.numel()} elements, and the output here, "
            f"{text_of(target.sizes)} ({target.name}), has {target.tensor.numel()}",
        )
    frame.write(target, result.reshape(target.sizes))


@dataclass(frozen=True)
class _Job:
    """What device `rank` of a team makes of what its devices put in, `parts`."""

    rank: int
    team: list[int]
    parts: Mapping[int | None, Any]
    element: ElementType
    root: int | None
    reduction: str | None

    @property
    def is_root(self) -> bool:
        return self.rank == self.root

    @property
    def whole(self) -> Any:
        return torch.cat([self.parts[device] for device in self.team])

    def own(self, whole: Any) -> Any:
        """Returns the part of a whole that is this device's."""
        return whole.reshape(len(self.team), -1)[self.team.index(self.rank)]

    @property
    def combined(self) -> Any:
        return combine([self.parts[device] for device in self.team], self.reduction, self.element)


def _all_to_all(job: _Job) -> Any:
    return torch.cat([job.own(job.parts[device]) for device in job.team])


_KINDS: dict[str, Callable[[_Job], Any]] = {
    "gather": lambda job: job.whole if job.is_root else None,
    "allgather": lambda job: job.whole,
    "scatter": lambda job: job.own(job.parts[job.root]),
    "reduce": lambda job: job.combined if job.is_root else None,
    "allreduce": lambda job: job.combined,
    "reduce-scatter": lambda job: job.own(job.combined),
    "broadcast": lambda job: job.parts[job.root],
    "send-recv": lambda job: None if job.is_root else job.parts[job.root],
    "all-to-all": _all_to_all,
}


@interprets("hir.wait")
def wait(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return []


@interprets("hir.coalesce")
def coalesce(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    frame.run_block(op.regions[0].blocks[0])
    return [Request()]


@interprets("hir.reshard")
def reshard(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """The whole is made of what the first team has; the second takes what it is to have."""
    if "mesh" in op.attributes:
        return _reshard_over_mesh(op, frame)
    before, after = (_spread(op, name) for name in ("from", "to"))
    teams = [_devices(op, name) for name in ("from_team", "to_team")]
    everyone = sorted({*teams[0], *teams[1]})
    place = _place(op, frame, everyone)
    source = frame.buffer(op, op.operands[0])
    if place.rank not in everyone:
        return _outside(op, frame, source)
    is_of_first = place.rank in teams[0]
    numbers = frame.read(op, source) if is_of_first else None
    given = dict(zip(everyone, place.exchange(everyone, numbers, fault.where(op)), strict=True))
    parts = [given[device] for device in teams[0]]
    whole = parts[0]
    if before[0] == "axis":
        whole = torch.cat(parts, int(before[1]))
    elif before[0] == "partial" and before != after:
        whole = combine(parts, before[1], source.element)
    elif before[0] == "partial":
        whole = given[place.rank]
    if place.rank not in teams[1]:
        return _outside(op, frame, source)
    if after[0] == "axis":
        axis, number = int(after[1]), len(teams[1])
        if whole.shape[axis] % number:
            _fail_uneven(op, number, whole.shape[axis])
        whole = whole.chunk(number, axis)[teams[1].index(place.rank)]
    destination = frame.destination(op, tuple(whole.shape), [source], in_place=True)
    frame.write(destination, whole)
    return [destination] if len(op.results) else []


def _reshard_over_mesh(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    team = _devices(op, "from_team")
    mesh = Mesh(tuple(ir.DenseI64ArrayAttr(op.attributes["mesh"])), team)
    place = _place(op, frame, team)
    source = frame.buffer(op, op.operands[0])
    if place.rank not in team:
        return _outside(op, frame, source)
    rank = source.tensor.dim()
    before, after = (
        read_spreads(op.attributes[name], rank, len(mesh.shape)) for name in ("from", "to")
    )
    assert not isinstance(before, str)
    assert not isinstance(after, str), "the verifier has seen to it"
    own = mesh.places[team.index(place.rank)]
    given = place.exchange(team, frame.read(op, source), fault.where(op))
    parts = dict(zip(mesh.places, given, strict=True))
    kept = [axis for axis, spread in enumerate(after) if spread.reduction is not None]
    whole = assemble(mesh, before, parts, source.element, {axis: own[axis] for axis in kept})
    for dim in range(rank):
        if whole.shape[dim] % mesh.parts(after, dim):
            _fail_uneven(op, mesh.parts(after, dim), whole.shape[dim])
    part = part_of(mesh, after, whole, own)
    destination = frame.destination(op, tuple(part.shape), [source], in_place=True)
    frame.write(destination, part)
    return [destination] if len(op.results) else []


def _fail_uneven(op: ir.Operation, parts: int, size: int) -> None:
    fault.fail(
        op,
        f"{parts} devices do not divide {size} evenly",
        "fill it up before, as a program over a mesh does by itself",
    )


def _outside(op: ir.Operation, frame: Frame, source: Buffer) -> Sequence[Any]:
    """Returns a device that gets nothing has a buffer nevertheless, whose elements nobody knows."""
    if not len(op.results):
        return []
    shape = ir.MemRefType(op.results[0].type).shape
    open_size = ir.ShapedType.get_dynamic_size()
    sizes = tuple(
        there if size == open_size else size
        for size, there in zip(shape, source.sizes, strict=True)
    )
    destination = frame.destination(op, sizes, [source], in_place=False)
    frame.write(destination, torch.zeros(sizes, dtype=destination.tensor.dtype))
    return [destination]


def _spread(op: ir.Operation, name: str) -> tuple[str, str]:
    word, _, rest = ir.StringAttr(op.attributes[name]).value.partition(":")
    return word, rest


def _devices(op: ir.Operation, name: str) -> tuple[int, ...]:
    return tuple(ir.DenseI64ArrayAttr(op.attributes[name]))
