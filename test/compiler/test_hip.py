"""Executables and libraries for AMD's GPUs, with a stand-in for HIP's runtime, and with the real
one where there is one. The stand-in runs the same kernels' AMDGPU bitcode on the CPU device.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from programs.catalog import PROGRAMS, Program, without_addresses

import hirc
from hirc.compiler.amd_driver import find_amd_gpus, find_hip_runtime
from hirc.compiler.device_containers import DeviceCode, offload_bundle
from hirc.compiler.executable import DeviceImage, read_linked_file
from hirc.compiler.object_symbols import elf_sections
from hirc.compiler.offload_binary import unpack
from hirc.tools.hirc import main
from support.driver import HELLO, Hirc, write
from support.rocm import needs_libraries
from support.stand_in import stand_in_cuda
from support.stand_in_hip import StandInHip

pytestmark = needs_libraries

_SECONDS = 60
_PRINTED = "thread 0\nthread 1\n"
_FUNCTIONS = """\
func.func @ones() -> tensor<3xf32> {
  %one = arith.constant dense<1.0> : tensor<3xf32>
  %y = arith.addf %one, %one : tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func @powers(%x: tensor<?xf32> {hir.name = "x"}) -> tensor<?xf32> {
  %y = arith.mulf %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
"""
# As MLIR's own tests for ROCm have memory of the host.
_REGISTERED = """\
func.func @main() {
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %memory = memref.alloc() : memref<3xi32>
  %open = memref.cast %memory : memref<3xi32> to memref<?xi32>
  %any = memref.cast %memory : memref<3xi32> to memref<*xi32>
  gpu.host_register %any : memref<*xi32>
  %device = call @mgpuMemGetDeviceMemRef1dInt32(%open) : (memref<?xi32>) -> (memref<?xi32>)
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %three, %sy = %one, %sz = %one) {
    %number = arith.index_cast %tx : index to i32
    memref.store %number, %device[%tx] : memref<?xi32>
    gpu.terminator
  }
  call @printMemrefI32(%any) : (memref<*xi32>) -> ()
  return
}
func.func private @mgpuMemGetDeviceMemRef1dInt32(memref<?xi32>) -> memref<?xi32>
func.func private @printMemrefI32(memref<*xi32>)
"""
# A variable of the device that host code names, functions of another unit, graphs' memory.
_RUN = ("saxpy", "device_global", "failing_assert", "memory")


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory, clang: Path) -> StandInHip:
    return StandInHip(tmp_path_factory.mktemp("hip"), clang)


def _run(program: Path, *words: str, **environment: str) -> tuple[int, str, str]:
    plain = {name: text for name, text in os.environ.items() if not name.startswith("HIRC_DEV")}
    done = subprocess.run(
        [program.absolute(), *words],
        env={**plain, **environment},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.proves("hirc", "AMD", "x86-64", "run on the CPU device")
@pytest.mark.parametrize("program", [each for each in PROGRAMS if each.name in _RUN], ids=str)
def test_programs(program: Program, stand_in: StandInHip, tmp_path: Path) -> None:
    """An executable prints what one for the CPU device does, by calls of HIP."""
    output, calls = tmp_path / "prog", tmp_path / "calls"
    words = [word for word in program.command if not word.startswith("--offload-arch")]
    assert main([*words, "--offload-arch=gfx90a", "-o", str(output)]) == 0
    library = stand_in.library(program.name, program.paths, "gfx90a", unlinked=False)
    # An older runtime numbers kinds of memory otherwise.
    major = "5" if program.name == "memory" else "6"
    files = {"HIRC_HIP": str(library), "STAND_IN_HIP_CALLS": str(calls)}
    status, printed, errors = _run(output, STAND_IN_HIP_MAJOR=major, **files)
    assert (status, without_addresses(printed)) == (program.status, program.expected), errors
    called = calls.read_text().split()
    assert called[0] == "__hipRegisterFatBinary"
    assert {"__hipRegisterFunction", "hipLaunchKernel"} <= set(called)
    assert ("__hipRegisterVar" in called) == (program.name == "device_global")
    if program.errors:
        assert "hipStreamSynchronize failed: hipErrorLaunchFailure" in errors
    else:
        assert not errors
        assert called[-1] == "__hipUnregisterFatBinary"


@pytest.fixture(scope="module")
def hello(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An executable for two widths of wavefronts."""
    folder = tmp_path_factory.mktemp("hello")
    source, output = write(folder, "prog.mlir", HELLO), folder / "prog"
    assert main([str(source), "--offload-arch=gfx90a,gfx1100", "-o", str(output)]) == 0
    return output


@pytest.mark.proves("hirc", "AMD", "x86-64", "linked, registered")
def test_images(hello: Path) -> None:
    linked = read_linked_file(hello)
    assert set(linked.images) == {
        DeviceImage("gfx1100", "machine code"),
        DeviceImage("gfx90a", "machine code"),
    }
    assert linked.entries == 1
    # A machine needs the driver and HIP's runtime when the program runs, and nothing before.
    assert not [name for name in linked.needed if re.search("hip|hsa|cuda", name)]


def test_without_a_hip_runtime(hello: Path) -> None:
    status, printed, errors = _run(hello, HIRC_HIP="/nowhere/libamdhip64.so")
    assert (status, printed) == (1, "")
    assert "prog.mlir:4:3: error: hipLaunchKernel failed: hipErrorInsufficientDriver" in errors
    assert "needs AMD's driver and HIP runtime, libamdhip64 of ROCm 5.2 or newer" in errors
    assert "/nowhere/libamdhip64.so: cannot open" in errors


@pytest.mark.skipif(
    find_hip_runtime() is None or bool(find_amd_gpus()),
    reason="there is no HIP runtime (libamdhip64-5, or HIRC_HIP names it), or there is a GPU",
)
def test_the_real_runtime_without_a_gpu(hello: Path) -> None:
    """It loads and registers, and says that there is no GPU."""
    status, printed, errors = _run(hello)
    assert (status, printed) == (1, "")
    assert re.search(r"hipLaunchKernel failed: hipError(NoDevice|InvalidDevice) \(10[01]\)", errors)
    assert "note: the driver shows no GPU to this program; see what rocminfo lists" in errors


def test_a_trace(stand_in: StandInHip, tmp_path: Path) -> None:
    """What GPUs did is known of NVIDIA's alone, which is said; graphs are made where asked for."""
    source, output = write(tmp_path, "functions.mlir", _FUNCTIONS), tmp_path / "prog"
    words = ["--entry=ones", "--offload-arch=gfx90a", "--graph=always", "-o", str(output)]
    assert main([str(source), *words]) == 0
    library = stand_in.library("trace", [source], "gfx90a", unlinked=False)
    calls = tmp_path / "calls"
    files = {"HIRC_HIP": str(library), "STAND_IN_HIP_CALLS": str(calls)}
    status, printed, errors = _run(output, "--time", HIRC_TRACE=str(tmp_path / "trace"), **files)
    assert status == 0, errors
    assert "time of" in printed
    assert "hipGraphLaunch" in calls.read_text().split()
    assert "HIRC_TRACE has nothing of GPUs: it knows NVIDIA's alone" in errors


def test_three_kinds_of_devices(stand_in: StandInHip, clang: Path, tmp_path: Path) -> None:
    """One executable takes NVIDIA's GPU, else AMD's, else the CPU device."""
    cuda = stand_in_cuda(tmp_path, clang)
    source, output = write(tmp_path, "prog.mlir", HELLO), tmp_path / "prog"
    arch = "--offload-arch=sm_80,gfx942,cpu"
    assert main([str(source), arch, f"--cuda-path={cuda}", "-o", str(output)]) == 0
    assert [image.arch for image in read_linked_file(output).images] == ["sm_80", "gfx942"]
    library = stand_in.library("three", [source], "gfx942", unlinked=False)
    hip = {"HIRC_HIP": str(library), "STAND_IN_HIP_GPUS": "2"}
    on_nvidia = "GPU 0: main_kernel, 1 blocks of 2 threads\n"
    assert _run(output, STAND_IN_GPUS="1", **hip) == (0, on_nvidia, "")
    assert _run(output, **hip) == (0, _PRINTED, "")
    assert _run(output, STAND_IN_GPUS="1", HIRC_DEVICE="hip:1", **hip) == (0, _PRINTED, "")
    status, _, errors = _run(output, HIRC_DEVICE="hip:2", **hip)
    assert status == 1
    assert "hirc: error: HIRC_DEVICE is 'hip:2': invalid device ordinal\n" in errors
    status, _, errors = _run(output, HIRC_DEVICE="hip:", **hip)
    assert "HIRC_DEVICE is 'hip:'; it may be cuda, cuda:1, hip, hip:1 or cpu\n" in errors
    note = "hirc: note: running on the CPU device: there is no NVIDIA driver, and {}\n"
    for change, why in (
        ({"STAND_IN_HIP_GPUS": "0"}, "the HIP runtime finds no GPU"),
        ({"STAND_IN_HIP_CODE": "209"}, "the program has no code for this GPU"),
        ({"HIRC_HIP": "/nowhere"}, "there is no HIP runtime"),
    ):
        assert _run(output, **{**hip, **change}) == (0, _PRINTED, note.format(why))


def test_amd_and_the_cpu_device(tmp_path: Path) -> None:
    """Both run AMD's device code, and no CUDA is needed for it."""
    source, output = write(tmp_path, "prog.mlir", _REGISTERED), tmp_path / "prog"
    words = ["--offload-arch=gfx942,cpu", f"--cuda-path={tmp_path}"]
    assert main([str(source), *words, "-o", str(output)]) == 0
    note = "hirc: note: running on the CPU device: there is no HIP runtime\n"
    status, printed, errors = _run(output, HIRC_HIP="/nowhere")
    assert (status, errors) == (0, note)
    assert "[0,  1,  2]" in printed


@pytest.mark.proves("clang {version}", "AMD", "x86-64", "linked, registered")
@pytest.mark.parametrize(("version", "emit"), [(19, "object"), (22, "object"), (22, "llvm")])
def test_finished_by_clang(
    version: int, emit: str, hirc: Hirc, stand_in: StandInHip, tmp_path: Path
) -> None:
    """Who links an object with clang and -lamdhip64 gets what hirc links."""
    clang = shutil.which(f"clang-{version}")
    linker = shutil.which("ld.lld-22")
    if clang is None or not (Path(clang).resolve().parent / "clang-linker-wrapper").is_file():
        pytest.skip(f"clang-{version} with clang-linker-wrapper is not installed")
    assert linker is not None
    (tmp_path / "ld.lld").symlink_to(linker)
    source, built = write(tmp_path, "prog.mlir", HELLO), tmp_path / f"built.{emit}"
    words = ["--offload-arch=gfx90a", f"--emit={emit}", f"--for-clang={version}"]
    hirc.succeeds(source, *words, "-o", built)
    if emit == "object":
        sections = {each.name: each.content for each in elf_sections(built.read_bytes())}
        (image,) = unpack(sections[".llvm.offloading"])
        assert (image.arch, image.offload_kind) == ("gfx90a", 3 if version < 21 else 4)
    compiled, output = tmp_path / "built.o", tmp_path / "prog"
    kind = ["-x", "ir", "-c"] if emit == "llvm" else ["-c", "-x", "none"]
    if emit == "llvm":
        subprocess.run([clang, *kind, built, "-o", compiled], check=True)
    else:
        built.rename(compiled)
    library = stand_in.library(f"{version}-{emit}", [source], "gfx90a", unlinked=True)
    words = ["--offload-link", compiled, "-o", output, f"-L{library.parent}", "-lamdhip64"]
    paths = {**os.environ, "PATH": f"{os.environ['PATH']}:{tmp_path}"}
    subprocess.run([clang, *words, "-ldl", "-lpthread", "-lm"], env=paths, check=True)
    found = {"LD_LIBRARY_PATH": str(library.parent)}
    assert _run(output, **found)[:2] == (0, _PRINTED)


def test_an_object_is_for_one_maker(hirc: Hirc, tmp_path: Path) -> None:
    source = write(tmp_path, "prog.mlir", HELLO)
    refused = hirc.fails(source, "--emit=object", "--offload-arch=gfx90a,sm_90")
    assert "--emit=object is for chips of one maker" in refused
    refused = hirc.fails(source, "--offload-arch=gfx90a", "--offload-compress")
    assert "--offload-compress is for NVIDIA's chips" in refused


def test_units_of_other_devices(hirc: Hirc, tmp_path: Path) -> None:
    """Objects for AMD's chips are told from NVIDIA's."""
    source, built = write(tmp_path, "prog.mlir", HELLO), tmp_path / "prog.o"
    hirc.succeeds(source, "--emit=object", "--offload-arch=gfx90a", "-o", built)
    refused = hirc.fails(built, "--offload-arch=sm_90", "-o", tmp_path / "prog")
    assert "was built for AMD GPUs, and the program is for GPUs" in refused


def _values(array: Any) -> list[float]:
    """Returns the values of an array in memory of the stand-in's GPU, which is the host's."""
    tensor: Any = array._tensor
    count = ctypes.c_int64.from_address(tensor.sizes).value
    return list((ctypes.c_float * count).from_address(tensor.data))


@pytest.mark.parametrize("is_loaded", [False, True], ids=["compiled", "linked"])
def test_functions_on_tensors(
    is_loaded: bool, stand_in: StandInHip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In process and of a library, on tensors of ROCm's kind."""
    source = write(tmp_path, "functions.mlir", _FUNCTIONS)
    library = stand_in.library(f"functions-{is_loaded}", [source], "gfx942", unlinked=is_loaded)
    monkeypatch.setenv("HIRC_HIP", str(library))
    if is_loaded:
        built = tmp_path / "built.o"
        output = tmp_path / "libfunctions.so"
        assert main([str(source), "--emit=object", "--offload-arch=gfx942", "-o", str(built)]) == 0
        assert main([str(built), "--offload-arch=gfx942", "--emit=shared", "-o", str(output)]) == 0
        functions = hirc.load(output)
        ones, powers = functions["ones"], functions["powers"]
    else:
        artifact = hirc.compile(source, target="gfx942", cache=False)
        ones, powers = artifact["ones"], artifact["powers"]
    twos = ones()
    assert twos.__dlpack_device__() == (10, 0)
    fours = powers(twos)
    ctypes.CDLL(str(library)).hipDeviceSynchronize()
    assert _values(fours) == [4.0, 4.0, 4.0]


def test_a_bundle_of_code_objects(tmp_path: Path) -> None:
    """clang-offload-bundler reads what code that is not linked is registered with."""
    bundler = shutil.which("clang-offload-bundler-22")
    if bundler is None:
        pytest.skip("clang-offload-bundler-22 is not installed")
    images = [DeviceCode("gfx90a", b"one"), DeviceCode("gfx1100", bytes(5000))]
    bundle = write(tmp_path, "bundle", "")
    bundle.write_bytes(offload_bundle(images))
    targets = [f"hipv4-amdgcn-amd-amdhsa--{image.arch}" for image in images]
    outputs = [tmp_path / image.arch for image in images]
    words = ["-unbundle", "-type=o", f"-input={bundle}", f"-targets={','.join(targets)}"]
    subprocess.run([bundler, *words, *(f"-output={path}" for path in outputs)], check=True)
    assert [path.read_bytes() for path in outputs] == [image.data for image in images]
