"""Memory of sizes that a GPU program finds when it runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hirc.tools.hirc import main as run_hirc

# They share what is compiled, so one process runs them all.
pytestmark = pytest.mark.xdist_group("allocation_sizes")

_TEXT = """
func.func @main(%n: index {hir.name = "n"}, %m: index {hir.name = "m"}) {
  %x, %t = gpu.alloc async (%n, %m) : memref<?x4x?xf32>
  %d = gpu.dealloc async [%t] %x : memref<?x4x?xf32>
  gpu.wait [%d]
  %h = memref.alloc(%m) : memref<?x3xi8>
  memref.dealloc %h : memref<?x3xi8>
  return
}
"""


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("sizes") / "sizes.mlir"
    source.write_text(_TEXT)
    built = source.with_suffix("")
    assert run_hirc([str(source), "-o", str(built), "--offload-arch=cpu", "-O0"]) == 0
    return built


@pytest.mark.parametrize(
    ("n", "m", "message"),
    [
        (3, 4, ""),
        (0, 4, ""),
        (2**62, 0, ""),
        (-3, 4, "gpu.alloc of ?x4x?xf32: of its sizes, from -3 to 4, one is negative"),
        (-3, -4, "gpu.alloc of ?x4x?xf32: of its sizes, from -4 to -3, one is negative"),
        (4611686018427387905, 4, "they make more than 2^63 - 1 bytes"),
        (576460752303423488, 1, "they make more than 2^63 - 1 bytes"),
        (576460752303423487, 1, "out of memory"),
        (0, 6148914691236517206, "memref.alloc of ?x3xi8: of its sizes, from 6148914691236517206"),
    ],
)
def test_sizes_that_memory_cannot_have_are_refused(
    command: Path, n: int, m: int, message: str
) -> None:
    done = subprocess.run(
        [command, f"--input=n={n}", f"--input=m={m}"], capture_output=True, text=True, check=False
    )
    assert message in done.stderr
    assert (done.returncode, "sizes.mlir:" in done.stderr) == (bool(message), bool(message))
