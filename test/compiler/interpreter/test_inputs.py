"""What the caller gives is checked before anything runs, in the program's own names."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import hirc
from hirc.compiler.errors import InputError
from hirc.compiler.interpreter import interpret
from support.host_ir import compute, program

TWO = program(
    ["memref<?x64xf32>", "memref<?xf32, strided<[?]>>"],
    """\
  %y = "hir.unary"(%0) {kind = "neg"} : (memref<?x64xf32>) -> memref<?x64xf32>
  %z = "hir.unary"(%1) {kind = "neg"} : (memref<?xf32, strided<[?]>>) -> memref<?xf32>""",
    ["%y: memref<?x64xf32>", "%z: memref<?xf32>"],
    described='{name = "x", sizes = ["n", 64], alignment = 16 : i64}, {name = "b", sizes = ["n"]}',
)
X, B = torch.zeros(3, 64), torch.zeros(3)


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ([X], None, r"expected 2 inputs \(x, b\), got 1"),
        ({"x": X}, None, "no 'b'; the program's inputs are: x, b"),
        ({"x": X, "c": B}, None, "no input is called 'c'"),
        (
            [X.double(), B],
            None,
            r"input 'x': expected elements of f32 \(torch.float32\), got torch.float64",
        ),
        ([X[0], B], None, r"input 'x': expected 2 dims \(\?x64\), got 1 \(64\)"),
        ([3.0, B], None, "input 'x': expected a tensor"),
        ([torch.zeros(3, 65), B], None, "input 'x': dim 1: expected size 64, got 65"),
        (
            [X, torch.zeros(4)],
            None,
            "input 'b': dim 0: expected n = 3, as dim 0 of input 'x' has, got 4",
        ),
        (
            [torch.zeros(64, 3).T, B],
            None,
            r"input 'x': expected a packed buffer, strides \[64, 1\], got",
        ),
        (
            [torch.zeros(193)[1:].view(3, 64), B],
            None,
            "input 'x': expected memory aligned to 16 bytes",
        ),
        ([X.to("meta"), B], None, "input 'b': expected a tensor on meta, got one on cpu"),
        ([X, B], [torch.zeros(3, 64)], r"expected 2 outputs"),
        ([X, B], {"y": X}, "no output is called 'y'"),
        ([X, B], [torch.zeros(3, 63), None], "output 'output0': dim 1: expected size 64, got 63"),
        ([X, B], [X, None], "output 'output0': it overlaps input 'x'"),
        ([X, B], [None, X[0, :3]], "output 'output1': it overlaps input 'x'"),
        ([X, B], [None, torch.zeros(1).expand(3)], "output 'output1': it has a repeated dim"),
        ([X, B], [None, torch.zeros(3).half()], "output 'output1': expected elements of f32"),
        (
            [X, B],
            [torch.zeros(2, 64), None],
            "the buffer that was handed in as output 'output0' is 2x64",
        ),
    ],
)
def test_what_is_wrong_is_said(inputs: Any, outputs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        interpret(TWO, inputs, outputs)


def test_outputs_that_overlap_each_other() -> None:
    both = torch.zeros(3, 64)
    with pytest.raises(InputError, match="output 'output1': it overlaps output 'output0'"):
        interpret(TWO, [X, B], [both, both[:, 0]])


def test_strides_are_taken_where_the_type_has_them_open() -> None:
    whole = torch.arange(6.0)
    assert interpret(TWO, [X, whole[::2]])[1].tolist() == [-0.0, -2.0, -4.0]


def test_a_size_of_one_may_have_any_stride() -> None:
    x = torch.zeros(1, 128)[:, ::2].as_strided((1, 64), (5, 1))
    interpret(TWO, [x, torch.zeros(1)])


def test_given_outputs_are_written_with_their_strides() -> None:
    y, z = torch.zeros(64, 3).T, torch.zeros(6)[::2]
    results = interpret(TWO, {"x": X + 1, "b": B + 2}, {"output0": y, "output1": z})
    assert [item.data_ptr() for item in results] == [y.data_ptr(), z.data_ptr()]
    assert (y == -1).all()
    assert (z == -2).all()


def test_no_elements() -> None:
    y, z = interpret(TWO, [torch.zeros(0, 64), torch.zeros(0)])
    assert (y.shape, z.shape) == ((0, 64), (0,))


_ANY = "memref<?x?xf32, strided<[?, ?]>>"
# Writes its second input, and makes an output.
_WRITES = program(
    [_ANY, _ANY],
    f"""\
  "hir.set"(%0, %1) : ({_ANY}, {_ANY}) -> ()
  %y = "hir.unary"(%0) {{kind = "neg"}} : ({_ANY}) -> memref<?x?xf32>""",
    ["%y: memref<?x?xf32>"],
)


@pytest.mark.parametrize("sizes", [(0, 3), (3, 0)])
def test_no_elements_overlap_nothing(sizes: tuple[int, int]) -> None:
    """Interpreted and compiled: what has no elements is written whatever its strides are."""
    compiled = hirc.compile(_WRITES, target="cpu", opt_level=0)
    x, once = torch.zeros(sizes), torch.zeros(1, 1).expand(sizes)
    for written, out in ((once, x.clone()), (x.clone(), once)):
        assert interpret(_WRITES, [x, written], [out])[0].shape == sizes
        assert compiled(x, written, out=out).shape == sizes


def test_a_repeated_dim_is_not_written() -> None:
    x, once = torch.zeros(2, 3), torch.zeros(1, 1).expand(2, 3)
    for written, out in ((once, x.clone()), (x.clone(), once)):
        with pytest.raises(InputError, match=r"has a repeated dim \(stride 0\)"):
            interpret(_WRITES, [x, written], [out])


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        ("i8", 128, "-128 to 127"),
        ("ui8", -1, "0 to 255"),
        ("i32", 1.5, "expected a whole number"),
        ("i1", 2, "expected true or false"),
        ("f32", "1", "expected a number"),
        ("index", torch.zeros(1), "a tensor of 1 dims"),
    ],
)
def test_scalars_are_checked(type_: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        interpret(program([type_], "", [f"%0: {type_}"], described='{name = "k"}'), [value])


@pytest.mark.parametrize(
    ("type_", "value"),
    [("i8", -128), ("ui64", 2**64 - 1), ("i1", True), ("f64", 0.1), ("index", 7)],
)
def test_scalars_come_back(type_: str, value: object) -> None:
    assert interpret(program([type_], "", [f"%0: {type_}"]), [value]) == [value]


def test_scalars_are_rounded_to_their_type() -> None:
    assert interpret(program(["bf16"], "", ["%0: bf16"]), [0.1]) == [0.10009765625]


VIEW = """\
  %c = arith.constant 0 : index
  %y = "hir.unary"(%0) {kind = "neg"} : (memref<2x3xf32>) -> memref<2x3xf32>
  %v = "hir.select"(%y, %c) {axis = 0 : i64} : (memref<2x3xf32>, index) -> memref<3xf32>"""


def test_a_view_cannot_be_handed_in() -> None:
    text = program(["memref<2x3xf32>"], VIEW, ["%v: memref<3xf32>"])
    with pytest.raises(InputError, match="it is a view of another buffer"):
        interpret(text, [torch.zeros(2, 3)], [torch.zeros(3)])
    assert interpret(text, [torch.ones(2, 3)])[0].tolist() == [-1, -1, -1]


def test_an_input_that_is_an_output_is_that_very_memory() -> None:
    text = program(["memref<2xf32>"], "", ["%0: memref<2xf32>"])
    x = torch.zeros(2)
    assert interpret(text, [x], [x])[0].data_ptr() == x.data_ptr()
    with pytest.raises(InputError, match="it is input 'input0', updated in place, and another"):
        interpret(text, [x], [torch.zeros(2)])


def test_one_buffer_as_two_outputs_is_handed_in_once() -> None:
    body = '  %y = "hir.unary"(%0) {kind = "neg"} : (memref<2xf32>) -> memref<2xf32>'
    text = program(["memref<2xf32>"], body, ["%y: memref<2xf32>"] * 2)
    y = torch.zeros(2)
    results = interpret(text, [torch.ones(2)], [y, None])
    assert [item.data_ptr() for item in results] == [y.data_ptr()] * 2
    with pytest.raises(InputError, match="the same memory as output 'output0'"):
        interpret(text, [torch.ones(2)], [None, y])


def test_another_entry() -> None:
    text = compute("unary", ["memref<2xf32>"], "memref<2xf32>", 'kind = "neg"')
    with pytest.raises(InputError, match="there is no program @other; the module has: @main"):
        interpret(text, [X], entry="other")


def test_a_builders_program_is_run_by_its_name() -> None:
    built = hirc.module()
    with built.program("first") as first:
        x = first.input("x", (2,), "f32")
        first.output("y", -x)
    with built.program("second") as second:
        x = second.input("x", (2,), "f32")
        second.output("y", x.relu())
    given = torch.tensor([1.0, -1.0])
    assert interpret(first, [given])[0].tolist() == [-1.0, 1.0]
    assert interpret(second, {"x": given})[0].tolist() == [1.0, 0.0]


def test_text_that_is_no_program() -> None:
    with pytest.raises(InputError, match="expected"):
        interpret('"hir.program"(', [])
    with pytest.raises(InputError, match=r"cannot read missing\.mlir"):
        interpret("missing.mlir", [])
