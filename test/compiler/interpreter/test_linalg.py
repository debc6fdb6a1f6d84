"""linalg on buffers, and what upstream's passes leave beside it."""

from __future__ import annotations

import pytest
import torch

from hirc.compiler.errors import InputError, UnsupportedError
from hirc.compiler.interpreter import interpret
from support.host_ir import program

M = "memref<3x4xf32>"


def generic(maps: str, iterators: str, inputs: str, outs: str, region: str, arguments: str) -> str:
    return f"""\
  linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
    ins({inputs}) outs({outs}) {{
  ^bb0({arguments}):
    {region}
  }}"""


ROWS = "affine_map<(i, j) -> (i)>"
ALL = "affine_map<(i, j) -> (i, j)>"


def test_a_reduction() -> None:
    body = generic(
        f"{ALL}, {ROWS}",
        '"parallel", "reduction"',
        f"%0 : {M}",
        "%1 : memref<3xf32>",
        "%s = arith.addf %a, %b : f32\n    linalg.yield %s : f32",
        "%a: f32, %b: f32",
    )
    x, y = torch.arange(12.0).reshape(3, 4), torch.ones(3)
    interpret(program([M, "memref<3xf32>"], body, ["%1: memref<3xf32>"]), [x, y])
    assert torch.equal(y, x.sum(1) + 1)


def test_strides_indices_and_scalars() -> None:
    body = generic(
        f"affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> ()>, {ALL}",
        '"parallel", "parallel"',
        "%0, %2 : memref<?x?xf32, strided<[?, ?]>>, f32",
        "%1 : memref<?x?xf32>",
        """%i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %p = arith.mulf %a, %s : f32
    %r = arith.addf %p, %f : f32
    linalg.yield %r : f32""",
        "%a: f32, %s: f32, %o: f32",
    )
    types = ["memref<?x?xf32, strided<[?, ?]>>", "memref<?x?xf32>", "f32"]
    x, y = torch.arange(12.0).reshape(3, 4)[:, ::2], torch.zeros(2, 3)
    interpret(program(types, body, ["%1: memref<?x?xf32>"]), [x, y, 10.0])
    assert torch.equal(y, x.T * 10 + torch.tensor([[0.0], [1.0]]))


def test_sizes_that_differ() -> None:
    body = generic(
        f"{ALL}, {ALL}",
        '"parallel", "parallel"',
        "%0 : memref<?x?xf32>",
        "%1 : memref<?x?xf32>",
        "linalg.yield %a : f32",
        "%a: f32, %b: f32",
    )
    text = program(["memref<?x?xf32>"] * 2, body, [])
    with pytest.raises(InputError, match="input 'input1' has size 3 where another operand has 2"):
        interpret(text, [torch.zeros(2, 2), torch.zeros(2, 3)])


def test_named_operations() -> None:
    body = """\
  %y = "hir.allocate"() : () -> memref<3x3xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<3x3xf32>)
  linalg.matmul ins(%0, %1 : memref<3x4xf32>, memref<4x3xf32>) outs(%y : memref<3x3xf32>)"""
    x, w = torch.randn(3, 4), torch.randn(4, 3)
    text = program([M, "memref<4x3xf32>"], body, ["%y: memref<3x3xf32>"])
    torch.testing.assert_close(interpret(text, [x, w])[0], x @ w)


def test_what_was_not_written_may_not_be_accumulated_to() -> None:
    body = """\
  %y = "hir.allocate"() : () -> memref<3x3xf32>
  linalg.matmul ins(%0, %1 : memref<3x4xf32>, memref<4x3xf32>) outs(%y : memref<3x3xf32>)"""
    text = program([M, "memref<4x3xf32>"], body, ["%y: memref<3x3xf32>"])
    with pytest.raises(InputError, match="nothing was written to"):
        interpret(text, [torch.zeros(3, 4), torch.zeros(4, 3)])


def test_stored_types() -> None:
    body = """\
  %s = builtin.unrealized_conversion_cast %0 : memref<4xui8> to memref<4xi8>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%s : memref<4xi8>) outs(%1 : memref<4xi32>) {
  ^bb0(%a: i8, %b: i32):
    %w = arith.extui %a : i8 to i32
    linalg.yield %w : i32
  }"""
    x, y = torch.tensor([0, 1, 200, 255], dtype=torch.uint8), torch.zeros(4, dtype=torch.int32)
    interpret(program(["memref<4xui8>", "memref<4xi32>"], body, ["%1: memref<4xi32>"]), [x, y])
    assert y.tolist() == [0, 1, 200, 255]


