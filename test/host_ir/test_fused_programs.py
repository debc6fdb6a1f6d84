"""Chains of programs in Python are fused as functions on tensors are, and give the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch
from host_ir.agreement import difference
from host_ir.libraries import library

import hirc
from hirc.compiler.errors import HircError
from hirc.dialects.hir.builder.module import Module
from hirc.dialects.hir.builder.program import Program
from hirc.tools.hirc import main as run_hirc
from support.host_ir import parsed

Build = Callable[[Program], None]

# They share what is compiled, so one process runs them all.
pytestmark = pytest.mark.xdist_group("fused_programs")

_BUILDS: dict[str, tuple[int, tuple[str, ...], Build]] = {}
_ROWS = ("n", 8)
_CHAIN = """
func.func @written(%x: tensor<?x8xf32> {hir.sizes = ["n", 8]},
                   %y: tensor<?x8xf32> {hir.sizes = ["n", 8]},
                   %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%n) : tensor<?x8xf32>
  %half = arith.constant 0.5 : f32
  %root = arith.constant 0.707106769 : f32
  %one = arith.constant 1.0 : f32
  %z = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>,
                                        affine_map<(r, c) -> (c)>, affine_map<(r, c) -> (r, c)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %b : tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>)
      outs(%empty : tensor<?x8xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %out: f32):
    %0 = arith.addf %p, %q : f32
    %1 = arith.mulf %0, %p : f32
    %2 = arith.addf %1, %r : f32
    %3 = arith.mulf %2, %root : f32
    %4 = math.erf %3 : f32
    %5 = arith.mulf %2, %half : f32
    %6 = arith.addf %4, %one : f32
    %7 = arith.mulf %5, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}
