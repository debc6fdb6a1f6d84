"""Views are torch views of the same memory, and what cannot be one is an error."""

from __future__ import annotations

import pytest
import torch

from hirc.compiler.errors import InputError
from hirc.compiler.interpreter import interpret
from support.host_ir import parsed, program

ANY = "memref<?x?xf32, strided<[?, ?], offset: ?>>"
ROW = "memref<?xf32, strided<[?], offset: ?>>"


def view(body: str, result: str, *numbers: int, x: torch.Tensor | None = None) -> torch.Tensor:
    """What a view of a 4x6 matrix (or `x`) of numbers 0 to 23 gives; %0 is it, %1... `numbers`."""
    x = torch.arange(24.0).reshape(4, 6) if x is None else x
    text = program([ANY, *["index"] * len(numbers)], body, [f"%y: {result}"])
    (y,) = interpret(parsed(text), [x, *numbers])
    assert y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    return y


def test_select() -> None:
    body = f'%y = "hir.select"(%0, %1) {{axis = 1 : i64}} : ({ANY}, index) -> {ROW}'
    assert view(body, ROW, 2).tolist() == [2, 8, 14, 20]


@pytest.mark.parametrize("index", [-1, 6])
def test_select_out_of_range(index: int) -> None:
    body = f'%y = "hir.select"(%0, %1) {{axis = 1 : i64}} : ({ANY}, index) -> {ROW}'
    with pytest.raises(
        InputError, match=f"index {index} is out of range for axis 1 of input 'input0'"
    ):
        view(body, ROW, index)


def slice_text(step: int) -> str:
    return (
        f'%y = "hir.slice"(%0, %1, %2) {{axis = 1 : i64, step = {step} : i64}} : '
        f"({ANY}, index, index) -> {ANY}"
    )


@pytest.mark.parametrize(("start", "stop", "step"), [(1, 5, 2), (0, 6, 4), (2, 2, 1), (6, 6, 3)])
def test_slice(start: int, stop: int, step: int) -> None:
    x = torch.arange(24.0).reshape(4, 6)
    assert torch.equal(view(slice_text(step), ANY, start, stop, x=x), x[:, start:stop:step])


@pytest.mark.parametrize(("start", "stop"), [(-1, 2), (3, 2), (0, 7), (7, 7)])
def test_slice_out_of_range(start: int, stop: int) -> None:
    with pytest.raises(InputError, match="do not lie within axis 1"):
        view(slice_text(1), ANY, start, stop)


def test_permute() -> None:
    body = f'%y = "hir.permute"(%0) {{order = array<i64: 1, 0>}} : ({ANY}) -> {ANY}'
    x = torch.arange(24.0).reshape(4, 6)
    assert torch.equal(view(body, ANY, x=x), x.T)


THREE = "memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>"
RESHAPE = f'%y = "hir.reshape"(%0, %1, %2, %3) : ({ANY}, index, index, index) -> {THREE}'


@pytest.mark.parametrize(
    ("x", "sizes"),
    [
        (torch.arange(24.0).reshape(4, 6), (2, 2, 6)),
        (torch.arange(24.0).reshape(4, 6), (8, 1, 3)),
        (torch.arange(24.0).reshape(6, 4).T, (2, 2, 6)),
        (torch.arange(48.0).reshape(4, 12)[:, ::2], (4, 1, 6)),
        (torch.arange(48.0).reshape(4, 12)[:, ::2], (1, 24, 1)),
        (torch.arange(24.0).reshape(4, 6)[:, :0], (0, 5, 7)),
        (torch.arange(1.0).reshape(1, 1), (1, 1, 1)),
    ],
)
def test_reshape(x: torch.Tensor, sizes: tuple[int, int, int]) -> None:
    assert torch.equal(view(RESHAPE, THREE, *sizes, x=x), x.view(sizes))


@pytest.mark.parametrize(
    ("x", "sizes", "message"),
    [
        (torch.zeros(6, 4).T, (1, 1, 24), "hir.set|cannot be seen as 1x1x24"),
        (torch.zeros(4, 12)[:, :6], (2, 1, 12), "cannot be seen as"),
        (torch.zeros(4, 6), (4, 6, 2), "4x6 elements, which are not 4x6x2"),
    ],
)
def test_reshape_that_is_no_view(
    x: torch.Tensor, sizes: tuple[int, int, int], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        view(RESHAPE, THREE, *sizes, x=x)


EXPAND = f'%y = "hir.expand"(%0, %1, %2, %3) : ({ANY}, index, index, index) -> {THREE}'


def test_expand() -> None:
    x = torch.arange(4.0).reshape(4, 1)
    y = view(EXPAND, THREE, 2, 4, 3, x=x)
    assert torch.equal(y, x.expand(2, 4, 3))
    assert y.stride() == (0, 1, 0)


def test_only_a_size_of_one_is_repeated() -> None:
    with pytest.raises(
        InputError, match="dim 0 of input 'input0' has size 4 and cannot be repeated to 8"
    ):
        view(EXPAND, THREE, 2, 8, 6)


def test_a_view_is_written_through() -> None:
    body = f"""\
  %i = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %y = "hir.select"(%0, %i) {{axis = 0 : i64}} : ({ANY}, index) -> {ROW}
  "hir.set"(%zero, %y) : (f32, {ROW}) -> ()"""
    x = torch.ones(3, 2)
    interpret(program([ANY], body, [f"%0: {ANY}"]), [x])
    assert x.tolist() == [[1, 1], [0, 0], [1, 1]]
