"""Every tile of f32 with every way that the factors lie: threads copy whole steps of a tile."""

from __future__ import annotations

import numpy as np
import pytest

import hirc
from hirc.pipelines.schedules.contraction import configuration

_ROWS, _COLUMNS, _TERMS = 48, 264, 352
# A sum is made in one part, or in two.
_PARTS = {"rk": 1, "kr": 2}
_TILES = {
    f"{tile.rows}x{tile.columns}": tile
    for tile in configuration._TILES  # pyright: ignore[reportPrivateUsage]
}


def _program(first: str, second: str, asks: str) -> str:
    """A product of f32: `first` and `second` are the factors' dims, outermost first."""
    sizes = {"r": _ROWS, "c": _COLUMNS, "k": _TERMS}
    types = [
        f"tensor<{'x'.join(str(sizes[dim]) for dim in dims)}xf32>" for dims in (first, second, "rc")
    ]
    maps = [f"affine_map<(r, c, k) -> ({', '.join(dims)})>" for dims in (first, second, "rc")]
    return f"""
func.func @main(%a: {types[0]} {{hir.name = "a"}}, %b: {types[1]} {{hir.name = "b"}})
    -> ({types[2]} {{hir.name = "y"}}) {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {types[2]}
  %start = linalg.fill ins(%zero : f32) outs(%empty : {types[2]}) -> {types[2]}
  %y = linalg.generic {{indexing_maps = [{", ".join(maps)}],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %b : {types[0]}, {types[1]}) outs(%start : {types[2]})
      attrs = {{hir.configuration = {{family = "contraction", {asks}}}}} {{
  ^bb0(%one: f32, %other: f32, %sum: f32):
    %product = arith.mulf %one, %other : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  }} -> {types[2]}
  return %y : {types[2]}
}}
"""


@pytest.mark.parametrize("second", ["kc", "ck"])
@pytest.mark.parametrize("first", ["rk", "kr"])
@pytest.mark.parametrize("tile", _TILES)
def test_tiles(tile: str, first: str, second: str) -> None:
    asked = _TILES[tile].decision(stages=3, parts=_PARTS[first])
    asks = ", ".join(
        f"{name} = {value}" for name, value in asked.values.items() if name != "family"
    )
    draw = np.random.default_rng(7)
    a = draw.standard_normal((_ROWS, _TERMS)).astype(np.float32)
    b = draw.standard_normal((_TERMS, _COLUMNS)).astype(np.float32)
    text = _program(first, second, asks)
    program = hirc.compile(text, target="cpu", products="own", cache=False)
    given = np.ascontiguousarray(a.T if first == "kr" else a)
    other = np.ascontiguousarray(b.T if second == "ck" else b)
    found = np.asarray(program(given, other))
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-4)
