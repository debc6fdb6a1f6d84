"""The stages a GPU program goes through, from upstream's dialects to LLVM's."""

from __future__ import annotations

from dataclasses import dataclass

from . import passes  # noqa: F401 - registers our passes
from .pipeline import Stage, stage

_LLVM_HOST = ("builtin", "llvm", "offload")
_LLVM_DEVICE = ("builtin", "llvm", "nvvm")


@dataclass(frozen=True)
class GpuProgramOptions:
    """What changes the lowering: names, the kernels' calling convention, and debug lines."""

    unit: str = ""
    entry: str = "main"
    bare_pointers: bool = False
    executable: bool = True
    debug: bool = False
    fast_math: bool = False


def gpu_program_stages(options: GpuProgramOptions) -> list[Stage]:
    """The stages, in order; their names are stable."""
    bare = str(options.bare_pointers).lower()
    entry = f",add-entry-point{{entry={options.entry}}}" if options.executable else ""
    device_debug = ",gpu.module(ensure-debug-info-scope-on-llvm-func)" if options.debug else ""
    host_debug = ",ensure-debug-info-scope-on-llvm-func" if options.debug else ""
    return [
        stage(
            "kernels",
            "expand-gpu-memset,convert-linalg-to-loops,lower-affine,"
            f"gpu-kernel-outlining{entry}",
        ),
        stage(
            "entries",
            f"name-device-symbols{{unit={options.unit}}},"
            f"add-offload-entries{{unit={options.unit}}}",
        ),
        stage(
            "runtime-calls",
            f"convert-gpu-host-to-cuda{{bare-pointers={bare}}}",
        ),
        stage(
            "device",
            "gpu.module(convert-nvgpu-to-nvvm,convert-vector-to-scf,expand-strided-metadata,"
            "lower-affine,convert-scf-to-cf,"
            f"convert-gpu-to-nvvm{{has-redux=false index-bitwidth=64 "
            f"use-bare-ptr-memref-call-conv={bare}}},"
            f"convert-nvvm-to-llvm,reconcile-unrealized-casts,canonicalize,cse){device_debug}",
            leaves=_LLVM_DEVICE,
            within="gpu.module",
        ),
        stage(
            "host",
            "convert-vector-to-scf,expand-strided-metadata,lower-affine,convert-scf-to-cf,"
            "convert-complex-to-standard,convert-complex-to-llvm,"
            "convert-vector-to-llvm,convert-math-to-llvm,convert-math-to-libm,"
            "convert-index-to-llvm,convert-arith-to-llvm,finalize-memref-to-llvm,"
            "convert-cf-to-llvm,convert-func-to-llvm,convert-ub-to-llvm,"
            f"reconcile-unrealized-casts,canonicalize,cse{host_debug}",
            leaves=_LLVM_HOST,
        ),
    ]
