"""What a program that no linker put together calls, as a shared library: the support library and
the CUDA runtime: NVIDIA's, the CPU device's, or what calls HIP's in its place.

It is linked once, and kept in the cache. Each program that is loaded has a copy of its own, as if
it had been linked with it. The library exports a table of its symbols, and none of these: a name
that another library has too must not lead there. But the CPU device's libraries find each other's
signal handlers, here as in what a linker put together.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..dialects.records import dataclass
from .cache import cached_shared
from .errors import ToolchainError
from .llvm_ir import LlvmModule, host_machine
from .object_symbols import archive_symbols, object_symbols
from .output import scratch_folder
from .process import Runner
from .support_library import support_archive
from .target import Devices
from .toolchain import Clang, Cuda

# An array of pairs of addresses, of a name and of what it names; two of NULL end it.
TABLE = "hirc_runtime_symbols"
# What faults.c exports.
_EXPORTED = "hirc_fault_handlers_before"
_CUDA_PREFIXES = ("cuda", "__cuda")
# For kernels of libraries, whose thread-local variables and streams are others.
_OTHER_STREAM = ("_ptsz", "_ptds")


@dataclass(frozen=True)
class RuntimeLibrary:
    """A shared library, and its name in the cache."""

    name: str
    data: bytes


def runtime_library(
    devices: Devices, clang: Clang, runner: Runner, cuda: Cuda | None
) -> RuntimeLibrary:
    """Returns the shared library for programs that run on devices of one kind; on NVIDIA's GPUs
    with `cuda`.

    Raises ToolchainError when clang cannot make it.
    """
    parts = _parts(devices, clang, runner, cuda)

    def link() -> bytes:
        with scratch_folder() as folder:
            return _link(folder, parts, clang, runner, device="a" if cuda is not None else "o")

    name = f"{_NAMES[devices]}-runtime-{parts.digest}.so"
    return RuntimeLibrary(name, cached_shared(name, link))


_NAMES = {Devices.CPU: "cpu", Devices.GPUS: "cuda", Devices.AMD: "hip"}


@dataclass(frozen=True)
class _Parts:
    """What is linked: the support library, the CUDA runtime, and the table of their symbols."""

    support: bytes
    device: bytes
    table: bytes
    digest: str


# Those of each kind, clang and CUDA: they stay as they are while this process runs.
_known: dict[tuple[Devices, Clang, Cuda | None], _Parts] = {}


def _parts(devices: Devices, clang: Clang, runner: Runner, cuda: Cuda | None) -> _Parts:
    found = _known.get((devices, clang, cuda))
    if found is None:
        found = _known[devices, clang, cuda] = _made(devices, clang, runner, cuda)
    return found


def _made(devices: Devices, clang: Clang, runner: Runner, cuda: Cuda | None) -> _Parts:
    support = support_archive(clang, runner)
    if cuda is None:
        # Imported late: what is for NVIDIA's GPUs does not wait for it.
        from .device_choice.build import device_runtimes

        (device,) = device_runtimes(devices, clang, runner, None).objects.values()
        names = [each.name for each in object_symbols(device) if each.is_defined]
    else:
        device = cuda.static_runtime.read_bytes()
        names = [
            name
            for name in archive_symbols(device)
            if name.startswith(_CUDA_PREFIXES) and not name.endswith(_OTHER_STREAM)
        ]
    table = _table(sorted({*names, *archive_symbols(support)}))
    digest = hashlib.sha256(clang.version.encode())
    for part in (support, device, table):
        digest.update(part)
    return _Parts(support, device, table, digest.hexdigest()[:16])


def _table(names: list[str]) -> bytes:
    """Returns an object file with the table."""
    lines: list[str] = []
    pairs: list[str] = []
    for place, name in enumerate(names):
        text = f"{name}\\00"
        lines.append(f'@{place} = private constant [{len(name) + 1} x i8] c"{text}"')
        lines.append(f"@{name} = external {'' if name == _EXPORTED else 'hidden '}global i8")
        pairs.append(f"{{ ptr, ptr }} {{ ptr @{place}, ptr @{name} }}")
    pairs.append("{ ptr, ptr } zeroinitializer")
    lines.append(
        f"@{TABLE} = constant [{len(pairs)} x {{ ptr, ptr }}] [{', '.join(pairs)}], align 16"
    )
    return LlvmModule("\n".join(lines), host_machine(0), name="runtime table").object_code()


def _link(
    folder: Path,
    parts: _Parts,
    clang: Clang,
    runner: Runner,
    *,
    device: str,
) -> bytes:
    paths = [folder / name for name in ("table.o", "support.a", f"device.{device}")]
    for path, data in zip(paths, (parts.table, parts.support, parts.device), strict=True):
        path.write_bytes(data)
    output = folder / "runtime.so"
    lld = clang.directory / "ld.lld"
    command: list[str | Path] = [clang.path, "-shared", "-Wl,-s", *paths, "-o", output]
    if lld.is_file():
        command.append(f"--ld-path={lld}")
    # A library that is not there would be found when something is called, and not before.
    command += ["-Wl,-z,defs", "-pthread", "-ldl", "-lrt", "-lm"]
    done = runner.run(command)
    if done.status != 0:
        raise ToolchainError(f"clang cannot link the runtime: {done.errors.strip()}")
    return output.read_bytes()
