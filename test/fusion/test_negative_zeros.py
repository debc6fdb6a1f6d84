"""Sums and products that begin with 0 give 0 of nothing but -0, however few terms they have."""

from __future__ import annotations

import numpy as np
import pytest
from host_ir.libraries import library

# They share what is compiled, so one process runs them all.
pytestmark = pytest.mark.xdist_group("negative-zeros")

_TERMS = (1, 2, 40)
_TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16}


def _sum(name: str, size: str, element: str) -> str:
    return f"""
func.func @{name}(%x: tensor<3x{size}x{element}>) -> tensor<3x{element}> {{
  %zero = arith.constant 0.0 : {element}
  %e = tensor.empty() : tensor<3x{element}>
  %f = linalg.fill ins(%zero : {element}) outs(%e : tensor<3x{element}>) -> tensor<3x{element}>
  %y = linalg.reduce {{arith.addf}} ins(%x : tensor<3x{size}x{element}>)
       outs(%f : tensor<3x{element}>) dimensions = [1]
  return %y : tensor<3x{element}>
}}"""


def _product(name: str, size: str, element: str) -> str:
    return f"""
func.func @{name}(%x: tensor<3x{size}x{element}>, %y: tensor<{size}x4x{element}>)
    -> tensor<3x4x{element}> {{
  %zero = arith.constant 0.0 : {element}
  %e = tensor.empty() : tensor<3x4x{element}>
  %f = linalg.fill ins(%zero : {element}) outs(%e : tensor<3x4x{element}>)
       -> tensor<3x4x{element}>
  %z = linalg.matmul ins(%x, %y : tensor<3x{size}x{element}>, tensor<{size}x4x{element}>)
       outs(%f : tensor<3x4x{element}>) -> tensor<3x4x{element}>
  return %z : tensor<3x4x{element}>
}}"""


_CASES = [(size, element) for size in (*map(str, _TERMS), "?") for element in _TYPES]


def _named(kind: str, size: str, element: str) -> str:
    return f"{kind}_{size.replace('?', 'open')}_{element}"


_SOURCE = "\n".join(
    write(_named(kind, *case), *case)
    for case in _CASES
    for kind, write in (("sum", _sum), ("product", _product))
)


@pytest.mark.parametrize(("size", "element"), _CASES)
def test_sums_of_negative_zeros_are_zero(size: str, element: str) -> None:
    programs = library(_SOURCE)
    for terms in _TERMS if size == "?" else (int(size),):
        rows = np.full((3, terms), -0.0, _TYPES[element])
        columns = np.ones((terms, 4), _TYPES[element])
        for result in (
            programs[_named("sum", size, element)](rows),
            programs[_named("product", size, element)](rows, columns),
        ):
            assert not np.any(result)
            assert not np.any(np.signbit(result))