def test_metadata_and_casts() -> None:
    body = """\
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %0
    : memref<?x?xf32, strided<[?, ?], offset: ?>>
    -> memref<f32>, index, index, index, index, index
  %t = memref.reinterpret_cast %base to offset: [%offset], sizes: [%sizes#1, %sizes#0],
    strides: [%strides#1, %strides#0] : memref<f32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %c = memref.cast %t : memref<?x?xf32, strided<[?, ?], offset: ?>>
    to memref<4x?xf32, strided<[?, ?], offset: ?>>
  %part = memref.subview %c[1, 0] [2, 3] [2, 1] : memref<4x?xf32, strided<[?, ?], offset: ?>>
    to memref<2x3xf32, strided<[?, ?], offset: ?>>"""
    x = torch.arange(12.0).reshape(3, 4)
    text = program(
        ["memref<?x?xf32, strided<[?, ?], offset: ?>>"],
        body,
        ["%part: memref<2x3xf32, strided<[?, ?], offset: ?>>", "%offset: index"],
    )
    part, _ = interpret(text, [x])
    assert torch.equal(part, x.T[1::2])
    with pytest.raises(InputError, match="declared as 4x\\?, and is 3x3"):
        interpret(text, [x[:, :3]])


def test_an_offset_counts_from_the_beginning_of_the_memory() -> None:
    body = """\
  %two = arith.constant 2 : index
  %eight = arith.constant 8 : index
  %v = "hir.slice"(%0, %two, %eight) {axis = 0 : i64}
    : (memref<8xf32>, index, index) -> memref<6xf32, strided<[1], offset: 2>>
  %w = memref.reinterpret_cast %v to offset: [%1], sizes: [2], strides: [1]
    : memref<6xf32, strided<[1], offset: 2>> to memref<2xf32, strided<[1], offset: ?>>"""
    text = program(["memref<8xf32>", "index"], body, ["%w: memref<2xf32, strided<[1], offset: ?>>"])
    assert interpret(text, [torch.arange(8.0), 5])[0].tolist() == [5, 6]
    for outside in (-1, 7):
        with pytest.raises(InputError, match=f"2 from {outside} lies outside of input 'input0'"):
            interpret(text, [torch.arange(8.0), outside])


@pytest.mark.parametrize(
    ("rows", "size", "map_", "said"),
    [
        (1100, 1100, ALL, "1210000 times 4 operations on 1211100 elements are too slow"),
        (1200001, 4, "affine_map<(i, j) -> (i * 400, j)>", "16 times 4 operations on 4800008 ele"),
    ],
)
def test_what_takes_minutes_is_refused_at_once(rows: int, size: int, map_: str, said: str) -> None:
    """For its operations and elements, not for its points alone."""
    types = [f"memref<{rows}x{size}xf32>", f"memref<{size}xf32>"]
    body = generic(
        f"{ROWS}, {map_}",
        '"parallel", "parallel"',
        f"%1 : {types[1]}",
        f"%0 : {types[0]}",
        """%a = arith.addf %x, %x : f32
    %b = arith.mulf %a, %x : f32
    %c = arith.mulf %b, %x : f32
    linalg.yield %c : f32""",
        "%x: f32, %y: f32",
    )
    with pytest.raises(UnsupportedError, match=said):
        interpret(program(types, body, []), [torch.ones(rows, size), torch.ones(size)])


def test_an_index_that_loops_compute_is_within_the_buffer() -> None:
    body = generic(
        "affine_map<(i) -> (2 * i + 1)>, affine_map<(i) -> (i)>",
        '"parallel"',
        "%0 : memref<?xf32>",
        "%1 : memref<?xf32>",
        "linalg.yield %a : f32",
        "%a: f32, %o: f32",
    )
    text = program(["memref<?xf32>", "memref<?xf32>"], body, ["%1: memref<?xf32>"])
    (y,) = interpret(text, [torch.arange(8.0), torch.zeros(4)])
    assert torch.equal(y, torch.tensor([1.0, 3.0, 5.0, 7.0]))
    with pytest.raises(InputError, match="index 7 is out of range for input 'input0': size 7"):
        interpret(text, [torch.arange(7.0), torch.zeros(4)])


@pytest.mark.parametrize(("predicate", "sizes"), [("sle", (7, 4)), ("sge", (4, 7))])
def test_a_check_of_sizes_says_them(predicate: str, sizes: tuple[int, int]) -> None:
    """Messages are right even where canonicalization has swapped the operands of a comparison."""
    body = f"""  %ok = arith.cmpi {predicate}, %1, %2 : index
  cf.assert %ok, "wrong" {{hir.shown = "{{0}} and {{1}}"}}"""
    text = program(["memref<4xf32>", "index", "index"], body, ["%0: memref<4xf32>"])
    interpret(text, [torch.zeros(4), *reversed(sizes)])
    with pytest.raises(InputError, match="wrong: 7 and 4"):
        interpret(text, [torch.zeros(4), *sizes])
