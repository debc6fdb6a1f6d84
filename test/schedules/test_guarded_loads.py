"""Padding and concatenation on the CPU device against torch: rows of any width, and many dims."""

from __future__ import annotations

import pytest
import torch
from schedules.harness import Suite
from schedules.programs import Sizes, Written
from torch.nn import functional

# Whole vectors, pieces of vectors, and neither.
_WIDTHS: tuple[Sizes, ...] = tuple(
    {"r": rows, "c": columns}
    for rows, columns in ((3, 60), (5, 12), (2, 61), (1, 1), (2, 252), (33, 1020))
)
_PAIRS: tuple[Sizes, ...] = tuple(
    {"r": rows, "a": left, "b": right}
    for rows, left, right in ((3, 16, 32), (5, 6, 10), (2, 3, 5), (1, 1, 8), (4, 7, 1))
)


def _pad(name: str, element: str, left: int, right: int) -> Written:
    return Written(
        name,
        (f"{element}[r, c]",),
        (f"{element}[r + 1, c + {left + right}]",),
        lambda x: functional.pad(x, (left, right, 1, 0), value=2.5),
        _WIDTHS,
        source=f"""
      func.func @NAME(%x: tensor<?x?x{element}>) -> tensor<?x?x{element}> {{
        %value = arith.constant 2.5 : {element}
        %y = tensor.pad %x low[1, {left}] high[0, {right}] {{
        ^bb0(%i: index, %j: index):
          tensor.yield %value : {element}
        }} : tensor<?x?x{element}> to tensor<?x?x{element}>
        return %y : tensor<?x?x{element}>
      }}""",
    )


def _concatenate(name: str, element: str) -> Written:
    kind = f"tensor<?x?x{element}>"
    return Written(
        name,
        (f"{element}[r, a]", f"{element}[r, b]", f"{element}[r, a]"),
        (f"{element}[r, 2 * a + b + 2]",),
        lambda x, y, z: torch.cat([x, y, z], 1),
        _PAIRS,
        source=f"""
      func.func @NAME(%x: {kind}, %y: {kind}, %z: {kind}) -> {kind} {{
        %w = tensor.concat dim(1) %x, %y, %z : ({kind}, {kind}, {kind}) -> {kind}
        return %w : {kind}
      }}""",
    )


def _rotate(name: str, element: str, half: int) -> Written:
    """Pairs of elements of heads, turned: half a row is read in place of the other, with its sign.

    A transpose, negation, two parts and a concatenation are one kernel with the products.
    """
    whole, part = f"2x5x3x{2 * half}x{element}", f"2x3x5x{half}x{element}"
    turned, table = f"2x3x5x{2 * half}x{element}", f"5x{2 * half}x{element}"

    def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        x = x.transpose(1, 2)
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat([-second, first], -1) * sin

    return Written(
        name,
        (
            f"{element}[2, 5, 3, {2 * half}]",
            *[f"{element}[5, {2 * half}]"] * 2,
        ),
        (f"{element}[2, 3, 5, {2 * half}]",),
        rotated,
        ({"one": 1},),
        source=f"""
      func.func @NAME(%x: tensor<{whole}>, %cos: tensor<{table}>, %sin: tensor<{table}>)
          -> tensor<{turned}> {{
        %e = tensor.empty() : tensor<{turned}>
        %h = tensor.empty() : tensor<{part}>
        %t = linalg.transpose ins(%x : tensor<{whole}>) outs(%e : tensor<{turned}>)
          permutation = [0, 2, 1, 3]
        %first = tensor.extract_slice %t[0, 0, 0, 0] [2, 3, 5, {half}] [1, 1, 1, 1]
          : tensor<{turned}> to tensor<{part}>
        %second = tensor.extract_slice %t[0, 0, 0, {half}] [2, 3, 5, {half}] [1, 1, 1, 1]
          : tensor<{turned}> to tensor<{part}>
        %n = linalg.negf ins(%second : tensor<{part}>) outs(%h : tensor<{part}>) -> tensor<{part}>
        %z = tensor.concat dim(3) %n, %first : (tensor<{part}>, tensor<{part}>) -> tensor<{turned}>
        %c = linalg.broadcast ins(%cos : tensor<{table}>) outs(%e : tensor<{turned}>)
          dimensions = [0, 1]
        %s = linalg.broadcast ins(%sin : tensor<{table}>) outs(%e : tensor<{turned}>)
          dimensions = [0, 1]
        %a = arith.mulf %t, %c : tensor<{turned}>
        %b = arith.mulf %z, %s : tensor<{turned}>
        %y = arith.addf %a, %b : tensor<{turned}>
        return %y : tensor<{turned}>
      }}""",
    )


