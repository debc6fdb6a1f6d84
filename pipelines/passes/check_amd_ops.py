"""check-amd-ops: refuses, by name, what AMD's chips have no instruction for."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..walking import operations_where

_NVIDIA = ("nvvm.", "nvgpu.")
_MATRICES = "gpu.subgroup_mma_"
_CLUSTERS = ("gpu.cluster_", "gpu.cluster_dim")
_OWN_MATRICES = "amdgpu.mfma or amdgpu.wmma are AMD's own"


@register
@dataclass(frozen=True)
class CheckAmdOps(Pass):
    """Reports the first operation that only NVIDIA's chips have.

      prog.mlir:7:5: error: 'nvvm.cp.async.wait.group' is an instruction of NVIDIA's chips, which
      gfx90a does not have; ...

    `chips`, joined by `+`, are for the message.
    """

    name: ClassVar[str] = "check-amd-ops"
    subjects: ClassVar[tuple[str, ...]] = (*_NVIDIA, _MATRICES, "gpu.")
    makes: ClassVar[tuple[str, ...]] = ()

    chips: str = ""

    def run(self, op: ir.Operation) -> None:
        names = self.chips.split("+")
        chips = f"{' and '.join(names)} {'do' if len(names) > 1 else 'does'}"
        for inner in operations_where(op, _is_refused):
            if inner.name.startswith(_NVIDIA):
                fail(
                    inner,
                    f"'{inner.name}' is an instruction of NVIDIA's chips, which {chips} not have; "
                    "write the kernel in the gpu, vector and memref dialects, or build it "
                    f"for an sm_ chip ({_OWN_MATRICES})",
                )
            if inner.name.startswith(_MATRICES):
                fail(
                    inner,
                    f"'{inner.name}' is for NVIDIA's chips, and AMD's have other shapes: "
                    f"{_OWN_MATRICES}",
                )
            fail(
                inner,
                f"'{inner.name}' is of a cluster of blocks, which {chips} not have; let "
                "blocks meet in global memory, or in another launch",
            )


def _is_refused(op: ir.Operation) -> bool:
    if op.name == "gpu.launch_func":
        cluster, *_ = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[7:]
        return cluster > 0
    return op.name.startswith((*_NVIDIA, _MATRICES, *_CLUSTERS))
