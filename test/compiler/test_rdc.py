"""Device code of several units: MLIR's, and CUDA objects of clang; linked, and called both ways."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hirc.compiler.executable import read_linked_file
from hirc.compiler.toolchain import find_cuda
from support.driver import Hirc, write
from support.linked_units import CALLS, LAUNCH, TWICE, TWICE_CUDA
from support.stand_in import stand_in_cuda

ARCH = "--offload-arch=sm_90"


def _clang_object(clang: Path, folder: Path, *words: str) -> Path:
    """Compiles TWICE_CUDA; the test is skipped where clang has no llvm-offload-binary."""
    source, output = write(folder, "twice.cu", TWICE_CUDA), folder / "twice.o"
    flags = ["-x", "cuda", "--cuda-gpu-arch=sm_90", "-nocudainc", "-nocudalib", "-fgpu-rdc"]
    flags += ["--offload-new-driver", "-O2", f"--cuda-path={find_cuda().root}", *words]
    command = [clang, *flags, "-c", source, "-o", output]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "posix_spawn failed" in done.stderr:
        pytest.skip("llvm-offload-binary, which clang runs, is not installed")
    assert done.returncode == 0, done.stderr
    return output


def _check_launched(program: Path) -> None:
    assert [image.arch for image in read_linked_file(program).images] == ["sm_90"]
    environment = {**os.environ, "STAND_IN_GPUS": "1"}
    done = subprocess.run(
        [program], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.startswith("GPU 0: ")


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory, clang: Path) -> Path:
    return stand_in_cuda(tmp_path_factory.mktemp("stand-in"), clang)


@pytest.mark.parametrize("flags", [(), ("-g",)], ids=["bitcode", "machine code"])
def test_two_units(flags: tuple[str, ...], hirc: Hirc, stand_in: Path, tmp_path: Path) -> None:
    """Each calls a function of the other."""
    units = write(tmp_path, "k.mlir", CALLS), write(tmp_path, "twice.mlir", TWICE)
    output, cuda = tmp_path / "prog", f"--cuda-path={stand_in}"
    hirc.succeeds(*units, ARCH, cuda, "--offload-rdc", *flags, "-o", output)
    _check_launched(output)


def test_an_archive(hirc: Hirc, stand_in: Path, tmp_path: Path) -> None:
    """A member of an archive is taken for the device function that it defines."""
    objects = [tmp_path / "k.o", tmp_path / "twice.o"]
    for output, text in zip(objects, (CALLS, TWICE), strict=True):
        source = write(tmp_path, f"{output.stem}.mlir", text)
        hirc.succeeds(source, ARCH, "--offload-rdc", "--emit=object", "-o", output)
    archive, output = tmp_path / "libtwice.a", tmp_path / "prog"
    subprocess.run(["ar", "rcs", archive, objects[1]], check=True)
    hirc.succeeds(objects[0], archive, ARCH, f"--cuda-path={stand_in}", "-o", output)
    _check_launched(output)


@pytest.mark.parametrize("flags", [(), ("-foffload-lto",)], ids=["machine code", "bitcode"])
def test_a_cuda_object_of_clang(
    flags: tuple[str, ...], hirc: Hirc, clang: Path, stand_in: Path, tmp_path: Path
) -> None:
    """MLIR calls CUDA C++, which calls MLIR."""
    source, output = write(tmp_path, "k.mlir", CALLS), tmp_path / "prog"
    compiled = _clang_object(clang, tmp_path, *flags)
    words = [ARCH, f"--cuda-path={stand_in}", "--offload-rdc"]
    hirc.succeeds(source, compiled, *words, "-o", output)
    _check_launched(output)


def test_the_whole_program_is_optimised(hirc: Hirc, tmp_path: Path) -> None:
    """PTX of both units: what one calls of the other is there."""
    units = write(tmp_path, "k.mlir", CALLS), write(tmp_path, "twice.mlir", TWICE)
    folder = tmp_path / "kept"
    words = ["--offload-arch=compute_90", "--offload-rdc", f"--save-temps={folder}"]
    hirc.succeeds(*units, *words, "-o", tmp_path / "prog")
    text = (folder / "compute_90.ptx").read_text()
    assert ".func  (.param .b32 func_retval0) twice" in text
    assert ".func  (.param .b32 func_retval0) plus_one" in text


@pytest.mark.parametrize("arch", ["sm_90", "compute_90"])
def test_what_is_defined_nowhere(arch: str, hirc: Hirc, tmp_path: Path) -> None:
    words = [write(tmp_path, "k.mlir", CALLS), f"--offload-arch={arch}", "-o", tmp_path / "prog"]
    errors = hirc.fails(*words)
    assert "k.mlir:13:10: error: device function 'twice' is called" in errors
    assert "--offload-rdc looks for it in other inputs" in errors
    errors = hirc.fails(*words, "--offload-rdc")
    assert "error: device function 'twice' is called and defined nowhere" in errors


@pytest.mark.parametrize(
    "words", [(ARCH,), (ARCH, "-g"), ("--offload-arch=compute_90",)], ids=" ".join
)
def test_units_that_define_the_same(words: tuple[str, ...], hirc: Hirc, tmp_path: Path) -> None:
    names = ("k.mlir", "twice.mlir", "more.mlir")
    texts = (CALLS, TWICE, TWICE)
    units = [write(tmp_path, name, text) for name, text in zip(names, texts, strict=True)]
    errors = hirc.fails(*units, *words, "--offload-rdc", "-o", tmp_path / "prog")
    said = f"more.mlir:3:3: error: device symbol 'twice' is defined in {units[1]} and in {units[2]}"
    assert said in errors
    assert "twice.mlir:3:3: note: it is defined here too" in errors
    assert "make one private, or rename it" in errors
    units[2].write_text(TWICE.replace("func.func @twice", "func.func private @twice"))
    hirc.succeeds(*units, *words, "--offload-rdc", "-o", tmp_path / "prog")


_COUNTING = f"""\
module attributes {{gpu.container_module}} {{
gpu.module @m {{
  memref.global @count : memref<4xf32> = uninitialized
  gpu.func @k() kernel {{
    %t = gpu.thread_id x
    %0 = memref.get_global @count : memref<4xf32>
    %1 = memref.load %0[%t] : memref<4xf32>
    gpu.printf "%f\\n", %1 : f32
    gpu.return
  }}
}}
{LAUNCH}}}
"""


@pytest.mark.parametrize("flags", [(), ("-g",)], ids=["bitcode", "machine code"])
def test_a_variable(flags: tuple[str, ...], hirc: Hirc, stand_in: Path, tmp_path: Path) -> None:
    """One unit defines it, and both use it; where two define it, that is an error."""
    other = _COUNTING.replace("@k", "@other").replace("@main", "@more")
    declared = other.replace(" = uninitialized", "").replace("@count", '"private" @count', 1)
    units = [write(tmp_path, "k.mlir", _COUNTING), write(tmp_path, "other.mlir", declared)]
    output = tmp_path / "prog"
    words = [*units, ARCH, f"--cuda-path={stand_in}", "--offload-rdc", *flags, "-o", output]
    hirc.succeeds(*words)
    _check_launched(output)
    units[1].write_text(other)
    errors = hirc.fails(*words)
    assert "other.mlir:3:3: error: device symbol 'count' is defined in" in errors


def test_what_is_defined_twice(hirc: Hirc, tmp_path: Path) -> None:
    source = write(tmp_path, "k.mlir", TWICE + TWICE.replace("@other", "@more"))
    words = [source, ARCH, "--emit=object", "-o", tmp_path / "k.o"]
    errors = hirc.fails(*words, "--offload-rdc")
    assert "k.mlir:11:3: error: 'twice' is defined in gpu.module 'other' and in 'more'" in errors
    private = source.read_text().replace("func.func @twice", "func.func private @twice", 1)
    source.write_text(private)
    hirc.succeeds(*words, "--offload-rdc")


def test_the_cpu_device_is_refused(hirc: Hirc, tmp_path: Path) -> None:
    source = write(tmp_path, "k.mlir", CALLS)
    errors = hirc.fails(source, "--offload-arch=cpu", "--offload-rdc", "-o", tmp_path / "prog")
    assert "error: --offload-rdc is for GPUs" in errors
