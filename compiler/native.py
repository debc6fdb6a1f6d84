"""`--offload-arch=native`: the chips of this machine, asked of its driver."""

from __future__ import annotations

from .nvidia_driver import find_driver
from .target import CPU, Target


def native_targets() -> tuple[Target, ...]:
    """One target per kind of GPU here; the CPU device where there is none."""
    driver = find_driver()
    if driver is None or not driver.gpus:
        return (CPU,)
    archs = dict.fromkeys(gpu.arch for gpu in driver.gpus)
    return tuple(Target.parse(arch) for arch in archs)


def native_note() -> str:
    """Returns the line that says that `native` is the CPU device, and why."""
    why = "no NVIDIA driver" if find_driver() is None else "the NVIDIA driver finds no GPU"
    return f"hirc: note: native is the CPU device here: {why}"
