"""expand-subgroup-id: which warp of its block a thread is in, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..lane_reduction import WARP_LANES, i32_constant, thread_position
from ..pass_base import Pass, register
from ..rewriting import rewrite_each


@register
@dataclass(frozen=True)
class ExpandSubgroupId(Pass):
    """Expands gpu.subgroup_id and gpu.num_subgroups.

    Warps are 32 threads each, cut from the linear index of the block's threads, x first; the last
    may be short and counts. (PTX's %warpid is where a warp runs, which may change.)

      %warp = gpu.subgroup_id : index
    becomes
      %linear = (z * size_y + y) * size_x + x
      %warp = %linear / 32
    """

    name: ClassVar[str] = "expand-subgroup-id"
    subjects: ClassVar[tuple[str, ...]] = ("gpu.subgroup_id", "gpu.num_subgroups")

    def run(self, op: ir.Operation) -> None:
        rewrite_each(
            op, {"gpu.subgroup_id": _subgroup_id, "gpu.num_subgroups": _number_of_subgroups}
        )


def _subgroup_id(op: ir.Operation) -> Sequence[ir.Value]:
    return [arith.index_castui(ir.IndexType.get(), thread_position(op).warp)]


def _number_of_subgroups(op: ir.Operation) -> Sequence[ir.Value]:
    threads = thread_position(op).threads
    if isinstance(threads, int):
        return [arith.constant(ir.IndexType.get(), -(-threads // WARP_LANES))]
    full = arith.addi(threads, i32_constant(WARP_LANES - 1))
    return [arith.index_castui(ir.IndexType.get(), arith.shrui(full, i32_constant(5)))]
