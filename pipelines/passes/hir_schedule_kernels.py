"""hir-schedule-kernels: linalg operations of host programs become kernels and launches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects.mlir import ir
from ..pass_base import Pass, fail, register
from ..schedules.general import schedule
from ..schedules.kernels import Kernels
from ..walking import operations_where


@register
@dataclass(frozen=True)
class HirScheduleKernels(Pass):
    """Turns every linalg.generic on buffers in a hir.program into a gpu.func and a hir.launch.

    Named linalg operations are to be generalized before (linalg-generalize-named-ops).

      linalg.generic {...} ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) { ... }
    becomes
      "hir.launch"(%blocks, ...) ({
        "hir.argument"(%x) : (memref<?xf32>) -> ()
        "hir.argument"(%y) : (memref<?xf32>) -> ()
      }) {kernel = @kernels::@negf_0} : ...
    """

    name: ClassVar[str] = "hir-schedule-kernels"

    def run(self, op: ir.Operation) -> None:
        kernels = Kernels(op)
        for program in list(op.regions[0].blocks[0]):
            if program.operation.name != "hir.program":
                continue
            for work in operations_where(program.operation, _is_linalg):
                if work.name != "linalg.generic":
                    fail(
                        work,
                        f"'{work.name}' has no schedule; run linalg-generalize-named-ops first",
                    )
                schedule(work, kernels)
        kernels.finish()


def _is_linalg(op: ir.Operation) -> bool:
    return op.name.startswith("linalg.") and op.name not in ("linalg.yield", "linalg.index")
