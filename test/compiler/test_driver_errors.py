"""What the driver says when a file, a tool or the toolchain fails; and what it leaves behind."""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from hirc.compiler.errors import InputError, Note, ToolchainError
from hirc.compiler.output import replacing
from hirc.compiler.toolchain import find_cuda
from support.driver import (
    ARCH,
    CALLER,
    PROGRAM,
    Hirc,
    cuda_with,
    listing,
    script,
    write,
)

_BYTECODE = b"ML\xefR"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return write(tmp_path, "prog.mlir", PROGRAM)


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go; empty again after each test."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


# Inputs.


def test_broken_bytecode(hirc: Hirc, tmp_path: Path, temporary: Path) -> None:
    path = tmp_path / "bad.mlirbc"
    path.write_bytes(_BYTECODE + b"nonsense")
    errors = hirc.fails(path, ARCH, "-o", tmp_path / "prog")
    assert errors.startswith(f"{path}: error: bytecode version")
    assert "in stage 'parse'" in errors
    assert listing(tmp_path) == {"bad.mlirbc"}
    assert not list(temporary.iterdir())


def test_neither_text_nor_bytecode(hirc: Hirc, tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    path.write_bytes(b"module {\n  \xff\xfe\x00\n}\n")
    assert f"{path}:2:3: error: neither MLIR text nor bytecode" in hirc.fails(path, ARCH)


def test_syntax_error_on_standard_input(hirc: Hirc) -> None:
    errors = hirc.fails("-", ARCH, "--emit=ptx", stdin=b"func.func @f() {\n  retrun\n}\n")
    assert "<stdin>:2:3: error: " in errors
    assert "      retrun\n      ^" in errors


def test_standard_input_and_bytecode(hirc: Hirc, tmp_path: Path, program: Path) -> None:
    """The same program comes out of text, bytecode and standard input."""
    expected = hirc.succeeds(program, ARCH, "--emit=ptx", "-o", "-").output
    assert ".visible .entry main_kernel(" in expected
    from hirc.tools.hirc_opt import main as hirc_opt

    assert hirc_opt([str(program), "--emit-bytecode", "-o", str(tmp_path / "prog.mlirbc")]) == 0
    for words, stdin in (
        ((tmp_path / "prog.mlirbc",), None),
        (("-",), PROGRAM.encode()),
        (("-",), (tmp_path / "prog.mlirbc").read_bytes()),
    ):
        output = hirc.succeeds(*words, ARCH, "--emit=ptx", "-o", "-", stdin=stdin).output
        assert output == expected


def test_device_library_errors(hirc: Hirc, tmp_path: Path, program: Path) -> None:
    errors = hirc.fails(program, ARCH, "--device-lib=nowhere.bc", "-o", tmp_path / "out")
    assert "error: cannot read nowhere.bc: No such file or directory" in errors
    errors = hirc.fails(program, ARCH, f"--device-lib={program}", "-o", tmp_path / "out")
    assert f"error: {program} is not LLVM bitcode\nhint: --device-lib takes .bc files" in errors
    assert listing(tmp_path) == {"prog.mlir"}


def test_a_device_library_that_calls_no_intrinsic(hirc: Hirc, tmp_path: Path) -> None:
    """LLVM's reader of bitcode takes what that of text refuses."""
    ir = """target triple = "nvptx64-nvidia-cuda"
declare i32 @llxm.nothing()
define i32 @twice(i32 %x) {
  %y = call i32 @llxm.nothing()
  %z = add i32 %x, %y
  ret i32 %z
}
"""
    bitcode = llvm.parse_assembly(ir).as_bitcode().replace(b"llxm.nothing", b"llvm.nothing")
    (tmp_path / "library.bc").write_bytes(bitcode)
    (tmp_path / "prog.mlir").write_text("""module attributes {gpu.container_module} {
  gpu.module @kernels {
    func.func private @twice(i32) -> i32
    gpu.func @f(%n: i32, %m: memref<i32>) kernel {
      %y = func.call @twice(%n) : (i32) -> i32
      memref.store %y, %m[] : memref<i32>
      gpu.return
    }
  }
}
""")
    library = f"--device-lib={tmp_path / 'library.bc'}"
    for words in (("--emit=ptx", ARCH), ("--emit=object", "--offload-arch=cpu")):
        errors = hirc.fails(tmp_path / "prog.mlir", library, *words, "-o", tmp_path / "out")
        assert "error: a device library calls 'llvm.nothing', no intrinsic of LLVM 22\n" in errors
    assert not (tmp_path / "out").exists()


# What is asked for.


def test_one_chip_outputs(hirc: Hirc, program: Path) -> None:
    errors = hirc.fails(program, "--offload-arch=sm_90,sm_80", "--emit=ptx", "-o", "-")
    assert "error: --emit=ptx is for one chip; 2 are named\nhint: give one --offload-arch" in errors


def test_stage_and_pass_names(hirc: Hirc, program: Path) -> None:
    errors = hirc.fails(program, ARCH, "--stop-after=nowhere")
    assert "error: there is no stage 'nowhere'" in errors
    assert "interface, kernels, entries, runtime-calls, device, host" in errors
    errors = hirc.fails(program, ARCH, "--print-ir-after=nothing", "--stop-after=kernels")
    assert "error: there is no pass 'nothing' in the pipeline" in errors


# Outputs.


@pytest.mark.parametrize("emit", ["exe", "shared", "object", "ptx"])
def test_output_that_cannot_be_written(
    hirc: Hirc, tmp_path: Path, program: Path, temporary: Path, emit: str
) -> None:
    words = (program, ARCH, f"--emit={emit}")
    errors = hirc.fails(*words, "-o", tmp_path)
    assert f"hirc: error: cannot write {tmp_path}: it is a directory" in errors
    errors = hirc.fails(*words, "-o", tmp_path / "no" / "out")
    assert f"error: cannot write {tmp_path}/no/out: No such file or directory" in errors
    assert listing(tmp_path) == {"prog.mlir"}
    assert not list(temporary.iterdir())


def test_failure_keeps_the_old_output(hirc: Hirc, tmp_path: Path, temporary: Path) -> None:
    output = write(tmp_path, "prog", "old")
    source = write(tmp_path, "prog.mlir", CALLER)
    errors = hirc.fails(source, "-o", output)
    assert "error: function 'answer' is called and defined nowhere" in errors
    assert output.read_text() == "old"
    assert listing(tmp_path) == {"prog", "prog.mlir"}
    assert not list(temporary.iterdir())


# Link inputs.


def test_link_inputs_that_fail(hirc: Hirc, tmp_path: Path) -> None:
    source = write(tmp_path, "prog.mlir", CALLER)
    broken = write(tmp_path, "broken.o", "no object\n")
    errors = hirc.fails(source, tmp_path / "missing.a", "-o", tmp_path / "prog")
    assert f"error: cannot read {tmp_path}/missing.a: No such file or directory" in errors
    errors = hirc.fails(source, "-lnowhere", "-o", tmp_path / "prog")
    assert "error: library '-lnowhere' is not found\n  in stage 'link'\nhint: -L" in errors
    errors = hirc.fails(source, broken, "-o", tmp_path / "prog")
    assert "error: clang failed with status 1\n  in stage 'link'" in errors
    assert "broken.o" in errors
    assert "hint: -v shows its commands" in errors


# The toolchain.


def test_clang_that_is_none(
    hirc: Hirc, tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (program, ARCH, "-o", tmp_path / "out")
    errors = hirc.fails(*words, "--clang=nowhere")
    assert "error: clang not found: nowhere\nhint: on Debian: apt-get install clang-22" in errors
    mute = script(tmp_path / "mute" / "clang", "exit 0")
    errors = hirc.fails(*words, f"--clang={mute}")
    assert f"error: {mute} is not clang: it prints no clang version" in errors
    old = script(tmp_path / "old" / "clang", "echo clang version 14.0.6")
    monkeypatch.setenv("HIRC_CLANG", str(old))
    errors = hirc.fails(*words)
    assert f"error: {old} is clang 14.0.6; version 22 or newer is needed to read the IR" in errors
    bare = script(tmp_path / "bare" / "clang", "echo clang version 22.1.0")
    errors = hirc.fails(*words, f"--clang={bare}")
    assert f"error: {bare} lacks clang-linker-wrapper and clang-nvlink-wrapper" in errors
    assert not (tmp_path / "out").exists()


def test_no_clang_at_all(
    hirc: Hirc, tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hirc.compiler.toolchain.clang_candidates", lambda: iter(()))
    monkeypatch.delenv("HIRC_CLANG", raising=False)
    errors = hirc.fails(program, ARCH, "-o", tmp_path / "out")
    assert "error: no clang 22 or newer found\nhint: on Debian: apt-get install" in errors


def test_cuda_that_is_none(
    hirc: Hirc, tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (program, ARCH, "-o", tmp_path / "out")
    (tmp_path / "cuda" / "bin").mkdir(parents=True)
    for name in ("nvlink", "fatbinary"):
        (tmp_path / "cuda" / "bin" / name).touch()
    errors = hirc.fails(*words, f"--cuda-path={tmp_path / 'cuda'}")
    assert f"error: CUDA at {tmp_path}/cuda lacks ptxas, libdevice, libcudart_static.a" in errors
    assert "hint: pip install 'hirc[cuda]'" in errors
    monkeypatch.setattr("hirc.compiler.toolchain.cuda_candidates", lambda: iter(()))
    assert "error: no CUDA compiler tools found" in hirc.fails(*words)
    monkeypatch.setattr(
        "hirc.compiler.toolchain.cuda_candidates", lambda: iter([tmp_path / "cuda"])
    )
    assert f"error: CUDA at {tmp_path}/cuda lacks ptxas" in hirc.fails(*words)


def test_tools_without_a_path(
    hirc: Hirc, tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With nothing on PATH, what is needed is found where it is installed, or named."""
    monkeypatch.setenv("PATH", "")
    ran = hirc(program, ARCH, "-o", tmp_path / "out")
    assert ran.status == 0 or "hint: on Debian: apt-get install clang-22" in ran.errors


@pytest.mark.parametrize("emit", ["exe", "cubin"])
def test_failing_ptxas(
    hirc: Hirc, tmp_path: Path, program: Path, temporary: Path, emit: str
) -> None:
    (tmp_path / "cuda").mkdir()
    message = "ptxas fatal   : the chip is on holiday"
    cuda = cuda_with(tmp_path / "cuda", f"echo '{message}' >&2; exit 255")
    output = tmp_path / "out"
    errors = hirc.fails(program, ARCH, f"--emit={emit}", f"--cuda-path={cuda}", "-o", output)
    assert "error: ptxas refuses the device code: " in errors
    assert "the chip is on holiday" in errors
    assert f"in stage '{'link' if emit == 'exe' else 'device-code'}'" in errors
    assert "--emit=ptx shows what it was given" in errors
    assert not output.exists()
    assert not list(temporary.iterdir())


def test_ptxas_that_cannot_run(hirc: Hirc, tmp_path: Path, program: Path) -> None:
    (tmp_path / "cuda").mkdir()
    cuda = cuda_with(tmp_path / "cuda", "")
    (cuda / "bin" / "ptxas").chmod(0o644)
    errors = hirc.fails(
        program, ARCH, "--emit=cubin", f"--cuda-path={cuda}", "-o", tmp_path / "out"
    )
    assert f"error: cannot run {cuda}/bin/ptxas: Permission denied" in errors
    assert "hint: see `hirc --doctor`" in errors


def test_support_library_that_does_not_compile(
    hirc: Hirc, clang: Path, tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the C library's headers are missing."""
    monkeypatch.setenv("HIRC_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "clang"
    real = clang.resolve().parent
    for name in ("clang-linker-wrapper", "clang-nvlink-wrapper", "ld.lld"):
        folder.mkdir(exist_ok=True)
        (folder / name).symlink_to(real / name)
    fake = script(
        folder / "clang",
        f'case "$*" in *--version*) exec {clang} "$@";; esac\n'
        "echo \"fatal error: 'stdio.h' file not found\" >&2; exit 1",
    )
    errors = hirc.fails(program, ARCH, f"--clang={fake}", "-o", tmp_path / "out")
    assert "error: clang cannot compile the support library: " in errors
    assert "'stdio.h' file not found" in errors
    assert "hint: C headers are missing: on Debian, apt-get install libc6-dev" in errors
    assert not (tmp_path / "out").exists()
    assert not [name for name in listing(tmp_path) if name.startswith("cache/")]


@pytest.fixture
def no_fault_handler() -> Iterator[None]:
    """pytest would print a traceback where the code generator ends its own process."""
    faulthandler.disable()
    yield
    faulthandler.enable()


@pytest.mark.usefixtures("no_fault_handler")
def test_what_llvm_cannot_generate(hirc: Hirc, tmp_path: Path) -> None:
    """An instruction only the code generator knows the chip lacks."""
    source = write(
        tmp_path,
        "prog.mlir",
        """\
module attributes {gpu.container_module} {
  gpu.module @m {
    llvm.func @k(%p: !llvm.ptr, %x: bf16) attributes {gpu.kernel, nvvm.kernel} {
      llvm.call_intrinsic "llvm.nvvm.griddepcontrol.wait"() : () -> ()
      llvm.return
    }
  }
}
""",
    )
    errors = hirc.fails(source, "--offload-arch=sm_80", "--emit=ptx", "-o", tmp_path / "out")
    assert "error: LLVM cannot generate code for this chip: " in errors
    assert "griddepcontrol" in errors
    assert "in stage 'device-code'" in errors
    errors = hirc.fails(source, "--offload-arch=sm_80", "--emit=shared", "-o", tmp_path / "out")
    assert "griddepcontrol" in errors
    assert not (tmp_path / "out").exists()


def test_our_own_bug_leaves_a_report(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    program: Path,
    temporary: Path,
) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("hirc.compiler.driver.Compilation.run", broken)
    from hirc.tools.hirc import main

    assert main([str(program), ARCH]) == 70
    errors = capfd.readouterr().err
    assert "hirc: error: internal error: a bug" in errors
    (folder,) = temporary.iterdir()
    assert f"hirc: to report: {folder}" in errors
    report = (folder / "report.txt").read_text()
    assert f"command: hirc {program} {ARCH}" in report
    assert "ZeroDivisionError: a bug" in report
    assert "torch-mlir" in report


def test_the_environment_names_the_tools(
    hirc: Hirc, tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIRC_CUDA_PATH", str(tmp_path / "nowhere"))
    assert f"CUDA at {tmp_path}/nowhere lacks" in hirc.fails(program, ARCH, "-o", tmp_path / "o")
    monkeypatch.setenv("HIRC_CUDA_PATH", str(find_cuda_root()))
    hirc.succeeds(program, ARCH, "-o", tmp_path / "o")


def find_cuda_root() -> Path:
    """The pip packages' CUDA, whatever the environment names."""
    for entry in sys.path:
        for root in sorted(Path(entry or os.curdir).glob("nvidia/cu13")):
            return root
    return find_cuda().root


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """The linker ends with a signal then, beside temporary files of its own."""
    output = tmp_path / "prog"
    note = Note("clang-22: error: unable to execute command: Bus error")

    def link() -> None:
        with replacing(output) as temporary:
            temporary.with_name(f"{temporary.name}.tmp1234").write_text("half")
            raise ToolchainError("clang failed with status 1", notes=[note])

    with pytest.raises(InputError, match="prog: No space left on device"):
        link()
    assert listing(tmp_path) == set()
