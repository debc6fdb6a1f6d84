"""gdb steps through a kernel by the lines of its source."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from programs.catalog import FOLDER

from hirc.tools.hirc import main as hirc

SOURCE = FOLDER / "block_reduction.mlir"
SECONDS = 120


def _line_of(text: str) -> int:
    lines = SOURCE.read_text().splitlines()
    (number,) = [place for place, line in enumerate(lines, 1) if text in line]
    return number


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_breakpoint_in_a_kernel(level: str, tmp_path: Path) -> None:
    program = tmp_path / "prog"
    assert hirc([str(SOURCE), "-g", level, "--offload-arch=cpu", "-o", str(program)]) == 0
    line = _line_of("%a = memref.load")
    commands = [f"break {SOURCE.name}:{line}", "run", "backtrace", "next", "info line"]
    words = [word for command in commands for word in ("-ex", command)]
    # Threads run kernels: one keeps what is printed in order.
    ran = subprocess.run(
        ["env", "HIRC_CPU_THREADS=1", "gdb", "-quiet", "-batch", "-nx", *words, program],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    frames = re.findall(r"#(\d) .*?(row_sums[\w.]*) \(\) at .*:(\d+)\n", ran.stdout)
    (_, innermost, at), (_, body, _), *_ = frames
    assert innermost == "row_sums"
    assert body.startswith(f"{innermost}.region")
    # Optimised code has the line's place, but may begin with another line's instruction.
    assert int(at) == line if level == "-O0" else abs(int(at) - line) <= 2
    # The source line itself is shown, and stepping goes on in the kernel.
    assert SOURCE.read_text().splitlines()[int(at) - 1] in ran.stdout
    (stepped,) = re.findall(rf'Line (\d+) of ".*{SOURCE.name}"', ran.stdout)
    assert _line_of("gpu.func @row_sums") < int(stepped) < _line_of("gpu.return")


def test_no_debug_information_without_g(tmp_path: Path) -> None:
    program = tmp_path / "prog"
    assert hirc([str(SOURCE), "--offload-arch=cpu", "-o", str(program)]) == 0
    assert SOURCE.name.encode() + b"\0" not in _section(program, ".debug_line")


def _section(path: Path, name: str) -> bytes:
    from llvmlite.binding import ObjectFileRef

    sections = ObjectFileRef.from_data(path.read_bytes()).sections()
    return b"".join(bytes(item.data()) for item in sections if item.name() == name.encode())
