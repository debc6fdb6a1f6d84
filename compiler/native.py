"""`--offload-arch=native`: the chips of this machine, asked of its drivers."""

from __future__ import annotations

from ..pipelines.schedules.device import AMD_DEVICES
from .amd_driver import find_amd_gpus
from .nvidia_driver import find_driver
from .target import CPU, Target, with_all_instructions


def native_targets() -> tuple[Target, ...]:
    """One target per kind of GPU here, NVIDIA's or else AMD's; the CPU device where there is none
    that code is made for.

    Of NVIDIA's chips it is the variant with all their instructions: what others run is not asked.
    """
    driver = find_driver()
    archs = [with_all_instructions(gpu.arch) for gpu in driver.gpus] if driver is not None else []
    archs = archs or [chip for chip in find_amd_gpus() if chip in AMD_DEVICES]
    return tuple(map(Target.parse, dict.fromkeys(archs))) or (CPU,)


def native_note() -> str:
    """Returns the line that says that `native` is the CPU device, and why."""
    why = "no NVIDIA driver" if find_driver() is None else "the NVIDIA driver finds no GPU"
    others = ", ".join(dict.fromkeys(find_amd_gpus()))
    unknown = f", and no code is made for {others}" if others else ""
    return f"hirc: note: native is the CPU device here: {why}{unknown}"
