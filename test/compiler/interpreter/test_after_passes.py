"""A program means the same after every pass of Host IR's."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch

from hirc.compiler.interpreter import Interpreter, interpret
from hirc.compiler.parse import parse
from hirc.compiler.session import Session
from hirc.compiler.source import Source
from hirc.dialects.mlir import ir
from hirc.pipelines.pipeline import parse_pipeline, run_steps
from support.host_ir import parsed, program

PASSES = (
    "hir-resolve-aliases",
    "hir-form-stream-loops",
    "hir-insert-communication",
    "hir-insert-allocations",
    "hir-insert-deallocations",
    "hir-verify-ownership",
    "hir-reuse-buffers",
    "hir-expand-stream-loops",
    "hir-convert-compute-to-linalg",
)
V, M = "memref<?xf32>", "memref<?x4xf32>"
ROW, ONE = "memref<4xf32, strided<[1], offset: ?>>", "memref<f32, strided<[], offset: ?>>"


def neg(value: str) -> str:
    return f'"hir.unary"({value}) {{kind = "neg"}} : ({V}) -> {V}'


CHAIN = program(
    [M, "memref<4xf32>"],
    f"""\
  %a = "hir.binary"(%0, %1) {{kind = "add"}} : ({M}, memref<4xf32>) -> {M}
  %b = "hir.unary"(%a) {{kind = "gelu"}} : ({M}) -> {M}
  %c = "hir.reduce"(%b) {{kind = "max", axes = array<i64: 1>}} : ({M}) -> {V}
  %d = "hir.unary"(%c) {{kind = "tanh"}} : ({V}) -> {V}""",
    [f"%d: {V}"],
)
ALIASES = program(
    [V],
    f"""\
  %a = {neg("%0")}
  %b = "hir.unary"(%a) {{kind = "exp"}} : ({V}) -> {V}
  "hir.alias"(%b, %a) : ({V}, {V}) -> ()""",
    [f"%b: {V}"],
)
LOOP = program(
    [M, "index"],
    f"""\
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = memref.dim %0, %zero : {M}
  %y = "hir.allocate"(%n) {{zero_init}} : (index) -> {V}
  "hir.for"(%zero, %n, %one) ({{
  ^bb0(%i: index):
    %row = "hir.select"(%0, %i) {{axis = 0 : i64}} : ({M}, index) -> {ROW}
    %s = "hir.reduce"(%row) {{kind = "sum", axes = array<i64: 0>}} : ({ROW}) -> memref<f32>
    %p = "hir.select"(%y, %i) {{axis = 0 : i64}} : ({V}, index) -> {ONE}
    "hir.binary"(%s, %1, %p) {{kind = "mul"}} : (memref<f32>, index, {ONE}) -> ()
  }}) {{streams = 2 : i64}} : (index, index, index) -> ()""",
    [f"%y: {V}"],
)
BRANCH = program(
    [V, "i1"],
    f"""\
  %t = {neg("%0")}
  %r = "hir.if"(%1) ({{
    %a = "hir.unary"(%t) {{kind = "abs"}} : ({V}) -> {V}
    "hir.output"(%a) : ({V}) -> ()
  }}, {{
    %a = "hir.unary"(%0) {{kind = "sin"}} : ({V}) -> {V}
    "hir.output"(%a) : ({V}) -> ()
  }}) : (i1) -> !hir.results_t
  %y = "hir.result"(%r) {{index = 0 : i64}} : (!hir.results_t) -> {V}
  %z = {neg("%y")}""",
    [f"%z: {V}"],
)
CALL = program(
    [V],
    f"""\
  %r = "hir.call"() ({{
    "hir.argument"(%0) : ({V}) -> ()
  }}) {{callee = @layer}} : () -> !hir.results_t
  %a = "hir.result"(%r) {{index = 0 : i64}} : (!hir.results_t) -> {V}
  %s = "hir.call"() ({{
    "hir.argument"(%a) : ({V}) -> ()
  }}) {{callee = @layer}} : () -> !hir.results_t
  %y = "hir.result"(%s) {{index = 0 : i64}} : (!hir.results_t) -> {V}""",
    [f"%y: {V}"],
) + program(
    [V],
    f'  %t = {neg("%0")}\n  %y = "hir.unary"(%t) {{kind = "exp"}} : ({V}) -> {V}',
    [f"%y: {V}"],
    name="layer",
)
SHARDED = program(
    [M],
    f"""\
  %t = "hir.unary"(%0) {{kind = "exp", stream_axis = 0 : i64}} : ({M}) -> {M}
  %y = "hir.unary"(%t) {{kind = "neg", stream_axis = 0 : i64}} : ({M}) -> {M}""",
    [f"%y: {M}"],
)
X, M3 = torch.linspace(-1, 1, 5), torch.linspace(-2, 2, 12).reshape(3, 4)


@dataclass(frozen=True)
class Case:
    text: str
    inputs: tuple[object, ...]
    # The memory a program needs that its caller hands the outputs in for, once all is freed.
    most_bytes: int


CASES = {
    "chain": Case(CHAIN, (M3, torch.ones(4)), 96 + 12),
    "aliases": Case(ALIASES, (X,), 20),
    "loop": Case(LOOP, (M3, 3), 12),
    "then": Case(BRANCH, (X, True), 40),
    "otherwise": Case(BRANCH, (X, False), 40),
    "call": Case(CALL, (X,), 40),
    "stream-axis": Case(SHARDED, (M3,), 96),
}


def after(text: str, names: tuple[str, ...]) -> tuple[Session, ir.Module]:
    """The module after passes, and the session that owns its context."""
    session = Session()
    module = parse(Source("<stdin>", text.encode()), session)
    run_steps(module.operation, parse_pipeline(",".join(names)))
    return session, module


@pytest.mark.parametrize("count", range(1, len(PASSES) + 1))
@pytest.mark.parametrize("name", CASES)
def test_results_stay_the_same(name: str, count: int) -> None:
    case = CASES[name]
    (expected,) = interpret(parsed(case.text), case.inputs)
    _, module = after(case.text, PASSES[:count])
    frees = count > PASSES.index("hir-insert-deallocations")
    runner = Interpreter(module, check_leaks=frees)
    (y,) = runner.run(case.inputs)
    torch.testing.assert_close(y, expected)
    if not frees:
        return
    assert runner.counts.live_bytes == y.numel() * 4
    runner = Interpreter(module, check_leaks=True)
    handed_in = torch.zeros(2 * y.numel()).as_strided(y.shape, [2 * s for s in y.stride()])
    (z,) = runner.run(case.inputs, [handed_in])
    assert z.data_ptr() == handed_in.data_ptr()
    torch.testing.assert_close(z, expected)
    assert runner.counts.live_bytes == 0
    assert runner.counts.peak_bytes <= case.most_bytes
