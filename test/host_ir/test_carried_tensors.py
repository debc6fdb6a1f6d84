"""Loops that carry tensors which cannot be updated in place."""

from __future__ import annotations

import numpy as np
from host_ir.libraries import library

_LOOP = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a, %b = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %y) -> (TYPE, TYPE) {"""
_TEXT = f"""
func.func @swap(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index)
    -> (tensor<?xf32>, tensor<?xf32>) {{{_LOOP.replace("TYPE", "tensor<?xf32>")}
    scf.yield %q, %p : tensor<?xf32>, tensor<?xf32>
  }}
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}}
func.func @from_outside(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index)
    -> (tensor<?xf32>, tensor<?xf32>) {{{_LOOP.replace("TYPE", "tensor<?xf32>")}
    %s = arith.addf %p, %y : tensor<?xf32>
    scf.yield %y, %s : tensor<?xf32>, tensor<?xf32>
  }}
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}}
func.func @one_for_both(%x: tensor<3x3xf32>, %y: tensor<3x3xf32>, %n: index)
    -> (tensor<3x3xf32>, tensor<3x3xf32>) {{{_LOOP.replace("TYPE", "tensor<3x3xf32>")}
    %e = tensor.empty() : tensor<3x3xf32>
    %t = linalg.transpose ins(%q : tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) permutation = [1, 0]
    %s = arith.addf %p, %t : tensor<3x3xf32>
    scf.yield %s, %s : tensor<3x3xf32>, tensor<3x3xf32>
  }}
  return %a, %b : tensor<3x3xf32>, tensor<3x3xf32>
}}
func.func @part_of_another(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index)
    -> (tensor<?xf32>, tensor<?xf32>) {{{_LOOP.replace("TYPE", "tensor<?xf32>")}
    %d = tensor.dim %q, %c0 : tensor<?xf32>
    %s = tensor.extract_slice %q[0] [%d] [1] : tensor<?xf32> to tensor<?xf32>
    %t = arith.mulf %p, %s : tensor<?xf32>
    scf.yield %s, %t : tensor<?xf32>, tensor<?xf32>
  }}
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}}
func.func @or_another(%x: tensor<4xf32>, %c: i1, %n: index) -> tensor<4xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> tensor<4xf32> {{
    %r = scf.if %c -> tensor<4xf32> {{
      %s = arith.addf %x, %x : tensor<4xf32>
      scf.yield %s : tensor<4xf32>
    }} else {{
      scf.yield %p : tensor<4xf32>
    }}
    scf.yield %r : tensor<4xf32>
  }}
  return %a : tensor<4xf32>
}}
func.func @or_what_is_outside(%x: tensor<4xf32>, %k: index, %n: index)
    -> (tensor<4xf32>, tensor<4xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.mulf %x, %x : tensor<4xf32>
  %d = arith.addf %x, %x : tensor<4xf32>
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%p = %d) -> tensor<4xf32> {{
    %c = arith.cmpi eq, %k, %i : index
    %r = scf.if %c -> tensor<4xf32> {{
      scf.yield %b : tensor<4xf32>
    }} else {{
      scf.yield %p : tensor<4xf32>
    }}
    scf.yield %r : tensor<4xf32>
  }}
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}}
"""


def test_what_a_loop_carries_need_not_be_updated_in_place() -> None:
    programs = library(_TEXT, "-O0")
    x = np.array([1, 2, 3], np.float32)
    y = 10 * x
    square = np.arange(9, dtype=np.float32).reshape(3, 3)
    for trips in (0, 1, 2, 3):
        a, b = x, y
        for _ in range(trips):
            a, b = b, a
        np.testing.assert_array_equal(programs["swap"](x, y, trips), (a, b))
        a, b = x, y
        for _ in range(trips):
            a, b = y, a + y
        np.testing.assert_array_equal(programs["from_outside"](x, y, trips), (a, b))
        a, b = square, square + 1
        for _ in range(trips):
            a = b = a + b.T
        given = programs["one_for_both"](square, square + 1, trips)
        np.testing.assert_array_equal(given, (a, b))
        a, b = x, y
        for _ in range(trips):
            a, b = b, a * b
        np.testing.assert_array_equal(programs["part_of_another"](x, y, trips), (a, b))
    row = np.array([1, 2, 3, 4], np.float32)
    np.testing.assert_array_equal(programs["or_another"](row, True, 2), 2 * row)
    np.testing.assert_array_equal(programs["or_another"](row, False, 2), row)
    for place in (-1, 0, 2, 5):
        given = programs["or_what_is_outside"](row, place, 3)
        chosen = row * row if place in range(3) else 2 * row
        np.testing.assert_array_equal(given, (chosen, row * row))
