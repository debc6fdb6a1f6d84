"""What ptxas is given and says, the disassembler, and the names kernels have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hirc.compiler.executable import read_linked_file
from hirc.compiler.toolchain import find_cuda
from support.driver import ARCH, PROGRAM, Hirc, script, write


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return write(tmp_path, "prog.mlir", PROGRAM)


@pytest.mark.parametrize("emit", ["exe", "cubin"])
def test_arguments_and_log(hirc: Hirc, tmp_path: Path, program: Path, emit: str) -> None:
    words = (program, ARCH, f"--emit={emit}", "-o", tmp_path / "out")
    assert hirc.succeeds(*words).errors == ""
    log = hirc.succeeds(*words, "--ptxas-log").errors
    assert "Compiling entry function 'main_kernel' for 'sm_90'" in log
    assert re.search(r"ptxas info\s+: Used \d+ registers", log)
    # ptxas itself prints what -v asks for.
    assert hirc.succeeds(*words, "--ptxas-arg=-v").errors.count("Used ") == 1
    commands = hirc.succeeds(*words, "-v", "--ptxas-arg=-v", "--ptxas-arg=--maxrregcount=16").errors
    assert re.search(r"ptxas -arch sm_90 .*-v --maxrregcount=16", commands)
    errors = hirc.fails(*words, "--ptxas-arg=--no-such")
    assert "error: ptxas refuses the device code: " in errors
    assert "-no-such" in errors


def test_sass(hirc: Hirc, tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if (find_cuda().root / "bin" / "nvdisasm").exists():
        pytest.skip("this CUDA has a disassembler")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    output = tmp_path / "out.sass"
    errors = hirc.fails(program, ARCH, "--emit=sass", "-o", output)
    assert "error: nvdisasm, which shows SASS, is not found" in errors
    assert "hint: pip install nvidia-cuda-nvdisasm" in errors
    assert not output.exists()
    # One on the PATH is given the cubin.
    script(tmp_path / "bin" / "nvdisasm", 'head -c 4 "$2" | tail -c 3; echo; echo "MOV R0, $1 ;"')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    hirc.succeeds(program, ARCH, "--emit=sass", "-o", output)
    assert output.read_text() == "ELF\nMOV R0, -c ;\n"
    errors = hirc.fails(program, "--offload-arch=cpu", "--emit=sass", "-o", output)
    assert "--emit=sass is for a GPU" in errors


def test_names(hirc: Hirc, tmp_path: Path, program: Path) -> None:
    """A program's one unit keeps its kernels' names; what may meet other units does not."""
    alone, both = tmp_path / "alone", tmp_path / "both"
    hirc.succeeds(program, ARCH, "-o", alone)
    assert read_linked_file(alone).device_symbols == ("main_kernel",)
    library = write(tmp_path, "library.mlir", PROGRAM.replace("@main()", "@other()"))
    hirc.succeeds(library, ARCH, "--emit=object", "-o", tmp_path / "library.o")
    hirc.succeeds(program, tmp_path / "library.o", ARCH, "-o", both)
    names = read_linked_file(both).device_symbols
    assert len(set(names)) == 2
    assert all(re.fullmatch(r"(main|other)_kernel__[0-9a-f]{12}", name) for name in names)
