"""The NVIDIA driver of this machine and its GPUs, asked through libcuda."""

from __future__ import annotations

import ctypes

from ..dialects.records import dataclass

_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76
_NAME_BYTES = 256


@dataclass(frozen=True)
class Gpu:
    """One GPU: its name, and its chip as --offload-arch spells it."""

    name: str
    arch: str


@dataclass(frozen=True)
class NvidiaDriver:
    """A driver that loads: the newest CUDA it serves (`13.0`), and its GPUs."""

    cuda_version: str
    gpus: tuple[Gpu, ...]


def find_driver() -> NvidiaDriver | None:
    """Returns the driver, or None where there is none. A driver that sees no GPU has
    an empty list.
    """
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    version = ctypes.c_int()
    library.cuDriverGetVersion(ctypes.byref(version))
    text = f"{version.value // 1000}.{version.value % 1000 // 10}"
    count = ctypes.c_int()
    if library.cuInit(0) != 0 or library.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return NvidiaDriver(text, ())
    return NvidiaDriver(text, tuple(_gpu(library, ordinal) for ordinal in range(count.value)))


def _gpu(library: ctypes.CDLL, ordinal: int) -> Gpu:
    device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    name = ctypes.create_string_buffer(_NAME_BYTES)
    library.cuDeviceGet(ctypes.byref(device), ordinal)
    library.cuDeviceGetName(name, _NAME_BYTES, device)
    library.cuDeviceGetAttribute(ctypes.byref(major), _CAPABILITY_MAJOR, device)
    library.cuDeviceGetAttribute(ctypes.byref(minor), _CAPABILITY_MINOR, device)
    return Gpu(name.value.decode(errors="replace"), f"sm_{major.value}{minor.value}")
