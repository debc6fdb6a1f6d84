"""Pooling, and convolution, which the general schedule takes, on the CPU device against torch."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from schedules.harness import Suite
from schedules.programs import Fused, Sizes, Written, reduce_loops
from torch.nn import functional

_IMAGES: tuple[Sizes, ...] = (
    {"n": 2, "h": 9, "w": 7, "c": 5},
    {"n": 1, "h": 3, "w": 3, "c": 1},
    {"n": 0, "h": 5, "w": 6, "c": 2},
    {"n": 3, "h": 16, "w": 33, "c": 3},
)
_SIZES = """
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %c3 = arith.constant 3 : index
        %n = tensor.dim %x, %c0 : tensor<?x?x?x?xf32>
        %a = tensor.dim %x, %c1 : tensor<?x?x?x?xf32>
        %b = tensor.dim %x, %c2 : tensor<?x?x?x?xf32>
        %d = tensor.dim %x, %c3 : tensor<?x?x?x?xf32>
"""


def _nhwc(x: torch.Tensor) -> torch.Tensor:
    return x.permute(0, 2, 3, 1)


def _nchw(x: torch.Tensor) -> torch.Tensor:
    return x.permute(0, 3, 1, 2)


_WEIGHTED = Fused(
    "weighted",
    ("f32[n, h + i, 2 * w + j]", "f32[i, j]", "f32[h]"),
    ("f32[n, h, w]", "f16[n, h, w]"),
    lambda x, k, b: (
        (y := functional.conv2d(x[:, None], k[None, None], stride=(1, 2))[:, 0]) + b[None, :, None],
        y,
    ),
    ({"n": 2, "h": 3, "w": 4, "i": 2, "j": 3},),
    magnitude=8.0,
    loops="n, h, w, i, j",
    reduced="i, j",
    body="%p = arith.mulf %x0, %x1 : f32\n"
    + reduce_loops("%s", "addf", "%p", "f32", 3, 4)
    + """
      %t = arith.addf %s, %x2 : f32
      %u = arith.truncf %s : f32 to f16
      linalg.yield %t, %u : f32, f16""",
    fixed=(
        {"n": 2, "h": 11, "w": 8, "i": 2, "j": 3},
        {"n": 3, "h": 16, "w": 6, "i": 3, "j": 1},
        {"n": 1, "h": 1, "w": 7, "i": 1, "j": 2},
    ),
)

SUITE = Suite(
    [
        Written(
            "max_pool",
            ("f32[n, h, w, c]",),
            ("f32[n, h - 2, w - 2, c]",),
            lambda x: _nhwc(functional.max_pool2d(_nchw(x), 3, stride=1)),
            _IMAGES,
            source=f"""
      func.func @NAME(%x: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {{{_SIZES}
        %h = arith.subi %a, %c2 : index
        %w = arith.subi %b, %c2 : index
        %least = arith.constant 0xFF800000 : f32
        %empty = tensor.empty(%n, %h, %w, %d) : tensor<?x?x?x?xf32>
        %start = linalg.fill ins(%least : f32) outs(%empty : tensor<?x?x?x?xf32>)
            -> tensor<?x?x?x?xf32>
        %window = tensor.empty() : tensor<3x3xf32>
        %y = linalg.pooling_nhwc_max {{dilations = dense<1> : tensor<2xi64>,
                                       strides = dense<1> : tensor<2xi64>}}
            ins(%x, %window : tensor<?x?x?x?xf32>, tensor<3x3xf32>)
            outs(%start : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
        return %y : tensor<?x?x?x?xf32>
      }}""",
        ),
        Written(
            "sum_pool",
            ("f32[n, c, h, w]",),
            ("f32[n, c, h - 1, w - 2]",),
            lambda x: 6 * functional.avg_pool2d(x, (2, 3), stride=1),
            _IMAGES,
            magnitude=6.0,
            source=f"""
      func.func @NAME(%x: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {{{_SIZES}
        %h = arith.subi %b, %c1 : index
        %w = arith.subi %d, %c2 : index
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty(%n, %a, %h, %w) : tensor<?x?x?x?xf32>
        %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?x?x?xf32>)
            -> tensor<?x?x?x?xf32>
        %window = tensor.empty() : tensor<2x3xf32>
        %y = linalg.pooling_nchw_sum {{dilations = dense<1> : tensor<2xi64>,
                                       strides = dense<1> : tensor<2xi64>}}
            ins(%x, %window : tensor<?x?x?x?xf32>, tensor<2x3xf32>)
            outs(%start : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
        return %y : tensor<?x?x?x?xf32>
      }}""",
        ),
        # Large windows: beside each other, and of an open size.
        Written(
            "tiles",
            ("f32[n, c, 16 * h + 15, 20 * w + 19]",),
            ("f32[n, c, h, w]",),
            lambda x: 320 * functional.avg_pool2d(x, (16, 20)),
            (
                *({"n": 2, "c": 3, "h": 2, "w": 3}, {"n": 1, "c": 1, "h": 1, "w": 1}),
                {"n": 0, "c": 2, "h": 1, "w": 1},
            ),
            magnitude=16.0,
            source=f"""
      func.func @NAME(%x: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {{{_SIZES}
        %c16 = arith.constant 16 : index
        %c20 = arith.constant 20 : index
        %h = arith.divui %b, %c16 : index
        %w = arith.divui %d, %c20 : index
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty(%n, %a, %h, %w) : tensor<?x?x?x?xf32>
        %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?x?x?xf32>)
            -> tensor<?x?x?x?xf32>
        %window = tensor.empty() : tensor<16x20xf32>
        %y = linalg.pooling_nchw_sum {{dilations = dense<1> : tensor<2xi64>,
                                       strides = dense<[16, 20]> : tensor<2xi64>}}
            ins(%x, %window : tensor<?x?x?x?xf32>, tensor<16x20xf32>)
            outs(%start : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
        return %y : tensor<?x?x?x?xf32>
      }}""",
        ),
        Written(
            "open_window",
            ("f32[n, c, w + k]", "f32[k]"),
            ("f32[n, c, w]",),
            lambda x, k: x.unfold(2, len(k), 1).amax(3),
            tuple({"n": 2, "c": 3, "w": 7, "k": k} for k in (1, 5, 170)),
            source="""
      func.func @NAME(%x: tensor<?x?x?xf32>, %k: tensor<?xf32>) -> tensor<?x?x?xf32> {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %n = tensor.dim %x, %c0 : tensor<?x?x?xf32>
        %c = tensor.dim %x, %c1 : tensor<?x?x?xf32>
        %l = tensor.dim %x, %c2 : tensor<?x?x?xf32>
        %s = tensor.dim %k, %c0 : tensor<?xf32>
        %m = arith.subi %l, %s : index
        %w = arith.addi %m, %c1 : index
        %least = arith.constant 0xFF800000 : f32
        %empty = tensor.empty(%n, %c, %w) : tensor<?x?x?xf32>
        %start = linalg.fill ins(%least : f32) outs(%empty : tensor<?x?x?xf32>)
            -> tensor<?x?x?xf32>
        %y = linalg.pooling_ncw_max {dilations = dense<1> : tensor<1xi64>,
                                     strides = dense<1> : tensor<1xi64>}
            ins(%x, %k : tensor<?x?x?xf32>, tensor<?xf32>)
            outs(%start : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
        return %y : tensor<?x?x?xf32>
      }""",
        ),
        Written(
            "cubes",
            ("f32[h, w, c]",),
            ("f32[h - 4, w - 4, c - 4]",),
            lambda x: functional.max_pool3d(x[None], 5, stride=1)[0],
            ({"h": 5, "w": 9, "c": 7}, {"h": 8, "w": 6, "c": 12}, {"h": 9, "w": 5, "c": 37}),
            source="""
      func.func @NAME(%x: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %c4 = arith.constant 4 : index
        %h = tensor.dim %x, %c0 : tensor<?x?x?xf32>
        %w = tensor.dim %x, %c1 : tensor<?x?x?xf32>
        %c = tensor.dim %x, %c2 : tensor<?x?x?xf32>
        %i = arith.subi %h, %c4 : index
        %j = arith.subi %w, %c4 : index
        %k = arith.subi %c, %c4 : index
        %least = arith.constant 0xFF800000 : f32
        %empty = tensor.empty(%i, %j, %k) : tensor<?x?x?xf32>
        %start = linalg.fill ins(%least : f32) outs(%empty : tensor<?x?x?xf32>)
            -> tensor<?x?x?xf32>
        %window = tensor.empty() : tensor<5x5x5xf32>
        %y = linalg.generic {
            indexing_maps = [affine_map<(i, j, k, a, b, c) -> (i + a, j + b, k + c)>,
                             affine_map<(i, j, k, a, b, c) -> (a, b, c)>,
                             affine_map<(i, j, k, a, b, c) -> (i, j, k)>],
            iterator_types = ["parallel", "parallel", "parallel",
                              "reduction", "reduction", "reduction"]}
            ins(%x, %window : tensor<?x?x?xf32>, tensor<5x5x5xf32>)
            outs(%start : tensor<?x?x?xf32>) {
        ^bb0(%u: f32, %v: f32, %m: f32):
          %r = arith.maximumf %u, %m : f32
          linalg.yield %r : f32
        } -> tensor<?x?x?xf32>
        return %y : tensor<?x?x?xf32>
      }""",
        ),
        # Inputs of paddings and of copies that reorder dims are read in place, for any sizes.
        Written(
            "padded_pool",
            ("f32[n, c, h, w]",),
            ("f32[n, c, h, w // 2]",),
            lambda x: 9 * functional.avg_pool2d(x, 3, stride=(1, 2), padding=1),
            (*_IMAGES, {"n": 2, "h": 1, "w": 1, "c": 3}, {"n": 2, "h": 6, "w": 16, "c": 8}),
            magnitude=9.0,
            source=f"""
      func.func @NAME(%x: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {{{_SIZES}
        %less = arith.subi %d, %c1 : index
        %half = arith.divui %less, %c2 : index
        %w = arith.addi %half, %c1 : index
        %hp = arith.addi %b, %c2 : index
        %wp = arith.addi %d, %c2 : index
        %zero = arith.constant 0.0 : f32
        %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {{
        ^bb0(%i: index, %j: index, %k: index, %l: index):
          tensor.yield %zero : f32
        }} : tensor<?x?x?x?xf32> to tensor<?x?x?x?xf32>
        %et = tensor.empty(%n, %hp, %wp, %a) : tensor<?x?x?x?xf32>
        %t = linalg.transpose ins(%p : tensor<?x?x?x?xf32>) outs(%et : tensor<?x?x?x?xf32>)
            permutation = [0, 2, 3, 1]
        %empty = tensor.empty(%n, %b, %w, %a) : tensor<?x?x?x?xf32>
        %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?x?x?xf32>)
            -> tensor<?x?x?x?xf32>
        %window = tensor.empty() : tensor<3x3xf32>
        %s = linalg.pooling_nhwc_sum {{dilations = dense<1> : tensor<2xi64>,
                                       strides = dense<[1, 2]> : tensor<2xi64>}}
            ins(%t, %window : tensor<?x?x?x?xf32>, tensor<3x3xf32>)
            outs(%start : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
        %er = tensor.empty(%n, %a, %b, %w) : tensor<?x?x?x?xf32>
        %y = linalg.transpose ins(%s : tensor<?x?x?x?xf32>) outs(%er : tensor<?x?x?x?xf32>)
            permutation = [0, 3, 1, 2]
        return %y : tensor<?x?x?x?xf32>
      }}""",
        ),
        Written(
            "convolution",
            ("f32[n, c, h, w]", "f32[f, c, 3, 3]", "f32[f]"),
            ("f32[n, f, h - 2, w - 2]",),
            functional.conv2d,
            tuple({**sizes, "f": 4} for sizes in _IMAGES),
            magnitude=20.0,
            source=f"""
      func.func @NAME(%x: tensor<?x?x?x?xf32>, %k: tensor<?x?x3x3xf32>, %bias: tensor<?xf32>)
          -> tensor<?x?x?x?xf32> {{{_SIZES}
        %f = tensor.dim %k, %c0 : tensor<?x?x3x3xf32>
        %h = arith.subi %b, %c2 : index
        %w = arith.subi %d, %c2 : index
        %empty = tensor.empty(%n, %f, %h, %w) : tensor<?x?x?x?xf32>
        %start = linalg.broadcast ins(%bias : tensor<?xf32>) outs(%empty : tensor<?x?x?x?xf32>)
            dimensions = [0, 2, 3]
        %y = linalg.conv_2d_nchw_fchw {{dilations = dense<1> : tensor<2xi64>,
                                        strides = dense<1> : tensor<2xi64>}}
            ins(%x, %k : tensor<?x?x?x?xf32>, tensor<?x?x3x3xf32>)
            outs(%start : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
        return %y : tensor<?x?x?x?xf32>
      }}""",
        ),
        Written(
            "strided_convolution",
            ("f32[2, 11, 13, 4]", "f32[3, 2, 4, 6]"),
            ("f32[2, 4, 5, 6]",),
            lambda x, k: _nhwc(
                functional.conv2d(_nchw(x), k.permute(3, 2, 0, 1), stride=2, dilation=(2, 3))
            ),
            ({"one": 1},),
            magnitude=20.0,
            source="""
      func.func @NAME(%x: tensor<2x11x13x4xf32>, %k: tensor<3x2x4x6xf32>) -> tensor<2x4x5x6xf32> {
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<2x4x5x6xf32>
        %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x4x5x6xf32>)
            -> tensor<2x4x5x6xf32>
        %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<[2, 3]> : tensor<2xi64>,
                                       strides = dense<2> : tensor<2xi64>}
            ins(%x, %k : tensor<2x11x13x4xf32>, tensor<3x2x4x6xf32>)
            outs(%start : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
        return %y : tensor<2x4x5x6xf32>
      }""",
        ),
        # Static windows of buffers of any layout; of known sizes a thread takes a row of few.
        _WEIGHTED,
        replace(
            _WEIGHTED,
            name="weighted_rows",
            asks='family = "windows", rows = 4',
            sizes=(),
            fixed=_WEIGHTED.fixed[:2],
        ),
        # Pairs, more rows than a thread takes, what feeds a window and what follows.
        Written(
            "activated_average",
            ("bf16[2, 3, 22, 32]", "bf16[3]"),
            ("bf16[2, 3, 20, 30]",),
            lambda x, b: functional.avg_pool2d(x.relu(), 3, stride=1) + b[:, None, None],
            ({"one": 1},),
            magnitude=2.0,
            source="""
      func.func @NAME(%x: tensor<2x3x22x32xbf16>, %b: tensor<3xbf16>) -> tensor<2x3x20x30xbf16> {
        %zero = arith.constant 0.0 : bf16
        %ninth = arith.constant 0.111111111 : f32
        %like = tensor.empty() : tensor<2x3x22x32xbf16>
        %relu = linalg.generic {
            indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>,
                             affine_map<(n, c, h, w) -> (n, c, h, w)>],
            iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
            ins(%x : tensor<2x3x22x32xbf16>) outs(%like : tensor<2x3x22x32xbf16>) {
        ^bb0(%a: bf16, %o: bf16):
          %r = arith.maximumf %a, %zero : bf16
          linalg.yield %r : bf16
        } -> tensor<2x3x22x32xbf16>
        %empty = tensor.empty() : tensor<2x3x20x30xbf16>
        %start = linalg.fill ins(%zero : bf16) outs(%empty : tensor<2x3x20x30xbf16>)
            -> tensor<2x3x20x30xbf16>
        %window = tensor.empty() : tensor<3x3xbf16>
        %sum = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>,
                                        strides = dense<1> : tensor<2xi64>}
            ins(%relu, %window : tensor<2x3x22x32xbf16>, tensor<3x3xbf16>)
            outs(%start : tensor<2x3x20x30xbf16>) -> tensor<2x3x20x30xbf16>
        %y = linalg.generic {
            indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>,
                             affine_map<(n, c, h, w) -> (c)>,
                             affine_map<(n, c, h, w) -> (n, c, h, w)>],
            iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
            ins(%sum, %b : tensor<2x3x20x30xbf16>, tensor<3xbf16>)
            outs(%empty : tensor<2x3x20x30xbf16>) {
        ^bb0(%s: bf16, %e: bf16, %o: bf16):
          %0 = arith.extf %s : bf16 to f32
          %1 = arith.extf %e : bf16 to f32
          %2 = arith.mulf %0, %ninth : f32
          %3 = arith.addf %2, %1 : f32
          %4 = arith.truncf %3 : f32 to bf16
          linalg.yield %4 : bf16
        } -> tensor<2x3x20x30xbf16>
        return %y : tensor<2x3x20x30xbf16>
      }""",
        ),
        Written(
            "strided_minimum",
            ("f32[2, 3, 25, 17]",),
            ("f32[2, 3, 11, 8]",),
            lambda x: -functional.max_pool2d(-x, (3, 2), stride=2, dilation=(2, 1)),
            ({"one": 1},),
            source="""
      func.func @NAME(%x: tensor<2x3x25x17xf32>) -> tensor<2x3x11x8xf32> {
        %most = arith.constant 0x7F800000 : f32
        %empty = tensor.empty() : tensor<2x3x11x8xf32>
        %start = linalg.fill ins(%most : f32) outs(%empty : tensor<2x3x11x8xf32>)
            -> tensor<2x3x11x8xf32>
        %window = tensor.empty() : tensor<3x2xf32>
        %map = tensor.empty() : tensor<2x25x17x3xf32>
        %t = linalg.transpose ins(%x : tensor<2x3x25x17xf32>) outs(%map : tensor<2x25x17x3xf32>)
            permutation = [0, 2, 3, 1]
        %like = tensor.empty() : tensor<2x11x8x3xf32>
        %begin = linalg.fill ins(%most : f32) outs(%like : tensor<2x11x8x3xf32>)
            -> tensor<2x11x8x3xf32>
        %z = linalg.pooling_nhwc_min {dilations = dense<[2, 1]> : tensor<2xi64>,
                                      strides = dense<2> : tensor<2xi64>}
            ins(%t, %window : tensor<2x25x17x3xf32>, tensor<3x2xf32>)
            outs(%begin : tensor<2x11x8x3xf32>) -> tensor<2x11x8x3xf32>
        %y = linalg.transpose ins(%z : tensor<2x11x8x3xf32>) outs(%start : tensor<2x3x11x8xf32>)
            permutation = [0, 3, 1, 2]
        return %y : tensor<2x3x11x8xf32>
      }""",
        ),
    ]
)


def _padded(
    name: str, element: str, sizes: tuple[int, int], window: int, stride: int, kind: str
) -> Written:
    """Poolings of any number of padded images, by half a window at each side."""
    by, (height, width) = window // 2, sizes
    is_max = kind == "max"
    high, wide = ((size + 2 * by - window) // stride + 1 for size in sizes)
    least = {"f32": "0xFF800000", "bf16": "0xFF80"}[element] if is_max else "0.0"
    tensor = f"tensor<?x3x{height}x{width}x{element}>"
    result = f"tensor<?x3x{high}x{wide}x{element}>"
    between = f"tensor<?x3x{height + 2 * by}x{width + 2 * by}x{element}>"
    pooled = functional.max_pool2d if is_max else functional.avg_pool2d

    def reference(x: torch.Tensor) -> torch.Tensor:
        return pooled(x, window, stride, by) * (1 if is_max else window * window)

    return Written(
        name,
        (f"{element}[n, 3, {height}, {width}]",),
        (f"{element}[n, 3, {high}, {wide}]",),
        reference,
        ({"n": 2}, {"n": 0}),
        magnitude=1.0 if is_max else max(window * window / 32, 1.0),
        source=f"""
      func.func @NAME(%x: {tensor}) -> {result} {{
        %c0 = arith.constant 0 : index
        %n = tensor.dim %x, %c0 : {tensor}
        %least = arith.constant {least} : {element}
        %padded = tensor.pad %x low[0, 0, {by}, {by}] high[0, 0, {by}, {by}] {{
        ^bb0(%i: index, %j: index, %k: index, %l: index):
          tensor.yield %least : {element}
        }} : {tensor} to {between}
        %empty = tensor.empty(%n) : {result}
        %start = linalg.fill ins(%least : {element}) outs(%empty : {result}) -> {result}
        %window = tensor.empty() : tensor<{window}x{window}x{element}>
        %y = linalg.pooling_nchw_{"max" if is_max else "sum"} {{
            dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}
            ins(%padded, %window : {between}, tensor<{window}x{window}x{element}>)
            outs(%start : {result}) -> {result}
        return %y : {result}
      }}""",
    )


def _padded_cubes(
    name: str,
    sizes: tuple[int | str, int | str, int | str],
    shapes: tuple[Sizes, ...],
    cut: tuple[int, int, int] = (0, 0, 0),
) -> Written:
    """Averages of cubes of 5 in steps of 2, of which the first are `cut` off in memory.

    A size is a number, or the name of an open one.
    """
    types = ["?" if isinstance(each, str) else str(each) for each in sizes]
    between = ["?" if isinstance(each, str) else str(each + 4) for each in sizes]
    left = [
        "?" if isinstance(each, str) else str(each + 4 - by)
        for each, by in zip(sizes, cut, strict=True)
    ]
    results = [
        "?" if isinstance(each, str) else str((each - 1 - by) // 2 + 1)
        for each, by in zip(sizes, cut, strict=True)
    ]
    read, whole, part, given = (
        f"tensor<{'x'.join(['?', '3', *each])}xf32>" for each in (types, between, left, results)
    )
    axes = [axis for axis, each in enumerate(sizes) if isinstance(each, str)]
    code = "".join(
        f"""
        %axis{axis} = arith.constant {axis + 2} : index
        %size{axis} = tensor.dim %x, %axis{axis} : {read}
        %less{axis} = arith.subi %size{axis}, %one : index
        %half{axis} = arith.divui %less{axis}, %two : index
        %result{axis} = arith.addi %half{axis}, %one : index"""
        for axis in axes
    )
    open_ = "".join(f", %result{axis}" for axis in axes)
    if any(cut):
        code += f"""
        %begun = tensor.extract_slice %padded[0, 0, {", ".join(map(str, cut))}]
            [%n, 3, {", ".join(left)}] [1, 1, 1, 1, 1] : {whole} to {part}"""
    else:
        code += f"""
        %begun = tensor.cast %padded : {whole} to {part}"""

    def reference(x: torch.Tensor) -> torch.Tensor:
        first = functional.pad(x, (2, 2) * 3)[:, :, cut[0] :, cut[1] :, cut[2] :]
        return 125 * functional.avg_pool3d(first, 5, 2)

    names = [f"{each} // 2" if isinstance(each, str) else each for each in sizes]
    return Written(
        name,
        (f"f32[n, 3, {', '.join(map(str, sizes))}]",),
        (f"f32[n, 3, {', '.join(map(str, names if axes else results))}]",),
        reference,
        shapes,
        magnitude=125.0,
        source=f"""
      func.func @NAME(%x: {read}) -> {given} {{
        %zero = arith.constant 0.0 : f32
        %none = arith.constant 0 : index
        %one = arith.constant 1 : index
        %two = arith.constant 2 : index
        %n = tensor.dim %x, %none : {read}
        %padded = tensor.pad %x low[0, 0, 2, 2, 2] high[0, 0, 2, 2, 2] {{
        ^bb0(%i: index, %j: index, %k: index, %l: index, %m: index):
          tensor.yield %zero : f32
        }} : {read} to {whole}{code}
        %empty = tensor.empty(%n{open_}) : {given}
        %start = linalg.fill ins(%zero : f32) outs(%empty : {given}) -> {given}
        %window = tensor.empty() : tensor<5x5x5xf32>
        %y = linalg.generic {{
            indexing_maps = [
                affine_map<(n, c, i, j, k, u, v, w) -> (n, c, i * 2 + u, j * 2 + v, k * 2 + w)>,
                affine_map<(n, c, i, j, k, u, v, w) -> (u, v, w)>,
                affine_map<(n, c, i, j, k, u, v, w) -> (n, c, i, j, k)>],
            iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel",
                              "reduction", "reduction", "reduction"]}}
            ins(%begun, %window : {part}, tensor<5x5x5xf32>) outs(%start : {given}) {{
        ^bb0(%a: f32, %b: f32, %o: f32):
          %r = arith.addf %a, %o : f32
          linalg.yield %r : f32
        }} -> {given}
        return %y : {given}
      }}""",
    )


# Pairs and single results, more rows than a thread takes and fewer, and images that are smaller
# than a window: elements of several rows are then as far from each other as those of one.
PADDED = Suite(
    [
        _padded("pairs", "f32", (37, 24), 3, 2, "max"),
        _padded("odd", "f32", (19, 13), 3, 1, "sum"),
        _padded("halves", "bf16", (18, 16), 3, 1, "max"),
        _padded("wide", "f32", (9, 4), 5, 2, "max"),
        _padded("tiny", "f32", (3, 2), 5, 1, "sum"),
        # Of more elements than a thread has, lanes reduce a window.
        _padded("large", "f32", (29, 30), 13, 1, "max"),
        _padded("large_steps", "f32", (64, 48), 16, 8, "sum"),
        _padded("large_halves", "bf16", (33, 20), 15, 15, "max"),
        _padded_cubes("cubes", (7, 10, 24), ({"n": 2}, {"n": 0})),
        _padded_cubes("cut_cubes", (9, 8, 23), ({"n": 1},), (0, 1, 3)),
        _padded_cubes(
            "open_cubes",
            ("d", "h", "w"),
            tuple(
                {"n": 2, "d": d, "h": h, "w": w} for d, h, w in ((7, 10, 24), (1, 5, 7), (6, 3, 32))
            ),
        ),
    ]
)


@pytest.mark.parametrize("name", PADDED.names)
def test_padded(name: str) -> None:
    PADDED.check(name)


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


def test_checks_are_silent() -> None:
    SUITE.check_silence()
