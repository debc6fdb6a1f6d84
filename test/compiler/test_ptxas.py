"""What ptxas is given and says, the disassembler, and the names kernels have."""

from __future__ import annotations

import re
import subprocess
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


def _without_disassembler(root: Path) -> Path:
    """Links to what the CUDA in use has, but for nvdisasm."""
    used = find_cuda().root
    (root / "bin").mkdir(parents=True)
    for entry in [*used.iterdir(), *(used / "bin").iterdir()]:
        if entry.name not in ("bin", "nvdisasm"):
            (root / entry.relative_to(used)).symlink_to(entry)
    return root


def test_sass(hirc: Hirc, tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, output = _without_disassembler(tmp_path / "cuda"), tmp_path / "out.sass"
    words = [program, ARCH, f"--cuda-path={own}", "--emit=sass", "-o", output]
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    errors = hirc.fails(*words)
    assert "error: nvdisasm, which shows SASS, is not found" in errors
    assert "hint: pip install nvidia-cuda-nvdisasm" in errors
    assert not output.exists()
    # One on the PATH is given the cubin.
    script(tmp_path / "bin" / "nvdisasm", 'head -c 4 "$2" | tail -c 3; echo; echo "MOV R0, $1 ;"')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    hirc.succeeds(*words)
    assert output.read_text() == "ELF\nMOV R0, -c ;\n"
    errors = hirc.fails(program, "--offload-arch=cpu", "--emit=sass", "-o", output)
    assert "--emit=sass is for a GPU" in errors


def test_names(hirc: Hirc, tmp_path: Path, program: Path) -> None:
    """A whole program's kernels keep their names; what may meet other units does not."""
    alone, both = tmp_path / "alone", tmp_path / "both"
    hirc.succeeds(program, ARCH, "-o", alone)
    assert read_linked_file(alone).device_symbols == ("main_kernel",)
    library = write(tmp_path, "library.mlir", PROGRAM.replace("@main()", "@other()"))
    hirc.succeeds(program, library, ARCH, "-o", both)
    assert set(read_linked_file(both).device_symbols) == {"main_kernel", "other_kernel"}
    hirc.succeeds(library, ARCH, "--emit=object", "-o", tmp_path / "library.o")
    hirc.succeeds(program, tmp_path / "library.o", ARCH, "-o", both)
    names = read_linked_file(both).device_symbols
    assert len(set(names)) == 2
    assert all(re.fullmatch(r"(main|other)_kernel__[0-9a-f]{12}", name) for name in names)


_PRINTS = """\
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @NAME() kernel {
      gpu.printf "NAME of FUNCTION\\n"
      gpu.return
    }
    gpu.func @FUNCTION_alone() kernel {
      gpu.printf "alone\\n"
      gpu.return
    }
  }
  func.func @FUNCTION() {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@NAME blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @kernels::@FUNCTION_alone
        blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    REST
    return
  }
  DECLARED
}
"""


def test_names_that_clash(hirc: Hirc, tmp_path: Path) -> None:
    """Of several inputs, only kernels with one name get a digest each, and each runs."""
    texts: list[Path] = []
    for name, function, rest, declared in (
        ("work", "main", "call @other() : () -> ()", "func.func private @other()"),
        ("work", "other", "", "func.func @other_work_stub() { return }"),
    ):
        text = _PRINTS.replace("REST", rest).replace("DECLARED", declared)
        text = text.replace("NAME", name).replace("FUNCTION", function)
        texts.append(write(tmp_path, f"{function}.mlir", text))
    output = tmp_path / "prog"
    hirc.succeeds(*texts, "--offload-arch=cpu", "-O0", "-o", output)
    printed = subprocess.run([output], capture_output=True, text=True, check=True).stdout
    assert printed.split("\n")[:-1] == ["work of main", "alone", "work of other", "alone"]
    named = set(re.findall(rb"hirc\.entry\.kernel\.(\w+)", output.read_bytes()))
    assert {b"main_alone", b"other_alone"} < named
    assert len(named) == 4
    assert all(name.startswith(b"kernels__work__") for name in named if b"work" in name)
