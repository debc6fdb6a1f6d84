"""hir-schedule-kernels: linalg operations of host programs become kernels and their launches."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..schedules.device import device_of_option
from ..schedules.scheduler import Scheduler
from ..schedules.stored_types import take_stored_types
from ..walking import operations_where


@register
@dataclass(frozen=True)
class HirScheduleKernels(Pass):
    """Turns every linalg.generic on buffers in a hir.program into a hir.run_launcher.

    Operations that differ in values and places alone have one hir.launcher, which launches the
    kernels that are made for them.

    `chips`, joined by `+`, are those that the kernels are made for (pipelines/schedules/device.py).
    With `mark`, each hir.run_launcher has the number of its operation, of all in the module.
    Unless `tuned`, each becomes one kernel by a schedule that takes them all.
    Named linalg operations are to be generalized before (linalg-generalize-named-ops).

      linalg.generic {...} ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) { ... }
    becomes
      "hir.run_launcher"(%x, %y, %n) {launcher = @launch_negf_0} : ...
    where @launch_negf_0 makes
      "hir.launch"(%blocks, ...) ({
        "hir.argument"(%x) : (memref<?xf32>) -> ()
        "hir.argument"(%y) : (memref<?xf32>) -> ()
      }) {kernel = @kernels::@negf_0} : ...
    """

    name: ClassVar[str] = "hir-schedule-kernels"

    chips: str = ""
    tuned: bool = True
    mark: bool = False

    def run(self, op: ir.Operation) -> None:
        device = device_of_option(self.chips)
        scheduler = Scheduler(op, device if self.tuned else None, mark=self.mark)
        for program in list(op.regions[0].blocks[0]):
            if program.operation.name != "hir.program":
                continue
            for work in operations_where(program.operation, _is_linalg):
                if work.name != "linalg.generic":
                    fail(
                        work,
                        f"'{work.name}' has no schedule; run linalg-generalize-named-ops first",
                    )
                take_stored_types(work)
                scheduler.schedule(work, program.operation)
        scheduler.finish()


def _is_linalg(op: ir.Operation) -> bool:
    return op.name.startswith("linalg.") and op.name not in ("linalg.yield", "linalg.index")
