"""Where programs may come from and outputs may go; and what LLVM and clang would hide or die of."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hirc.compiler.cache import cached
from support.driver import ARCH, PROGRAM, Hirc, write

# ptxas has no register class for the constraint, which only the device link finds.
REFUSED_ASSEMBLY = """\
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%x: i32, %m: memref<4xi32>, %i: index) kernel {
      %0 = llvm.inline_asm has_side_effects "mov.u32 $0, $1;", "=Q,r" %x : (i32) -> i32
      memref.store %0, %m[%i] : memref<4xi32>
      gpu.return
    }
  }
}
"""
# An sm_100 instruction that no check of hirc knows.
OF_ANOTHER_CHIP = """\
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel {
      llvm.call_intrinsic "llvm.nvvm.tcgen05.wait.ld"() : () -> ()
      gpu.return
    }
  }
}
"""
HOST_ASSEMBLY = """\
llvm.func @f() {
  llvm.inline_asm has_side_effects "nop", "" : () -> ()
  llvm.return
}
"""
DEVICE_REGISTER_ON_THE_HOST = """\
llvm.func @f() -> i32 {
  %0 = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  llvm.return %0 : i32
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return write(tmp_path, "prog.mlir", PROGRAM)


@pytest.mark.parametrize("emit", ["exe", "ptx"])
def test_a_link_is_followed(hirc: Hirc, program: Path, tmp_path: Path, emit: str) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to(target)
    hirc.succeeds(program, ARCH, f"--emit={emit}", "-o", link)
    assert link.is_symlink()
    assert target.stat().st_size > 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
@pytest.mark.parametrize("emit", ["exe", "ptx"])
def test_a_device_stays_one(hirc: Hirc, program: Path, tmp_path: Path, emit: str) -> None:
    device = tmp_path / "null"
    os.mknod(device, 0o666 | 0o020000, os.makedev(1, 3))
    hirc.succeeds(program, ARCH, f"--emit={emit}", "-o", device)
    assert device.is_char_device()


def test_a_program_from_a_pipe(hirc: Hirc, program: Path) -> None:
    with subprocess.Popen(["cat", program], stdout=subprocess.PIPE) as cat:
        assert cat.stdout is not None
        path = f"/dev/fd/{cat.stdout.fileno()}"
        output = hirc.succeeds(path, ARCH, "--emit=llvm", "-o", "-").output
    assert "@cudaLaunchKernel(" in output


def test_a_device_link_that_fails_with_status_0(hirc: Hirc, tmp_path: Path) -> None:
    source = write(tmp_path, "prog.mlir", REFUSED_ASSEMBLY)
    errors = hirc.fails(source, ARCH, "--emit=shared", "-o", tmp_path / "prog.so")
    assert "couldn't allocate output register for constraint 'Q'" in errors
    assert not (tmp_path / "prog.so").exists()


def test_an_instruction_of_another_chip(hirc: Hirc, tmp_path: Path) -> None:
    source = write(tmp_path, "prog.mlir", OF_ANOTHER_CHIP)
    errors = hirc.fails(source, ARCH, "--emit=shared", "-o", tmp_path / "prog.so")
    assert "the chip or LLVM's code generator cannot do %llvm.nvvm.tcgen05.wait.ld" in errors
    assert "hint: another --offload-arch may have it" in errors
    errors = hirc.fails(source, ARCH, "--emit=ptx", "-o", tmp_path / "prog.ptx")
    assert "cannot generate code for this chip: Cannot select: intrinsic" in errors
    assert [path.name for path in tmp_path.iterdir()] == ["prog.mlir"]


def test_host_assembly(hirc: Hirc, tmp_path: Path) -> None:
    source = write(tmp_path, "prog.mlir", HOST_ASSEMBLY)
    hirc.succeeds(source, "--emit=object", "-o", tmp_path / "prog.o")


def test_host_code_that_llvm_dies_of(hirc: Hirc, tmp_path: Path) -> None:
    source = write(tmp_path, "prog.mlir", DEVICE_REGISTER_ON_THE_HOST)
    errors = hirc.fails(source, "--emit=object", "-o", tmp_path / "prog.o")
    assert "LLVM cannot generate host code: Cannot select: intrinsic" in errors


def test_entries(hirc: Hirc, program: Path, tmp_path: Path) -> None:
    output = tmp_path / "prog"
    assert "no input defines the entry 'other'" in hirc.fails(
        program, ARCH, "--entry=other", "-o", output
    )
    assert "--entry takes a function's name, not 'a b'" in hirc.fails(
        program, ARCH, "--entry=a b", "-o", output
    )
    beside = write(tmp_path, "beside.mlir", PROGRAM + "func.func @other() {\n  return\n}\n")
    hirc.succeeds(beside, ARCH, "--entry=other", "-o", output)


def test_an_entry_that_no_command_can_call_matters_to_an_executable_only(
    hirc: Hirc, tmp_path: Path
) -> None:
    source = write(tmp_path, "prog.mlir", "func.func @main(%n: vector<4xi32>) {\n  return\n}\n")
    hirc.succeeds(source, "--emit=llvm", "-o", tmp_path / "prog.ll")
    assert "which a command cannot pass" in hirc.fails(source, "-o", tmp_path / "prog")


def test_line_tables_and_flushed_denormals(hirc: Hirc, program: Path) -> None:
    ptx = hirc.succeeds(program, ARCH, "--emit=ptx", "-g", "--ftz", "-o", "-").output
    assert "add.rn.ftz.f32" in ptx or "add.ftz.f32" in ptx
    assert ".loc" in ptx


def test_a_dry_run_writes_nothing(hirc: Hirc, program: Path, tmp_path: Path) -> None:
    hirc.succeeds(program, ARCH, "-###", "--emit=cubin", "-o", tmp_path / "prog.cubin")
    assert [path.name for path in tmp_path.iterdir()] == ["prog.mlir"]


def test_a_damaged_file_of_the_cache_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIRC_CACHE_DIR", str(tmp_path))
    assert cached("thing", lambda: b"made") == b"made"
    assert cached("thing", lambda: b"again") == b"made"
    kept = (tmp_path / "thing").read_bytes()
    (tmp_path / "thing").write_bytes(kept[:-1])
    assert cached("thing", lambda: b"again") == b"again"
