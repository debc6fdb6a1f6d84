"""What is built for AArch64 on another machine, run by QEMU (user mode)."""

from __future__ import annotations

import os
import platform
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from programs.catalog import PROGRAMS, Program, without_addresses
from programs.libdevice_programs import programs as libdevice_programs
from programs.libdevice_table import compare

from hirc.compiler.executable import DeviceImage, read_linked_file
from hirc.compiler.toolchain import find_cuda
from support.driver import PROGRAM, Hirc, write
from support.rocm import needs_libraries
from support.stand_in import stand_in_cuda
from support.stand_in_hip import StandInHip
from support.weights import DENSE, write_values

_SYSTEM = Path("/usr/aarch64-linux-gnu")
_QEMU = shutil.which("qemu-aarch64")
_HOST, _CPU = "--host=aarch64-linux-gnu", "--offload-arch=cpu"
_AARCH64 = 183

_PRINT = """\
func.func @main() {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c4, %sy = %c1, %sz = %c1) {
    gpu.printf "ran\\n"
    gpu.terminator
  }
  return
}
"""

pytestmark = [
    pytest.mark.skipif(platform.machine() == "aarch64", reason="that is this machine"),
    pytest.mark.skipif(
        _QEMU is None or not (_SYSTEM / "lib" / "libc.so.6").exists(),
        reason="qemu-user or the C library for AArch64 is not installed",
    ),
]

# Of each kind of operation one: shared memory, warps, atomics, printing, failures, streams, copies,
# barriers in memory, clusters, products of matrices.
_CHOSEN = (
    *("saxpy", "warp_shuffle", "all_reduce", "dynamic_shared_100k", "printf", "device_ops"),
    *("failing_assert", "two_streams", "device_global", "memory", "cp_async", "mbarrier"),
    *("cluster", "mma_sync", "illegal_address"),
)


def _machine(path: Path) -> int:
    """Returns ELF's number of the machine that a file is for."""
    (number,) = struct.unpack_from("<H", path.read_bytes(), 18)
    return number


