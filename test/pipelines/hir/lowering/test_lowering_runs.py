"""Programs that use the whole lowering, on the CPU device."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from hirc.compiler.driver import Compilation
from hirc.compiler.options import Options
from hirc.compiler.target import CPU

# They share what is compiled, so one process runs them all.
pytestmark = pytest.mark.xdist_group("lowering_runs")

_PROGRAM = Path(__file__).parent / "Inputs" / "everything.mlir"

# What the program calls for each row.
_SHOW = """
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
int cudaStreamSynchronize(void *stream);
struct row { float *allocated, *aligned; int64_t offset, size, stride; };
int8_t show(const struct row *row, uint8_t number, int64_t index, void *stream);
int8_t show(const struct row *row, uint8_t number, int64_t index, void *stream) {
  if (cudaStreamSynchronize(stream)) return 1;
  fprintf(stderr, "%u row %lld:", number, (long long)index);
  for (int64_t i = 0; i < row->size; ++i)
    fprintf(stderr, " %g", row->aligned[row->offset + i * row->stride]);
  fputc('\\n', stderr);
  return -3;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("everything")
    source, code, program = folder / "show.c", folder / "show.o", folder / "program"
    source.write_text(_SHOW)
    subprocess.run(["clang-22", "-c", source, "-o", code], check=True, timeout=60)
    Compilation(
        Options(
            inputs=(str(_PROGRAM),), link_inputs=(str(code),), output=str(program), targets=(CPU,)
        )
    ).run()
    return program


def _run(program: Path, x: np.ndarray, *words: str) -> subprocess.CompletedProcess[str]:
    given, result = program.with_name("x.npy"), program.with_name("y.npy")
    np.save(given, x)
    result.unlink(missing_ok=True)
    inputs = (f"--input=x={given}", "--input=u=200", f"--output=y={result}")
    return subprocess.run(
        [program, *inputs, *words], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("words", [(), ("--repeat=3",)])
def test_rows_and_outputs(program: Path, words: tuple[str, ...]) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    done = _run(program, x, "--input=flag=1", *words)
    assert done.returncode == 0, done.stderr
    rows = ["200 row 0: 0 8", "200 row 1: 16 24", "200 row 2: 32 40"]
    assert done.stderr.splitlines() == rows * (4 if words else 1)
    np.testing.assert_array_equal(np.load(program.with_name("y.npy")), 2 * x.T)


def test_no_elements(program: Path) -> None:
    done = _run(program, np.zeros((0, 4), np.float32), "--input=flag=0")
    assert (done.returncode, done.stderr) == (0, "")
    assert np.load(program.with_name("y.npy")).shape == (4, 0)
