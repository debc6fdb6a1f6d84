"""Builds what checks offloading on a GPU: devices, other clangs, code of many units, CUDA's tools.

    cd test && ../.venv/bin/python -m offload.on_gpu ../build/offload
    python3 build/offload/run.py                               # on the GPU machine

The second part needs nothing but Python's standard library; torch where it calls a library, and
CUDA's tools for the checks with them, which it leaves out where they are missing. Programs are
finished by each clang of `_CLANGS` that is installed here, and nvcc makes an object where it is.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from host_ir.on_gpu import copy_loader
from programs.catalog import FOLDER as PROGRAM_SOURCES
from programs.catalog import PROGRAMS, Program

import hirc
from hirc.compiler.toolchain import find_clang, find_cuda
from hirc.tools.hirc import main as run_hirc
from support.driver import write
from support.linked_units import CALLS, LAUNCH, TWICE, TWICE_CUDA

HERE = Path(__file__).parent
_ARCH = "--offload-arch=sm_90"
_CLANGS = (16, 19, 22)
_ON_CPU = "running on the CPU device"
_NO_GPU = "cudaErrorInsufficientDriver|cudaErrorNoDevice"

_THREADS = """\
func.func @main() {
  %one = arith.constant 1 : index
  %threads = arith.constant 4 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) {
    gpu.printf "thread %lld of %lld\\n", %tx, %sx : index, index
    gpu.terminator
  }
  return
}
"""
_THREADS_OUTPUT = "".join(f"thread {i} of 4\n" for i in range(4))

# Stores far outside of its memory, in line 10.
_FAR = """\
func.func @main() {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = gpu.alloc (%c32) : memref<?xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %one = arith.constant 1.0 : f32
    %far = arith.constant 100000000 : index
    %at = arith.addi %tx, %far : index
    memref.store %one, %m[%at] : memref<?xf32>
    gpu.terminator
  }
  return
}
"""

# Shows 1, 3, 5 and 7 as `CALLS` does, by a variable that another unit fills.
_READS = f"""\
module attributes {{gpu.container_module}} {{
gpu.module @m {{
  func.func private @fill(f32, index)
  memref.global @numbers : memref<4xf32> = uninitialized
  gpu.func @k() kernel {{
    %t = gpu.thread_id x
    %0 = arith.index_cast %t : index to i32
    %1 = arith.sitofp %0 : i32 to f32
    func.call @fill(%1, %t) : (f32, index) -> ()
    %2 = memref.get_global @numbers : memref<4xf32>
    %3 = memref.load %2[%t] : memref<4xf32>
    gpu.printf "%f\\n", %3 : f32
    gpu.return
  }}
}}
{LAUNCH}}}
"""
_FILLS = """\
gpu.module @other {
  memref.global "private" @numbers : memref<4xf32>
  func.func @fill(%x: f32, %i: index) {
    %one = arith.constant 1.0 : f32
    %0 = arith.addf %x, %x : f32
    %1 = arith.addf %0, %one : f32
    %2 = memref.get_global @numbers : memref<4xf32>
    memref.store %1, %2[%i] : memref<4xf32>
    return
  }
}
"""
_ODD_OUTPUT = "".join(f"{n}.000000\n" for n in (1, 3, 5, 7))

_NVCC = """\
#include <cstdio>
__global__ void part(int n) { if (threadIdx.x == 0) printf("nvcc %d\\n", n); }
extern "C" void nvcc_part() {
  cudaDeviceSynchronize();
  part<<<1, 32>>>(7);
  cudaDeviceSynchronize();
}
"""
_CALLS_NVCC = """\
func.func private @nvcc_part()
func.func @main() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c2, %sy = %c1, %sz = %c1) {
    gpu.printf "ours %lld\\n", %tx : index
    gpu.terminator
  }
  func.call @nvcc_part() : () -> ()
  return
}
"""


@dataclass(frozen=True)
class Case:
    """A command that runs there and how it must end.

    `absent` says why it was not built. `status` None stands for any, `fails` for any but 0; `shown`
    and `hidden` are looked for in all that it writes.
    """

    name: str
    command: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    status: int | None = 0
    fails: bool = False
    output: str | None = None
    shown: str = ""
    hidden: str = ""
    is_tool: bool = False
    absent: str = ""


def build(folder: Path) -> None:
    """Writes every program, and what runs them, into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = (devices, library, finished, units, cuda_objects, nvcc_objects, cuda_tools)
    cases = [asdict(case) for part in parts for case in part(folder)]
    (folder / "cases.json").write_text(json.dumps(cases, indent=1))
    shutil.copy(HERE / "run_on_gpu.py", folder / "run.py")


