"""What units and objects that are linked together have: devices, and symbols of the device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .errors import InputError, Note, Position
from .platform_table import CUDA, HIP
from .target import Devices
from .unit import Unit

_SUFFIXES = (".o", ".a")
# Names of sections (cpu_device/kernel_table.py, offload_annotations.py), and what images are for.
_CPU_KERNELS, _IMAGES = b"hirc_cpu_kernels", b".llvm.offloading"
_AMD_IMAGE, _NVIDIA_IMAGE = HIP.triple.encode(), CUDA.triple.encode()


def linked_devices(names: Sequence[str], asked: Devices | None) -> Devices | None:
    """Returns the devices that objects were built for; None where none has kernels.

    `asked` is what the command line says. Raises InputError where they differ from that, or among
    themselves.
    """
    found: dict[Devices, str] = {}
    for name in filter(_is_read, names):
        devices = _devices(name)
        if asked is not None and devices and devices != asked:
            raise InputError(
                f"{name} was built for {devices.text}, and the program is for {asked.text}",
                hint=f"build it again for {asked.text}",
            )
        if devices:
            found.setdefault(devices, name)
    if len(found) > 1:
        (one, first), (other, second) = sorted(found.items(), key=lambda item: item[0].value)[:2]
        raise InputError(f"{first} was built for {one.text}, and {second} for {other.text}")
    return next(iter(found), None)


def may_have_kernels(names: Sequence[str]) -> bool:
    """Returns whether what is linked may have device code: what the linker finds itself may."""
    return any(not _is_read(name) or _devices(name) for name in names)


def _is_read(name: str) -> bool:
    return name.endswith(_SUFFIXES) and not name.startswith("-")


def _devices(name: str) -> Devices:
    """Of which devices an object or archive has code."""
    data = Path(name).read_bytes()
    devices = Devices(0)
    if _CPU_KERNELS in data:
        devices |= Devices.CPU
    if _IMAGES in data and _AMD_IMAGE in data:
        devices |= Devices.AMD
    if _IMAGES in data and (_NVIDIA_IMAGE in data or _AMD_IMAGE not in data):
        devices |= Devices.GPUS
    return devices


def refuse_defined_twice(units: Sequence[Unit]) -> None:
    """Raises InputError for a device symbol that two inputs offer each other.

    clang's link takes the first of bitcode without a word.
    """
    first: dict[str, tuple[Unit, Position | None]] = {}
    for unit in units:
        for name, position in unit.offered.items():
            if name in first:
                other, place = first[name]
                raise InputError(
                    f"device symbol '{name}' is defined in {other.source.name} and in "
                    f"{unit.source.name}",
                    position=position,
                    stage="link",
                    hint="--offload-rdc makes them one; make one private, or rename it",
                    notes=[Note("it is defined here too", place)],
                )
            first[name] = unit, position
