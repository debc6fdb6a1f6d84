"""hir-schedule-kernels: linalg operations of host programs become kernels and launches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects.mlir import builtin, ir
from ..hir.lowering.stored_types import stored_type
from ..pass_base import Pass, fail, register
from ..schedules.choose import schedule
from ..schedules.device import device_of
from ..schedules.kernels import Kernels
from ..walking import operations_where


@register
@dataclass(frozen=True)
class HirScheduleKernels(Pass):
    """Turns every linalg.generic on buffers in a hir.program into a gpu.func and a hir.launch.

    `chips`, joined by `+`, are those that the kernels are made for (pipelines/schedules/device.py).
    Unless `tuned`, each becomes one kernel by a schedule that takes them all.
    Named linalg operations are to be generalized before (linalg-generalize-named-ops).

      linalg.generic {...} ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) { ... }
    becomes
      "hir.launch"(%blocks, ...) ({
        "hir.argument"(%x) : (memref<?xf32>) -> ()
        "hir.argument"(%y) : (memref<?xf32>) -> ()
      }) {kernel = @kernels::@negf_0} : ...
    """

    name: ClassVar[str] = "hir-schedule-kernels"

    chips: str = ""
    tuned: bool = True

    def run(self, op: ir.Operation) -> None:
        kernels = Kernels(op)
        device = device_of([chip for chip in self.chips.split("+") if chip])
        for program in list(op.regions[0].blocks[0]):
            if program.operation.name != "hir.program":
                continue
            for work in operations_where(program.operation, _is_linalg):
                if work.name != "linalg.generic":
                    fail(
                        work,
                        f"'{work.name}' has no schedule; run linalg-generalize-named-ops first",
                    )
                _take_stored_types(work)
                schedule(work, kernels, device if self.tuned else None)
        kernels.finish()


def _take_stored_types(op: ir.Operation) -> None:
    """Gives an operation that only moves elements operands of the types that are stored."""
    body = op.regions[0].blocks[0]
    if len(list(body.operations)) > 1:
        return
    for number, value in enumerate(op.operands):
        kind = stored_type(value.type)
        if kind != value.type:
            with op.location, ir.InsertionPoint(op):
                cast = builtin.UnrealizedConversionCastOp([kind], [value])
            op.operands[number] = cast.results[0]
            body.arguments[number].set_type(stored_type(body.arguments[number].type))


def _is_linalg(op: ir.Operation) -> bool:
    return op.name.startswith("linalg.") and op.name not in ("linalg.yield", "linalg.index")
