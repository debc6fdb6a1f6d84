"""A whole program: its text, its inputs and outputs, and that the text means the same again."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import hirc
from hirc.dialects import hir
from hirc.dialects.hir.builder import Program
from hirc.dialects.mlir import context, ir
from support.built_program import operations

_TEXT = """\
module {
  "hir.program"() ({
  ^bb0(%x: memref<?x64xf32>, %bias: memref<64xf32>, %alpha: f32):
    %0 = "hir.binary"(%x, %bias) {kind = "add"} : (memref<?x64xf32>, memref<64xf32>) -> memref<?x64xf32>
    %1 = "hir.binary"(%0, %alpha) {kind = "mul"} : (memref<?x64xf32>, f32) -> memref<?x64xf32>
    %2 = "hir.unary"(%1) {kind = "gelu"} : (memref<?x64xf32>) -> memref<?x64xf32>
    "hir.output"(%2) {name = "y"} : (memref<?x64xf32>) -> ()
  }) {function_type = (memref<?x64xf32>, memref<64xf32>, f32) -> memref<?x64xf32>, inputs = [{name = "x", sizes = ["n", 64]}, {alignment = 16 : i64, name = "bias", sizes = [64]}, {name = "alpha"}], sym_name = "main"} : () -> ()
}
"""  # noqa: E501


def small_program() -> Program:
    with hirc.program("main") as p:
        x = p.input("x", ("n", 64), "f32")
        bias = p.input("bias", (64,), "f32", alignment=16)
        alpha = p.scalar("alpha", "f32")
        p.output("y", ((x + bias) * alpha).gelu())
    return p


def test_text_for_reading() -> None:
    assert str(small_program()) == _TEXT


def test_text_has_the_locations_and_means_the_same() -> None:
    p = small_program()
    fresh = context()
    hir.load(fresh)
    again = ir.Module.parse(p.text, fresh)
    assert again.operation.verify()
    again_text = again.operation.get_asm(enable_debug_info=True)
    assert again_text == p.text
    assert "test_program.py" in p.text


def test_sizes_of_inputs_are_measured_once_at_the_top() -> None:
    with hirc.program("main") as p:
        x = p.input("x", ("n", "m"), "f32")
        y = p.input("y", ("m", "n"), "f32")
        p.allocate((p.size("n"), 4), "f32")
        with p.loop(p.size("n")) as i:
            p.allocate((i, y.shape[1]), "f32")
        x.reshape(p.size("n") * p.size("m"))
    names = [op.name for op in operations(p)]
    first = names.index("hir.allocate")
    assert set(names[2:first]) == {"arith.constant", "memref.dim"}
    assert names.count("memref.dim") == 2
    assert str(p).count("arith.constant 0 : index") == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "memref<?x8xf32>"),
        ({"order": (0, 1)}, "memref<?x8xf32>"),
        ({"order": (1, 0)}, "memref<?x8xf32, strided<[1, ?]>>"),
        ({"strides": "any"}, "memref<?x8xf32, strided<[?, ?]>>"),
        ({"strides": (None, 1)}, "memref<?x8xf32, strided<[?, 1]>>"),
    ],
)
def test_strides_of_inputs(arguments: dict[str, Any], expected: str) -> None:
    with hirc.program("main") as p:
        x = p.input("x", ("n", 8), "f32", **arguments)
    assert str(x.type) == expected


def test_order_of_three_dims() -> None:
    with hirc.program("main") as p:
        x = p.input("x", (2, 3, 5), "f32", order=(2, 0, 1))
    assert str(x.type) == "memref<2x3x5xf32, strided<[3, 1, 6]>>"


def test_outputs_may_be_scalars_and_sizes_and_have_no_name() -> None:
    with hirc.program("main") as p:
        n, k = p.scalar("n", "index"), p.scalar("k", "i32")
        p.output(None, n * 2)
        p.output("k", k)
        p.output(None, 3)
    declared = next(op for op in operations(p) if op.name == "hir.program")
    assert str(declared.attributes["function_type"]) == "(index, i32) -> (index, i32, index)"


def test_programs_do_not_share_a_context_and_leave_none_behind() -> None:
    with hirc.program("a") as a, hirc.program("b") as b:
        a.output("y", a.input("x", (8,), "f32").relu())
        b.output("y", b.input("x", (8,), "f32").neg())
    assert a.module.context is not b.module.context
    assert 'kind = "relu"' in str(a)
    assert 'kind = "relu"' not in str(b)
    assert ir.Context.current is None


def failing_program(p: Program) -> None:
    with p:
        p.input("x", (8,), "f32")
        raise ZeroDivisionError


def test_an_error_of_pythons_passes_through() -> None:
    p = hirc.program("main")
    with pytest.raises(ZeroDivisionError):
        failing_program(p)
    with pytest.raises(hirc.BuildError, match="but it is failed"):
        _ = p.text


def test_the_builder_is_loaded_when_it_is_used() -> None:
    code = "import sys, hirc; print('torch_mlir' in sys.modules); hirc.program('main'); "
    code += "print('torch_mlir' in sys.modules, 'numpy' in sys.modules, 'torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["False", "True", "False", "False"]
