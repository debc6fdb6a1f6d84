"""What is linked for an older GNU C library: the versions that it asks for, and what it does."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import hirc as hirc_package
from hirc.compiler.executable import read_linked_file
from hirc.compiler.object_symbols import elf_sections, versioned_symbols
from support.driver import PROGRAM, Hirc, write

_OLD = "--glibc=2.28"
_PRINT = PROGRAM.replace(
    "    gpu.terminator", '    gpu.printf "%d\\n", %one : f32\n    gpu.terminator'
)
_FUNCTION = """\
func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = arith.addf %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
"""
_HOST = """\
func.func private @look() attributes { llvm.emit_c_interface }
func.func @main() {
  call @look() : () -> ()
  return
}
"""
# What starts and ends a program, what headers call by other names, and variables of the library.
_LOOK = """\
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static int constructed, ended;
__attribute__((constructor)) static void construct(int argc, char **argv, char **environment) {
  constructed = argc == 1 && argv[0] != NULL && environment[0] != NULL;
}
__attribute__((destructor)) static void destruct(void) { dprintf(1, "ended after %d\\n", ended); }
static void last(void) { ended = 1; }
static void *run(void *unused) { errno = 7; return unused; }
void _mlir_ciface_look(void) {
  struct stat found;
  atexit(last);
  errno = 5;
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  pthread_join(thread, NULL);
  int kept = errno, number = 0;
  int is_folder = stat("/", &found) == 0 && S_ISDIR(found.st_mode);
  sscanf("42", "%d", &number);
  fprintf(stdout, "%d %d %d %d %ld %d\\n", constructed, kept, is_folder, number,
          strtol("17", NULL, 10), getenv("PATH") != NULL && environ != NULL);
}
"""

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="stand-ins are for x86-64")


def _releases(path: Path) -> list[tuple[int, ...]]:
    """Returns the releases of glibc that a file's symbols ask for, read from its strings."""
    strings = next(each for each in elf_sections(path.read_bytes()) if each.name == ".dynstr")
    found = re.findall(rb"GLIBC_([\d.]+)", strings.content)
    return sorted(tuple(int(part) for part in each.split(b".")) for each in set(found))


def _run(path: Path) -> str:
    return subprocess.run([path], capture_output=True, text=True, timeout=60, check=True).stdout


def _object(clang: Path, folder: Path, text: str) -> Path:
    source, output = write(folder, "look.c", text), folder / "look.o"
    subprocess.run([clang, "-O1", "-fPIC", "-c", source, "-o", output], check=True)
    return output


def test_an_executable_runs_and_asks_for_no_newer_release(hirc: Hirc, tmp_path: Path) -> None:
    source, outputs = write(tmp_path, "prog.mlir", _PRINT), [tmp_path / "old", tmp_path / "new"]
    hirc.succeeds(source, "--offload-arch=cpu", _OLD, "-o", outputs[0])
    hirc.succeeds(source, "--offload-arch=cpu", "-o", outputs[1])
    assert _releases(outputs[0])[-1] <= (2, 28)
    assert _run(outputs[0]) == _run(outputs[1]) != ""
    needed = read_linked_file(outputs[0]).needed
    assert {"libc.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"} <= set(needed)
    assert "--glibc=2.28" in hirc.succeeds("--describe", outputs[0]).output


def test_gpus(hirc: Hirc, tmp_path: Path) -> None:
    """Its own start, CUDA's static runtime and the device link go together."""
    source, output = write(tmp_path, "prog.mlir", PROGRAM), tmp_path / "prog"
    hirc.succeeds(source, "--offload-arch=sm_80,cpu", _OLD, "-o", output)
    assert _releases(output)[-1] <= (2, 28)
    assert [image.arch for image in read_linked_file(output).images] == ["sm_80"]
    environment = {**os.environ, "HIRC_DEVICE": "cpu"}
    subprocess.run([output], env=environment, timeout=60, check=True, capture_output=True)


def test_a_library(hirc: Hirc, tmp_path: Path) -> None:
    source, output = write(tmp_path, "twice.mlir", _FUNCTION), tmp_path / "libtwice.so"
    hirc.succeeds(source, "--emit=shared", "--offload-arch=cpu", _OLD, "-o", output)
    assert _releases(output)[-1] <= (2, 28)
    given = np.arange(5, dtype=np.float32)
    assert np.array_equal(hirc_package.load(output).twice(given), 2 * given)
    # What it registered for forks went with it.
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_what_users_link(hirc: Hirc, clang: Path, tmp_path: Path) -> None:
    """Constructors and destructors run once, in order; variables and newer headers' calls work."""
    source, linked = write(tmp_path, "prog.mlir", _HOST), _object(clang, tmp_path, _LOOK)
    output = tmp_path / "prog"
    hirc.succeeds(source, linked, "--offload-arch=cpu", _OLD, "-o", output)
    assert _releases(output)[-1] <= (2, 28)
    assert _run(output) == "1 5 1 42 17 1\nended after 1\n"


def test_a_function_that_is_newer(hirc: Hirc, clang: Path, tmp_path: Path) -> None:
    if not hasattr(ctypes.CDLL(None), "arc4random"):
        pytest.skip("this machine's glibc is older than 2.36")
    text = "extern unsigned arc4random(void);\nvoid _mlir_ciface_look(void) { arc4random(); }\n"
    source, linked = write(tmp_path, "prog.mlir", _HOST), _object(clang, tmp_path, text)
    output = tmp_path / "prog"
    failed = hirc.fails(source, linked, "--offload-arch=cpu", _OLD, "-o", output)
    assert "'arc4random' came with glibc 2.36, and --glibc=2.28 is older" in failed
    assert "--glibc=2.36" in failed
    assert not output.exists()
    hirc.succeeds(source, linked, "--offload-arch=cpu", "--glibc=2.36", "-o", output)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--glibc=2.27",), "from 2.28 on, not '2.27'"),
        (("--glibc=3.0",), "not '3.0'"),
        (("--glibc=2.28.1",), "not '2.28.1'"),
        (("--glibc=",), "not ''"),
        (("--glibc=2.999",), "newer than this machine's glibc"),
        ((_OLD, "--emit=object"), "--glibc goes with --emit=exe or shared"),
    ],
)
def test_wrong_uses(words: tuple[str, ...], said: str, hirc: Hirc, tmp_path: Path) -> None:
    source, output = write(tmp_path, "prog.mlir", PROGRAM), tmp_path / "prog"
    failed = hirc.fails(source, "--offload-arch=cpu", *words, "-o", output)
    assert said in failed
    assert not output.exists()


def test_symbols_of_a_library_are_those_that_its_loader_finds() -> None:
    """What is read of libm.so.6 is found by dlvsym, in that version, and nothing else is."""
    process = ctypes.CDLL(None)
    maps = Path("/proc/self/maps").read_text()
    ctypes.CDLL("libm.so.6")
    path = next(iter(re.findall(r"\S+/libm\.so\.6", maps + Path("/proc/self/maps").read_text())))
    found = list(versioned_symbols(Path(path).read_bytes()))
    library, dlvsym = ctypes.CDLL(path), process.dlvsym
    dlvsym.restype, dlvsym.argtypes = (
        ctypes.c_void_p,
        (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p),
    )
    versions = {each.version for each in found if each.name == "exp"}
    assert versions == {"GLIBC_2.2.5", "GLIBC_2.29"}
    for each in found:
        if each.version and not each.name.startswith("GLIBC_"):
            assert dlvsym(library._handle, each.name.encode(), each.version.encode())
    assert not dlvsym(library._handle, b"exp", b"GLIBC_2.28")
