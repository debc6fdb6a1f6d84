"""Sizes that do not fit, found when a program runs: views that are none, memory that cannot be."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from host_ir.libraries import library, linked

# They share what is compiled, so one process runs them all.
pytestmark = pytest.mark.xdist_group("size_checks")

# Each call is in a process of its own, which a failed check ends.
_CALLER = """
import json, os, sys, tempfile
import numpy as np
import hirc

for name, arguments in json.load(sys.stdin):
    errors = tempfile.TemporaryFile("w+")
    child = os.fork()
    if child == 0:
        os.dup2(errors.fileno(), 2)
        given = [
            each
            if isinstance(each, int)
            else np.array(each["values"])
            if isinstance(each, dict)
            else np.zeros(each, np.float32)
            for each in arguments
        ]
        try:
            hirc.load(sys.argv[1])[name](*given)
        except hirc.compiler.errors.InputError as error:
            print(error, file=sys.stderr)
            os._exit(1)
        except ValueError as error:  # NumPy has no array of such sizes, though it is empty
            assert "array is too big" in str(error), error
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    errors.seek(0)
    print(json.dumps([status, errors.read()]), flush=True)
"""

_TEXT = """
func.func @cast(%x: tensor<?x?xf32>) -> tensor<?x4xf32> {
  %y = tensor.cast %x : tensor<?x?xf32> to tensor<?x4xf32>
  %z = arith.addf %y, %y : tensor<?x4xf32>
  return %z : tensor<?x4xf32>
}
func.func @cast_of_output(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %c = tensor.cast %e : tensor<?xf32> to tensor<4xf32>
  %z = linalg.exp ins(%x : tensor<4xf32>) outs(%c : tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func @beside_reshape(%x: tensor<2x4xf32>, %w: tensor<?xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %p = linalg.exp ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = tensor.collapse_shape %p [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  %f = tensor.empty() : tensor<8xf32>
  %y = linalg.add ins(%c, %w : tensor<8xf32>, tensor<?xf32>)
      outs(%f : tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @copy(%x: tensor<?xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %c = linalg.copy ins(%x : tensor<?xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %f = tensor.empty() : tensor<16xf32>
  %i = tensor.insert_slice %c into %f[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %y = tensor.insert_slice %c into %i[8] [8] [1] : tensor<8xf32> into tensor<16xf32>
  return %y : tensor<16xf32>
}
func.func @expand(%x: tensor<?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %y = tensor.expand_shape %x [[0, 1]] output_shape [%n, %m] : tensor<?xf32> into tensor<?x?xf32>
  %z = arith.addf %y, %y : tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
func.func @expand_by_4(%x: tensor<?x2xf32>, %n: index) -> tensor<?x4x2xf32> {
  %y = tensor.expand_shape %x [[0, 1], [2]] output_shape [%n, 4, 2]
      : tensor<?x2xf32> into tensor<?x4x2xf32>
  %z = arith.addf %y, %y : tensor<?x4x2xf32>
  return %z : tensor<?x4x2xf32>
}
func.func @slice(%x: tensor<?xf32>, %o: index, %n: index) -> tensor<?xf32> {
  %y = tensor.extract_slice %x[%o] [%n] [2] : tensor<?xf32> to tensor<?xf32>
  %z = arith.addf %y, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}
func.func @slice_of_4(%x: tensor<3x?xf32>) -> tensor<4xf32> {
  %y = tensor.extract_slice %x[1, 2] [1, 4] [1, 1] : tensor<3x?xf32> to tensor<4xf32>
  %z = arith.addf %y, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func @slice_by(%x: tensor<?xf32>, %o: index, %n: index, %step: index) -> tensor<?xf32> {
  %y = tensor.extract_slice %x[%o] [%n] [%step] : tensor<?xf32> to tensor<?xf32>
  %z = arith.addf %y, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}
func.func @turned(%x: tensor<?xf32>, %o: index) -> tensor<4xf32> {
  %y = tensor.extract_slice %x[%o] [4] [-1] : tensor<?xf32> to tensor<4xf32>
  %z = arith.addf %y, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func @insert(%x: tensor<?xf32>, %s: tensor<?xf32>, %o: index, %n: index) -> tensor<?xf32> {
  %y = tensor.insert_slice %s into %x[%o] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @insert_row(%x: tensor<2x?x3xf32>, %s: tensor<?xf32>, %n: index) -> tensor<2x?x3xf32> {
  %y = tensor.insert_slice %s into %x[1, 0, 2] [1, %n, 1] [1, 1, 1]
      : tensor<?xf32> into tensor<2x?x3xf32>
  return %y : tensor<2x?x3xf32>
}
func.func @concat(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %z = tensor.concat dim(0) %x, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
func.func @fill(%n: index, %m: index) -> (tensor<?x?xf32> {hir.name = "y"}) {
  %k = arith.constant 1.5 : f32
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = linalg.fill ins(%k : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
func.func @fill_3(%n: index, %m: index, %k: index) -> (tensor<?x?x?xf32> {hir.name = "y"}) {
  %c = arith.constant 1.5 : f32
  %e = tensor.empty(%n, %m, %k) : tensor<?x?x?xf32>
  %y = linalg.fill ins(%c : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}
func.func @less(%n: index) -> tensor<?xf32> {
  %c5 = arith.constant 5 : index
  %k = arith.constant 1.5 : f32
  %s = arith.subi %n, %c5 : index
  %e = tensor.empty(%s) : tensor<?xf32>
  %y = linalg.fill ins(%k : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @inner(%x: tensor<?xf32>, %n: index, %m: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %c = arith.constant 7.0 : f32
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %i = tensor.insert_slice %x into %f[0, 0] [1, %m] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
  %s = tensor.empty(%n) : tensor<?xf32>
  %b = linalg.fill ins(%zero : f32) outs(%s : tensor<?xf32>) -> tensor<?xf32>
  %y = linalg.reduce {arith.addf} ins(%i : tensor<?x?xf32>) outs(%b : tensor<?xf32>)
       dimensions = [1]
  return %y : tensor<?xf32>
}
func.func @reshape(%x: tensor<?x6xf32>, %s: tensor<3xi64>) -> tensor<?x2x?xf32> {
  %y = arith.addf %x, %x : tensor<?x6xf32>
  %r = tensor.reshape %y(%s) : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<?x2x?xf32>
  %z = arith.addf %r, %r : tensor<?x2x?xf32>
  return %z : tensor<?x2x?xf32>
}
func.func @reshape_transposed(%x: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : i64
  %m = tensor.dim %x, %c0 : tensor<?x?x4xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x4xf32>
  %i = arith.index_cast %m : index to i64
  %j = arith.index_cast %n : index to i64
  %e = tensor.empty(%n, %m) : tensor<?x?x4xf32>
  %t = linalg.transpose ins(%x : tensor<?x?x4xf32>) outs(%e : tensor<?x?x4xf32>)
       permutation = [1, 0, 2]
  %s = tensor.from_elements %i, %j, %c4 : tensor<3xi64>
  %r = tensor.reshape %t(%s) : (tensor<?x?x4xf32>, tensor<3xi64>) -> tensor<?x?x4xf32>
  %y = arith.addf %r, %r : tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}
func.func @reshape_to_one(%x: tensor<?xf32>) -> tensor<f32> {
  %s = tensor.empty() : tensor<0xi64>
  %r = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<0xi64>) -> tensor<f32>
  return %r : tensor<f32>
}
func.func @reshape_to_known(%x: tensor<?xf32>) -> tensor<2x3xf32> {
  %s = arith.constant dense<[2, 3]> : tensor<2xindex>
  %r = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<2xindex>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
func.func @reshape_line(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %s = tensor.from_elements %n : tensor<1xindex>
  %r = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<1xindex>) -> tensor<?xf32>
  %z = arith.addf %r, %r : tensor<?xf32>
  return %z : tensor<?xf32>
}
func.func @second(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (2 * i + 1)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
    ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @backward(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (4 - i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
    ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @parts(%x: tensor<?x?xf32>, %t: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 3, i mod 3)>,
                       affine_map<(i) -> ((2 * i) mod 6)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
    ins(%x, %t : tensor<?x?xf32>, tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @fixed(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (2, i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
    ins(%x : tensor<?x?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @slid(%x: tensor<1x?x2xf32>, %w: tensor<?x2x3xf32>, %y: tensor<1x?x3xf32>)
    -> tensor<1x?x3xf32> {
  %r = linalg.conv_1d_nwc_wcf
    {strides = dense<2> : tensor<1xi64>, dilations = dense<3> : tensor<1xi64>}
    ins(%x, %w : tensor<1x?x2xf32>, tensor<?x2x3xf32>) outs(%y : tensor<1x?x3xf32>)
    -> tensor<1x?x3xf32>
  return %r : tensor<1x?x3xf32>
}
func.func @padded(%x: tensor<?xf32>, %w: tensor<3xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<?xf32>
  %r = linalg.conv_1d ins(%p, %w : tensor<?xf32>, tensor<3xf32>) outs(%y : tensor<?xf32>)
    -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @parted(%x: tensor<?xf32>, %n: index) -> tensor<?x?xf32> {
  %zero = arith.constant 0 : index
  %size = tensor.dim %x, %zero : tensor<?xf32>
  %m = arith.divui %size, %n : index
  %y = tensor.expand_shape %x [[0, 1]] output_shape [%n, %m] : tensor<?xf32> into tensor<?x?xf32>
  %z = arith.addf %y, %y : tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
"hir.program"() ({
^bb0(%n: index, %m: index):
  %r = arith.remsi %n, %m : index
  "hir.output"(%r) {name = "r"} : (index) -> ()
}) {sym_name = "rest", inputs = [{name = "n"}, {name = "m"}],
    function_type = (index, index) -> index} : () -> ()
"hir.program"() ({
^bb0(%x: memref<?xf32>, %n: index):
  %y = "hir.allocate"(%n) : (index) -> memref<?xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i + 1)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
    ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "next", inputs = [{name = "x"}, {name = "n"}],
    function_type = (memref<?xf32>, index) -> memref<?xf32>} : () -> ()
"hir.program"() ({
^bb0(%x: memref<?xf32>, %n: index, %m: index):
  %y = "hir.reshape"(%x, %n, %m) : (memref<?xf32>, index, index) -> memref<?x?xf32>
  %z = "hir.binary"(%y, %y) {kind = "add"}
      : (memref<?x?xf32>, memref<?x?xf32>) -> memref<?x?xf32>
  "hir.output"(%z) {name = "z"} : (memref<?x?xf32>) -> ()
}) {sym_name = "view", inputs = [{name = "x"}, {name = "n"}, {name = "m"}],
    function_type = (memref<?xf32>, index, index) -> memref<?x?xf32>} : () -> ()
"""
_SLICE = "tensor.extract_slice: the slice's offset, size and stride go beyond the size of dim"
_INSERT = "tensor.insert_slice: the slice's offset, size and stride go beyond the size of dim"
_EXPAND = "tensor.expand_shape: the sizes of dims 0, 1 do not make up the size of dim 0"
_RESHAPE = "tensor.reshape: the sizes are not of as many elements as the tensor has"
_HUGE = "make more than 2^63 - 1 bytes"
_NEGATIVE = "and none may be negative"


def _indexed(axis: int, operand: int, name: str, has: int, needed: int) -> str:
    return (
        f"dim {axis} of operand {operand} of {name} is too small for what is read or written of "
        f"it: it has {has} elements, {needed} are needed"
    )


Argument = int | list[int] | dict[str, list[int]]
# The program, its arguments (an array's sizes, its values, or a number), and what it says where it
# does not run.
CASES: list[tuple[str, list[Argument], str]] = [
    ("cast", [[3, 4]], ""),
    ("cast", [[3, 5]], "tensor.cast: the size of dim 1 is not the 4 that its type says"),
    ("cast_of_output", [[4], 4], ""),
    ("cast_of_output", [[4], 9], "tensor.cast: the size of dim 0 is not the 4 that its type says"),
    ("beside_reshape", [[2, 4], [8]], ""),
    (
        "beside_reshape",
        [[2, 4], [7]],
        "dim 0 of operand 1 and its loop of linalg.generic must have the same size: 7 and 8",
    ),
    ("copy", [[8]], ""),
    (
        "copy",
        [[7]],
        "dim 0 of operand 0 and dim 0 of operand 1 are one loop of linalg.copy and must have the "
        "same size: 7 and 8",
    ),
    ("expand", [[12], 3, 4], ""),
    ("expand", [[0], 0, 4], ""),
    ("expand", [[0], 0, 2**60], ""),
    ("expand", [[0], 0, -4], _EXPAND),
    ("expand", [[12], 5, 4], _EXPAND),
    ("expand", [[12], -3, -4], _EXPAND),
    ("expand", [[4], 4611686018427387905, 4], _EXPAND),
    ("expand_by_4", [[12, 2], 3], ""),
    ("expand_by_4", [[13, 2], 3], _EXPAND),
    ("slice", [[10], 4, 3], ""),
    ("slice", [[10], 10, 0], ""),
    ("slice", [[10], 4, 4], _SLICE),
    ("slice", [[10], -1, 2], _SLICE),
    ("slice", [[10], 11, 0], _SLICE),
    ("slice", [[10], 4, -2], _SLICE),
    ("slice", [[10], 1, 9223372036854775807], _SLICE),
    ("slice_by", [[5], 1, 2, 3], ""),
    ("slice_by", [[5], 1, 2, 4], _SLICE),
    ("slice_by", [[5], 4, 5, -1], ""),
    ("slice_by", [[5], 4, 3, -2], ""),
    ("slice_by", [[5], 4, 4, -2], _SLICE),
    ("slice_by", [[5], 0, 1, -(2**63)], ""),
    ("slice_by", [[5], 4, 2, -(2**63)], _SLICE),
    ("slice_by", [[5], 5, 0, -1], ""),
    ("slice_by", [[5], 5, 1, -1], _SLICE),
    ("slice_by", [[5], -1, 1, -1], _SLICE),
    ("slice_by", [[5], 2, 2, 0], _SLICE),
    ("turned", [[5], 4], ""),
    ("turned", [[5], 2], _SLICE),
    ("turned", [[4], 4], _SLICE),
    ("slice_of_4", [[3, 6]], ""),
    ("slice_of_4", [[3, 5]], _SLICE),
    ("slice_of_4", [[3, 1]], _SLICE),
    ("insert", [[10], [3], 7, 3], ""),
    ("insert", [[10], [3], 8, 3], _INSERT),
    ("insert", [[10], [4], 2, 3], "the size of dim 0 of what is inserted is not that of the slice"),
    ("insert", [[10], [1], 2, 3], "the size of dim 0 of what is inserted is not that of the slice"),
    ("insert_row", [[2, 4, 3], [4], 4], ""),
    ("insert_row", [[2, 4, 3], [1], 4], "the size of dim 0 of what is inserted is not that"),
    ("insert_row", [[2, 4, 3], [5], 5], _INSERT),
    ("reshape", [[4, 6], {"values": [3, 2, 4]}], ""),
    ("reshape", [[4, 6], {"values": [3, 2, 5]}], _RESHAPE),
    ("reshape", [[4, 6], {"values": [-3, 2, -4]}], _RESHAPE),
    ("reshape", [[0, 6], {"values": [-3, 2, 0]}], _RESHAPE),
    ("reshape", [[4, 6], {"values": [4, 3, 2]}], "size 1 is not the 2 that its type says"),
    ("reshape", [[4, 6], {"values": [4611686018427387904 + 3, 2, 4]}], _RESHAPE),
    ("reshape_to_one", [[1]], ""),
    ("reshape_to_one", [[2]], _RESHAPE),
    ("reshape_to_known", [[6]], ""),
    ("reshape_to_known", [[7]], _RESHAPE),
    ("reshape_line", [[4], 4], ""),
    ("reshape_line", [[4], 5], _RESHAPE),
    ("second", [[8], [4]], ""),
    ("second", [[9], [4]], ""),
    ("second", [[0], [0]], ""),
    ("second", [[7], [4]], _indexed(0, 0, "linalg.generic", 7, 8)),
    ("backward", [[5], [5]], ""),
    ("backward", [[5], [1]], ""),
    ("backward", [[0], [0]], ""),
    ("backward", [[4], [1]], _indexed(0, 0, "linalg.generic", 4, 5)),
    ("backward", [[6], [6]], "is read or written before its first element: at index -1"),
    ("parts", [[3, 3], [5], [7]], ""),
    ("parts", [[1, 2], [3], [2]], ""),
    ("parts", [[0, 0], [0], [0]], ""),
    ("parts", [[2, 3], [5], [7]], _indexed(0, 0, "linalg.generic", 2, 3)),
    ("parts", [[3, 2], [5], [7]], _indexed(1, 0, "linalg.generic", 2, 3)),
    ("parts", [[3, 3], [4], [7]], _indexed(0, 1, "linalg.generic", 4, 5)),
    ("fixed", [[3, 2], [2]], ""),
    ("fixed", [[0, 0], [0]], ""),
    ("fixed", [[2, 2], [2]], _indexed(0, 0, "linalg.generic", 2, 3)),
    ("slid", [[1, 10, 2], [2, 2, 3], [1, 4, 3]], ""),
    ("slid", [[1, 0, 2], [0, 2, 3], [1, 4, 3]], ""),
    ("slid", [[1, 9, 2], [2, 2, 3], [1, 4, 3]], _indexed(1, 0, "linalg.conv_1d_nwc_wcf", 9, 10)),
    ("padded", [[5], [3], [5]], ""),
    ("padded", [[5], [3], [6]], _indexed(0, 0, "linalg.conv_1d", 7, 8)),
    ("next", [[5], 4], ""),
    ("next", [[0], 0], ""),
    ("next", [[5], 5], _indexed(0, 0, "linalg.generic", 5, 6)),
    ("parted", [[12], 3], ""),
    ("parted", [[0], 0], "arith.divui: a division by 0 has no result"),
    ("rest", [-7, 3], ""),
    ("rest", [7, 0], "arith.remsi: a division by 0 has no result"),
    ("rest", [-(2**63), -1], "arith.remsi: the least integer divided by -1 has no result"),
    ("rest", [-(2**63), 3], ""),
    ("rest", [7, -1], ""),
    ("view", [[4], 2, 2], ""),
    ("view", [[4], 2, 3], "hir.reshape: the sizes have 6 elements, the buffer has 4"),
    ("view", [[4], 4611686018427387905, 4], "hir.reshape: the sizes have more than 2^63 - 1"),
    (
        "concat",
        [[3, 4], [2, 5]],
        "tensors of tensor.concat must have the same size: 5 and 4",
    ),
    ("fill", [3, 2], ""),
    ("fill", [4611686018427387905, 4], _HUGE),
    ("fill", [2305843009213693952, 1], _HUGE),
    ("fill", [2305843009213693951, 1], "out of memory"),
    ("fill", [4294967296, 4294967296], f"output 'y': its sizes, the greatest 4294967296, {_HUGE}"),
    ("fill", [0, 2**60], ""),
    ("fill", [2**60, 0], ""),
    ("fill_3", [2**62, 2**62, 0], ""),
    ("fill_3", [0, 2**62, 2**62], ""),
    ("fill_3", [2**62, 2**62, 1], _HUGE),
    ("fill_3", [2**62, 0, -1], f"output 'y': a size is -1, {_NEGATIVE}"),
    ("fill", [-1, -1], f"output 'y': a size is -1, {_NEGATIVE}"),
    ("less", [7], ""),
    ("less", [3], f"a size is -2, {_NEGATIVE}"),
    ("inner", [[4], 2, 4], ""),
    ("inner", [[4], 4611686018427387905, 4], _HUGE),
]


@pytest.fixture(scope="module")
def outcomes() -> list[tuple[int, str]]:
    """The status of each case's call, and what it said."""
    built = linked(_TEXT, "-O0")
    done = subprocess.run(
        [sys.executable, "-c", _CALLER, str(built.path)],
        input=json.dumps([(name, arguments) for name, arguments, _ in CASES]),
        capture_output=True,
        text=True,
        check=True,
    )
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_a_size_that_does_not_fit_is_refused(number: int, outcomes: list[tuple[int, str]]) -> None:
    _, _, message = CASES[number]
    status, errors = outcomes[number]
    assert message in errors
    assert (status, ".mlir:" in errors) == ((1, True) if message else (0, False)), errors


def test_a_slice_with_a_negative_stride_goes_backward() -> None:
    programs = library(_TEXT, "-O0")
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(programs["slice_by"](x, 4, 3, -2), 2 * x[::-2])
    np.testing.assert_array_equal(programs["turned"](x, 3), 2 * x[3::-1])


def test_a_reshape_by_sizes_of_a_tensor_keeps_the_order_of_elements() -> None:
    programs = library(_TEXT, "-O0")
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    given = programs["reshape"](x, np.array([3, 2, 4]))
    np.testing.assert_array_equal(given, 4 * x.reshape(3, 2, 4))
    x = x.reshape(2, 3, 4)
    given = programs["reshape_transposed"](x)
    np.testing.assert_array_equal(given, 2 * x.transpose(1, 0, 2).reshape(2, 3, 4))
