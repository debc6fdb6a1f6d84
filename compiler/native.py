"""`--offload-arch=native`: the chips of this machine, asked of its driver."""

from __future__ import annotations

from .errors import InputError
from .nvidia_driver import find_driver
from .target import Target


def native_targets() -> tuple[Target, ...]:
    """One target per kind of GPU here. Raises InputError where there is none."""
    driver = find_driver()
    if driver is None or not driver.gpus:
        why = "there is no NVIDIA driver" if driver is None else "the NVIDIA driver finds none"
        raise InputError(
            f"no GPU here: {why}",
            hint="name the chip the program will run on, for example --offload-arch=sm_90",
        )
    archs = dict.fromkeys(gpu.arch for gpu in driver.gpus)
    return tuple(Target.parse(arch) for arch in archs)
