"""A cuBLASLt that multiplies on the host (fake_cublaslt.c), and libraries that call it.

Programs for the CPU device call it with --products=library, as those for a GPU call the real
one, or with --products=always.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import hirc
from support.scratch import scratch_folder

_HERE = Path(__file__).parent
# What lets the library without a device wait for the stream that it is called on.
_SYNCHRONIZE = """
int cudaStreamSynchronize(void *);
__attribute__((visibility("default"))) int test_synchronize(void *stream) {
  return cudaStreamSynchronize(stream);
}
"""


@dataclass
class Fake:
    """The cuBLASLt without a device, and how the compiler links what it needs."""

    path: Path
    loaded: ctypes.CDLL
    synchronize: Path

    def log(self, call: Callable[[], object]) -> list[str]:
        """The products that `call` hands to the library."""
        return [line for line in self.lines(call) if line.startswith("cublasLtMatmul ")]

    def lines(self, call: Callable[[], object]) -> list[str]:
        """All that the library logs in `call`."""
        self.loaded.fake_lt_reset()
        call()
        return self.loaded.fake_lt_log().decode().splitlines()

    def library(self, text: str, *flags: str, products: str = "always") -> hirc.Library:
        """The programs of a module, compiled once, whose products call the library."""
        from host_ir.libraries import library

        built = library(text, str(self.synchronize), f"--products={products}", *flags)
        self.serve(built)
        return built

    def serve(self, built: hirc.Library) -> None:
        """Waits, from here on, for streams of that library."""
        wait = ctypes.cast(ctypes.CDLL(str(built.path)).test_synchronize, ctypes.c_void_p)
        ctypes.c_void_p.in_dll(self.loaded, "fake_lt_synchronize").value = wait.value


@cache
def fake_cublaslt() -> Fake:
    """The library, built once; programs find it where HIRC_CUBLASLT is its path."""
    folder = scratch_folder("cublaslt")
    path, source = folder / "libcublasLt.so", folder / "synchronize.c"
    source.write_text(_SYNCHRONIZE)
    clang = ["clang-22", "-std=c11", "-O2", "-fPIC"]
    fake = _HERE / "fake_cublaslt.c"
    subprocess.run([*clang, "-shared", fake, "-o", path], check=True, timeout=60)
    synchronize = source.with_suffix(".o")
    subprocess.run([*clang, "-c", source, "-o", synchronize], check=True, timeout=60)
    loaded = ctypes.CDLL(str(path))
    loaded.fake_lt_log.restype = ctypes.c_char_p
    return Fake(path, loaded, synchronize)