def _run(path: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    assert _QEMU is not None
    return subprocess.run(
        [_QEMU, "-L", _SYSTEM, path, *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.proves("hirc", "CPU device", "AArch64", "run on the CPU device")
@pytest.mark.parametrize(
    "program",
    [each for each in PROGRAMS if each.name in _CHOSEN],
    ids=lambda program: program.name,
)
def test_programs(program: Program, hirc: Hirc, tmp_path: Path) -> None:
    output = tmp_path / "prog"
    hirc.succeeds(*program.paths, *program.flags, _CPU, _HOST, "-o", output)
    assert _machine(output) == _AARCH64
    done = _run(output)
    assert (done.returncode, without_addresses(done.stdout)) == (program.status, program.expected)


def test_the_programs_chosen_are_there() -> None:
    assert len(_CHOSEN) == sum(each.name in _CHOSEN for each in PROGRAMS)


def test_numbers_are_those_of_a_gpu(hirc: Hirc, tmp_path: Path) -> None:
    """Rounding, conversions and approximations are the host's instructions here."""
    program = next(each for each in libdevice_programs() if each.name == "libdevice_float")
    output = tmp_path / "prog"
    hirc.succeeds(write(tmp_path, "prog.mlir", program.mlir), _CPU, _HOST, "-o", output)
    done = _run(output)
    assert (done.returncode, done.stderr, compare(program.name, done.stdout)) == (0, "", [])


def test_a_command_with_weights(hirc: Hirc, tmp_path: Path) -> None:
    matrix = np.arange(12, dtype=np.float32).reshape(4, 3)
    bias = np.array([1, 2, 3], dtype=np.float32)
    values = write_values(tmp_path / "w.safetensors", {"fc.weight": matrix, "fc.bias": bias})
    source, output = write(tmp_path, "dense.mlir", DENSE), tmp_path / "dense"
    words = (f"--weights-from={values}", "--weights=embed")
    hirc.succeeds(source, _CPU, _HOST, *words, "-o", output)
    given, result = tmp_path / "x.npy", tmp_path / "y.npy"
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.save(given, x)
    done = _run(output, f"--input={given}", f"--output={result}")
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(result), x @ matrix + bias)


@pytest.mark.proves("hirc", "NVIDIA", "AArch64", "linked, registered")
@pytest.mark.proves("hirc", "NVIDIA, PTX", "AArch64", "linked, registered")
def test_gpus_and_the_cpu_device_in_one(hirc: Hirc, clang: Path, tmp_path: Path) -> None:
    """Device code is registered, and each device is chosen, on that host too."""
    flags = ("--target=aarch64-linux-gnu",)
    cuda = stand_in_cuda(tmp_path, clang, *flags, libraries="targets/sbsa-linux/lib")
    source, output = write(tmp_path, "prog.mlir", _PRINT), tmp_path / "prog"
    words = (f"--cuda-path={cuda}", "--offload-arch=sm_80,compute_80,cpu")
    hirc.succeeds(source, _HOST, *words, "-o", output)
    expected = DeviceImage("sm_80", "machine code"), DeviceImage("sm_80", "PTX")
    assert read_linked_file(output).images == expected
    assert _run(output, HIRC_DEVICE="cpu").stdout == "ran\n" * 4
    assert _run(output, STAND_IN_GPUS="1", HIRC_DEVICE="cuda").stdout.startswith("GPU 0: ")


@pytest.mark.proves("clang 22", "NVIDIA", "AArch64", "linked, registered")
def test_what_clang_finishes(hirc: Hirc, clang: Path, tmp_path: Path) -> None:
    target, real = "--target=aarch64-linux-gnu", find_cuda().root
    cuda = stand_in_cuda(tmp_path, clang, target)
    source, unit, output = write(tmp_path, "prog.mlir", _PRINT), tmp_path / "p.o", tmp_path / "p"
    hirc.succeeds(source, _HOST, "--offload-arch=sm_90", "--emit=object", "-o", unit)
    words = [f"--cuda-path={real}", "-Xlinker", f"--device-compiler=--cuda-path={real}"]
    libraries = [f"-L{cuda}/lib", "-lcudart_static", "-ldl", "-lrt", "-lpthread", "-lm"]
    lld = clang.resolve().parent / "ld.lld"
    command = [clang, target, "--offload-link", unit, "-o", output, f"--ld-path={lld}", *words]
    subprocess.run([*command, *libraries], capture_output=True, timeout=120, check=True)
    assert _run(output, STAND_IN_GPUS="1").stdout.startswith("GPU 0: ")


def test_what_another_link_finishes(hirc: Hirc, tmp_path: Path) -> None:
    source = write(tmp_path, "prog.mlir", PROGRAM)
    unit, bitcode = tmp_path / "prog.o", tmp_path / "prog.bc"
    for emit, output in (("object", unit), ("bitcode", bitcode)):
        hirc.succeeds(source, _HOST, _CPU, f"--emit={emit}", "-o", output)
        assert _HOST in hirc.succeeds("--describe", output).output
    assert _machine(unit) == _AARCH64
    hirc.succeeds(unit, _HOST, _CPU, "-o", tmp_path / "prog")
    assert _run(tmp_path / "prog").returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--host=riscv64-linux-gnu", _CPU), "invalid choice"),
        ((_HOST,), "--offload-arch names them"),
        ((_HOST, "--offload-arch=sm_80"), "targets/sbsa-linux/lib"),
        ((_HOST, _CPU, "--glibc=2.28"), "--glibc is for x86-64 hosts"),
    ],
)
def test_wrong_uses(words: tuple[str, ...], said: str, hirc: Hirc, tmp_path: Path) -> None:
    source, output = write(tmp_path, "prog.mlir", PROGRAM), tmp_path / "prog"
    ran = hirc(source, *words, "-o", output)
    assert ran.status != 0
    assert said in ran.errors
    assert not output.exists()


@needs_libraries
@pytest.mark.proves("hirc", "AMD", "AArch64", "run on the CPU device")
def test_amd_and_the_cpu_device_in_one(hirc: Hirc, clang: Path, tmp_path: Path) -> None:
    """Calls of HIP are answered by a stand-in that runs the kernels' AMDGPU bitcode."""
    source, output = write(tmp_path, "prog.mlir", _PRINT), tmp_path / "prog"
    hirc.succeeds(source, "--offload-arch=gfx942,cpu", _HOST, "-o", output)
    stand_in = StandInHip(tmp_path, clang, _HOST.partition("=")[2])
    library = stand_in.library("hip", [source], "gfx942", unlinked=False)
    calls = tmp_path / "calls"
    done = _run(output, HIRC_HIP=str(library), STAND_IN_HIP_CALLS=str(calls))
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n" * 4, "")
    assert "hipLaunchKernel" in calls.read_text()
