"""The CPU device's own C code: the library that device code calls, and the runtime that runs it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..errors import ToolchainError
from ..host import Host
from ..output import scratch_folder
from ..process import Runner
from ..support_library import Library, bitcode_of, cached_for, functions_of
from ..toolchain import Clang
from .packed import packed_functions

_FOLDER = Path(__file__).parent
FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-stack-protector")
TO_BITCODE = ("-c", "-emit-llvm", "-Wno-override-module")


def library_functions(clang: Clang, runner: Runner, wanted: Iterable[str]) -> bytes:
    """Returns what device code calls and is inlined into it, as bitcode. Raises ToolchainError."""
    flags = (*FLAGS, *TO_BITCODE)
    headers = (_FOLDER / "runtime" / "device_abi.h",)
    library = Library("CPU device library", _FOLDER / "library", flags, packed_functions(), headers)
    return functions_of(library, clang, runner, wanted)


def runtime_object(clang: Clang, runner: Runner) -> bytes:
    """Returns the CUDA runtime's ABI and the engine as an object file. Raises ToolchainError."""
    headers = (_FOLDER.parent / "runtime" / "nccl_abi.h",)
    flags = (*FLAGS, *TO_BITCODE)
    library = Library("CPU device runtime", _FOLDER / "runtime", flags, headers=headers)
    return object_of(library, clang, runner)


def object_of(library: Library, clang: Clang, runner: Runner) -> bytes:
    """Returns a library as one object file, compiling it when it is not in the cache.

    Raises ToolchainError.
    """

    def compile_all() -> bytes:
        bitcode = bitcode_of(library, clang, runner)
        with scratch_folder() as folder:
            source, output = folder / "runtime.bc", folder / "runtime.o"
            source.write_bytes(bitcode)
            flags = ["-O2", "-fPIC", *_thread_local_access(clang.host)]
            done = runner.run([*clang.command, *flags, "-c", source, "-o", output])
            if done.status != 0:
                raise ToolchainError(f"clang cannot compile the {library.name}: {done.errors}")
            return output.read_bytes()

    return cached_for(library, clang, ".o", compile_all)


def _thread_local_access(host: Host) -> list[str]:
    """Returns how thread-local variables are reached: by descriptors, which a link makes free or
    cheap.

    Other processors' compilers do so by default.
    """
    return ["-mtls-dialect=gnu2"] if host.processor == "x86_64" else []