def _chunks(name: str, channels: int, count: int) -> Written:
    """Rows of channels laid out in chunks, with zeros around the rows and behind the last chunk.

    The column of an element is a multiple of `count` and the index of the innermost loop.
    """
    chunks = -(-channels // count)

    def chunked(x: torch.Tensor) -> torch.Tensor:
        wide = functional.pad(x, (0, chunks * count - channels, 1, 1))
        return wide.reshape(9, chunks, count).transpose(0, 1)

    return Written(
        name,
        (f"bf16[7, {channels}]",),
        (f"bf16[{chunks}, 9, {count}]",),
        chunked,
        ({"one": 1},),
        source=f"""
      func.func @NAME(%x: tensor<7x{channels}xbf16>) -> tensor<{chunks}x9x{count}xbf16> {{
        %zero = arith.constant 0.0 : bf16
        %c1 = arith.constant 1 : index
        %rows = arith.constant 7 : index
        %channels = arith.constant {channels} : index
        %count = arith.constant {count} : index
        %e = tensor.empty() : tensor<{chunks}x9x{count}xbf16>
        %y = linalg.generic {{
            indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
            iterator_types = ["parallel", "parallel", "parallel"]}}
            outs(%e : tensor<{chunks}x9x{count}xbf16>) {{
        ^bb0(%o: bf16):
          %chunk = linalg.index 0 : index
          %padded = linalg.index 1 : index
          %inner = linalg.index 2 : index
          %first = arith.muli %chunk, %count : index
          %channel = arith.addi %first, %inner : index
          %row = arith.subi %padded, %c1 : index
          %is_row = arith.cmpi ult, %row, %rows : index
          %is_channel = arith.cmpi ult, %channel, %channels : index
          %is_there = arith.andi %is_row, %is_channel : i1
          %v = scf.if %is_there -> bf16 {{
            %l = tensor.extract %x[%row, %channel] : tensor<7x{channels}xbf16>
            scf.yield %l : bf16
          }} else {{
            scf.yield %zero : bf16
          }}
          linalg.yield %v : bf16
        }} -> tensor<{chunks}x9x{count}xbf16>
        return %y : tensor<{chunks}x9x{count}xbf16>
      }}""",
    )


SUITE = Suite(
    [
        _chunks("chunks", 24, 8),
        _chunks("chunks_of_two_pieces", 24, 6),
        _chunks("chunks_of_rows", 20, 4),
        _chunks("chunks_that_lack", 21, 8),
        _chunks("chunks_that_lack_half", 20, 8),
        _rotate("rotated_vectors", "bf16", 16),
        _rotate("rotated_pieces", "f32", 6),
        _rotate("rotated_elements", "f32", 3),
        _pad("pieces_of_two", "f32", 2, 2),
        _pad("whole_vectors", "f32", 4, 0),
        _pad("single_elements", "f32", 3, 1),
        _pad("halves", "bf16", 2, 2),
        _concatenate("rows_f32", "f32"),
        _concatenate("rows_i8", "i8"),
        Written(
            "static_pad",
            ("f32[2, 3, 5, 12]",),
            ("f32[2, 3, 7, 16]",),
            lambda x: functional.pad(x, (2, 2, 1, 1), value=-1.0),
            ({"one": 1},),
            source="""
      func.func @NAME(%x: tensor<2x3x5x12xf32>) -> tensor<2x3x7x16xf32> {
        %value = arith.constant -1.0 : f32
        %y = tensor.pad %x low[0, 0, 1, 2] high[0, 0, 1, 2] {
        ^bb0(%a: index, %b: index, %c: index, %d: index):
          tensor.yield %value : f32
        } : tensor<2x3x5x12xf32> to tensor<2x3x7x16xf32>
        return %y : tensor<2x3x7x16xf32>
      }""",
        ),
        Written(
            "open_amounts",
            ("f32[c]", "f32[a]"),
            ("f32[c + 2 * a + 2]",),
            lambda x, a: functional.pad(x, (a.numel(), a.numel()), value=1.0),
            tuple({"c": c, "a": a} for c, a in ((16, 4), (12, 3), (1, 2), (9, 1), (100, 8))),
            source="""
      func.func @NAME(%x: tensor<?xf32>, %like: tensor<?xf32>) -> tensor<?xf32> {
        %value = arith.constant 1.0 : f32
        %c0 = arith.constant 0 : index
        %a = tensor.dim %like, %c0 : tensor<?xf32>
        %y = tensor.pad %x low[%a] high[%a] {
        ^bb0(%i: index):
          tensor.yield %value : f32
        } : tensor<?xf32> to tensor<?xf32>
        return %y : tensor<?xf32>
      }""",
        ),
        Written(
            "concatenated_outside",
            ("f16[a, c, d]", "f16[b, c, d]"),
            ("f16[a + b + 1, c, d]",),
            lambda x, y: torch.cat([x, y], 0),
            tuple(
                {"a": a, "b": b, "c": c, "d": d}
                for a, b, c, d in ((2, 3, 5, 8), (1, 1, 2, 16), (3, 1, 1, 7), (1, 1, 9, 3))
            ),
            source="""
      func.func @NAME(%x: tensor<?x?x?xf16>, %y: tensor<?x?x?xf16>) -> tensor<?x?x?xf16> {
        %z = tensor.concat dim(0) %x, %y
          : (tensor<?x?x?xf16>, tensor<?x?x?xf16>) -> tensor<?x?x?xf16>
        return %z : tensor<?x?x?xf16>
      }""",
        ),
    ]
)


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


def test_checks_are_silent() -> None:
    SUITE.check_silence()
