"""`--offload-arch=native`: the chips of this machine, asked of its driver."""

from __future__ import annotations

import ctypes

from .errors import InputError
from .target import Target

_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76


def native_targets() -> tuple[Target, ...]:
    """One target per kind of GPU here. Raises InputError where there is none."""
    hint = "name the chip the program will run on, for example --offload-arch=sm_90"
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise InputError("no GPU here: there is no NVIDIA driver", hint=hint) from None
    count = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        raise InputError("no GPU here: the NVIDIA driver finds none", hint=hint)
    archs: dict[str, None] = {}
    for ordinal in range(count.value):
        device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        driver.cuDeviceGet(ctypes.byref(device), ordinal)
        driver.cuDeviceGetAttribute(ctypes.byref(major), _CAPABILITY_MAJOR, device)
        driver.cuDeviceGetAttribute(ctypes.byref(minor), _CAPABILITY_MINOR, device)
        archs[f"sm_{major.value}{minor.value}"] = None
    if not archs:
        raise InputError("no GPU here: the NVIDIA driver finds none", hint=hint)
    return tuple(Target.parse(arch) for arch in archs)
