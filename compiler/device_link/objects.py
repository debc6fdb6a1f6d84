"""Objects that bring device code into a file that is linked, and register it with CUDA."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..cpu_device.build import FLAGS, TO_BITCODE, object_of
from ..data_object import write_object
from ..device_containers import DeviceCode, fatbin
from ..process import Runner
from ..support_library import Library
from ..toolchain import Clang

_SYMBOL = "hirc_device_code"
# Where tools look for it, the driver's and hirc's.
_SECTION = ".nv_fatbin"
_ALIGNMENT = 8


def device_objects(
    images: Sequence[DeviceCode], folder: Path, clang: Clang, runner: Runner
) -> list[Path]:
    """Writes them to `folder`, none where there is no device code. Raises ToolchainError."""
    if not images:
        return []
    code, data = folder / "registration.o", folder / "device-code.o"
    library = Library("device registration", Path(__file__).parent, (*FLAGS, *TO_BITCODE))
    code.write_bytes(object_of(library, clang, runner))
    container = memoryview(fatbin(images))
    with data.open("wb") as file:
        write_object(
            file, _SYMBOL, [(0, container)], clang.host, section=_SECTION, alignment=_ALIGNMENT
        )
    return [code, data]
