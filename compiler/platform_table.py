"""What differs between NVIDIA's and AMD's GPUs on the way to code: one row a platform."""

from __future__ import annotations

from ..dialects.records import dataclass
from ..pipelines.schedules.device import AMD_DEVICES

# The PTX version of CUDA 13.0 (its release notes); every chip that target.py lists has it.
PTX_VERSION = 90


@dataclass(frozen=True)
class Platform:
    """One vendor's GPUs.

    `triple` and `features` are of LLVM's code generator. `maker` is a name for
    messages. `library_prefixes` begin the names of the functions that the vendor's device
    libraries define, `runtime_functions` are those that its runtime or driver adds to a kernel, and
    `host_functions` those of its libraries that the CPU device has itself. `module_flags` is
    metadata of every module, as LLVM IR.
    """

    maker: str
    triple: str
    features: str
    library_prefixes: tuple[str, ...]
    runtime_functions: frozenset[str]
    host_functions: tuple[str, ...] = ()
    module_flags: str = ""


# The CUDA device runtime itself defines those (CUDA programming guide: formatted output, assertion,
# dynamic global memory allocation).
CUDA = Platform(
    maker="NVIDIA",
    triple="nvptx64-nvidia-cuda",
    features=f"+ptx{PTX_VERSION}",
    library_prefixes=("__nv_",),
    runtime_functions=frozenset({"vprintf", "__assertfail", "malloc", "free", "__nvvm_reflect"}),
)
# Code objects of version 5, which ROCm 5.3 and every later one loads (LLVM's "User Guide for AMDGPU
# Backend").
HIP = Platform(
    maker="AMD",
    triple="amdgcn-amd-amdhsa",
    features="",
    library_prefixes=("__ocml_", "__ockl_"),
    runtime_functions=frozenset(),
    host_functions=("__ockl_printf_", "__ockl_fprintf_"),
    module_flags=(
        '!llvm.module.flags = !{!0}\n!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}\n'
    ),
)


def platform_of(chip: str) -> Platform:
    """Returns the platform that a chip is of."""
    return HIP if chip in AMD_DEVICES else CUDA
