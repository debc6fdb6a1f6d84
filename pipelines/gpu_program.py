"""The stages a GPU program goes through, from upstream's dialects to LLVM's."""

from __future__ import annotations

from ..dialects.records import dataclass
from .pass_base import pass_text
from .pipeline import Stage, pipeline_text
from .schedules.device import AMD_DEVICES, lanes_of

# Names kernels: before it, each is in a gpu.module.
NAMING_STAGE = "entries"
DEVICE_STAGE = "device"
HOST_STAGE = "host"
_LLVM_HOST = ("builtin", "llvm", "offload")
_LLVM_DEVICE = ("builtin", "llvm", "nvvm")
_LLVM_AMD_DEVICE = ("builtin", "llvm", "rocdl")


@dataclass(frozen=True)
class GpuProgramOptions:
    """What changes the lowering: names, the kernels' calling convention, and debug lines."""

    unit: str = ""
    entry: str = "main"
    bare_pointers: bool = False
    executable: bool = True
    entry_required: bool = True
    debug: bool = False
    fast_math: bool = False
    chips: tuple[str, ...] = ()
    # Of them, those that gpu.modules are lowered for where they are; others' get copies.
    lowered_chips: tuple[str, ...] = ()
    max_shared_bytes: int = 0
    has_redux: bool = False


def gpu_program_stages(options: GpuProgramOptions) -> list[Stage]:
    """Returns the stages, in order; their names are stable."""
    amd_chips = tuple(chip for chip in options.chips if chip in AMD_DEVICES)
    entry = pass_text("add-entry-point", entry=options.entry, required=options.entry_required)
    return [
        Stage("kernels", pipeline_text(*_TO_KERNELS, options.executable and entry), passing=True),
        Stage(
            NAMING_STAGE,
            pipeline_text(
                bool(amd_chips) and pass_text("check-amd-ops", chips=amd_chips),
                options.fast_math and "gpu.module(allow-fast-math)",
                "check-launch-sizes,align-shared-tiles,promote-shared-memory,align-dynamic-shared",
                pass_text("name-device-symbols", unit=options.unit),
                pass_text("add-offload-entries", unit=options.unit),
            ),
            passing=True,
        ),
        Stage(
            "runtime-calls",
            pipeline_text(
                "convert-host-assert,check-allocation-sizes,own-host-memory",
                pass_text(
                    "convert-gpu-host-to-cuda",
                    bare_pointers=options.bare_pointers,
                    max_shared_bytes=options.max_shared_bytes,
                ),
            ),
            passing=True,
        ),
        device_stage(options, options.lowered_chips or options.chips),
        Stage(
            HOST_STAGE,
            pipeline_text(*_HOST, options.debug and _DEBUG),
            leaves=_LLVM_HOST,
            spares="gpu.module",
        ),
    ]


def device_stage(options: GpuProgramOptions, chips: tuple[str, ...]) -> Stage:
    """Returns the stage that takes gpu.modules to LLVM's dialects for chips of one family."""
    bare = str(options.bare_pointers).lower()
    is_amd = bool(chips) and chips[0] in AMD_DEVICES
    redux = str(options.has_redux).lower()
    device = _amd_device(bare, chips) if is_amd else _nvidia_device(bare, "+".join(chips), redux)
    return Stage(
        DEVICE_STAGE,
        pipeline_text(f"gpu.module({','.join(device)})", options.debug and _DEBUG),
        leaves=_LLVM_AMD_DEVICE if is_amd else _LLVM_DEVICE,
        within="gpu.module",
        passing=True,
    )


# Takes a whole module, and leaves functions alone that have a scope.
_DEBUG = "ensure-debug-info-scope-on-llvm-func"
_STORED_FLOATS = "f8E5M2,f8E4M3,f8E4M3FN,f8E5M2FNUZ,f8E4M3FNUZ,f8E4M3B11FNUZ,f8E3M4,f8E8M0FNU"

_TO_KERNELS = (
    "expand-gpu-memset",
    "convert-parallel-loops-to-gpu",
    "lower-linalg",
    "lower-affine",
    # Constants back into the kernels, which would take them as parameters.
    "gpu-launch-sink-index-computations",
    "check-launch-extents",
    "gpu-kernel-outlining",
    "order-synchronous-operations",
    "tensormaps-by-value",
)


_ARITHMETIC = (
    "expand-memref-copy",
    "expand-multi-reduction",
    "expand-complex",
    "convert-complex-to-standard",
    "math-expand-ops{ops=clampf}",
    "expand-powers",
    "expand-math",
    "expand-arith",
)

