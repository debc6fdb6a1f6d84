"""The object files that a link for GPUs and the CPU device adds to NVIDIA's runtime."""

from __future__ import annotations

from pathlib import Path

from ...dialects.records import dataclass
from ..cpu_device.build import FLAGS, TO_BITCODE, object_of, runtime_object
from ..object_symbols import archive_symbols, object_symbols, with_renamed
from ..process import Runner
from ..support_library import Library
from ..toolchain import Clang, Cuda
from .dispatch import CPU_PREFIX, dispatch_text

_PREFIXES = ("cuda", "__cuda")


@dataclass(frozen=True)
class ChoosingRuntime:
    """The CPU device's runtime, what chooses, and the functions that a link is to wrap."""

    runtime: bytes
    choice: bytes
    wrapped: tuple[str, ...]


def choosing_runtime(clang: Clang, runner: Runner, cuda: Cuda) -> ChoosingRuntime:
    """Compiles it, or takes it from the cache. Raises ToolchainError."""
    runtime = runtime_object(clang, runner)
    on_cpu = {symbol.name for symbol in object_symbols(runtime) if symbol.is_defined}
    on_gpus = archive_symbols(cuda.static_runtime.read_bytes())
    # Kernels are registered with both: `__cuda...` are not wrapped, as nothing is chosen so early.
    wrapped = sorted(name for name in on_cpu.intersection(on_gpus) if name.startswith("cuda"))
    flags = (*FLAGS, *TO_BITCODE)
    library = Library("device choice", Path(__file__).parent, flags, dispatch_text(wrapped))
    choice = object_of(library, clang, runner)
    return ChoosingRuntime(with_renamed(runtime, _cpu_name), choice, tuple(wrapped))


def _cpu_name(name: str) -> str:
    """Returns what a function of CUDA's names is called beside NVIDIA's; "" for others."""
    return CPU_PREFIX + name if name.startswith(_PREFIXES) else ""
