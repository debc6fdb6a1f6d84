"""Programs with inputs and outputs, compiled for the CPU device, and runs of them."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from hirc.tools.hirc import main
from support.command_server import loaded_commands

ELEMENTS = (
    *("f64", "f32", "tf32", "f16", "bf16", "f8E4M3FN", "f8E5M2"),
    *("i64", "i32", "i16", "i8", "ui64", "ui32", "ui16", "ui8", "i1"),
    *("complex<f32>", "complex<f64>"),
)

# Adds a number to a matrix, in memory of its own, and doubles an integer.
ADD = """\
func.func @main(%x: memref<2x3xf32> {hir.name = "x"}, %s: f32 {hir.name = "s"},
                %n: i64 {hir.name = "n"})
    -> (memref<2x3xf32> {hir.name = "y"}, i64 {hir.name = "twice"}) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %m = gpu.alloc () : memref<2x3xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c3, %sy = %c2, %sz = %c1) {
    %0 = memref.load %x[%ty, %tx] : memref<2x3xf32>
    %1 = arith.addf %0, %s : f32
    memref.store %1, %m[%ty, %tx] : memref<2x3xf32>
    gpu.terminator
  }
  %k = arith.addi %n, %n : i64
  return %m, %k : memref<2x3xf32>, i64
}
"""

# Adds one to each element of its input, in place.
COUNT = """\
func.func @main(%x: memref<4xi32> {hir.name = "x"}) -> memref<4xi32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c4, %sy = %c1, %sz = %c1) {
    %one = arith.constant 1 : i32
    %0 = memref.load %x[%tx] : memref<4xi32>
    %1 = arith.addi %0, %one : i32
    memref.store %1, %x[%tx] : memref<4xi32>
    gpu.terminator
  }
  return %x : memref<4xi32>
}
"""
# Outputs that are made, an input, a size and a number.
SEVERAL = """
"hir.program"() ({
^bb0(%x: memref<?xf32>, %k: f32, %i: i16):
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  %y = "hir.binary"(%x, %k) {kind = "mul"} : (memref<?xf32>, f32) -> memref<?xf32>
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
  "hir.output"(%x) {name = "same"} : (memref<?xf32>) -> ()
  "hir.output"(%n) {name = "n"} : (index) -> ()
  "hir.output"(%k) {name = "k"} : (f32) -> ()
}) {sym_name = "several", inputs = [{name = "x"}, {name = "k"}, {name = "i"}],
    function_type = (memref<?xf32>, f32, i16) -> (memref<?xf32>, memref<?xf32>, index, f32)}
    : () -> ()
"""
# Outputs of every origin: the program's memory, a view of it, a view of an input, an input, a
# scalar. `x` takes any strides, `bias` is aligned.
ORIGINS = """\
"hir.program"() ({
^bb0(%x: memref<?x64xf32, strided<[?, ?], offset: ?>>, %bias: memref<64xf32>, %k: f32):
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?x64xf32, strided<[?, ?], offset: ?>>
  %sum = "hir.binary"(%x, %bias) {kind = "add"}
      : (memref<?x64xf32, strided<[?, ?], offset: ?>>, memref<64xf32>) -> memref<?x64xf32>
  %y = "hir.binary"(%sum, %k) {kind = "mul"} : (memref<?x64xf32>, f32) -> memref<?x64xf32>
  %t = "hir.permute"(%y) {order = array<i64: 1, 0>}
      : (memref<?x64xf32>) -> memref<64x?xf32, strided<[1, 64]>>
  %w = "hir.select"(%bias, %zero) {axis = 0 : i64}
      : (memref<64xf32>, index) -> memref<f32, strided<[], offset: ?>>
  "hir.output"(%y) {name = "y"} : (memref<?x64xf32>) -> ()
  "hir.output"(%t) {name = "t"} : (memref<64x?xf32, strided<[1, 64]>>) -> ()
  "hir.output"(%w) {name = "w"} : (memref<f32, strided<[], offset: ?>>) -> ()
  "hir.output"(%bias) {name = "same"} : (memref<64xf32>) -> ()
  "hir.output"(%n) {name = "n"} : (index) -> ()
}) {sym_name = "main",
    inputs = [{name = "x", sizes = ["n", 64]}, {name = "bias", alignment = 16}, {name = "k"}],
    function_type = (memref<?x64xf32, strided<[?, ?], offset: ?>>, memref<64xf32>, f32)
        -> (memref<?x64xf32>, memref<64x?xf32>, memref<f32>, memref<64xf32>, index)} : () -> ()
"""


def every_element_type() -> str:
    """A program that gives its inputs back, a vector of each element type."""
    types = ", ".join(f"memref<?x{element}>" for element in ELEMENTS)
    arguments = ", ".join(f"%x{i}: memref<?x{name}>" for i, name in enumerate(ELEMENTS))
    names = ", ".join(f'{{name = "{name}"}}' for name in ELEMENTS)
    outputs = "\n".join(
        f'"hir.output"(%x{i}) {{name = "out_{name}"}} : (memref<?x{name}>) -> ()'
        for i, name in enumerate(ELEMENTS)
    )
    return (
        f'"hir.program"() ({{\n^bb0({arguments}):\n{outputs}\n}}) {{sym_name = "main", '
        f"inputs = [{names}], function_type = ({types}) -> ({types})}} : () -> ()\n"
    )


@dataclass(frozen=True)
class Ran:
    """A run of a command: its status and what it wrote."""

    status: int
    output: str
    errors: str


@dataclass(frozen=True)
class Command:
    """A compiled program; calling it runs it in its own folder."""

    path: Path

    @property
    def folder(self) -> Path:
        return self.path.parent

    def __call__(self, *words: str) -> Ran:
        done = subprocess.run(
            [str(self.path), *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def succeeds(self, *words: str) -> str:
        """What a run prints that succeeds."""
        ran = self(*words)
        assert ran.status == 0, ran.errors
        return ran.output

    def fails(self, status: int, *words: str) -> str:
        """The error of a run that ends with this status, without the name in front."""
        ran = self(*words)
        assert ran.status == status, ran
        prefix = f"{self.path.name}: error: "
        assert ran.errors.startswith(prefix)
        return ran.errors.removeprefix(prefix).splitlines()[0]


def build(text: str, path: Path, *words: str) -> Path:
    """Compiles a program for the CPU device."""
    source = path.with_suffix(".mlir")
    source.write_text(text)
    status = main([str(source), "-o", str(path), "--offload-arch=cpu", *words])
    assert status == 0, f"hirc failed; its message is above\n{text}"
    return path


def run_command(name: str, *words: str, folder: Path) -> Ran:
    """Runs one of hirc's commands, which starts without imports: see `loaded_commands`."""
    done = subprocess.run(
        [str(loaded_commands() / name), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)