def _compile(*words: str | Path) -> None:
    if run_hirc([str(word) for word in words]) != 0:
        raise SystemExit(f"hirc failed: {' '.join(map(str, words))}")


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def devices(folder: Path) -> Iterator[Case]:
    """One file for an older chip, by PTX for newer ones, and for the CPU device."""
    source = write(folder, "threads.mlir", _THREADS)
    _compile(source, "-o", folder / "threads", "--offload-arch=sm_80,compute_90,cpu")
    words = ("--offload-arch=sm_80,compute_80,cpu", "--offload-compress")
    _compile(source, "-o", folder / "compressed", *words)
    for name in ("threads", "compressed"):
        right = partial(Case, command=(name,), output=_THREADS_OUTPUT, hidden=_ON_CPU)
        yield right(f"{name}, HIRC_DEVICE unset")
        for device in ("cuda", "cuda:0", "cpu"):
            chosen = {"HIRC_DEVICE": device}
            yield right(f"{name}, HIRC_DEVICE={device}", environment=chosen)
        for device, why in (("cuda:99", ": invalid device ordinal"), ("tpu", "; it may be cuda,")):
            chosen, said = {"HIRC_DEVICE": device}, f"error: HIRC_DEVICE is '{device}'{why}"
            yield Case(f"{name}, HIRC_DEVICE={device}", (name,), chosen, fails=True, shown=said)
        # What the driver compiled before is in its cache, and no compilation.
        forbidden = {"CUDA_DISABLE_PTX_JIT": "1", "CUDA_CACHE_DISABLE": "1"}
        text = f"{name}, PTX forbidden"
        said = f"{_ON_CPU}: the program has no code for this GPU"
        yield Case(text, (name,), forbidden, output=_THREADS_OUTPUT, shown=said)
        forbidden, text = {**forbidden, "HIRC_DEVICE": "cuda"}, f"{text}, HIRC_DEVICE=cuda"
        refused = partial(Case, fails=True, shown="error: ", hidden=_NO_GPU)
        yield refused(text, (name,), forbidden)


def library(folder: Path) -> Iterator[Case]:
    """A library for both devices, with tensors of each."""
    copy_loader(folder)
    with hirc.program("layer") as program:
        x, w = program.input("x", ("n", 4), "f32"), program.input("w", (3, 4), "f32")
        program.output("y", program.linear(x, w).relu())
    source = write(folder, "layer.mlir", program.text)
    words = ("--emit=shared", "--offload-arch=sm_80,compute_90,cpu")
    _compile(source, "-o", folder / "layer.so", *words)
    for device in ("cpu", "cuda"):
        command = ("python", "run.py", "library", device)
        yield Case(f"library, tensors on {device}", command, {"HIRC_DEVICE": device})


def finished(folder: Path) -> Iterator[Case]:
    """The programs of the catalogue, finished by other clangs."""
    for version in _CLANGS:
        found = shutil.which(f"clang-{version}")
        wrapper = found and Path(found).resolve().parent / "clang-linker-wrapper"
        if not found or not wrapper or not wrapper.is_file():
            reason = f"clang-{version} with its linker wrapper was not there to build it"
            yield Case(f"programs finished by clang {version}", absent=reason)
            continue
        programs = [each for each in PROGRAMS if version >= 18 or each.arch != "sm_90a"]
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            yield from pool.map(partial(_finish, folder, Path(found), version), programs)


def _finish(folder: Path, clang: Path, version: int, program: Program) -> Case:
    """Compiles a program's units for a clang, which links them as docs/offload.md says."""
    name, cuda = f"{program.name}.clang{version}", find_cuda().root
    with tempfile.TemporaryDirectory() as kept:
        words = [f"--for-clang={version}", f"--offload-arch={program.arch}", *program.flags]
        if version < 22:
            cuda = Path(kept, "cuda")
            words.append(f"--emit-cuda={cuda}")
        objects = [Path(kept, f"{path.stem}.o") for path in program.paths]
        for path, output in zip(program.paths, objects, strict=True):
            _compile(path, "--emit=object", "-o", output, *words)
            words = [word for word in words if not word.startswith("--emit-cuda")]
        paths = [f"--cuda-path={cuda}", "-Xlinker", f"--cuda-path={cuda}"]
        paths += ["-Xlinker", f"--device-compiler=--cuda-path={cuda}"] if version >= 22 else []
        libraries = (find_cuda().static_runtime, "-ldl", "-lrt", "-lpthread", "-lm")
        _run(clang, "--offload-link", *objects, "-o", folder / name, *paths, *libraries)
    shown = program.errors
    return Case(name, (name,), status=program.status, output=program.expected, shown=shown)


def _linked(folder: Path, name: str, *words: str | Path, output: str = _ODD_OUTPUT) -> Case:
    """A program of many units."""
    file = name.replace(" ", "-")
    _compile(*words, "-o", folder / file)
    return Case(name, (file,), output=output)


