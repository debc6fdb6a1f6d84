"""expand-subgroup-id: which warp of its block a thread is in, how many there are, and how wide."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..lane_reduction import WARP_LANES, thread_position, warps_in_block
from ..pass_base import Pass, register
from ..rewriting import index_constant, rewrite_each


@register
@dataclass(frozen=True)
class ExpandSubgroupId(Pass):
    """Expands gpu.subgroup_id, gpu.num_subgroups and gpu.subgroup_size.

    Warps are `warp_lanes` threads each, cut from the linear index of the block's threads, x first;
    the last may be short and counts. (PTX's %warpid is where a warp runs, which may change.)

      %warp = gpu.subgroup_id : index
    becomes
      %linear = (z * size_y + y) * size_x + x
      %warp = %linear / 32
    """

    name: ClassVar[str] = "expand-subgroup-id"
    subjects: ClassVar[tuple[str, ...]] = (
        "gpu.subgroup_id",
        "gpu.num_subgroups",
        "gpu.subgroup_size",
    )
    warp_lanes: int = WARP_LANES

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(
            op,
            {
                "gpu.subgroup_id": partial(_subgroup_id, self.warp_lanes),
                "gpu.num_subgroups": partial(_number_of_subgroups, self.warp_lanes),
                "gpu.subgroup_size": lambda _: [index_constant(self.warp_lanes)],
            },
        )


def _subgroup_id(warp_lanes: int, op: ir.Operation) -> Sequence[ir.Value]:
    return [arith.index_castui(ir.IndexType.get(), thread_position(op, warp_lanes).warp)]


def _number_of_subgroups(warp_lanes: int, op: ir.Operation) -> Sequence[ir.Value]:
    warps = warps_in_block(thread_position(op, warp_lanes))
    if isinstance(warps, int):
        return [arith.constant(ir.IndexType.get(), warps)]
    return [arith.index_castui(ir.IndexType.get(), warps)]
