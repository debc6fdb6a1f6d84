"""Rows with two reductions that one pass does, of softmax and layer norm, and what is near it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from host_ir.libraries import library

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from support.evaluate_generic import evaluate

_ROWS, _COLUMNS = 9, 300
_WHOLE, _ROW = f"tensor<{_ROWS}x{_COLUMNS}xf32>", f"tensor<{_ROWS}xf32>"
_IDENTITY, _OF_ROW = "affine_map<(i, j) -> (i, j)>", "affine_map<(i, j) -> (i)>"


def _reduced(result: str, value: str, kind: str, start: str) -> str:
    return f"""
  %start_{result} = arith.constant {start} : f32
  %filled_{result} = linalg.fill ins(%start_{result} : f32) outs(%row : {_ROW}) -> {_ROW}
  %{result} = linalg.generic {{indexing_maps = [{_IDENTITY}, {_OF_ROW}],
                               iterator_types = ["parallel", "reduction"]}}
    ins(%{value} : {_WHOLE}) outs(%filled_{result} : {_ROW}) {{
  ^bb0(%a: f32, %o: f32):
    %y = arith.{kind} %o, %a : f32
    linalg.yield %y : f32
  }} -> {_ROW}"""


def _mapped(result: str, values: str, body: str) -> str:
    """An elementwise operation of tensors and rows; the latter's names are of one letter."""
    names = values.split()
    kinds = [_ROW if len(name) == 1 else _WHOLE for name in names]
    maps = [_OF_ROW if len(name) == 1 else _IDENTITY for name in names]
    arguments = "".join(f"%{letter}: f32, " for letter in "abc"[: len(names)])
    return f"""
  %{result} = linalg.generic {{indexing_maps = [{", ".join([*maps, _IDENTITY])}],
                               iterator_types = ["parallel", "parallel"]}}
    ins({", ".join(f"%{name}" for name in names)} : {", ".join(kinds)}) outs(%whole : {_WHOLE}) {{
  ^bb0({arguments}%o: f32):
    {body}
    linalg.yield %y : f32
  }} -> {_WHOLE}"""


def _softmax(
    power: str = "%d = arith.subf %a, %b : f32\n%y = math.exp %d : f32",
    most: tuple[str, str, str] = ("xx", "maximumf", "0xFF800000"),
    powers: str = "xx m",
    total: tuple[str, str] = ("addf", "0.0"),
    quotient: str = "%y = arith.divf %a, %b : f32",
) -> str:
    return (
        _reduced("m", *most)
        + _mapped("ee", powers, power)
        + _reduced("s", "ee", *total)
        + _mapped("result", "ee s", quotient)
    )


def _norm(
    mean: str = "%y = arith.divf %b, %n : f32",
    of: str = "xx",
    apart: str = "xx m",
    square: str = "%y = arith.mulf %a, %a : f32",
    squared: str = "dd",
) -> str:
    # The mean is computed in whole rows, so that every operation has one shape.
    return (
        _reduced("t", of, "addf", "0.0")
        + _mapped("mm", "xx t", f"%n = arith.constant {_COLUMNS}.0 : f32\n{mean}")
        + _mapped("dd", apart.replace(" m", " mm"), "%y = arith.subf %a, %b : f32")
        + _mapped("qq", squared, square)
        + _reduced("v", "qq", "addf", "0.0")
        + _mapped("result", "dd v", "%y = arith.addf %a, %b : f32")
    )


_DIFFERENCE = "%d = arith.subf %a, %b : f32\n"
CASES = {
    "softmax": _softmax(),
    "softmax_exp2": _softmax(_DIFFERENCE + "%y = math.exp2 %d : f32"),
    "greatest_number": _softmax(most=("xx", "maxnumf", "0xFF800000")),
    "least": _softmax(most=("xx", "minimumf", "0x7F800000")),
    "greatest_of_another": _softmax(most=("zz", "maximumf", "0xFF800000")),
    "turned": _softmax("%d = arith.subf %b, %a : f32\n%y = math.exp %d : f32"),
    "begun_with_one": _softmax(total=("addf", "1.0")),
    "greatest_above_zero": _softmax(most=("xx", "maximumf", "0.0")),
    "norm": _norm(),
    "mean_of_another": _norm(of="zz"),
    "mean_and_one": _norm(
        "%h = arith.constant 1.0 : f32\n%g = arith.divf %b, %n : f32\n%y = arith.addf %g, %h : f32"
    ),
    "product_with_another": _norm(square="%y = arith.mulf %a, %b : f32", squared="dd zz"),
    "cubes": _norm(square="%g = arith.mulf %a, %a : f32\n%y = arith.mulf %g, %a : f32"),
}


def _function(name: str, body: str) -> str:
    return f"""
func.func @{name}(%xx: {_WHOLE}, %zz: {_WHOLE}) -> {_WHOLE} {{
  %row = tensor.empty() : {_ROW}
  %whole = tensor.empty() : {_WHOLE}{body}
  return %result : {_WHOLE}
}}"""


@pytest.mark.parametrize("name", CASES)
def test_rows_are_computed_as_written(name: str) -> None:
    texts = {each: _function(each, body) for each, body in CASES.items()}
    programs = library("\n".join(texts.values()), "-O0", "--schedules=tuned")
    numbers = np.random.default_rng(0)
    x, z = (numbers.standard_normal((_ROWS, _COLUMNS)).astype(np.float32) for _ in range(2))
    x[1, 7], x[2, 8], x[3, 9] = np.nan, np.inf, -np.inf
    x[4], x[5, 100:], x[6] = -np.inf, -np.inf, 50
    session = Session()
    with session.context:
        module = ir.Module.parse(texts[name])
        (wanted,) = evaluate(module.body.operations[0].operation, [x, z])
    got = programs[name](torch.from_numpy(x), torch.from_numpy(z))
    np.testing.assert_allclose(got.numpy(), wanted, rtol=2e-4, atol=2e-4)
