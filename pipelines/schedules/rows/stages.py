"""The order in which a row's collective operations are done."""

from __future__ import annotations

from ....dialects.hir.loop_operation import kind_of
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ..region import Region
from ..work import Work
from .collectives import Collective, Find, Reduce
from .exponential_sum import ExponentialSum, greatest_of
from .moments import Moments, sum_below
from .needs import needed_collectives


@dataclass(frozen=True)
class StagePlan:
    """The operations of each stage; those in `merged` come with one whose result they need."""

    stages: tuple[tuple[ir.Operation, ...], ...]
    merged: dict[ir.Operation, ir.Operation]

    def collectives(
        self, stage: int, place: ir.Type, has_elements: ir.Value | None
    ) -> list[Collective]:
        """The states to be combined in a stage. Places are of the type `place`."""
        found: list[Collective] = []
        for op in self.stages[stage]:
            if op in self.merged:
                first = self.merged[op]
                is_sum = kind_of(first) == "addf"
                found.append(
                    Moments(first, op) if is_sum else ExponentialSum(first, op, has_elements)
                )
            elif op.name == "hir.find_loops":
                found.append(Find(op, place))
            else:
                found.append(Reduce(op))
        return found


def plan_stages(work: Work, region: Region, *, merge: bool) -> StagePlan:
    """Operations that do not need one another's results in one stage.

    With `merge`, an exponential sum is in the stage of the greatest that it needs, and a sum of
    squared differences in that of the sum.
    """
    merged: dict[ir.Operation, ir.Operation] = {}
    depths: dict[ir.Operation, int] = {}
    for op in work.collectives:
        needed = needed_collectives(region, op.operands[0])
        depths[op] = max((depths[each] + 1 for each in needed), default=0)
        first = (greatest_of(op) or sum_below(region, op)) if merge else None
        if first is not None and first not in merged.values():
            merged[op] = first
            depths[op] = depths[first]
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


def place_type(longest: int | None) -> ir.Type:
    """The integer that counts the places of rows of so many elements at most."""
    is_short = longest is not None and longest < 2**31
    return ir.IntegerType.get_signless(32 if is_short else 64)