"""

_CALLING = """
func.func private @power(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = math.exp %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
func.func private @sum(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = arith.addf %x, %y : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
"hir.program"() ({
^bb0(%x: memref<?x8xf32>):
  %main = "hir.current_stream"() : () -> !hir.stream_t
  %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
  "hir.wait_stream"(%side, %main) : (!hir.stream_t, !hir.stream_t) -> ()
  "hir.set_stream"(%side) : (!hir.stream_t) -> ()
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %y = "hir.allocate"(%n) : (index) -> memref<?x8xf32>
  %0 = "hir.call"() ({
    "hir.argument"(%x) : (memref<?x8xf32>) -> ()
    "hir.argument"(%x) : (memref<?x8xf32>) -> ()
  }) {callee = @sum} : () -> !hir.results_t
  %1 = "hir.result"(%0) {index = 0 : i64} : (!hir.results_t) -> memref<?x8xf32>
  %2 = "hir.call"() ({
    "hir.argument"(%1) : (memref<?x8xf32>) -> ()
  }) {callee = @power} : () -> !hir.results_t
  %3 = "hir.result"(%2) {index = 0 : i64} : (!hir.results_t) -> memref<?x8xf32>
  %4 = "hir.call"() ({
    "hir.argument"(%3) : (memref<?x8xf32>) -> ()
    "hir.argument"(%x) : (memref<?x8xf32>) -> ()
  }) {callee = @sum} : () -> !hir.results_t
  %5 = "hir.result"(%4) {index = 0 : i64} : (!hir.results_t) -> memref<?x8xf32>
  "hir.call"() ({
    "hir.argument"(%5) : (memref<?x8xf32>) -> ()
    "hir.argument"(%y) {destination = 0 : i64} : (memref<?x8xf32>) -> ()
  }) {callee = @power} : () -> !hir.results_t
  "hir.wait_stream"(%main, %side) : (!hir.stream_t, !hir.stream_t) -> ()
  "hir.output"(%y) {name = "y"} : (memref<?x8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<?x8xf32>) -> memref<?x8xf32>,
    inputs = [{name = "x", sizes = ["n", 8]}]} : () -> ()
"""


def _builds(operations: int, *inputs: str) -> Callable[[Build], Build]:
    """Makes a function one of the programs, of which so many operations are left.

    An input is named by its dims, of 3 rows and 8 columns.
    """

    def add(build: Build) -> Build:
        _BUILDS[build.__name__] = operations, inputs, build
        return build

    return add


@_builds(1, "rc", "rc", "c")
def chain(p: Program) -> None:
    x, y, b = p.input("x", _ROWS, "f32"), p.input("y", _ROWS, "f32"), p.input("b", (8,), "f32")
    p.output("z", ((x + y) * x + b).gelu())


@_builds(1, "rc")
def softmax(p: Program) -> None:
    x = p.input("x", ("n", "m"), "f32")
    powers = (x - x.max(1, keep_dims=True)).exp()
    p.output("y", powers / powers.sum(1, keep_dims=True))


@_builds(1, "rc", "rc")
def rounded(p: Program) -> None:
    """Each operation rounds its result to f16, fused or not."""
    x, y = p.input("x", _ROWS, "f16"), p.input("y", _ROWS, "f16")
    p.output("z", ((x + y) * x - y).exp())


@_builds(1, "rc")
def rows(p: Program) -> None:
    """Each row by a stream of its own, into a buffer."""
    x = p.input("x", _ROWS, "f32")
    y = p.allocate(x.shape, "f32")
    with p.loop(x.shape[0], streams=4) as i:
        y[i] = (x[i] - x[i].max()).exp() * 0.5
    p.output("y", y)


@_builds(3, "rc")
def in_place(p: Program) -> None:
    """The input is read whole before any of it is written."""
    x = p.input("x", _ROWS, "f32")
    p.add((x - x.mean(0)) * 2.0, x.sum(1, keep_dims=True), out=x)
    p.output("y", x)


@_builds(2, "rc")
def between(p: Program) -> None:
    """What is read before a write, and after it."""
    x = p.input("x", _ROWS, "f32")
    before = (x + 1.0) * 2.0
    x[0] = 3.0
    p.output("z", (before + x).relu() * x)


@_builds(2, "rc")
def alike(p: Program) -> None:
    """Two equal results are two buffers: one is written later."""
    x = p.input("x", _ROWS, "f32")
    one, other = (x * 2.0 + 1.0), (x * 2.0 + 1.0)
    one[0] = 5.0
    p.output("one", one)
    p.output("other", other)


@_builds(2, "rc")
def equal(p: Program) -> None:
    """What folds to an input is copied to its destination."""
    x = p.input("x", _ROWS, "f32")
    p.output("e", (x + 1.0).exp())
    y = p.allocate(x.shape, "f32")
    p.maximum(x, x, out=y)
    p.output("y", y)


@_builds(2, "rc")
def views(p: Program) -> None:
    """Views of inputs are read in place; those of results come after."""
    x = p.input("x", _ROWS, "f32")
    turned = (x.T + 1.0) * 2.0
    p.output("z", (turned[1:3].relu() - 1.0).sum(0))


@_builds(2, "rc")
def chosen(p: Program) -> None:
    x = p.input("x", _ROWS, "f32")
    with p.branch(x.shape[0] > 2) as branch:
        with branch.then:
            branch.output(p.where((x > 0.5).and_(x < 1.0), x * 2.0, 0.0))
        with branch.otherwise:
            branch.output((x - 1.0).abs())
    p.output("y", branch.result)


@pytest.mark.parametrize("name", _BUILDS)
def test_compiled_and_interpreted_agree(name: str) -> None:
    module = _module()
    drawn = torch.Generator().manual_seed(len(name))
    element = torch.float16 if name == "rounded" else torch.float32
    inputs = [
        torch.randn([3 if dim == "r" else 8 for dim in dims], generator=drawn).to(element)
        for dims in _BUILDS[name][1]
    ]
    given = [each.clone() for each in inputs]
    wanted = hirc.interpret(module, given, entry=name)
    got = library(module.text, "-O0")[name](*inputs)
    for one, other in zip(got if isinstance(got, tuple) else (got,), wanted, strict=True):
        text = "f16" if element == torch.float16 else "f32"
        assert difference(one, other, text, scale=float(other.abs().max())) is None
    assert all(map(torch.equal, inputs, given))


def test_few_operations_are_left(tmp_path: Path) -> None:
    left = _stage(tmp_path, _module().text, "functions")
    for name, (operations, _, _) in _BUILDS.items():
        assert len(re.findall(r"linalg\.generic", left[name])) <= operations, name


def test_kernels_are_those_of_functions_on_tensors(tmp_path: Path) -> None:
    """Equal operations have one launcher, which both programs run."""
    module = hirc.module()
    with module.program("chain") as p:
        chain(p)
    text = module.text
    end = text.rindex("\n}")
    made = _stage(tmp_path, text[:end] + _CHAIN + text[end:], "schedules")
    runs = [re.findall(r"launcher = @(\w+)", made[name]) for name in ("chain", "written")]
    assert runs[0] == runs[1]
    assert len(runs[0]) == 1


def test_a_program_calls_functions_on_tensors() -> None:
    """What it hands in is not written, and a buffer handed in for the result is."""
    compiled = library(_CALLING, "-O0")
    x = torch.randn(3, 8)
    before = x.clone()
    assert torch.allclose(compiled["main"](x), ((x + x).exp() + x).exp())
    assert torch.equal(x, before)
    with pytest.raises(HircError, match="is a function on tensors"):
        hirc.interpret(parsed(_CALLING), [x], entry="main")


@cache
def _module() -> Module:
    """All programs, in one module: they are compiled together."""
    module = hirc.module()
    for name, (_, _, build) in _BUILDS.items():
        with module.program(name) as p:
            build(p)
    return module


def _stage(folder: Path, text: str, name: str) -> dict[str, str]:
    """Returns what a stage leaves of each program, by its name."""
    source, output = folder / "programs.mlir", folder / "out.mlir"
    source.write_text(text)
    words = [str(source), "-o", str(output), f"--stop-after={name}", "--emit=shared"]
    assert run_hirc([*words, "--verify-each", "--offload-arch=sm_90"]) == 0
    programs = output.read_text().split('"hir.program"() ({')[1:]
    return {re.findall(r'sym_name = "(\w+)"', each)[0]: each for each in programs}
