"""Extremes by maxnumf and minnumf, begun with an infinity: a number is taken before a nan. Sums."""

from __future__ import annotations

import numpy as np
import pytest
from host_ir.libraries import library

# They share what is compiled, so one process runs them all.
pytestmark = pytest.mark.xdist_group("extremes")

_NAN, _INF = np.nan, np.inf
_ROWS = np.array(
    [
        [_NAN, _NAN, _NAN],
        [_NAN, -_INF, -_INF],
        [_INF, _NAN, 1],
        [2, _NAN, 3],
        [-_INF, -_INF, -_INF],
        [_INF, _INF, _INF],
    ],
    np.float32,
)


def _extreme(name: str, kind: str, start: str) -> str:
    return f"""
func.func @{name}(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<f32>) {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %first = arith.constant {start} : f32
  %rows = tensor.empty(%n) : tensor<?xf32>
  %one = tensor.empty() : tensor<f32>
  %begun = linalg.fill ins(%first : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %whole = linalg.fill ins(%first : f32) outs(%one : tensor<f32>) -> tensor<f32>
  %y = linalg.reduce {{arith.{kind}}} ins(%x : tensor<?x?xf32>) outs(%begun : tensor<?xf32>)
       dimensions = [1]
  %z = linalg.reduce {{arith.{kind}}} ins(%x : tensor<?x?xf32>) outs(%whole : tensor<f32>)
       dimensions = [0, 1]
  return %y, %z : tensor<?xf32>, tensor<f32>
}}"""


def _place(name: str, order: str, start: str) -> str:
    return f"""
func.func @{name}(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xi64>) {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %first = arith.constant {start} : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %rows = tensor.empty(%n) : tensor<?xf32>
  %places = tensor.empty(%n) : tensor<?xi64>
  %begun = linalg.fill ins(%first : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %at = linalg.fill ins(%zero : i64) outs(%places : tensor<?xi64>) -> tensor<?xi64>
  %y, %p = linalg.generic {{
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<?x?xf32>) outs(%begun, %at : tensor<?xf32>, tensor<?xi64>) {{
  ^bb0(%a: f32, %most: f32, %place: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %better = arith.cmpf {order}, %a, %most : f32
    %v = arith.select %better, %a, %most : f32
    %w = arith.select %better, %k, %place : i64
    linalg.yield %v, %w : f32, i64
  }} -> (tensor<?xf32>, tensor<?xi64>)
  return %y, %p : tensor<?xf32>, tensor<?xi64>
}}"""


_LOWEST, _HIGHEST, _NEITHER = "0xFF800000", "0x7F800000", "0x7FC00000"
_TEXT = "\n".join(
    [
        _extreme("greatest", "maxnumf", _LOWEST),
        _extreme("least", "minnumf", _HIGHEST),
        _extreme("greatest_number", "maxnumf", _NEITHER),
        _extreme("total", "addf", "0.0"),
        _place("place_of_greatest", "ogt", _LOWEST),
        _place("place_of_least", "olt", _HIGHEST),
    ]
)


@pytest.mark.parametrize(
    ("name", "best", "start"),
    [
        ("greatest", np.fmax, -_INF),
        ("least", np.fmin, _INF),
        ("greatest_number", np.fmax, _NAN),
    ],
)
@pytest.mark.parametrize("rows", [len(_ROWS), 1, 0])
def test_an_extreme_begins_with_its_start(
    name: str, best: np.ufunc, start: float, rows: int
) -> None:
    x = _ROWS[:rows]
    y, z = library(_TEXT, "-O0", "--schedules=tuned")[name](x)
    begun = np.float32(start)
    np.testing.assert_array_equal(y, best(best.reduce(x, axis=1), begun))
    np.testing.assert_array_equal(z, best.reduce(x.ravel(), initial=begun))


@pytest.mark.parametrize("rows", [6, 1, 0])
def test_a_sum_of_negative_zeros_is_zero(rows: int) -> None:
    """As torch's and NumPy's, which begin with +0: atan2 and reciprocals tell them apart."""
    y, z = library(_TEXT, "-O0", "--schedules=tuned")["total"](-np.zeros((rows, 3), np.float32))
    assert (y.shape, z) == ((rows,), 0)
    assert not np.signbit(y).any()
    assert not np.signbit(z)


@pytest.mark.parametrize(("name", "sign"), [("place_of_greatest", 1), ("place_of_least", -1)])
def test_a_place_is_the_first_that_is_better_than_the_start(name: str, sign: int) -> None:
    y, places = library(_TEXT, "-O0", "--schedules=tuned")[name](sign * _ROWS)
    for row, most, place in zip(sign * _ROWS, y, places, strict=True):
        best, at = np.float32(-sign * _INF), 0
        for number, value in enumerate(row):
            if sign * value > sign * best:
                best, at = value, number
        assert (most, place) == (best, at)