_VECTORS = (
    "convert-vector-to-scf",
    "expand-strided-metadata",
    "lower-affine",
    "arith-expand{include-f4e2m1=true include-flush-denormals=true}",
    "expand-small-floats",
    "arith-expand{include-f8e8m0=true}",
    "convert-scf-to-cf",
    "convert-complex-to-llvm",
    "convert-vector-to-llvm",
)


def _amd_device(bare: str, chips: tuple[str, ...]) -> list[str]:
    """Returns the passes that take one gpu.module to LLVM's dialects for AMD's chips.

    They differ in the width of wavefronts and in what operations of the amdgpu dialect become,
    which the first chip decides.
    """
    lanes = f"{{warp-lanes={lanes_of(chips)}}}"
    return [
        "check-device-ops",
        "name-private-memory",
        "name-atomic-scopes",
        "expand-device-assert",
        "widen-printf-operands",
        f"expand-all-reduce{lanes}",
        f"expand-subgroup-reduce{lanes}",
        f"expand-subgroup-id{lanes}",
        "shuffle-in-words",
        "expand-shuffle",
        "expand-atomic-product",
        "name-amd-registers",
        *_ARITHMETIC,
        # ROCm's functions of f16 are less exact than those of f32, rounded.
        "math-extend-to-supported-types{target-type=f32}",
        "convert-near-one-to-ocml",
        f"arith-emulate-unsupported-floats{{source-types={_STORED_FLOATS} target-type=f32}}",
        *_VECTORS,
        f"convert-amdgpu-to-rocdl{{chipset={chips[0]}}}",
        f"convert-gpu-to-rocdl{{chipset={chips[0]} runtime=HIP index-bitwidth=64 "
        f"use-bare-ptr-memref-call-conv={bare}}}",
        "undo-device-wrappers",
        "convert-math-to-llvm{approximate-log1p=false}",
        "flatten-complex-constants",
        "move-stack-slots",
        "externalize-dynamic-shared",
        "reconcile-unrealized-casts",
        "canonicalize",
        "cse",
    ]


def _nvidia_device(bare: str, chips: str, redux: str) -> list[str]:
    """Returns the passes that take one gpu.module to LLVM's dialects for NVIDIA's chips."""
    return [
        "check-device-ops",
        "name-private-memory",
        "fence-ordered-atomics",
        "keep-register-limits",
        "widen-printf-operands",
        "expand-all-reduce",
        f"expand-subgroup-reduce{{redux={redux}}}",
        "expand-subgroup-id",
        "shuffle-in-words",
        "expand-atomic-product",
        "expand-mma-elementwise",
        *_ARITHMETIC,
        # Arithmetic on the floats no chip computes with goes through f32.
        "math-extend-to-supported-types{extra-types=bf16,f16 target-type=f32}",
        "expand-erf",
        "expand-approximate-powers",
        f"round-to-upper-half{{chips={chips}}}",
        f"arith-emulate-unsupported-floats{{source-types={_STORED_FLOATS} target-type=f32}}",
        "carry-mma-matrices-as-structs",
        "wait-for-accumulators",
        "convert-nvgpu-to-nvvm",
        *_VECTORS,
        f"convert-gpu-to-nvvm{{has-redux={redux} index-bitwidth=64 "
        f"use-bare-ptr-memref-call-conv={bare}}}",
        "load-lone-registers",
        "undo-device-wrappers",
        "convert-math-to-llvm{approximate-log1p=false}",
        "flatten-complex-constants",
        f"verify-chips{{chips={chips}}}",
        "tensormap-grid-constants",
        "externalize-dynamic-shared",
        f"check-chip-support{{chips={chips}}}",
        "convert-nvvm-to-llvm",
        "reconcile-unrealized-casts",
        "canonicalize",
        "cse",
    ]


_HOST = (
    "expand-complex",
    "convert-complex-to-standard",
    "math-expand-ops{ops=clampf}",
    "expand-powers",
    "expand-math",
    "expand-arith{host=true}",
    "convert-expm1-to-libm",
    "expand-multi-reduction",
    "convert-vector-to-scf",
    "expand-strided-metadata",
    "lower-affine",
    "lower-host-branches",
    "convert-scf-to-cf",
    "convert-complex-to-llvm",
    # Twice: vector.print calls functions that the program may have declared itself, and finds
    # only llvm.func; math becomes calls of functions not yet declared.
    "convert-func-to-llvm",
    "convert-vector-to-llvm",
    "convert-math-to-llvm{approximate-log1p=false}",
    "convert-math-to-libm",
    "convert-index-to-llvm",
    "convert-arith-to-llvm",
    "finalize-memref-to-llvm",
    "flatten-complex-constants",
    "convert-cf-to-llvm",
    "convert-func-to-llvm",
    "convert-ub-to-llvm",
    "reconcile-unrealized-casts",
    "return-in-memory",
    "canonicalize",
    "cse",
)
