"""hir-insert-communication: resharding becomes communications."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects.hir.layout import DYNAMIC
from ...dialects.hir.spread import Spread, parse_spread
from ...dialects.mlir import arith, ir
from ..hir.communication.device_parts import Sizes, as_value, copy, divided, sizes_of, times
from ..hir.communication.resharding import Resharding, write_communication
from ..hir.fresh_buffers import replace_by_allocated
from ..hir.host_checks import check
from ..pass_base import Pass, register
from ..walking import operations_where


@register
@dataclass(frozen=True)
class HirInsertCommunication(Pass):
    """Turns every hir.reshard into an allocation, communications, and waits for them.

    Within one team the kind follows from the change:

    - an axis to whole: allgather; to another axis: all-to-all;
    - whole to an axis: scatter, from the team's first device (a program does not know which device
      it runs on, so no device takes its own part of what it has);
    - parts to whole: allreduce; to an axis: reduce-scatter.

    To another team:

    - whole to whole: broadcast from a device that has it, send-recv to a single one;
    - an axis to the same axis of as many devices: permute among the same devices, send-recv in
      pairs, as one group, to others;
    - else one device collects the whole (gather, reduce), of both teams if there is one, and
      broadcasts or scatters it, after a send-recv if it is not of the new team.

    Where every device has what it is to have, the buffer itself is the result. Communications take
    packed buffers: where a type does not say that a buffer is packed, or parts along an inner axis
    are not one after another in memory, hir.set copies, before or after.
    """

    name: ClassVar[str] = "hir-insert-communication"

    def run(self, op: ir.Operation) -> None:
        for reshard in operations_where(op, lambda inner: inner.name == "hir.reshard"):
            with ir.InsertionPoint(reshard), reshard.location:
                _replace(reshard)


def _replace(op: ir.Operation) -> None:
    x = op.operands[0]
    job = Resharding(x, _spread(op, "from"), _team(op, "from"), _spread(op, "to"), _team(op, "to"))
    if len(op.results):
        if job.is_nothing:
            op.results[0].replace_all_uses_with(x)
        else:
            shape = ir.MemRefType(op.results[0].type).shape
            sizes = [
                as_value(size)
                for size, static in zip(_new_sizes(job), shape, strict=True)
                if static == DYNAMIC
            ]
            write_communication(job, replace_by_allocated(op.results[0], sizes))
    else:
        target = op.operands[1]
        _check_sizes(job, target)
        if job.is_nothing:
            copy(x, target)
        else:
            write_communication(job, target)
    op.erase()


def _new_sizes(job: Resharding) -> Sizes:
    """The sizes of the buffer that each device of the new team has."""
    sizes = sizes_of(job.x)
    if job.before.axis is not None:
        sizes[job.before.axis] = times(sizes[job.before.axis], len(job.from_team))
    if job.after.axis is not None:
        sizes[job.after.axis] = divided(sizes[job.after.axis], len(job.to_team))
    return sizes


def _check_sizes(job: Resharding, target: ir.Value) -> None:
    """The program checks sizes of a destination that the types leave open."""
    for axis, (wanted, size) in enumerate(zip(_new_sizes(job), sizes_of(target), strict=True)):
        if isinstance(wanted, int) and isinstance(size, int):
            continue
        fits = arith.cmpi(arith.CmpIPredicate.eq, as_value(wanted), as_value(size))
        check(fits, f"hir.reshard: dim {axis} of the destination has not the size of the result")


def _team(op: ir.Operation, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[f"{name}_team"]))


def _spread(op: ir.Operation, name: str) -> Spread:
    """How a buffer is spread; over a team of one device it is whole, however it is written."""
    rank = ir.MemRefType(op.operands[0].type).rank
    spread = parse_spread(ir.StringAttr(op.attributes[name]).value, rank)
    assert isinstance(spread, Spread), "the verifier has seen to it"
    return spread if len(_team(op, name)) > 1 else Spread()
