"""One file for GPUs and the CPU device; a stand-in for NVIDIA's runtime is what has GPUs."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import hirc
from hirc.compiler.executable import DeviceImage, read_linked_file
from hirc.tools.hirc import main
from support.driver import ANSWER, CALLER, HELLO, PROGRAM, Hirc, write
from support.stand_in import stand_in_cuda

_DOUBLED = """\
func.func @doubled(%x: tensor<?xf32> {hir.name = "x"}) -> tensor<?xf32> {
  %y = arith.addf %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
"""
_ON_CPU = "thread 0\nthread 1\n"
_ON_GPU = "GPU {}: main_kernel, 1 blocks of 2 threads\n"


@pytest.fixture(name="hirc_main")
def _hirc_main(hirc: Hirc) -> Hirc:
    """The command, under a name that the package does not have."""
    return hirc


def _run(program: Path, **environment: str) -> tuple[int, str, str]:
    plain = {name: value for name, value in os.environ.items() if name != "HIRC_DEVICE"}
    command = [program]
    done = subprocess.run(
        command, env={**plain, **environment}, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with machine code, PTX, and code for the CPU device."""
    folder = tmp_path_factory.mktemp("both")
    source, output = write(folder, "prog.mlir", HELLO), folder / "prog"
    arch = "--offload-arch=sm_80,compute_90,cpu"
    assert main([str(source), arch, "-o", str(output)]) == 0
    return output


@pytest.fixture(scope="module")
def on_stand_in(tmp_path_factory: pytest.TempPathFactory, clang: Path) -> Path:
    """A program for both, linked with the stand-in."""
    folder = tmp_path_factory.mktemp("stand-in")
    cuda = stand_in_cuda(folder, clang)
    source, output = write(folder, "prog.mlir", HELLO), folder / "prog"
    words = ["--offload-arch=sm_80,cpu", f"--cuda-path={cuda}"]
    assert main([str(source), *words, "-o", str(output)]) == 0
    return output


@pytest.mark.proves("hirc", "NVIDIA, PTX", "x86-64", "linked, registered")
def test_images(both: Path) -> None:
    linked = read_linked_file(both)
    expected = DeviceImage("sm_80", "machine code"), DeviceImage("sm_90", "PTX")
    assert linked.images == expected
    assert linked.entries == 1


@pytest.mark.proves("hirc", "CPU device", "x86-64", "run on the CPU device")
def test_without_a_driver(both: Path) -> None:
    note = "hirc: note: running on the CPU device: there is no NVIDIA driver\n"
    assert _run(both) == (0, _ON_CPU, note)
    assert _run(both, HIRC_DEVICE="cpu") == (0, _ON_CPU, "")


def test_cuda_is_asked_for_without_a_driver(both: Path) -> None:
    status, output, errors = _run(both, HIRC_DEVICE="cuda")
    assert (status, output) == (1, "")
    assert "prog.mlir:4:3: error: cudaLaunchKernel failed: cudaErrorInsufficientDriver" in errors
    assert "needs an NVIDIA driver for CUDA 13 or newer; none is installed" in errors


@pytest.mark.parametrize("asked", ["gpu", "cuda:", "cuda:-1", "cuda:1x", "CPU"])
def test_what_is_no_device(asked: str, both: Path) -> None:
    status, output, errors = _run(both, HIRC_DEVICE=asked)
    assert (status, output) == (1, "")
    assert f"hirc: error: HIRC_DEVICE is '{asked}'; it may be cuda, cuda:1 or cpu\n" in errors
    # Later failures do not blame the launch.
    assert "cudaLaunchKernel failed: cudaErrorInvalidDevice (101)" in errors
    assert "the grid is" not in errors


@pytest.mark.proves("hirc", "NVIDIA", "x86-64", "linked, registered")
def test_a_gpu_is_taken(on_stand_in: Path) -> None:
    assert _run(on_stand_in, STAND_IN_GPUS="2") == (0, _ON_GPU.format(0), "")
    assert _run(on_stand_in, STAND_IN_GPUS="2", HIRC_DEVICE="") == (0, _ON_GPU.format(0), "")
    assert _run(on_stand_in, STAND_IN_GPUS="2", HIRC_DEVICE="cuda") == (0, _ON_GPU.format(0), "")
    assert _run(on_stand_in, STAND_IN_GPUS="2", HIRC_DEVICE="cuda:1") == (0, _ON_GPU.format(1), "")
    assert _run(on_stand_in, STAND_IN_GPUS="2", HIRC_DEVICE="cpu") == (0, _ON_CPU, "")


def test_a_gpu_that_is_not_there(on_stand_in: Path) -> None:
    status, output, errors = _run(on_stand_in, STAND_IN_GPUS="2", HIRC_DEVICE="cuda:2")
    assert (status, output) == (1, "")
    assert "hirc: error: HIRC_DEVICE is 'cuda:2': the stand-in says no\n" in errors
    assert "cudaLaunchKernel failed: cudaErrorOfStandIn (101)" in errors


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        ({}, "there is no NVIDIA driver"),
        ({"STAND_IN_DRIVER": "12040"}, "the NVIDIA driver is for CUDA 12.4, and CUDA 13 is needed"),
        ({"STAND_IN_GPUS": "0"}, "the NVIDIA driver finds no GPU"),
        ({"STAND_IN_GPUS": "1", "STAND_IN_CODE": "209"}, "the program has no code for this GPU"),
        ({"STAND_IN_GPUS": "1", "STAND_IN_CODE": "222"}, "the program has no code for this GPU"),
    ],
)
def test_why_it_is_the_cpu_device(environment: dict[str, str], why: str, on_stand_in: Path) -> None:
    note = f"hirc: note: running on the CPU device: {why}\n"
    assert _run(on_stand_in, **environment) == (0, _ON_CPU, note)


