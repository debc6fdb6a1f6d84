"""Convolutions in f32 as products of transformed tiles, on the CPU device against torch in f64."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

import hirc
from hirc.pipelines.contractions import winograd
from hirc.pipelines.contractions.minimal_filters import (
    MOST_PRODUCTS,
    MOST_RESULTS,
    minimal_filter,
)
from hirc.pipelines.passes import transform_convolutions

# Of the norm of normally distributed results; docs/matrix-products.md says 4e-6.
_ERROR = 4e-6
_CONVOLUTIONS: tuple[Callable[..., Tensor], ...] = (
    functional.conv1d,
    functional.conv2d,
    functional.conv3d,
)


@pytest.fixture(name="transformed")
def _transformed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Convolutions are transformed whatever time it takes; says of each that was found whether it
    was.
    """
    return _force(monkeypatch)


def _force(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    seen: list[bool] = []
    transform = winograd.transform_convolution

    def noted(*arguments: Any) -> Any:
        made = transform(*arguments)
        seen.append(made is not None)
        return made

    monkeypatch.setattr(winograd, "_direct_seconds", _endless)
    monkeypatch.setattr(transform_convolutions, "transform_convolution", noted)
    return seen


def _endless(*_: Any) -> float:
    return math.inf


def _compiled(function: Callable[..., Any], tensors: Sequence[Tensor], **options: Any) -> Any:
    return hirc.compile(
        function, tensors, target="cpu", float32_products="winograd", cache=False, **options
    )


def _normal(*shapes: Sequence[int]) -> list[Tensor]:
    generator = torch.Generator().manual_seed(sum(map(sum, shapes)))
    return [torch.randn(tuple(shape), generator=generator) for shape in shapes]


def _error(found: Tensor, exact: Tensor) -> float:
    assert found.shape == exact.shape
    norm = exact.norm().item()
    return (found.double() - exact).norm().item() / norm if norm else found.norm().item()


@pytest.mark.parametrize("window", range(2, MOST_PRODUCTS))
def test_matrices_give_filters(window: int) -> None:
    for results in range(1, min(MOST_RESULTS, MOST_PRODUCTS + 1 - window) + 1):
        found = minimal_filter(results, window)
        count = results + window - 1
        for place in range(count):
            for element in range(window):
                # The elements of one input and of one filter are 1.
                products = [
                    factor[element] * own[place]
                    for factor, own in zip(found.filter, found.inputs, strict=True)
                ]
                made = [
                    sum(each * product for each, product in zip(row, products, strict=True))
                    for row in found.outputs
                ]
                assert made == [int(place == element + row) for row in range(results)]


def _each(
    image: Tensor, odd: Tensor, line: Tensor, cube: Tensor, w: Tensor, v: Tensor, u: Tensor
) -> list[Tensor]:
    bias = w[:, 0, 0, 0]
    return [
        # Padded; its results are whole tiles.
        functional.conv2d(image, w, bias, padding=1).relu(),
        # Tiles reach beyond the results, and beyond an image that nothing is put around.
        functional.conv2d(odd, w),
        functional.conv2d(odd, w, padding=(0, 1)) + 1,
        # What is read besides the sums: elements of the results' own places.
        functional.conv2d(image, w[:4], padding=1) * image + image,
        functional.conv2d(image, w[:, :2], padding=1, groups=2),
        # Windows that are long, short, or of one element along a dim.
        functional.conv2d(image, torch.cat([w, w], -1)[..., :5], padding=(1, 2)),
        functional.conv2d(image, w[..., :1, :2]),
        functional.conv1d(line, v, padding=1),
        functional.conv3d(cube, u, padding=1),
        functional.conv_transpose2d(odd, w[:4], padding=1),
    ]


def test_kinds_of_convolutions(transformed: list[bool]) -> None:
    given_ = _normal(
        (2, 4, 8, 12),
        (1, 4, 7, 9),
        (2, 4, 13),
        (1, 4, 5, 4, 6),
        (6, 4, 3, 3),
        (5, 4, 3),
        (3, 4, 3, 3, 3),
    )
    net = _compiled(_each, given_, checks=["memory", "race"])
    exact = _each(*(each.double() for each in given_))
    for number, (found, wanted) in enumerate(zip(net(*given_), exact, strict=True)):
        assert _error(found, wanted) < _ERROR, number
    assert transformed == [True] * len(exact)


def _others(x: Tensor, w: Tensor, one: Tensor, deep: Tensor) -> list[Tensor]:
    return [
        functional.conv2d(x, w, stride=2),
        functional.conv2d(x, w, dilation=2),
        functional.conv2d(x, one),
        functional.conv2d(x.bfloat16(), w.bfloat16()).float(),
        functional.conv2d(x.double(), w.double()).float(),
        functional.conv2d(x, torch.cat([w, w, w], -1)[..., :8]),
        functional.conv_transpose2d(x, deep, stride=2),
        x.flatten(1) @ w.flatten()[: 4 * 100].view(400, 1).expand(400, 3),
    ]


def test_others_stay_as_they_are(transformed: list[bool]) -> None:
    given_ = _normal((1, 4, 10, 10), (12, 4, 3, 3), (5, 4, 1, 1), (4, 5, 2, 2))
    net = _compiled(_others, given_)
    for found, wanted in zip(net(*given_), _others(*given_), strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-2, atol=1e-2)
    assert not any(transformed)


@pytest.mark.parametrize("is_last", [False, True])
def test_channels_that_lie_together(transformed: list[bool], is_last: bool) -> None:
    def net(x: Tensor, w: Tensor) -> Tensor:
        y = functional.conv2d(x.permute(0, 3, 1, 2), w, padding=1)
        return y.permute(0, 2, 3, 1) if is_last else y

    given_ = _normal((2, 9, 8, 5), (7, 5, 3, 3))
    found = _compiled(net, given_)(*given_)
    assert _error(found, net(*(each.double() for each in given_))) < _ERROR
    assert transformed == [True]


def test_results_in_memory_of_any_strides(transformed: list[bool]) -> None:
    def net(x: Tensor, w: Tensor) -> Tensor:
        return functional.conv2d(x, w, padding=1).relu()

    given_ = _normal((2, 4, 6, 8), (6, 4, 3, 3))
    compiled = _compiled(net, given_)
    exact = net(*(each.double() for each in given_))
    for room in (
        torch.full((2, 6, 8, 6), math.nan).transpose(2, 3),
        torch.full((2, 6, 6, 9), math.nan)[..., 1:],
        torch.full((4, 6, 6, 8), math.nan)[::2],
    ):
        compiled.main(*given_, out=room)
        assert _error(room, exact) < _ERROR
    assert transformed == [True]


def test_each_result_is_within_the_bound(transformed: list[bool]) -> None:
    """Of numbers of one sign nothing cancels but what the transforms subtract."""

    def net(x: Tensor, w: Tensor) -> Tensor:
        return functional.conv2d(x, w)

    channels = 24
    x, w = (each.abs() + 1 for each in _normal((1, channels, 14, 14), (3, channels, 3, 3)))
    found = _compiled(net, (x, w))(x, w)
    exact = net(x.double(), w.double())
    # The factor of 4 results of 3 elements in docs/matrix-products.md, for each of two dims.
    bound = 2**-24 * (channels + 30) * channels * 30**2 * x.max() * w.max()
    assert (found.double() - exact).abs().max() < bound
    assert transformed == [True]


# Smaller failures take minutes to find, each with a build.
@settings(max_examples=12, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(data=st.data())
def test_any_convolution(data: st.DataObject) -> None:
    dims = data.draw(st.integers(1, 3))
    sizes = st.integers(1, 9 if dims < 3 else 5)
    window = [data.draw(st.integers(1, 5 if dims < 3 else 3)) for _ in range(dims)]
    padding = [data.draw(st.integers(0, size)) for size in window]
    image = [
        max(data.draw(sizes), size - 2 * around)
        for size, around in zip(window, padding, strict=True)
    ]
    groups, inner, outer = (data.draw(st.integers(1, 3)) for _ in range(3))
    batch = data.draw(st.integers(1, 2))
    has_bias = data.draw(st.booleans())

    def net(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        bias = b if has_bias else None
        return _CONVOLUTIONS[dims - 1](x, w, bias, padding=padding, groups=groups)

    given_ = _normal(
        (batch, groups * inner, *image), (groups * outer, inner, *window), (groups * outer,)
    )
    exact = net(*(each.double() for each in given_))
    with pytest.MonkeyPatch.context() as monkeypatch:
        seen = _force(monkeypatch)
        found = _compiled(net, given_)(*given_)
    size = net(*(each.double().abs() for each in given_)).abs().max()
    assert (found.double() - exact).abs().max() < _ERROR * max(size, 1)
    has_two = any(
        size > 1 and around > 1 for size, around in zip(window, exact.shape[2:], strict=True)
    )
    assert not any(seen) or has_two


_MATRIX = """
func.func @main(%x: tensor<?x4x3xf32> {hir.name = "x"}) -> (tensor<?x2x3xf32> {hir.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x3xf32>
  %e = tensor.empty(%n) : tensor<?x2x3xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(n, a, b, i, j) -> (n, i, j)>,
                       affine_map<(n, a, b, i, j) -> (n, a, b)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x : tensor<?x4x3xf32>) outs(%e : tensor<?x2x3xf32>) {
  ^bb0(%o: f32, %r: f32):
    %a = linalg.index 1 : index
    %b = linalg.index 2 : index
    %i = linalg.index 3 : index
    %j = linalg.index 4 : index
    %m = "hir.matrix_element"(%a, %i) {matrix = dense<[[1.0, -1.0, 0.5, 0.0], [0.0, 2.0, 0.0, 3.0]]>
        : tensor<2x4xf32>} : (index, index) -> f32
    %k = "hir.matrix_element"(%b, %j)
        {matrix = dense<[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [-1.0, 0.25, 2.0]]> : tensor<3x3xf32>}
        : (index, index) -> f32
    %p = arith.mulf %m, %k : f32
    %q = arith.mulf %o, %p : f32
    %s = "hir.reduce_loops"(%q) {kind = "addf", loops = array<i64: 3, 4>} : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<?x2x3xf32>
  return %y : tensor<?x2x3xf32>
}
"""


@pytest.mark.parametrize("schedules", ["tuned", "general"])
def test_matrices_of_a_program(schedules: str) -> None:
    first = np.array([[1, -1, 0.5, 0], [0, 2, 0, 3]])
    second = np.array([[0, 0, 0], [1, 1, 1], [-1, 0.25, 2]])
    net = hirc.compile(_MATRIX, target="cpu", schedules=schedules, cache=False)
    for count in (0, 1, 300):
        x = np.random.default_rng(count).standard_normal((count, 4, 3)).astype(np.float32)
        exact = np.einsum("ai,bj,nij->nab", first, second, x.astype(np.float64))
        np.testing.assert_allclose(net.main(x), exact, rtol=1e-5, atol=1e-5)


# Each pair of results is made of a pair of elements; of seven, the last of the eighth is none.
_PAIRS = """
func.func @main(%x: tensor<2xTILESxf32> {hir.name = "x"}) -> (tensor<7xf32> {hir.name = "y"}) {
  %e = tensor.empty() : tensor<7xf32>
  %two = tensor.empty() : tensor<2xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(o, i) -> (i, o floordiv 2)>, affine_map<(o, i) -> (o mod REST)>,
                       affine_map<(o, i) -> (o)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %two : tensor<2xTILESxf32>, tensor<2xf32>) outs(%e : tensor<7xf32>) {
  ^bb0(%v: f32, %none: f32, %r: f32):
    %c2 = arith.constant 2 : index
    %o = linalg.index 0 : index
    %i = linalg.index 1 : index
    %a = arith.remui %o, %c2 : index
    %m = "hir.matrix_element"(%a, %i) {matrix = dense<[[1.0, 1.0], [1.0, -1.0]]> : tensor<2x2xf32>}
        : (index, index) -> f32
    %p = arith.mulf %v, %m : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}
"""


@pytest.mark.parametrize(("tiles", "rest"), [(4, 2), (5, 2), (4, 1)])
def test_results_in_tiles_of_a_program(tiles: int, rest: int) -> None:
    """Near misses are computed one by one: tiles without results, and another rest."""
    text = _PAIRS.replace("TILES", str(tiles)).replace("REST", str(rest))
    net = hirc.compile(text, target="cpu", checks=["memory"], cache=False)
    x = np.arange(2 * tiles, dtype=np.float32).reshape(2, tiles) ** 2
    pairs = np.stack([x[0] + x[1], x[0] - x[1]], axis=-1)
    np.testing.assert_array_equal(net.main(x), pairs.reshape(-1)[:7])
