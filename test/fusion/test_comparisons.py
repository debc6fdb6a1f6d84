"""Reductions that compare and select, in every form, with nans among the values and the starts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from host_ir.libraries import library

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from support.evaluate_generic import evaluate

# They share what is compiled, so one process runs them all.
pytestmark = pytest.mark.xdist_group("comparisons")

_NAN, _INF = np.nan, np.inf
_ROWS = np.array(
    [
        *([1, 2, 3, -1, 0], [_NAN, 1, 2, 3, 4], [1, _NAN, 5, 2, 7], [5, 4, _NAN, 1, _NAN]),
        *([_NAN] * 5, [-_INF] * 5, [_INF, -_INF, _NAN, 3, 2], [-3, -2, -5, -9, -2]),
    ],
    np.float32,
)
_STARTS = np.array([_NAN, 1, _NAN, 2, _NAN, _NAN, 3, -4], np.float32)
_CONSTANTS = {"nan": "0x7FC00000", "lowest": "0xFF800000", "highest": "0x7F800000"}
_PREDICATES = ("ogt", "oge", "olt", "ole", "ugt", "uge", "ult", "ule")
_BODIES = {
    f"{predicate}_{order[1]}{arms[1]}": f"%is = arith.cmpf {predicate}, {order} : f32\n"
    f"%y = arith.select %is, {arms} : f32"
    for predicate, order, arms in product(_PREDICATES, ("%v, %a", "%a, %v"), ("%v, %a", "%a, %v"))
}


def _function(name: str, body: str, start: str | None) -> str:
    begun = "%starts" if start is None else "%filled"
    return f"""
func.func @{name}(%x: tensor<8x5xf32>, %starts: tensor<8xf32>) -> tensor<8xf32> {{
  %c = arith.constant {start or "0.0"} : f32
  %empty = tensor.empty() : tensor<8xf32>
  %filled = linalg.fill ins(%c : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}}
    ins(%x : tensor<8x5xf32>) outs({begun} : tensor<8xf32>) {{
  ^bb0(%v: f32, %a: f32):
    {body}
    linalg.yield %y : f32
  }} -> tensor<8xf32>
  return %r : tensor<8xf32>
}}"""


# Each form begins with what is given, and a few with one of the constants.
_TEXTS = {
    f"{name}_{start}": _function(f"{name}_{start}", body, _CONSTANTS.get(start))
    for number, (name, body) in enumerate(_BODIES.items())
    for start in ("given", *list(_CONSTANTS)[number % 4 : number % 4 + (number % 5 == 0)])
}


@pytest.mark.parametrize("name", _TEXTS)
def test_a_nan_stays_or_goes_as_it_is_written(name: str) -> None:
    programs = library("\n".join(_TEXTS.values()), "-O0", "--schedules=general")
    session = Session()
    with session.context:
        module = ir.Module.parse(_TEXTS[name])
        (wanted,) = evaluate(module.body.operations[0].operation, [_ROWS, _STARTS])
    got = programs[name](torch.from_numpy(_ROWS), torch.from_numpy(_STARTS))
    np.testing.assert_array_equal(got.numpy(), wanted)