def units(folder: Path) -> Iterator[Case]:
    """Functions and variables of MLIR's units."""
    calls, twice = write(folder, "k.mlir", CALLS), write(folder, "twice.mlir", TWICE)
    reads, fills = write(folder, "reads.mlir", _READS), write(folder, "fills.mlir", _FILLS)
    forms = {
        "bitcode": (_ARCH,),
        "machine code": (_ARCH, "-g"),
        "PTX": ("--offload-arch=sm_80,compute_80",),
    }
    for form, words in forms.items():
        rdc = (*words, "--offload-rdc")
        yield _linked(folder, f"functions of two units as {form}", calls, twice, *rdc)
        yield _linked(folder, f"a variable of two units as {form}", reads, fills, *rdc)
    built, archive = folder / "twice-of-mlir.o", folder / "libtwice.a"
    _compile(twice, _ARCH, "--offload-rdc", "--emit=object", "-o", built)
    archive.unlink(missing_ok=True)
    _run("ar", "rcs", archive, built)
    yield _linked(folder, "an archive with device code", calls, archive, _ARCH, "--offload-rdc")


def cuda_objects(folder: Path) -> Iterator[Case]:
    """CUDA C++ that clang compiled, as machine code and as bitcode."""
    clang = find_clang()
    source, calls = write(folder, "twice.cu", TWICE_CUDA), folder / "k.mlir"
    for form, flags in {"machine code": (), "bitcode": ("-foffload-lto",)}.items():
        name = f"CUDA C++ of clang as {form}"
        if not (clang.directory / "llvm-offload-binary").is_file():
            yield Case(name, absent="llvm-offload-binary was not there to build it")
            continue
        built = folder / f"twice-of-cuda-{len(flags)}.o"
        words = ("-x", "cuda", "--cuda-gpu-arch=sm_90", "-nocudainc", "-nocudalib", "-fgpu-rdc")
        words += ("--offload-new-driver", "-O2", f"--cuda-path={find_cuda().root}", *flags)
        _run(clang.path, *words, "-c", source, "-o", built)
        yield _linked(folder, name, calls, built, _ARCH, "--offload-rdc")


def nvcc_objects(folder: Path) -> Iterator[Case]:
    """An object of nvcc with kernels of its own."""
    names = ("an object of nvcc", "an object of nvcc with --offload-rdc")
    nvcc = shutil.which("nvcc", path=f"{os.environ['PATH']}{os.pathsep}/usr/local/cuda/bin")
    if nvcc is None:
        for name in names:
            yield Case(name, absent="nvcc was not there to build it")
        return
    caller, source = write(folder, "caller.mlir", _CALLS_NVCC), write(folder, "part.cu", _NVCC)
    part = folder / "part.o"
    _run(nvcc, "-arch=sm_90", "-O2", "-Xcompiler", "-fPIC", "-c", source, "-o", part)
    output = "ours 0\nours 1\nnvcc 7\n"
    for name, flags in zip(names, ((), ("--offload-rdc",)), strict=True):
        words = (caller, part, "-lstdc++", _ARCH, *flags)
        yield _linked(folder, name, *words, output=output)


def cuda_tools(folder: Path) -> Iterator[Case]:
    """CUDA's tools on programs with lines of their sources."""
    source, far = PROGRAM_SOURCES / "block_reduction.mlir", write(folder, "far.mlir", _FAR)
    _compile(source, "-g", "-o", folder / "lines", _ARCH)
    _compile(source, "-g", "-o", folder / "lines.cubin", "--emit=cubin", _ARCH)
    _compile(far, "-g", "-o", folder / "far", _ARCH)
    tool = partial(Case, is_tool=True)
    yield tool(
        "compute-sanitizer: no errors",
        ("compute-sanitizer", "./lines"),
        shown="ERROR SUMMARY: 0 errors",
    )
    yield tool(
        "compute-sanitizer: names the line of an error",
        ("compute-sanitizer", "./far"),
        status=None,
        shown=r"far\.mlir:10",
    )
    for flag, shown in {
        "--list-elf": r"sm_80\.cubin",
        "--list-ptx": r"sm_90\.ptx",
        "--dump-sass": "Function : ",
    }.items():
        yield tool(f"cuobjdump {flag}", ("cuobjdump", flag, "threads"), shown=shown)
    lines = ("nvdisasm", "-g", "lines.cubin")
    yield tool("nvdisasm -g: lines of the source", lines, shown=r"block_reduction\.mlir.*line \d+")
    commands = ("set cuda break_on_launch application", "run", "info line", "bt", "kill")
    words = [word for command in commands for word in ("-ex", command)]
    yield tool(
        "cuda-gdb: stops in a kernel and names the source",
        ("cuda-gdb", "-batch", *words, "./lines"),
        status=None,
        shown=r"block_reduction\.mlir",
    )


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve())
