"""The order in which a row's collective operations are done."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects.mlir import ir
from .region import Region
from .row_collectives import Collective, Find, Reduce
from .row_exponential_sum import ExponentialSum, greatest_of
from .work import COLLECTIVES, Work


@dataclass(frozen=True)
class StagePlan:
    """The operations of each stage; those in `merged` come with the greatest that they need."""

    stages: tuple[tuple[ir.Operation, ...], ...]
    merged: dict[ir.Operation, ir.Operation]

    def collectives(
        self, stage: int, place: ir.Type, has_elements: ir.Value | None
    ) -> list[Collective]:
        """The states to be combined in a stage. Places are of the type `place`."""
        found: list[Collective] = []
        for op in self.stages[stage]:
            if op in self.merged:
                found.append(ExponentialSum(self.merged[op], op, has_elements))
            elif op.name == "hir.find_loops":
                found.append(Find(op, place))
            else:
                found.append(Reduce(op))
        return found


def plan_stages(work: Work, region: Region, *, merge: bool) -> StagePlan:
    """Operations that do not need one another's results in one stage.

    With `merge`, an exponential sum is in the stage of the greatest that it needs.
    """
    merged: dict[ir.Operation, ir.Operation] = {}
    depths: dict[ir.Operation, int] = {}
    for op in work.collectives:
        needed = _needed(region, op.operands[0])
        depths[op] = max((depths[each] + 1 for each in needed), default=0)
        most = greatest_of(op) if merge else None
        if most is not None and most not in merged.values():
            merged[op] = most
            depths[op] = depths[most]
    count = max(depths.values()) + 1
    return StagePlan(
        tuple(
            tuple(
                op for op in work.collectives if depths[op] == stage and op not in merged.values()
            )
            for stage in range(count)
        ),
        merged,
    )


def _needed(region: Region, value: ir.Value) -> set[ir.Operation]:
    """The nearest collective operations whose results a value needs."""
    found: set[ir.Operation] = set()
    waiting, seen = [value], set[ir.Value]()
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        if region.argument_number(each) is not None or region.is_outside(each):
            continue
        owner = each.owner.operation
        if owner.name in COLLECTIVES:
            found.add(owner)
        else:
            waiting += region.needs(each)
    return found
