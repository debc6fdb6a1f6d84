"""What programs allocate and free, exactly, when compiled; and what lies in whose memory."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import torch
from host_ir.catalog import FOLDER, host_programs
from host_ir.libraries import library

from hirc.tools.hirc import main as run_hirc

# Memory is the same at every level, and this one is built soonest.
_CPU = ["--offload-arch=cpu", "-O0"]
_PROGRAMS = {program.name: program for program in host_programs()}

# The most bytes at once, allocations and frees of a run; every allocation that is not freed is an
# output. Sizes are those of each program's first line.
_MEMORY = {
    # Three iterations in the input's own memory; sums in the second input's.
    "in_place_loop": (0, 0, 0),
    "aliases": (0, 0, 0),
    # A sum of 2x3x8, the transposed part and a row.
    "views": (4 * (48 + 18 + 8), 3, 0),
    "own_kernel": (4 * 1000, 1, 0),
    # 33 rows padded to 36 in tiles of 4, and the packed copy that is the output.
    "domains": (4 * 6 * (36 + 33), 2, 1),
    # Two halves and the sum.
    "nested": (3 * 4 * 32, 3, 2),
}


@pytest.mark.parametrize("name", _MEMORY)
def test_a_run_allocates_and_frees_what_it_needs(name: str, tmp_path: Path) -> None:
    program = _PROGRAMS[name]
    command = tmp_path / name
    assert run_hirc([str(program.path), "-o", str(command), *_CPU]) == 0
    done = subprocess.run(
        [command, *program.flags, "--time", "--repeat=1"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    peak, allocations, freed = _MEMORY[name]
    found = re.search(
        r"(\d+) bytes at most at a time, (\d+) allocations?, (\d+) freed", done.stdout
    )
    got = tuple(map(int, found.groups())) if found else (0, 0, 0)
    assert got == (peak, allocations, freed), done.stdout


def _ceildiv(of: int, by: int) -> int:
    return -(-of // by)


@pytest.mark.parametrize("name", ["domains", "nested", "softmax", "stream_loops"])
def test_the_peak_is_known_before(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = _PROGRAMS[name]
    command = tmp_path / name
    words = [str(program.path), "-o", str(command), *_CPU, "--time-report"]
    assert run_hirc(words) == 0
    report = capsys.readouterr().err
    found = re.search(r"peak memory of @main: (.*) bytes", report)
    assert found is not None, report
    run = subprocess.run(
        [command, *program.flags, "--time", "--repeat=1"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    peak = re.search(r"(\d+) bytes at most", run.stdout)
    assert peak is not None
    sizes = [int(size) for size in program.inputs[0].partition("=")[0].split("x")[:-1]]
    formula = re.sub(r"x\.size\((\d)\)", lambda axis: str(sizes[int(axis[1])]), found[1])
    assert eval(formula, {"max": max, "ceildiv": _ceildiv}) == int(peak[1])


def test_an_update_in_place_keeps_its_memory() -> None:
    programs = library((FOLDER / "in_place_loop.mlir").read_text())
    total = torch.zeros(4, 3)
    result = programs.main(total)
    assert result.data_ptr() == total.data_ptr()
    assert bool((total == 9).all())


def test_a_chain_of_aliases_ends_in_the_last_target() -> None:
    programs = library((FOLDER / "aliases.mlir").read_text())
    x, y = torch.randn(3, 5), torch.randn(3, 5)
    expected = (x + y) * x
    result = programs.main(x, y)
    assert result.data_ptr() == y.data_ptr()
    torch.testing.assert_close(y, expected)


def test_an_output_of_linalg_is_written_with_the_strides_handed_in() -> None:
    programs = library(
        "func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {\n"
        "  %c0 = arith.constant 0 : index\n"
        "  %n = tensor.dim %x, %c0 : tensor<?x4xf32>\n"
        "  %e = tensor.empty(%n) : tensor<?x4xf32>\n"
        "  %y = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>)\n"
        "    -> tensor<?x4xf32>\n"
        "  return %y : tensor<?x4xf32>\n"
        "}\n"
    )
    x, out = torch.randn(5, 4), torch.empty(4, 5).t()
    result = programs.main(x, out=out)
    assert result.data_ptr() == out.data_ptr()
    assert result.stride() == (1, 5)
    torch.testing.assert_close(out, x.exp())
