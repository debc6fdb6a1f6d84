"""A cuBLASLt and a cuDNN that compute on the host (fake_cublaslt.c, fake_cudnn.c), and libraries
that call them.

Programs for the CPU device call them with --products=library and --convolutions=library, as those
for a GPU call the real ones, or with --products=always.
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
    """A library without a device, the calls of it that compute, and how the compiler links what it
    needs.
    """

    path: Path
    loaded: ctypes.CDLL
    synchronize: Path
    computes: tuple[str, ...]

    def log(self, call: Callable[[], object]) -> list[str]:
        """What `call` has the library compute."""
        return [line for line in self.lines(call) if line.split(" ")[0] in self.computes]

    def lines(self, call: Callable[[], object]) -> list[str]:
        """All that the library logs in `call`."""
        self.loaded.fake_library_reset()
        call()
        return self.loaded.fake_library_log().decode().splitlines()

    def library(self, text: str, *flags: str, products: str = "always") -> hirc.Library:
        """The programs of a module, compiled once, whose products call the library."""
        return self.linked(text, f"--products={products}", *flags)

    def linked(self, text: str, *flags: str) -> hirc.Library:
        """The programs of a module, compiled once, which are served."""
        from host_ir.libraries import library

        built = library(text, str(self.synchronize), *flags)
        self.serve(built)
        return built

    def serve(self, built: hirc.Library) -> None:
        """Waits, from here on, for streams of that library."""
        wait = ctypes.cast(ctypes.CDLL(str(built.path)).test_synchronize, ctypes.c_void_p)
        ctypes.c_void_p.in_dll(self.loaded, "fake_library_synchronize").value = wait.value


def fake_cublaslt() -> Fake:
    """The library, built once; programs find it where HIRC_CUBLASLT is its path."""
    return _fake("cublasLt", ("cublasLtMatmul",))


def fake_cudnn() -> Fake:
    """The library, built once; programs find it where HIRC_CUDNN is its path."""
    return _fake("cudnn", ("cudnnConvolutionForward", "cudnnConvolutionBackwardData"))


@cache
def _fake(name: str, computes: tuple[str, ...]) -> Fake:
    folder = scratch_folder(name.lower())
    path, source = folder / f"lib{name}.so", folder / "synchronize.c"
    source.write_text(_SYNCHRONIZE)
    clang = ["clang-22", "-std=c11", "-O2", "-fPIC"]
    fake = _HERE / f"fake_{name.lower()}.c"
    subprocess.run([*clang, "-shared", fake, "-o", path], check=True, timeout=60)
    synchronize = source.with_suffix(".o")
    subprocess.run([*clang, "-c", source, "-o", synchronize], check=True, timeout=60)
    loaded = ctypes.CDLL(str(path))
    loaded.fake_library_log.restype = ctypes.c_char_p
    return Fake(path, loaded, synchronize, computes)
