"""Operands broadcast, and results go where destinations say."""

from __future__ import annotations

import pytest
import torch

from hirc.compiler.errors import InputError
from hirc.compiler.interpreter import interpret
from support.host_ir import buffer, compute, program


@pytest.mark.parametrize(
    ("shapes", "result"),
    [
        (([3, 1], [1, 4]), [3, 4]),
        (([4], [2, 3, 4]), [2, 3, 4]),
        (([], [2]), [2]),
        (([0, 1], [3]), [0, 3]),
    ],
)
def test_operands_broadcast(shapes: tuple[list[int], list[int]], result: list[int]) -> None:
    x, y = (torch.randn(shape) for shape in shapes)
    types = [buffer(shape, "f32") for shape in shapes]
    (z,) = interpret(compute("binary", types, buffer(result, "f32"), 'kind = "sub"'), [x, y])
    assert torch.equal(z, x - y)


def test_open_sizes_that_do_not_broadcast_are_an_error() -> None:
    types = [buffer(["?"], "f32")] * 2
    text = compute("binary", types, buffer(["?"], "f32"), 'kind = "add"')
    with pytest.raises(InputError, match=r"do not broadcast: 2 \(input 'input0'\) and 3") as caught:
        interpret(text, [torch.zeros(2), torch.zeros(3)])
    assert caught.value.position is not None
    assert caught.value.position.line == 3


def test_f16_is_computed_in_f32_and_rounded_once() -> None:
    # In f16 steps 1 + 2^-11 would round to 1 and the result would be 1.
    text = compute("unary", [buffer([3], "f16")], buffer([3], "f16"), 'kind = "silu"')
    x = torch.tensor([0.1, -3.0, 4.0], dtype=torch.float16)
    exact = torch.nn.functional.silu(x.float()).half()
    assert torch.equal(interpret(text, [x])[0], exact)


def test_a_destination_may_be_the_operand() -> None:
    shape = buffer([3], "f32")
    body = f'  "hir.binary"(%0, %1, %0) {{kind = "add"}} : ({shape}, index, {shape}) -> ()'
    text = program([shape, "index"], body, [f"%0: {shape}"])
    x = torch.tensor([1.0, 2.0, 3.0])
    (y,) = interpret(text, [x, 2])
    assert y.data_ptr() == x.data_ptr()
    assert x.tolist() == [3.0, 4.0, 5.0]


def test_a_destination_that_overlaps_an_operand_is_an_error() -> None:
    whole, part = buffer([4], "f32"), "memref<3xf32, strided<[1], offset: ?>>"
    body = f"""\
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %a = "hir.slice"(%0, %c0, %c3) {{axis = 0 : i64}} : ({whole}, index, index) -> memref<3xf32>
  %b = "hir.slice"(%0, %c1, %c4) {{axis = 0 : i64}} : ({whole}, index, index) -> {part}
  "hir.unary"(%a, %b) {{kind = "neg"}} : (memref<3xf32>, {part}) -> ()"""
    with pytest.raises(InputError, match="overlaps an operand"):
        interpret(program([whole], body, [f"%0: {whole}"]), [torch.zeros(4)])


def test_a_transpose_in_place_is_an_error() -> None:
    shape, turned = buffer([3, 3], "f32"), "memref<3x3xf32, strided<[1, 3]>>"
    body = f"""\
  %t = "hir.permute"(%0) {{order = array<i64: 1, 0>}} : ({shape}) -> {turned}
  "hir.unary"(%0, %t) {{kind = "neg"}} : ({shape}, {turned}) -> ()"""
    with pytest.raises(InputError, match="overlaps an operand"):
        interpret(program([shape], body, [f"%0: {shape}"]), [torch.zeros(3, 3)])
