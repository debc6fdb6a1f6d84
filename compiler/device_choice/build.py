"""The object files that a link adds in place of NVIDIA's runtime, or beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...dialects.records import dataclass
from ..cpu_device.build import FLAGS, TO_BITCODE, object_of, runtime_object
from ..hip.build import hip_runtime_object
from ..object_symbols import archive_symbols, object_symbols, with_renamed
from ..process import Runner
from ..support_library import Library
from ..target import Devices
from ..toolchain import Clang, Cuda
from .dispatch import AMD_PREFIX, CPU_PREFIX, dispatch_text

_PREFIXES = ("cuda", "__cuda")


@dataclass(frozen=True)
class DeviceRuntimes:
    """Object files by name, and the functions that a link is to wrap."""

    objects: Mapping[str, bytes]
    wrapped: tuple[str, ...] = ()


def device_runtimes(
    devices: Devices, clang: Clang, runner: Runner, cuda: Cuda | None
) -> DeviceRuntimes:
    """Compiles them, or takes them from the cache; `cuda` is for files for NVIDIA's GPUs too.

    Raises ToolchainError.
    """
    own: dict[str, tuple[bytes, str]] = {}
    if Devices.CPU in devices:
        own["cpu-device"] = runtime_object(clang, runner), CPU_PREFIX
    if Devices.AMD in devices:
        own["hip-runtime"] = hip_runtime_object(clang, runner), AMD_PREFIX
    if not devices.are_several:
        return DeviceRuntimes({name: data for name, (data, _) in own.items()})
    defined = {prefix: _calls(data) for data, prefix in own.values()}
    if cuda is not None:
        # Kernels are registered with each: `__cuda...` are not wrapped, as nothing is chosen so
        # early.
        defined[""] = set(archive_symbols(cuda.static_runtime.read_bytes()))
    # HIP has no more of them than host code calls: what else others have is an error there.
    sets = [names for prefix, names in defined.items() if prefix != AMD_PREFIX or len(own) == 1]
    wrapped = sorted(name for name in set.intersection(*sets) if name.startswith("cuda"))
    flags = (*FLAGS, *TO_BITCODE)
    text = dispatch_text(wrapped, devices, defined.get(AMD_PREFIX, set()))
    library = Library("device choice", Path(__file__).parent, flags, text)
    objects = {
        name: with_renamed(data, lambda symbol, prefix=prefix: _renamed(symbol, prefix))
        for name, (data, prefix) in own.items()
    }
    objects["device-choice"] = object_of(library, clang, runner)
    return DeviceRuntimes(objects, tuple(wrapped))


def _calls(runtime: bytes) -> set[str]:
    return {symbol.name for symbol in object_symbols(runtime) if symbol.is_defined}


def _renamed(name: str, prefix: str) -> str:
    """Returns what a function of CUDA's names is called beside others; "" for what is none."""
    return prefix + name if name.startswith(_PREFIXES) else ""
