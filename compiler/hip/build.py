"""The C between host code and HIP's runtime, as an object file and as bitcode."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..cache import cached
from ..cpu_device.build import FLAGS, TO_BITCODE, object_of
from ..llvm_ir import merge_bitcode
from ..process import Runner
from ..support_library import Library, bitcode_of
from ..toolchain import Clang

_FOLDER = Path(__file__).parent / "runtime"


def hip_runtime_object(clang: Clang, runner: Runner) -> bytes:
    """Returns it for what hirc links. Raises ToolchainError."""
    return object_of(_library(), clang, runner)


def with_hip_calls(support: bytes, clang: Clang, runner: Runner) -> bytes:
    """Returns the support library's bitcode with what calls HIP's runtime, for host code that
    others link. Raises ToolchainError.
    """
    calls = bitcode_of(_library(), clang, runner)
    digest = hashlib.sha256(support + calls).hexdigest()[:16]
    return cached(f"hip-support-{digest}.bc", lambda: merge_bitcode([support, calls]))


def _library() -> Library:
    headers = tuple(
        _FOLDER.parents[1] / "runtime" / name
        for name in ("amd_device.h", "cpu_device.h", "cuda_runtime_abi.h", "dlpack_abi.h")
    )
    return Library("HIP runtime", _FOLDER, (*FLAGS, *TO_BITCODE), headers=headers)
