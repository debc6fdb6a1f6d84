"""The AMD GPUs of this machine, as their driver shows them, and HIP's runtime."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

from .toolchain import hip_runtime

# amdkfd's list of processors; each file has lines of a name and a number.
_NODES = Path("/sys/class/kfd/kfd/topology/nodes")
_VERSION = re.compile(r"^gfx_target_version (\d+)$", re.MULTILINE)
# Those that hip/runtime/library.c looks for.
_LIBRARIES = (
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so.5",
    "libamdhip64.so",
    "/opt/rocm/lib/libamdhip64.so",
)


def find_amd_gpus(nodes: Path = _NODES) -> tuple[str, ...]:
    """Returns the chip of each GPU, `gfx90a`; none where there is no driver."""
    chips: list[str] = []
    for path in sorted(nodes.glob("*/properties"), key=lambda path: path.parent.name.zfill(8)):
        try:
            found = _VERSION.search(path.read_text())
        except OSError:
            # Of a GPU that this user may not use.
            continue
        # A processor that is no GPU has 0; gfx90a is 9.0.10, written 90010.
        if found is not None and int(found[1]) != 0:
            number = int(found[1])
            chips.append(f"gfx{number // 10000}{number // 100 % 100:x}{number % 100:x}")
    return tuple(chips)


def find_hip_runtime() -> str | None:
    """Returns the library that programs for AMD's GPUs would load here; None without one."""
    named = hip_runtime()
    for name in (named,) if named else _LIBRARIES:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return name
    return None
