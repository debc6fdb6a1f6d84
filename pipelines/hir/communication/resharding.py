"""Writing the communications that change how a buffer is spread over devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dialects.hir.layout import is_packed
from ....dialects.hir.spread import Spread
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from .device_parts import (
    Sizes,
    copy,
    divided,
    new_packed,
    packed,
    part_at,
    parts_buffer,
    parts_of,
    put_parts,
    sizes_of,
    times,
)
from .ops import begin_group, communicate, communicator, place_in, wait


@dataclass(frozen=True)
class Resharding:
    """A buffer spread over one team, that is to be spread over another, or the same otherwise."""

    x: ir.Value
    before: Spread
    from_team: list[int]
    after: Spread
    to_team: list[int]

    @property
    def is_nothing(self) -> bool:
        """Whether every device of `to_team` has already what it is to have."""
        if self.before.is_whole and self.after.is_whole:
            return set(self.to_team) <= set(self.from_team)
        if self.before != self.after:
            return False
        if self.before.reduction is not None:
            return set(self.to_team) == set(self.from_team)
        return self.to_team == self.from_team

    def new_sizes(self) -> Sizes:
        """The sizes of the buffer that each device of the new team has."""
        sizes = sizes_of(self.x)
        if self.before.axis is not None:
            sizes[self.before.axis] = times(sizes[self.before.axis], len(self.from_team))
        if self.after.axis is not None:
            sizes[self.after.axis] = divided(sizes[self.after.axis], len(self.to_team))
        return sizes

    def write(self, target: ir.Value) -> None:
        """Writes, at the insertion point, what brings the buffer into `target`."""
        if self.from_team == self.to_team:
            within_teams(self.x, self.before, self.after, [self.to_team], target)
        elif self.before.axis is not None and self.before == self.after and _are_pairs(self):
            _between_pairs(self, target)
        else:
            _through_one_device(self, target)


def within_teams(
    x: ir.Value, before: Spread, after: Spread, teams: list[list[int]], target: ir.Value
) -> None:
    """Writes what brings `x`, spread over each of the teams, into `target`, spread otherwise."""
    number = len(teams[0])
    if before.axis is not None:
        source = packed(x) if after.axis is None else parts_of(x, after.axis, number)
        received = parts_buffer(target, before.axis, number)
        run_and_wait("allgather" if after.axis is None else "all-to-all", source, received, teams)
        if received != target:
            put_parts(received, target, before.axis, number)
        return
    if before.is_whole and after.axis is not None:
        # Every device has its part already.
        copy(part_at(x, after.axis, number, place_in(communicator(teams))), target)
        return
    source = packed(x) if after.axis is None else parts_of(x, after.axis, number)
    kind = "allreduce" if after.axis is None else "reduce-scatter"
    into(target, lambda out: run_and_wait(kind, source, out, teams, reduction=before.reduction))


def _are_pairs(job: Resharding) -> bool:
    """Returns whether each device sends its part to one other: then none needs more than a part."""
    here, there = set(job.from_team), set(job.to_team)
    return len(here) == len(there) and (here == there or not here & there)


def _between_pairs(job: Resharding, target: ir.Value) -> None:
    source = packed(job.x)
    if set(job.from_team) == set(job.to_team):
        into(
            target,
            lambda out: run_and_wait("permute", source, out, [job.from_team], to=job.to_team),
        )
        return

    def send(out: ir.Value) -> None:
        pairs = list(zip(job.from_team, job.to_team, strict=True))
        teams = [communicator([pair]) for pair in pairs]
        block, request = begin_group()
        with ir.InsertionPoint(block):
            for (sender, _), team in zip(pairs, teams, strict=True):
                communicate("send-recv", source, out, team, root=sender)
        wait(request)

    into(target, send)


def _through_one_device(job: Resharding, target: ir.Value) -> None:
    """Collects the whole on one device, which spreads it; it is of both teams where one is."""
    shared = [device for device in job.to_team if device in job.from_team]
    root = shared[0] if shared else job.from_team[0]
    whole = _collect(job, root, target if job.to_team == [root] else None)
    if job.to_team == [root]:
        copy(whole, target)
    elif job.after.axis is None:
        team = job.to_team if root in job.to_team else [root, *job.to_team]
        kind = "send-recv" if len(job.to_team) == 1 else "broadcast"
        source = packed(whole)
        into(target, lambda out: run_and_wait(kind, source, out, [team], root=root))
    else:
        if root not in job.to_team:
            moved = new_packed(sizes_of(whole), ir.MemRefType(whole.type).element_type)
            run_and_wait("send-recv", packed(whole), moved, [[root, job.to_team[0]]], root=root)
            whole, root = moved, job.to_team[0]
        source = parts_of(whole, job.after.axis, len(job.to_team))
        into(target, lambda out: run_and_wait("scatter", source, out, [job.to_team], root=root))


def _collect(job: Resharding, root: int, target: ir.Value | None) -> ir.Value:
    """The whole buffer on the device `root`; in `target`, if there is one, or a copy of it."""
    team, number = job.from_team, len(job.from_team)
    if job.before.is_whole:
        return job.x
    source = packed(job.x)
    element = ir.MemRefType(job.x.type).element_type
    if job.before.axis is None:
        out = target if target is not None and _is_packed(target) else None
        out = new_packed(sizes_of(job.x), element) if out is None else out
        run_and_wait("reduce", source, out, [team], root=root, reduction=job.before.reduction)
        return out
    if target is None:
        sizes = sizes_of(job.x)
        sizes[job.before.axis] = times(sizes[job.before.axis], number)
        target = new_packed(sizes, element)
    received = parts_buffer(target, job.before.axis, number)
    run_and_wait("gather", source, received, [team], root=root)
    if received != target:
        put_parts(received, target, job.before.axis, number)
    return target


def into(target: ir.Value, write: Callable[[ir.Value], None]) -> None:
    """Writes to `target` if it is packed, else to a packed buffer that is copied there."""
    if _is_packed(target):
        write(target)
        return
    out = new_packed(sizes_of(target), ir.MemRefType(target.type).element_type)
    write(out)
    copy(out, target)


def run_and_wait(
    kind: str,
    source: ir.Value,
    target: ir.Value,
    teams: list[list[int]],
    *,
    root: int | None = None,
    reduction: str | None = None,
    to: Sequence[int] | None = None,
) -> None:
    """A communication, and the current stream's wait for it."""
    members = communicator(teams)
    wait(communicate(kind, source, target, members, root=root, reduction=reduction, to=to))


def _is_packed(buffer: ir.Value) -> bool:
    return is_packed(ir.MemRefType(buffer.type))
