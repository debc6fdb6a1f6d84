"""The catalogue's programs for AMD's chips, on the CPU device: their AMDGPU bitcode is right.

Where wavefronts of 64 threads make a difference, NAME.gfx90a.expected says what is printed: of
all_reduce the sums of 0 to 63 and of 64 to 99 in place of those of warps, and of device_ops that
the last of 96 threads is in the second wavefront of two.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from programs.catalog import FOLDER, NVIDIA_PROGRAMS, PROGRAMS, Program, without_addresses
from programs.math_program_text import MathProgram
from programs.math_programs import check
from programs.math_programs import programs as math_programs

from hirc.tools.hirc import main as hirc
from support.rocm import needs_libraries

SECONDS = 120
_PROGRAMS = [program for program in PROGRAMS if program.name not in NVIDIA_PROGRAMS]
# Those in which lanes count, and a message.
_OF_LANES = ("all_reduce", "block_reduction", "device_ops", "printf", "warp_shuffle")
_CASES = [
    *(("gfx90a", program) for program in _PROGRAMS),
    *(("gfx1100", program) for program in _PROGRAMS if program.name in _OF_LANES),
]
# The narrow types' functions are those of f32.
_MATH = [program for program in math_programs() if re.search("f32|f64|vector", program.name)]
# ocml's is less exact than libdevice's.
_LESS_EXACT = re.compile(r"math\.tanh (vector<\w+>|f64)\(.*: 2 ulp apart, 1 allowed")


def _expected(program: Program, chip: str) -> str:
    own = FOLDER / f"{program.name}.{chip}.expected"
    return own.read_text() if own.is_file() else program.expected


@needs_libraries
@pytest.mark.parametrize(("chip", "program"), _CASES, ids=lambda each: getattr(each, "name", each))
def test_program(program: Program, chip: str, tmp_path: Path) -> None:
    output = tmp_path / program.name
    words = [word for word in program.command if not word.startswith("--offload-arch")]
    assert hirc([*words, f"--offload-arch=cpu:{chip}", "-o", str(output)]) == 0
    ran = subprocess.run([output], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert without_addresses(ran.stdout) == _expected(program, chip)
    assert ran.returncode == program.status, ran.stderr
    # An assertion is a message and a trap there.
    errors = program.errors.replace("cudaErrorAssert", "cudaErrorLaunchFailure")
    if errors:
        assert re.search(errors, ran.stderr), ran.stderr
    else:
        assert not ran.stderr


@needs_libraries
@pytest.mark.parametrize("program", _MATH, ids=lambda program: program.name)
def test_math_program(program: MathProgram, tmp_path: Path) -> None:
    source, output = tmp_path / "program.mlir", tmp_path / "program"
    source.write_text(program.mlir)
    assert hirc([str(source), "--offload-arch=cpu:gfx90a", "-o", str(output)]) == 0
    ran = subprocess.run([output], capture_output=True, text=True, timeout=SECONDS, check=True)
    wrong = check(program, ran.stdout)
    assert [line for line in wrong if not _LESS_EXACT.search(line)] == []


_ROWS = """
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x32xf32>) -> (tensor<?x32xf32>, tensor<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x?xf32>
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %product = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x32xf32>)
      outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  %row = tensor.empty(%n) : tensor<?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%row : tensor<?xf32>) -> tensor<?xf32>
  %sums = linalg.reduce ins(%a : tensor<?x?xf32>) outs(%none : tensor<?xf32>) dimensions = [1]
    (%x: f32, %sum: f32) {
      %power = math.exp %x : f32
      %more = arith.addf %power, %sum : f32
      linalg.yield %more : f32
    }
  return %product, %sums : tensor<?x32xf32>, tensor<?xf32>
}
"""


@needs_libraries
@pytest.mark.parametrize("columns", [64, 3000])
def test_functions_on_tensors(columns: int, tmp_path: Path) -> None:
    """Reductions along rows exchange values in groups of 32 lanes, on any wavefront."""
    source = tmp_path / "rows.mlir"
    source.write_text(_ROWS)
    printed: list[str] = []
    for arch in ("cpu", "cpu:gfx90a", "cpu:gfx1100"):
        output = tmp_path / arch.replace(":", "-")
        assert hirc([str(source), f"--offload-arch={arch}", "-o", str(output)]) == 0
        inputs = [f"--input=7x{columns}xf32=@random:1", f"--input={columns}x32xf32=@random:2"]
        ran = subprocess.run(
            [output, *inputs], capture_output=True, text=True, timeout=SECONDS, check=True
        )
        printed.append(ran.stdout)
    first, *others = (
        [float(word) for word in re.findall(r"-?\d+\.\d+(?:e[-+]\d+)?", text)] for text in printed
    )
    assert len(first) > 7 * 32
    for other in others:
        assert other == pytest.approx(first, rel=1e-5, abs=1e-4)
