"""Regions that must not be computed of what lies beyond a row."""

from __future__ import annotations

import pytest
import torch
from host_ir.libraries import library

_ROWS = "affine_map<(r, c) -> (r, c)>"
_ROW = "affine_map<(r, c) -> (r)>"


def _program(name: str, columns: str) -> str:
    """x / y less the greatest of its row, of integers."""
    rows, row = f"tensor<?x{columns}xi32>", "tensor<?xi32>"
    return f"""
func.func @{name}(%x: {rows}, %y: {rows}) -> {rows} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %least = arith.constant -2147483648 : i32
  %n = tensor.dim %x, %c0 : {rows}
  %m = tensor.dim %x, %c1 : {rows}
  %empty = tensor.empty(%n{", %m" if columns == "?" else ""}) : {rows}
  %few = tensor.empty(%n) : {row}
  %start = linalg.fill ins(%least : i32) outs(%few : {row}) -> {row}
  %q = linalg.generic {{indexing_maps = [{_ROWS}, {_ROWS}, {_ROWS}],
      iterator_types = ["parallel", "parallel"]}}
      ins(%x, %y : {rows}, {rows}) outs(%empty : {rows}) {{
  ^bb0(%a: i32, %b: i32, %o: i32):
    %d = arith.divsi %a, %b : i32
    linalg.yield %d : i32
  }} -> {rows}
  %most = linalg.generic {{indexing_maps = [{_ROWS}, {_ROW}],
      iterator_types = ["parallel", "reduction"]}} ins(%q : {rows}) outs(%start : {row}) {{
  ^bb0(%a: i32, %o: i32):
    %g = arith.maxsi %a, %o : i32
    linalg.yield %g : i32
  }} -> {row}
  %z = linalg.generic {{indexing_maps = [{_ROWS}, {_ROW}, {_ROWS}],
      iterator_types = ["parallel", "parallel"]}}
      ins(%q, %most : {rows}, {row}) outs(%empty : {rows}) {{
  ^bb0(%a: i32, %b: i32, %o: i32):
    %d = arith.subi %a, %b : i32
    linalg.yield %d : i32
  }} -> {rows}
  return %z : {rows}
}}
"""


@pytest.mark.parametrize("columns", [100, 1000, 1999, 2500])
def test_no_division_by_what_is_not_there(columns: int) -> None:
    texts = [_program("open", "?"), _program("known", "1000")]
    compiled = library("\n".join(texts), "--schedules=tuned", "-O0")
    x = torch.randint(-1000, 1000, (3, columns), dtype=torch.int32)
    y = torch.randint(1, 7, (3, columns), dtype=torch.int32)
    quotients = torch.div(x, y, rounding_mode="trunc")
    expected = quotients - quotients.amax(1, keepdim=True)
    for name in ("open", "known") if columns == 1000 else ("open",):
        assert torch.equal(compiled.programs[name](x, y), expected)


_PICK = """
func.func @pick(%at: tensor<?xi8>, %table: tensor<?x9xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0.0 : f32
  %n = tensor.dim %at, %c0 : tensor<?xi8>
  %rows = tensor.dim %table, %c0 : tensor<?x9xf32>
  %agree = arith.cmpi eq, %n, %rows : index
  cf.assert %agree, "a row for each"
  %empty = tensor.empty(%n) : tensor<?xf32>
  %one = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%none : f32) outs(%one : tensor<f32>) -> tensor<f32>
  %p = linalg.generic {indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> (r)>],
      iterator_types = ["parallel"]} ins(%at : tensor<?xi8>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: i8, %o: f32):
    %r = linalg.index 0 : index
    %c = arith.index_cast %a : i8 to index
    %e = tensor.extract %table[%r, %c] : tensor<?x9xf32>
    linalg.yield %e : f32
  } -> tensor<?xf32>
  %sum = linalg.reduce {arith.addf} ins(%p : tensor<?xf32>) outs(%start : tensor<f32>)
    dimensions = [0]
  %spread = linalg.broadcast ins(%sum : tensor<f32>) outs(%empty : tensor<?xf32>)
    dimensions = [0]
  %z = arith.divf %p, %spread : tensor<?xf32>
  return %z : tensor<?xf32>
}
"""


def test_no_reads_by_indices_that_are_not_there() -> None:
    """Rows shorter than a vector, or that have no whole one behind the first aligned element."""
    compiled = library(_PICK, "--schedules=tuned", "--check=memory")
    for length in (1, 3, 15, 16, 17, 30, 31, 47, 300):
        for start in (0, 5):
            at = torch.randint(9, (start + length,), dtype=torch.int8)[start:]
            table = torch.rand(length, 9)
            picked = table.gather(1, at[:, None].long())[:, 0]
            found = compiled.programs["pick"](at, table)
            assert torch.allclose(found, picked / picked.sum())
