"""hir-insert-communication: resharding becomes communications."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ...dialects.hir.layout import DYNAMIC
from ...dialects.hir.mesh import Mesh, Spreads, read_spreads
from ...dialects.hir.spread import Spread, parse_spread
from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..walking import operations_where

if TYPE_CHECKING:
    from ..hir.communication.mesh_resharding import MeshResharding
    from ..hir.communication.resharding import Resharding


@register
@dataclass(frozen=True)
class HirInsertCommunication(Pass):
    """Turns every hir.reshard into an allocation, communications, and waits for them.

    Within one team the kind follows from the change:

    - an axis to whole: allgather; to another axis: all-to-all;
    - whole to an axis: every device copies its own part of what it has;
    - parts to whole: allreduce; to an axis: reduce-scatter.

    To another team:

    - whole to whole: broadcast from a device that has it, send-recv to a single one;
    - an axis to the same axis of as many devices: permute among the same devices, send-recv in
      pairs, as one group, to others;
    - else one device collects the whole (gather, reduce), of both teams if there is one, and
      broadcasts or scatters it, after a send-recv if it is not of the new team.

    Over a mesh: the steps along its axes, each of them one of those within a team, whose devices
    send the fewest bytes (pipelines/hir/communication/mesh_plan.py).

    Where every device has what it is to have, the buffer itself is the result. Communications take
    packed buffers: where a type does not say that a buffer is packed, or parts along an inner axis
    are not one after another in memory, hir.set copies, before or after.
    """

    name: ClassVar[str] = "hir-insert-communication"
    subjects: ClassVar[tuple[str, ...]] = ("hir.reshard",)

    def run(self, op: ir.Operation) -> None:
        for reshard in operations_where(op, lambda inner: inner.name == "hir.reshard"):
            with ir.InsertionPoint(reshard), reshard.location:
                _replace(reshard)


def _replace(op: ir.Operation) -> None:
    # Imported late: few programs communicate.
    from ..hir.communication.device_parts import as_value, copy
    from ..hir.fresh_buffers import replace_by_allocated

    x, job = op.operands[0], _job(op)
    if len(op.results):
        if job.is_nothing:
            op.results[0].replace_all_uses_with(x)
        else:
            shape = ir.MemRefType(op.results[0].type).shape
            sizes = [
                as_value(size)
                for size, static in zip(job.new_sizes(), shape, strict=True)
                if static == DYNAMIC
            ]
            job.write(replace_by_allocated(op.results[0], sizes))
    else:
        target = op.operands[1]
        _check_sizes(job, target)
        if job.is_nothing:
            copy(x, target)
        else:
            job.write(target)
    op.erase()


def _job(op: ir.Operation) -> Resharding | MeshResharding:
    from ..hir.communication.mesh_resharding import MeshResharding
    from ..hir.communication.resharding import Resharding

    x = op.operands[0]
    if "mesh" not in op.attributes:
        teams = _team(op, "from"), _team(op, "to")
        return Resharding(x, _spread(op, "from"), teams[0], _spread(op, "to"), teams[1])
    mesh = Mesh(tuple(ir.DenseI64ArrayAttr(op.attributes["mesh"])), tuple(_team(op, "from")))
    spreads: list[Spreads] = []
    for name in ("from", "to"):
        found = read_spreads(op.attributes[name], ir.MemRefType(x.type).rank, len(mesh.shape))
        assert not isinstance(found, str), "the verifier has seen to it"
        spreads.append(mesh.normal(found))
    return MeshResharding(x, mesh, *spreads)


def _check_sizes(job: Resharding | MeshResharding, target: ir.Value) -> None:
    """The program checks sizes of a destination that the types leave open."""
    from ..hir.communication.device_parts import as_value, sizes_of
    from ..hir.host_checks import check

    for axis, (wanted, size) in enumerate(zip(job.new_sizes(), sizes_of(target), strict=True)):
        if isinstance(wanted, int) and isinstance(size, int):
            continue
        fits = arith.cmpi(arith.CmpIPredicate.eq, as_value(wanted), as_value(size))
        check(fits, f"hir.reshard: dim {axis} of the destination has not the size of the result")


def _team(op: ir.Operation, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[f"{name}_team"]))


def _spread(op: ir.Operation, name: str) -> Spread:
    """Returns how a buffer is spread; over a team of one device it is whole, however
    it is written.
    """
    rank = ir.MemRefType(op.operands[0].type).rank
    spread = parse_spread(ir.StringAttr(op.attributes[name]).value, rank)
    assert isinstance(spread, Spread), "the verifier has seen to it"
    return spread if len(_team(op, name)) > 1 else Spread()
