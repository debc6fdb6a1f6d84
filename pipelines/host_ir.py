"""The stages a Host IR program goes through before it is a GPU program.

They take `hir` (docs/host-ir.md) to func, scf, memref and gpu; pipelines/gpu_program does the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

from .passes import Stage, stage

PROGRAM = "hir.program"


@dataclass(frozen=True)
class HostIrOptions:
    """What changes the lowering of host programs.

    `entry` is the program that an executable runs; `executable` whether one is made.
    """

    entry: str = "main"
    executable: bool = True


def host_ir_stages(options: HostIrOptions) -> list[Stage]:
    """The stages, in order; their names are stable. A module without a program skips them."""
    executable = str(options.executable).lower()
    return [
        stage("stream-loops", "hir-resolve-aliases,hir-form-stream-loops", when=PROGRAM),
        stage(
            "allocations",
            "hir-insert-communication,hir-insert-allocations,hir-insert-deallocations,"
            "hir-verify-ownership,hir-reuse-buffers",
            when=PROGRAM,
        ),
        stage(
            "compute",
            "hir-expand-stream-loops,hir-convert-compute-to-linalg,"
            f"{PROGRAM}(linalg-generalize-named-ops)",
            when=PROGRAM,
        ),
        stage("schedules", f"hir-schedule-kernels,{PROGRAM}(canonicalize,cse)", when=PROGRAM),
        stage("programs", "convert-hir-to-gpu", when=PROGRAM),
        stage(
            "interface",
            f"add-program-interface{{entry={options.entry} executable={executable}}}",
        ),
    ]