def test_what_is_wrong_with_a_gpu_is_heard(on_stand_in: Path) -> None:
    """An error that is not about code for the GPU does not send the program elsewhere."""
    assert _run(on_stand_in, STAND_IN_GPUS="1", STAND_IN_CODE="999") == (0, _ON_GPU.format(0), "")


def test_a_library(hirc_main: Hirc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loaded without a GPU it takes the host's memory, as one for the CPU device does."""
    source, output = write(tmp_path, "lib.mlir", _DOUBLED), tmp_path / "lib.so"
    hirc_main.succeeds(source, "--offload-arch=sm_90,cpu", "--emit=shared", "-o", output)
    monkeypatch.setenv("HIRC_DEVICE", "cpu")
    doubled = hirc.load(output)["doubled"]
    assert np.array_equal(np.from_dlpack(doubled(np.array([1, 2, 3], np.float32))), [2, 4, 6])


def test_in_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled into this process it chooses as a library does, and what is saved is the same."""
    monkeypatch.setenv("HIRC_DEVICE", "cpu")
    made = hirc.compile(_DOUBLED, target="sm_90,compute_90,cpu")
    values = np.array([1, 2, 3], np.float32)
    assert np.array_equal(np.from_dlpack(made(values)), [2, 4, 6])
    made.save(tmp_path / "lib.so")
    images = read_linked_file(tmp_path / "lib.so").images
    assert images == (DeviceImage("sm_90", "machine code"), DeviceImage("sm_90", "PTX"))


def test_objects(hirc_main: Hirc, clang: Path, tmp_path: Path) -> None:
    """Two units, and an object of C; what is for one kind of device is refused by name."""
    caller = write(
        tmp_path, "call.mlir", CALLER.replace("%1 = call", "call @work() : () -> ()\n  %1 = call")
    )
    caller.write_text("func.func private @work()\n" + caller.read_text())
    work = write(tmp_path, "work.mlir", PROGRAM.replace("@main", "@work"))
    answer, both, output = tmp_path / "answer.o", tmp_path / "work.o", tmp_path / "prog"
    subprocess.run([clang, "-c", write(tmp_path, "a.c", ANSWER), "-o", answer], check=True)
    arch = "--offload-arch=sm_90,cpu"
    hirc_main.succeeds(work, arch, "--emit=object", "-o", both)
    hirc_main.succeeds(caller, both, answer, "-o", output)
    assert _run(output, HIRC_DEVICE="cpu")[0] == 42
    assert [image.arch for image in read_linked_file(output).images] == ["sm_90"]
    errors = hirc_main.fails(caller, both, answer, "--offload-arch=cpu", "-o", output)
    built = f"{both} was built for GPUs and the CPU device"
    assert f"error: {built}, and the program is for the CPU device" in errors
    errors = hirc_main.fails(work, both, "--offload-arch=sm_90,compute_90,cpu", "-o", output)
    assert "error: PTX is made of hirc's own inputs" in errors


def test_ptx_alone_has_machine_code_beside_it(hirc_main: Hirc, tmp_path: Path) -> None:
    output = tmp_path / "prog"
    source = write(tmp_path, "prog.mlir", PROGRAM)
    hirc_main.succeeds(source, "--offload-arch=compute_80", "--offload-compress", "-o", output)
    linked = read_linked_file(output)
    expected = DeviceImage("sm_80", "machine code"), DeviceImage("sm_80", "PTX")
    assert linked.images == expected
    data = output.read_bytes()
    assert b".target" not in data, "PTX that is not compressed"


def test_lines_are_for_the_cpu_device_alone(hirc_main: Hirc, tmp_path: Path) -> None:
    """What a GPU runs is what it runs in a program for GPUs."""
    texts: list[str] = []
    for arch in ("sm_80", "sm_80,cpu"):
        folder = tmp_path / arch
        source = write(tmp_path, "prog.mlir", PROGRAM)
        words = [f"--offload-arch={arch}", f"--save-temps={folder}"]
        hirc_main.succeeds(source, *words, "-o", tmp_path / "prog")
        text = (folder / "prog.sm_80.ll").read_text()
        texts.append(
            re.sub(r"^!.*\n|^(source_filename|; ModuleID).*\n", "", text, flags=re.MULTILINE)
        )
    assert texts[0] == texts[1]


@pytest.mark.parametrize("emit", ["object", "bitcode", "llvm", "mlir", "cubin"])
def test_ptx_goes_into_what_is_linked(emit: str, hirc_main: Hirc, tmp_path: Path) -> None:
    source = write(tmp_path, "prog.mlir", PROGRAM)
    errors = hirc_main.fails(source, "--offload-arch=compute_90", f"--emit={emit}", "-o", "-")
    assert f"error: --offload-arch=compute_90 does not go with --emit={emit}" in errors


def test_checks_are_for_the_cpu_device_alone(hirc_main: Hirc, tmp_path: Path) -> None:
    source = write(tmp_path, "prog.mlir", PROGRAM)
    words = ["--offload-arch=sm_90,cpu", "--check=memory"]
    errors = hirc_main.fails(source, *words, "-o", tmp_path / "prog")
    assert "error: --check is for the CPU device, and the program is built for a GPU" in errors
