"""hirc-run: compiling and running a program, and interpreting it, with the same arguments."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from hirc.compiler.safetensors import Tensor, write_tensors
from support.program_command import ADD, ORIGINS, Ran, run_command

_CPU = "--offload-arch=cpu"

pytestmark = pytest.mark.usefixtures("loaded_commands")


@pytest.fixture(autouse=True)
def programs(tmp_path: Path) -> Path:
    (tmp_path / "add.mlir").write_text(ADD)
    (tmp_path / "origins.mlir").write_text(ORIGINS)
    return tmp_path


def _run(folder: Path, *words: str) -> Ran:
    return run_command("hirc-run", *words, folder=folder)


def test_a_program_is_compiled_and_run_and_nothing_is_kept(programs: Path) -> None:
    before = set(os.listdir(programs))
    ran = _run(programs, "add.mlir", _CPU, "--input=@iota", "--input", "1", "--input=21")
    assert ran == Ran(0, "y: 2x3xf32\n[[1. 2. 3.]\n [4. 5. 6.]]\ntwice: i64 42\n", "")
    assert set(os.listdir(programs)) == before


def test_the_program_s_own_errors_and_status_come_through(programs: Path) -> None:
    ran = _run(programs, "add.mlir", _CPU, "--input=2x4xf32=1", "--input=1", "--input=2")
    message = "add: error: input 'x' of main: size 1 is 4, the program takes 3 (2x3xf32)\n"
    assert ran == Ran(1, "", message)
    assert _run(programs, "add.mlir", _CPU, "--input=1").status == 2
    assert _run(programs, "--input=1", "add.mlir", _CPU, "--help").output.startswith("runs main")


def test_interpreting_takes_the_same_arguments_and_prints_the_same(programs: Path) -> None:
    words = ["--input=2x64xf32=@random:3", "--input=bias=@random:4", "--input=k=0.5", "--print"]
    compiled = _run(programs, "origins.mlir", _CPU, *words, "--output=y=compiled.npy")
    found = _run(programs, "origins.mlir", "--interpret", *words, "--output=y=interpreted.npy")
    assert compiled.status == 0, compiled.errors
    assert found == compiled
    y, same = (np.load(programs / f"{name}.npy") for name in ("compiled", "interpreted"))
    assert (y == same).all()


def test_what_is_wrong_before_anything_runs_is_shown_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "wrong.mlir").write_text("""
"hir.program"() ({
^bb0(%x: memref<?x6xf32>):
  %c = arith.constant 255 : index
  %n = memref.dim %x, %c : memref<?x6xf32>
  %y = "hir.allocate"(%n) : (index) -> memref<?x6xf32>
  "hir.output"(%y) {name = "y"} : (memref<?x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<?x6xf32>) -> memref<?x6xf32>} : () -> ()
""")
    ran = _run(tmp_path, "wrong.mlir", "--interpret", "--input=4x6xf32=@iota")
    assert ran.status == 1
    assert ran.errors.startswith("wrong.mlir:5:8: error: memref.dim of dim 255: memref<?x6xf32>")


def test_what_the_interpreter_finds_is_shown_where_it_is(programs: Path) -> None:
    (programs / "select.mlir").write_text("""\
"hir.program"() ({
^bb0(%x: memref<8xf32>, %i: index):
  %e = "hir.select"(%x, %i) {axis = 0 : i64}
      : (memref<8xf32>, index) -> memref<f32, strided<[], offset: ?>>
  %y = "hir.unary"(%e) {kind = "neg"} : (memref<f32, strided<[], offset: ?>>) -> memref<f32>
  "hir.output"(%y) {name = "y"} : (memref<f32>) -> ()
}) {sym_name = "main", function_type = (memref<8xf32>, index) -> memref<f32>} : () -> ()
""")
    words = ("select.mlir", "--interpret", "--input=@iota")
    assert _run(programs, *words, "--input=3").output == "y: f32 -3.\n"
    ran = _run(programs, *words, "--input=9")
    assert (ran.status, ran.output) == (1, "")
    assert ran.errors.startswith("select.mlir:3:8: error: index 9 is out of range")
    ran = _run(programs, *words)
    assert ran.status == 2
    assert ran.errors.startswith("select: error: input 'input1' (index) is missing")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no program to run"),
        (["add.mlir", "-o", "add"], "hirc-run keeps no file"),
        (["add.mlir", "--emit=shared"], "hirc-run keeps no file"),
        (["add.mlir", "--stop-after=host"], "hirc-run runs a program"),
        (["add.mlir", "origins.mlir", "--interpret"], "--interpret takes one program"),
        (["add.mlir", "--interpret"], "there is no program @main"),
    ],
)
def test_what_runs_nothing_is_refused(programs: Path, words: list[str], message: str) -> None:
    ran = _run(programs, *words)
    assert ran.status == 1
    assert ran.errors.startswith(f"hirc: error: {message}")


def test_help_without_a_program_is_of_hirc_run(programs: Path) -> None:
    ran = _run(programs, "--help")
    assert (ran.status, ran.errors) == (0, "")
    assert ran.output.startswith("usage: hirc-run ")


def test_models_whose_values_are_not_in_the_program(tmp_path: Path) -> None:
    """More than is embedded, of the model's own; and of a file that lacks what no checkpoint has,
    beside which nothing is written.
    """
    (tmp_path / "model.py").write_text("""
import torch
from torch import nn


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.arange(5.0)[:, None] * torch.ones(1, 4_000_000))
        self.register_buffer("scale", torch.full((1000,), 2.0), persistent=False)

    def forward(self, row):
        return self.table[row, :3] * self.scale[:3]


model = Rows().eval()


def get_inputs():
    return [torch.tensor(0)]
""")
    before = {*os.listdir(tmp_path), "__pycache__"}
    words = ("model.py:model", _CPU, "-O0", "--input=i64=3")
    assert _run(tmp_path, *words) == Ran(0, "output0: 3xf32\n[6. 6. 6.]\n", "")
    assert set(os.listdir(tmp_path)) <= before
    table = np.full((5, 4_000_000), 0.5, "<f4")
    value = Tensor("F32", table.shape, memoryview(table.tobytes()))
    with open(tmp_path / "model.safetensors", "wb") as file:
        write_tensors(file, {"table": value}, {})
    written = (tmp_path / "model.safetensors").read_bytes()
    ran = _run(tmp_path, *words, "--weights-from=model.safetensors")
    assert ran == Ran(0, "output0: 3xf32\n[1. 1. 1.]\n", "")
    wrong = run_command(
        "hirc", *words[:3], "--weights-from=model.safetensors", "-o", "model",
        folder=tmp_path,
    )  # fmt: skip
    said = "model.safetensors, is the one with the weights, and has no tensor 'scale'"
    assert said in wrong.errors
    assert (tmp_path / "model.safetensors").read_bytes() == written
