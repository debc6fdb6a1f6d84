"""Device code for AMD's chips: what is made, and what is refused."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from programs.catalog import NVIDIA_PROGRAMS, PROGRAMS

from hirc.compiler.amd_driver import find_amd_gpus
from hirc.compiler.errors import InputError
from hirc.compiler.platform_table import CUDA, HIP, platform_of
from hirc.compiler.target import (
    Devices,
    Target,
    check_together,
    shared_memory_limit,
    with_cpu_of,
)
from support.driver import Hirc
from support.rocm import needs_libraries

_SECONDS = 60
_SOURCES = sorted(
    {path for each in PROGRAMS if each.name not in NVIDIA_PROGRAMS for path in each.paths}
)
_MATRICES = """
gpu.module @m {
  gpu.func @k(%a: memref<64xf32>, %c: memref<64x4xf32>) kernel {
    %t = gpu.thread_id x
    %zero = arith.constant 0 : index
    %x = memref.load %a[%t] : memref<64xf32>
    %sums = vector.load %c[%t, %zero] : memref<64x4xf32>, vector<4xf32>
    %r = amdgpu.mfma 16x16x4 %x * %x + %sums blgp = none : f32, f32, vector<4xf32>
    vector.store %r, %c[%t, %zero] : memref<64x4xf32>, vector<4xf32>
    gpu.return
  }
}
"""
_EXPONENTIALS = """
gpu.module @m {
  gpu.func @k(%a: memref<64xf64>) kernel {
    %t = gpu.thread_id x
    %x = memref.load %a[%t] : memref<64xf64>
    %y = math.log1p %x : f64
    memref.store %y, %a[%t] : memref<64xf64>
    gpu.return
  }
}
"""


def _tool(*words: str | Path) -> str:
    """What one of LLVM's readers of objects prints."""
    name = f"{words[0]}-22"
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed (llvm-22)")
    done = subprocess.run(
        [name, *map(str, words[1:])], capture_output=True, text=True, timeout=_SECONDS, check=True
    )
    return done.stdout


def test_chips_and_their_platforms() -> None:
    target = Target.parse("gfx90a")
    assert target.is_amd
    assert target.platform is HIP
    assert shared_memory_limit(target) == 65536
    assert platform_of("sm_90a") is CUDA
    assert Devices.of([target]) == Devices.AMD
    for name in ("gfx906", "cpu:sm_90", "cpu:gfx906"):
        with pytest.raises(InputError, match=f"unknown offload arch '{name}'"):
            Target.parse(name)
    on_cpu = Target.parse("cpu:gfx1100")
    assert (on_cpu.is_cpu, on_cpu.is_amd, on_cpu.chip, on_cpu.capability) == (
        True,
        False,
        "gfx1100",
        0,
    )


