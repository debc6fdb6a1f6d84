"""check-launch-extents: refuses launches of sizes that no chip takes."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import gpu, ir
from ...dialects.records import dataclass
from ..launch_size import check_extents
from ..pass_base import Pass, register
from ..walking import operations_where


@register
@dataclass(frozen=True)
class CheckLaunchExtents(Pass):
    """Compares the constant sizes of each gpu.launch with what CUDA takes.

      prog.mlir:5:3: error: block size x is 0; CUDA takes 1 to 1024

    Upstream's gpu-kernel-outlining notes them on the kernel, as `known_block_size`, where the
    verifier refuses a size that is not positive.
    """

    name: ClassVar[str] = "check-launch-extents"
    subjects: ClassVar[tuple[str, ...]] = ("gpu.launch",)

    def run(self, op: ir.Operation) -> None:
        for launch in operations_where(op, lambda inner: inner.name == "gpu.launch"):
            view = launch.opview
            assert isinstance(view, gpu.LaunchOp)
            check_extents(view)
