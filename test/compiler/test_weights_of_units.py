"""Weights of several inputs, of objects, and of programs that call each other; and from C."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from hirc.compiler.loader import load
from hirc.tools.hirc import main
from support.dl_tensor import DL_TENSOR
from support.weights import VALUES, tensor, write_values

# Two inputs, of which each has a weight that the other has too; one calls the other's kind of
# program with its own.
_FIRST = """\
"hir.program"() ({
^bb0(%x: memref<3xf32>, %w: memref<3xf32>):
  %y = "hir.binary"(%x, %w) {kind = "add"} : (memref<3xf32>, memref<3xf32>) -> memref<3xf32>
  "hir.output"(%y) {name = "y"} : (memref<3xf32>) -> ()
}) {sym_name = "plus", inputs = [{name = "x"}, {weight = "fc.bias"}],
    function_type = (memref<3xf32>, memref<3xf32>) -> memref<3xf32>} : () -> ()
"hir.program"() ({
^bb0(%x: memref<3xf32>, %w: memref<3xf32>):
  %call = "hir.call"() ({
    "hir.argument"(%w) : (memref<3xf32>) -> ()
    "hir.argument"(%x) : (memref<3xf32>) -> ()
  }) {callee = @plus} : () -> !hir.results_t
  %y = "hir.result"(%call) {index = 0 : i64} : (!hir.results_t) -> memref<3xf32>
  "hir.output"(%y) {name = "y"} : (memref<3xf32>) -> ()
}) {sym_name = "caller", inputs = [{name = "x"}, {weight = "other"}],
    function_type = (memref<3xf32>, memref<3xf32>) -> memref<3xf32>} : () -> ()
"""
_SECOND = """\
func.func @scaled(%x: tensor<3xf32>, %w: tensor<3xf32> {hirc.weight = "tied"}) -> tensor<3xf32> {
  %y = arith.mulf %x, %w : tensor<3xf32>
  return %y : tensor<3xf32>
}
"""
_CALLER = (
    """\
#include <stdint.h>
#include <stdio.h>

"""
    + DL_TENSOR
    + """
int hirc_program_plus(const DLTensor *const *inputs, DLTensor *const *outputs, void *stream);
int hirc_load_weights(void), hirc_use_weights_file(const char *path);
void hirc_unload_weights(void), hirc_synchronize(void *stream);
const char *hirc_last_error(void);

int main(int argc, char **argv) {
  float x_data[3] = {1, 2, 3}, y_data[3];
  int64_t sizes[1] = {3};
  DLTensor x = {x_data, {1, 0}, 1, {2, 32, 1}, sizes, NULL, 0}, y = x;
  y.data = y_data;
  const DLTensor *inputs[] = {&x};
  DLTensor *outputs[] = {&y};
  for (int i = 1; i < argc; ++i) {
    if (hirc_use_weights_file(argv[i]) != 0 || hirc_program_plus(inputs, outputs, NULL) != 0) {
      printf("%s\\n", hirc_last_error());
      continue;
    }
    hirc_synchronize(NULL);
    printf("%g %g %g\\n", y_data[0], y_data[1], y_data[2]);
    if (i + 1 < argc && hirc_use_weights_file("other") != 0)
      printf("%s\\n", hirc_last_error());
    hirc_unload_weights();
  }
  return hirc_load_weights();
}
"""
)
_X = np.array([1, 2, 3], np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("units")
    (folder / "first.mlir").write_text(_FIRST)
    (folder / "second.mlir").write_text(_SECOND)
    values = {"fc.bias": VALUES["fc.bias"], "other": _X}
    write_values(folder / "model.safetensors", values, {"tied": "other"})
    return folder


def _build(folder: Path, *words: str) -> int:
    options = ["--offload-arch=cpu", f"--weights-from={folder / 'model.safetensors'}"]
    return main([*words, *options])


def test_inputs_share_weights(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    words = ["first.mlir", "second.mlir", "--emit=shared", "--weights=external", "-o", "both.so"]
    assert _build(folder, *words) == 0
    library = load(folder / "both.so")
    np.testing.assert_array_equal(library.plus(_X), _X + VALUES["fc.bias"])
    np.testing.assert_array_equal(library.caller(_X), 2 * _X)
    np.testing.assert_array_equal(library.scaled(_X), _X * _X)
    assert set(library.weights) == {"fc.bias", "other", "tied"}
    done = subprocess.run(["nm", "both.so"], capture_output=True, text=True, check=True)
    states = [line for line in done.stdout.splitlines() if line.endswith("_state")]
    assert len([line for line in states if "hirc_weights_" in line]) == 1


def test_weights_that_differ_between_inputs(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong.mlir"
    wrong.write_text(_SECOND.replace("tied", "other").replace("3xf32", "4xf32"))
    words = [str(folder / "first.mlir"), str(wrong), "--emit=shared", "-o", str(tmp_path / "x.so")]
    assert _build(folder, *words) == 1
    assert "weight 'other' is F32 [4] in" in capfd.readouterr().err
    assert not (tmp_path / "x.so").exists()


def test_an_object_holds_its_weights(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for name in ("first", "second"):
        words = [f"{name}.mlir", "--emit=object", "--weights=embed", "-o", f"{name}.o"]
        assert _build(folder, *words) == 0
    words = ["first.o", "second.o", "--emit=shared", "-o", "linked.so", "--offload-arch=cpu"]
    assert main(words) == 0
    library = load(folder / "linked.so")
    np.testing.assert_array_equal(library.plus(_X), _X + VALUES["fc.bias"])
    np.testing.assert_array_equal(library.scaled(_X), _X * _X)


def test_a_c_program(folder: Path, tmp_path: Path, clang: Path) -> None:
    library = tmp_path / "libfirst.so"
    words = [str(folder / "first.mlir"), "--emit=shared", "--weights=embed", "-o", str(library)]
    assert _build(folder, *words) == 0
    (tmp_path / "call.c").write_text(_CALLER)
    command = [clang, "-Wall", "-Werror", "call.c", "-o", "call", library]
    subprocess.run(command, cwd=tmp_path, check=True)
    values = {"fc.bias": np.zeros(3, np.float32), "other": _X}
    write_values(tmp_path / "zero", values)
    cut = write_values(tmp_path / "cut", values)
    cut.write_bytes(cut.read_bytes()[:-1])
    write_values(tmp_path / "few", {"other": tensor(_X)})
    words = ["./call", "zero", "cut", "few", str(folder / "model.safetensors")]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "1 2 3",
        "weights are loaded already: hirc_unload_weights comes before others are named",
        "weights file cut is cut off: tensor 'other' ends at byte 4120, the file has 4119",
        "weights file few has no tensor 'fc.bias' (F32 [3])",
        "101 202 303",
    ]