@pytest.mark.parametrize(
    ("archs", "message"),
    [
        (("cpu:gfx90a", "sm_90"), "a file for cpu:gfx90a is for nothing else"),
        (("cpu:gfx90a", "gfx90a"), "a file for cpu:gfx90a is for nothing else"),
    ],
)
def test_what_is_not_in_one_file(archs: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_together([Target.parse(arch) for arch in archs])
    check_together([Target.parse(arch) for arch in ("gfx90a", "gfx1100", "sm_90", "cpu")])


def test_what_the_cpu_device_runs() -> None:
    """Beside AMD's chips alone their device code, else NVIDIA's."""
    amd, cpu, nvidia = (Target.parse(arch) for arch in ("gfx942", "cpu", "sm_90"))
    assert with_cpu_of([amd, cpu]) == (amd, Target("cpu:gfx942"))
    assert with_cpu_of([amd, nvidia, cpu]) == (amd, nvidia, cpu)
    assert with_cpu_of([cpu]) == (cpu,)


def test_the_chips_of_a_driver(tmp_path: Path) -> None:
    """Of amdkfd's list of processors, of which the first is none, and one may not be read."""
    numbers = (0, 90010, 90402, 110000, 90010)
    for place, number in enumerate(numbers):
        folder = tmp_path / str(place)
        folder.mkdir()
        lines = f"cpu_cores_count 0\ngfx_target_version {number}\n"
        (folder / "properties").write_text(lines)
    (tmp_path / "5").mkdir()
    assert find_amd_gpus(tmp_path) == ("gfx90a", "gfx942", "gfx1100", "gfx90a")
    assert find_amd_gpus(tmp_path / "nothing") == ()


@needs_libraries
@pytest.mark.proves("hirc", "AMD", "x86-64", "code disassembled")
@pytest.mark.parametrize("arch", ["gfx90a", "gfx1100"])
@pytest.mark.parametrize("source", _SOURCES, ids=lambda source: source.stem)
def test_a_code_object_of_each_program(source: Path, arch: str, hirc: Hirc, tmp_path: Path) -> None:
    """It is of the chip, has the kernels, and LLVM reads each instruction of it."""
    output = tmp_path / "out.hsaco"
    hirc.succeeds(str(source), "--emit=hsaco", f"--offload-arch={arch}", "-o", str(output))
    described = _tool("llvm-readobj", "-h", "--notes", output)
    assert f"EF_AMDGPU_MACH_AMDGCN_{arch.upper()} " in described
    assert "ABIVersion: 3" in described
    wide = re.findall(r"\.wavefront_size:\s+(\d+)", described)
    kernels = re.findall(r"^\s+\.symbol:\s+(\S+)\.kd", described, re.MULTILINE)
    assert set(wide) <= {"64" if arch == "gfx90a" else "32"}
    # The host half of a program of two units has none.
    assert bool(kernels) == bool(re.search(r"gpu\.(launch|func|module)", source.read_text()))
    code = _tool("llvm-objdump", "-d", f"--mcpu={arch}", output)
    assert all(f"<{kernel}>:" in code for kernel in kernels)
    assert "<unknown>" not in code


@needs_libraries
def test_instructions_of_matrices(hirc: Hirc, tmp_path: Path) -> None:
    source = tmp_path / "matrices.mlir"
    source.write_text(_MATRICES)
    made = hirc.succeeds(str(source), "--emit=asm", "--offload-arch=gfx90a", "-o", "-")
    assert "v_mfma_f32_16x16x4f32" in made.output
    refused = hirc.fails(str(source), "--emit=asm", "--offload-arch=gfx1100")
    assert "matrices.mlir:8:10: error: 'amdgpu.mfma' op MFMA only supported on gfx908+" in (refused)


_ASSERTIONS = """
gpu.module @m {
  gpu.func @k(%a: memref<64xi1>) kernel {
    %t = gpu.thread_id x
    %next = gpu.block_dim x
    %first = memref.load %a[%t] : memref<64xi1>
    %second = memref.load %a[%next] : memref<64xi1>
    cf.assert %first, "call void @llvm.trap()"
    cf.assert %second, "second"
    gpu.return
  }
}
"""


@needs_libraries
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_two_assertions(arch: str, hirc: Hirc, tmp_path: Path) -> None:
    """LLVM 22 cannot write two traps of a function for gfx1100."""
    source, output = tmp_path / "assertions.mlir", tmp_path / "out.hsaco"
    source.write_text(_ASSERTIONS)
    hirc.succeeds(str(source), "--emit=hsaco", f"--offload-arch={arch}", "-o", str(output))
    code = _tool("llvm-objdump", "-d", f"--mcpu={arch}", output)
    assert len(re.findall(r"\ts_trap 2", code)) == (1 if arch == "gfx1100" else 2)


@needs_libraries
def test_functions_come_from_rocm(hirc: Hirc, tmp_path: Path) -> None:
    source = tmp_path / "exponentials.mlir"
    source.write_text(_EXPONENTIALS)
    made = hirc.succeeds(str(source), "--emit=device-llvm", "--offload-arch=gfx942", "-o", "-")
    assert "declare double @__ocml" not in made.output
    assert "@__oclc" not in made.output
    assert "fma" in made.output
    missing = hirc.fails(
        str(source), "--emit=hsaco", "--offload-arch=gfx942", f"--rocm-path={tmp_path}"
    )
    assert f"ROCm at {tmp_path} lacks ocml.bc and ockl.bc" in missing


@pytest.mark.parametrize(
    ("emit", "arch", "message"),
    [
        ("ptx", "gfx90a", "--emit=ptx is not for gfx90a, a chip of AMD's"),
        ("hsaco", "sm_90", "--emit=hsaco is not for sm_90, a chip of NVIDIA's"),
    ],
)
def test_code_of_the_other_maker(emit: str, arch: str, message: str, hirc: Hirc) -> None:
    source = _SOURCES[0]
    refused = hirc.fails(str(source), f"--emit={emit}", f"--offload-arch={arch}")
    assert message in refused


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wgmma_128", "'nvgpu.tma.create.descriptor' is an instruction of NVIDIA's chips"),
        ("wmma_f16", "'gpu.subgroup_mma_constant_matrix' is for NVIDIA's chips"),
        ("cluster", "'gpu.launch_func' is of a cluster of blocks"),
        ("dynamic_shared_100k", "the chips this is built for have 65536"),
    ],
)
def test_instructions_of_nvidia_are_refused(name: str, message: str, hirc: Hirc) -> None:
    (program,) = (each for each in PROGRAMS if each.name == name)
    (source,) = program.paths
    refused = hirc.fails(str(source), "--emit=hsaco", "--offload-arch=gfx90a")
    assert message in refused
    assert re.search(rf"{name}\.mlir:\d+:\d+: error:", refused)
