"""wait-for-accumulators: products of a warpgroup are complete before they are stored."""

from __future__ import annotations

from typing import ClassVar

from ...dialects import mlir
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..walking import operations_where


@register
@dataclass(frozen=True)
class WaitForAccumulators(Pass):
    """Waits for all wgmma groups of the warpgroup ahead of each nvgpu.warpgroup.mma.store.

    nvgpu.warpgroup.mma leaves as many groups in flight as its `waitGroup` says, 1 if it says
    nothing; until its group is complete, what the accumulator's registers hold is undefined (PTX
    ISA, wgmma.mma_async). The store is the one operation that reads them: as a value, the
    accumulator is the product. ptxas does not reliably wait by itself. Where all groups are
    complete, the wait takes no time.

      nvgpu.warpgroup.mma.store %sum, %tile : ...
    becomes
      nvvm.wgmma.wait.group.sync.aligned 0
      nvgpu.warpgroup.mma.store %sum, %tile : ...
    """

    name: ClassVar[str] = "wait-for-accumulators"
    subjects: ClassVar[tuple[str, ...]] = ("nvgpu.warpgroup.mma.store",)

    def run(self, op: ir.Operation) -> None:
        for store in operations_where(op, lambda inner: inner.name == "nvgpu.warpgroup.mma.store"):
            with store.location, ir.InsertionPoint(store):
                mlir.nvvm.WgmmaWaitGroupSyncOp(0)
