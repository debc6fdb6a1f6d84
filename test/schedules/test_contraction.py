"""Convolutions on the CPU device against torch in float64: drawn shapes, padding, what follows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
import torch
from schedules.harness import Suite
from schedules.programs import Written, f8_on_gpu
from torch.nn import functional

from hirc.pipelines.schedules.contraction.schedule import ContractionChooser
from hirc.pipelines.schedules.contraction.warpgroup_kernel import WarpgroupKernel

_PER_RANK = (functional.conv1d, functional.conv2d, functional.conv3d)


@dataclass(frozen=True)
class Convolution:
    """A convolution, channels first, with a bias, and relu of that and of what is added.

    Elements of the image lie `apart` among zeros, as those that are convolved for a transposed one.
    """

    batch: int
    channels: int
    features: int
    image: tuple[int, ...]
    window: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    element: str = "f32"
    apart: tuple[int, ...] = ()

    @property
    def rank(self) -> int:
        return len(self.image)

    @property
    def padded(self) -> list[int]:
        return [
            size if size == 0 else (size - 1) * step + 1 + 2 * by
            for size, by, step in zip(self.image, self.padding, self.steps, strict=True)
        ]

    @property
    def steps(self) -> tuple[int, ...]:
        return self.apart or (1,) * self.rank

    @property
    def result(self) -> list[int]:
        return [
            (size - by * (window - 1) - 1) // step + 1
            for size, window, step, by in zip(
                self.padded, self.window, self.stride, self.dilation, strict=True
            )
        ]

    def reference(self, x: torch.Tensor, k: torch.Tensor, b: torch.Tensor, r: torch.Tensor):
        padded = torch.zeros((self.batch, self.channels, *self.padded), dtype=x.dtype)
        inside = [slice(by, size - by, step) for by, size, step in self._axes()]
        padded[(slice(None), slice(None), *inside)] = x
        y = _PER_RANK[self.rank - 1](padded, k, b, stride=self.stride, dilation=self.dilation)
        return (y + r).relu() / 6

    def _axes(self) -> list[tuple[int, int, int]]:
        return list(zip(self.padding, self.padded, self.steps, strict=True))

    def _around(self, x: str, padded: str) -> str:
        """The text that sets the image into zeros."""
        amounts = ", ".join(map(str, (0, 0, *self.padding)))
        if not self.apart:
            arguments = ", ".join(f"%i{axis}: index" for axis in range(2 + self.rank))
            return f"""
        %p = tensor.pad %x low[{amounts}] high[{amounts}] {{
        ^bb0({arguments}):
          tensor.yield %zero : {self.element}
        }} : {x} to {padded}"""
        sizes = ", ".join(map(str, (self.batch, self.channels, *self.image)))
        steps = ", ".join(map(str, (1, 1, *self.apart)))
        return f"""
        %room = tensor.empty() : {padded}
        %zeros = linalg.fill ins(%zero : {self.element}) outs(%room : {padded}) -> {padded}
        %p = tensor.insert_slice %x into %zeros[{amounts}] [{sizes}] [{steps}]
            : {x} into {padded}"""

    def program(self, name: str) -> Written:
        """The program under a name."""
        images = [self.batch, self.channels, *self.image]
        weights = [self.features, self.channels, *self.window]
        results = [self.batch, self.features, *self.result]
        x, padded, k, y = (
            _tensor(sizes, self.element)
            for sizes in (images, [*images[:2], *self.padded], weights, results)
        )
        bias = _tensor([self.features], self.element)
        lists = [
            f"dense<[{', '.join(map(str, each))}]> : tensor<{self.rank}xi64>"
            for each in (self.dilation, self.stride)
        ]
        names = {1: "conv_1d_ncw_fcw", 2: "conv_2d_nchw_fchw", 3: "conv_3d_ncdhw_fcdhw"}
        point = ", ".join(f"i{axis}" for axis in range(len(results)))
        identity = f"affine_map<({point}) -> ({point})>"
        parallel = ", ".join(['"parallel"'] * len(results))
        e = self.element
        source = f"""
      func.func @NAME(%x: {x}, %k: {k}, %b: {bias}, %r: {y}) -> {y} {{
        %six = arith.constant 6.0 : {e}
        %zero = arith.constant 0.0 : {e}{self._around(x, padded)}
        %empty = tensor.empty() : {y}
        %start = linalg.broadcast ins(%b : {bias}) outs(%empty : {y})
            dimensions = [{", ".join(str(axis) for axis in range(len(results)) if axis != 1)}]
        %c = linalg.{names[self.rank]} {{dilations = {lists[0]}, strides = {lists[1]}}}
            ins(%p, %k : {padded}, {k}) outs(%start : {y}) -> {y}
        %s = linalg.generic {{indexing_maps = [{", ".join([identity] * 3)}],
                              iterator_types = [{parallel}]}}
            ins(%c, %r : {y}, {y}) outs(%empty : {y}) {{
        ^bb0(%one: {e}, %other: {e}, %o: {e}):
          %t = arith.addf %one, %other : {e}
          %m = arith.maximumf %t, %zero : {e}
          %q = arith.divf %m, %six : {e}
          linalg.yield %q : {e}
        }} -> {y}
        return %s : {y}
      }}"""
        return Written(
            name,
            tuple(_spec(sizes, e) for sizes in (images, weights, [self.features], results)),
            (_spec(results, e),),
            self.reference,
            ({"one": 1},),
            magnitude=20.0,
            source=source,
        )


def _tensor(sizes: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


def _spec(sizes: Sequence[int], element: str) -> str:
    return f"{element}[{', '.join(map(str, sizes))}]"


def _drawn(seed: int) -> Convolution:
    """A convolution of sizes that fit no tile."""
    draw = random.Random(seed)
    rank = draw.choice((1, 2, 2, 3))
    most = {1: 90, 2: 14, 3: 6}[rank]
    window = tuple(draw.choice((1, 2, 3, 5) if rank < 3 else (1, 2, 3)) for _ in range(rank))
    dilation = tuple(draw.choice((1, 1, 2)) for _ in range(rank))
    padding = tuple(draw.randrange(3) for _ in range(rank))
    least = [by * (size - 1) + 1 for by, size in zip(dilation, window, strict=True)]
    return Convolution(
        draw.choice((1, 2, 3)),
        draw.choice((1, 3, 4, 17)),
        draw.choice((2, 5, 32, 67)),
        tuple(draw.randint(size, size + most) for size in least),
        window,
        tuple(draw.choice((1, 1, 2, 3)) for _ in range(rank)),
        padding,
        dilation,
        draw.choice(("f32", "f32", "f64")),
        tuple(draw.choice((1, 2, 3)) for _ in range(rank)) if draw.random() < 0.4 else (),
    )


_ONES, _ZEROS = (1, 1), (0, 0)
# Groups of channels: what follows is written in the shape that has them together.
_GROUPED = """
      func.func @NAME(%x: tensor<1x6x5x5xf32>, %k: tensor<6x2x3x3xf32>, %b: tensor<6xf32>,
                      %r: tensor<1x6x3x3xf32>) -> tensor<1x6x3x3xf32> {
        %zero = arith.constant 0.0 : f32
        %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
        ^bb0(%i: index, %j: index, %l: index, %m: index):
          tensor.yield %zero : f32
        } : tensor<1x6x5x5xf32> to tensor<1x6x7x7xf32>
        %empty = tensor.empty() : tensor<1x6x3x3xf32>
        %start = linalg.broadcast ins(%b : tensor<6xf32>) outs(%empty : tensor<1x6x3x3xf32>)
            dimensions = [0, 2, 3]
        %xs = tensor.expand_shape %p [[0], [1, 2], [3], [4]] output_shape [1, 3, 2, 7, 7]
            : tensor<1x6x7x7xf32> into tensor<1x3x2x7x7xf32>
        %ks = tensor.expand_shape %k [[0, 1], [2], [3], [4]] output_shape [3, 2, 2, 3, 3]
            : tensor<6x2x3x3xf32> into tensor<3x2x2x3x3xf32>
        %ss = tensor.expand_shape %start [[0], [1, 2], [3], [4]] output_shape [1, 3, 2, 3, 3]
            : tensor<1x6x3x3xf32> into tensor<1x3x2x3x3xf32>
        %cs = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>,
                                          strides = dense<2> : tensor<2xi64>}
            ins(%xs, %ks : tensor<1x3x2x7x7xf32>, tensor<3x2x2x3x3xf32>)
            outs(%ss : tensor<1x3x2x3x3xf32>) -> tensor<1x3x2x3x3xf32>
        %c = tensor.collapse_shape %cs [[0], [1, 2], [3], [4]]
            : tensor<1x3x2x3x3xf32> into tensor<1x6x3x3xf32>
        %y = linalg.elementwise kind=#linalg.elementwise_kind<sub>
            ins(%c, %r : tensor<1x6x3x3xf32>, tensor<1x6x3x3xf32>)
            outs(%empty : tensor<1x6x3x3xf32>) -> tensor<1x6x3x3xf32>
        return %y : tensor<1x6x3x3xf32>
      }"""


def _grouped(name: str) -> Written:
    """Returns a convolution in groups with a step, a padding and a bias, from which r is taken."""
    return Written(
        name,
        ("f32[1, 6, 5, 5]", "f32[6, 2, 3, 3]", "f32[6]", "f32[1, 6, 3, 3]"),
        ("f32[1, 6, 3, 3]",),
        lambda x, k, b, r: functional.conv2d(x, k, b, stride=2, padding=1, groups=3) - r,
        ({"one": 1},),
        magnitude=20.0,
        source=_GROUPED,
    )


_DEPTHWISE = """
      func.func @NAME(%x: tensor<2x3x19x11xf32>, %k: tensor<3x3x5xf32>, %b: tensor<3xf32>)
          -> tensor<2x3x10x9xf32> {
        %zero = arith.constant 0.0 : f32
        %p = tensor.pad %x low[0, 0, 1, 2] high[0, 0, 1, 0] {
        ^bb0(%i: index, %j: index, %l: index, %m: index):
          tensor.yield %zero : f32
        } : tensor<2x3x19x11xf32> to tensor<2x3x21x13xf32>
        %empty = tensor.empty() : tensor<2x3x10x9xf32>
        %start = linalg.broadcast ins(%b : tensor<3xf32>) outs(%empty : tensor<2x3x10x9xf32>)
            dimensions = [0, 2, 3]
        %c = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>,
                                                strides = dense<[2, 1]> : tensor<2xi64>}
            ins(%p, %k : tensor<2x3x21x13xf32>, tensor<3x3x5xf32>)
            outs(%start : tensor<2x3x10x9xf32>) -> tensor<2x3x10x9xf32>
        %y = linalg.exp ins(%c : tensor<2x3x10x9xf32>) outs(%empty : tensor<2x3x10x9xf32>)
            -> tensor<2x3x10x9xf32>
        return %y : tensor<2x3x10x9xf32>
      }"""


def _depthwise(
    name: str,
    element: str,
    image: tuple[int, ...],
    window: tuple[int, int],
    padding: tuple[int, int] = _ONES,
    step: int = 1,
    dilation: int = 1,
    order: str = "n, c, h, w",
) -> Written:
    """Returns a depthwise convolution of images of n, c, h and w, and a bias.

    Their dims lie in some order, in which results are too.
    """
    n, c, *places = image
    sizes = [size + 2 * by for size, by in zip(places, padding, strict=True)]
    results = [
        (size - dilation * (by - 1) - 1) // step + 1 for size, by in zip(sizes, window, strict=True)
    ]
    dims = ["nchw".index(dim) for dim in order.split(", ")]
    images, padded, made = (
        [each[dim] for dim in dims] for each in ([*image], [n, c, *sizes], [n, c, *results])
    )
    amounts = ", ".join(str((0, 0, *padding)[dim]) for dim in dims)
    x, p, y, sums = (
        _tensor(shape, kind)
        for shape, kind in ((images, element), (padded, element), (made, element), (made, "f32"))
    )
    k, b = _tensor([c, *window], element), _tensor([c], element)
    read = {"h": f"h * {step} + r * {dilation}", "w": f"w * {step} + s * {dilation}"}
    index = ", ".join(read.get(dim, dim) for dim in order.split(", "))
    extended = {each: f"%{each}w" if element != "f32" else f"%{each}" for each in ("a", "b", "t")}

    def widened(*names: str) -> str:
        if element == "f32":
            return ""
        return "\n          ".join(
            f"%{each}w = arith.extf %{each} : {element} to f32" for each in names
        )

    rounded = "" if element == "f32" else f"%u = arith.truncf %v : f32 to {element}"
    source = f"""
      func.func @NAME(%x: {x}, %k: {k}, %bias: {b}) -> {y} {{
        %zero = arith.constant 0.0 : {element}
        %none = arith.constant 0.0 : f32
        %p = tensor.pad %x low[{amounts}] high[{amounts}] {{
        ^bb0(%i: index, %j: index, %l: index, %m: index):
          tensor.yield %zero : {element}
        }} : {x} to {p}
        %empty = tensor.empty() : {sums}
        %start = linalg.fill ins(%none : f32) outs(%empty : {sums}) -> {sums}
        %sum = linalg.generic {{
          indexing_maps = [affine_map<(n, c, h, w, r, s) -> ({index})>,
                           affine_map<(n, c, h, w, r, s) -> (c, r, s)>,
                           affine_map<(n, c, h, w, r, s) -> ({order})>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel",
                            "reduction", "reduction"]}}
          ins(%p, %k : {p}, {k}) outs(%start : {sums}) {{
        ^bb0(%a: {element}, %b: {element}, %o: f32):
          {widened("a", "b")}
          %m = arith.mulf {extended["a"]}, {extended["b"]} : f32
          %q = arith.addf %m, %o : f32
          linalg.yield %q : f32
        }} -> {sums}
        %out = tensor.empty() : {y}
        %y = linalg.generic {{
          indexing_maps = [affine_map<(n, c, h, w) -> ({order})>, affine_map<(n, c, h, w) -> (c)>,
                           affine_map<(n, c, h, w) -> ({order})>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
          ins(%sum, %bias : {sums}, {b}) outs(%out : {y}) {{
        ^bb0(%a: f32, %t: {element}, %o: {element}):
          {widened("t")}
          %v = arith.addf %a, {extended["t"]} : f32
          {rounded}
          linalg.yield {"%v" if element == "f32" else "%u"} : {element}
        }} -> {y}
        return %y : {y}
      }}"""

    def reference(x: torch.Tensor, k: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        first = [dims.index(dim) for dim in range(4)]
        y = functional.conv2d(x.permute(first), k[:, None], bias, step, padding, dilation, groups=c)
        return y.permute(dims)

    return Written(
        name,
        (_spec(images, element), _spec([c, *window], element), _spec([c], element)),
        (_spec(made, element),),
        reference,
        ({"one": 1},),
        magnitude=20.0,
        source=source,
    )


# Each of a row of vectors; rows that end within one; windows that step, along rows or channels.
_DEPTHWISE_PROGRAMS = (
    _depthwise("neighbours", "bf16", (2, 3, 13, 24), (3, 3)),
    _depthwise("neighbours_f32", "f32", (1, 3, 19, 12), (5, 3), (2, 1)),
    _depthwise("short_rows", "bf16", (1, 5, 9, 36), (4, 4), _ZEROS),
    # Elements that some results alone need are asked for before those of all.
    _depthwise("two_rows", "bf16", (2, 5, 8, 16), (7, 3), _ZEROS),
    _depthwise("odd_rows", "f16", (2, 3, 9, 17), (3, 3)),
    _depthwise("stepping", "bf16", (2, 3, 12, 32), (3, 3), step=2),
    _depthwise("stepping_far", "f32", (1, 2, 13, 24), (3, 2), step=3, dilation=2),
    # No guard says that rows beyond the last are not there.
    _depthwise("padded_along", "bf16", (1, 2, 11, 16), (3, 3), (0, 1)),
    _depthwise("padded_across", "bf16", (1, 2, 11, 16), (3, 3), (1, 0)),
    _depthwise("last", "bf16", (2, 16, 9, 7), (3, 3), order="n, h, w, c"),
    _depthwise("last_odd", "f32", (1, 6, 9, 7), (3, 3), order="n, h, w, c"),
)


def _channels_last(
    element: str, kernel: str, features: int, channels: int = 24, total: str = ""
) -> Written:
    """Returns a padded convolution whose channels are the last dim of inputs and weights.

    Its results have the elements' type or that of `total`.
    """
    total = total or element
    sizes = {"f": features, "h": 3, "w": 2, "c": channels}
    weights = [sizes[dim] for dim in kernel]
    images, padded, results = [2, 9, 7, channels], [2, 11, 8, channels], [2, 5, 7, features]
    x, p, k = (_tensor(each, element) for each in (images, padded, weights))
    y = _tensor(results, total)
    zero, of_total = ("0" if of.startswith("i") else "0.0" for of in (element, total))
    source = f"""
      func.func @NAME(%x: {x}, %k: {k}) -> {y} {{
        %zero = arith.constant {zero} : {element}
        %none = arith.constant {of_total} : {total}
        %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 0, 0] {{
        ^bb0(%i: index, %j: index, %l: index, %m: index):
          tensor.yield %zero : {element}
        }} : {x} to {p}
        %empty = tensor.empty() : {y}
        %start = linalg.fill ins(%none : {total}) outs(%empty : {y}) -> {y}
        %c = linalg.conv_2d_nhwc_{kernel} {{dilations = dense<1> : tensor<2xi64>,
                                           strides = dense<[2, 1]> : tensor<2xi64>}}
            ins(%p, %k : {p}, {k}) outs(%start : {y}) -> {y}
        return %c : {y}
      }}"""

    def reference(x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        order = [kernel.index(dim) for dim in "fchw"]
        image = functional.pad(x.double().permute(0, 3, 1, 2), (1, 0, 1, 1))
        y = functional.conv2d(image, k.double().permute(order), stride=(2, 1))
        return y.permute(0, 2, 3, 1)

    return Written(
        f"last_{kernel}_{element}_{channels}",
        (_spec(images, element), _spec(weights, element)),
        (_spec(results, total),),
        reference,
        ({"one": 1},),
        magnitude=20.0,
        tolerance_on_gpu=f8_on_gpu(6 * channels) if element.startswith("f8") else 1.0,
        source=source,
    )


def _windows(
    name: str,
    element: str,
    sizes: str,
    asks: str,
    dilation: int = 1,
    channels: int = 24,
    result: str = "n, h, w, f",
    step: int = 1,
) -> Written:
    """Returns a padded convolution of images with channels last, by warpgroups' configuration.

    `sizes` has images, results' rows, columns and features; `result` orders these. Relu of the
    sums and a bias follows.
    """
    n, h, w, f = map(int, sizes.split())
    d = dilation
    images, weights = [n, h * step, w * step, channels], [f, 3, 2, channels]
    padded = [n, images[1] + 2 * d, images[2] + d, channels]
    places = ["nhwf".index(dim) for dim in result.split(", ")]
    results = [(n, h, w, f)[place] for place in places]
    x, p, k, y = (_tensor(each, element) for each in (images, padded, weights, results))
    sums, bias = _tensor(results, "f32"), _tensor([f], element)
    body = """%m = arith.mulf %a, %b : f32
          %s = arith.addf %m, %o : f32"""
    finish = """%v = arith.addf %a, %b : f32
          %r = arith.maximumf %v, %none : f32"""
    if element != "f32":
        body = f"""%wa = arith.extf %a : {element} to f32
          %wb = arith.extf %b : {element} to f32
          %m = arith.mulf %wa, %wb : f32
          %s = arith.addf %m, %o : f32"""
        finish = f"""%wb = arith.extf %b : {element} to f32
          %v = arith.addf %a, %wb : f32
          %q = arith.maximumf %v, %none : f32
          %r = arith.truncf %q : f32 to {element}"""
    source = f"""
      func.func @NAME(%x: {x}, %k: {k}, %bias: {bias}) -> {y} {{
        %zero = arith.constant 0.0 : {element}
        %none = arith.constant 0.0 : f32
        %p = tensor.pad %x low[0, {d}, {d}, 0] high[0, {d}, 0, 0] {{
        ^bb0(%i: index, %j: index, %l: index, %c: index):
          tensor.yield %zero : {element}
        }} : {x} to {p}
        %empty = tensor.empty() : {sums}
        %start = linalg.fill ins(%none : f32) outs(%empty : {sums}) -> {sums}
        %sum = linalg.generic {{
          indexing_maps = [
            affine_map<(n, h, w, f, r, s, c) -> (n, {step} * h + r * {d}, {step} * w + s * {d}, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (f, r, s, c)>,
            affine_map<(n, h, w, f, r, s, c) -> ({result})>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel",
                            "reduction", "reduction", "reduction"]}}
          ins(%p, %k : {p}, {k}) outs(%start : {sums})
          attrs = {{hir.configuration = {{family = "contraction", {asks}}}}} {{
        ^bb0(%a: {element}, %b: {element}, %o: f32):
          {body}
          linalg.yield %s : f32
        }} -> {sums}
        %out = tensor.empty() : {y}
        %y = linalg.generic {{
          indexing_maps = [affine_map<(n, h, w, f) -> ({result})>,
                           affine_map<(n, h, w, f) -> (f)>,
                           affine_map<(n, h, w, f) -> ({result})>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
          ins(%sum, %bias : {sums}, {bias}) outs(%out : {y}) {{
        ^bb0(%a: f32, %b: {element}, %o: {element}):
          {finish}
          linalg.yield %r : {element}
        }} -> {y}
        return %y : {y}
      }}"""

    def reference(x: torch.Tensor, k: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        image = functional.pad(x.double().permute(0, 3, 1, 2), (d, 0, d, d))
        weights = k.double().permute(0, 3, 1, 2)
        y = functional.conv2d(image, weights, bias.double(), step, dilation=d)
        return functional.relu(y).permute(0, 2, 3, 1).permute(places)

    return Written(
        name,
        (_spec(images, element), _spec(weights, element), _spec([f], element)),
        (_spec(results, element),),
        reference,
        ({"one": 1},),
        magnitude=20.0,
        source=source,
    )


# A batch of open size, whose padding is read in place; sums are in parts where it is small.
_OPEN = """
      func.func @NAME(%x: tensor<?x200x9x8xf32>, %k: tensor<5x200x3x2xf32>) -> tensor<?x5x5x8xf32> {
        %zero = arith.constant 0.0 : f32
        %c0 = arith.constant 0 : index
        %n = tensor.dim %x, %c0 : tensor<?x200x9x8xf32>
        %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 0] {
        ^bb0(%i: index, %j: index, %l: index, %m: index):
          tensor.yield %zero : f32
        } : tensor<?x200x9x8xf32> to tensor<?x200x11x9xf32>
        %empty = tensor.empty(%n) : tensor<?x5x5x8xf32>
        %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x5x5x8xf32>)
            -> tensor<?x5x5x8xf32>
        %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>,
                                       strides = dense<[2, 1]> : tensor<2xi64>}
            ins(%p, %k : tensor<?x200x11x9xf32>, tensor<5x200x3x2xf32>)
            outs(%start : tensor<?x5x5x8xf32>) -> tensor<?x5x5x8xf32>
        return %c : tensor<?x5x5x8xf32>
      }"""
SUITE = Suite(
    [
        Written(
            "open_batch",
            ("f32[n, 200, 9, 8]", "f32[5, 200, 3, 2]"),
            ("f32[n, 5, 5, 8]",),
            lambda x, k: functional.conv2d(functional.pad(x, (1, 0, 1, 1)), k, stride=(2, 1)),
            ({"n": 1}, {"n": 8}, {"n": 9}, {"n": 0}),
            magnitude=20.0,
            source=_OPEN,
        ),
        # Boxes of images by the copy engine: beyond edges, of several steps of channels.
        _windows(
            "boxes",
            "bf16",
            "2 9 7 72",
            "rows = 192, columns = 64, stages = 3, consumers = 3, resident = 1",
            2,
            72,
        ),
        # Copies of several terms, and of several columns; and where neither fits.
        _channels_last("bf16", "fhwc", 70),
        _channels_last("f16", "hwcf", 72),
        _channels_last("f32", "fhwc", 20),
        _channels_last("i8", "fhwc", 70, 32, "i32"),
        _channels_last("f8E4M3FN", "fhwc", 36, 48, "f32"),
        # Few terms: warps multiply.
        _channels_last("i8", "fhwc", 40, 16, "i32"),
        _channels_last("f8E5M2", "fhwc", 36, 16, "f32"),
        *(_drawn(seed).program(f"drawn_{seed}") for seed in range(8)),
        _grouped("grouped"),
        Written(
            "depthwise",
            ("f32[2, 3, 19, 11]", "f32[3, 3, 5]", "f32[3]"),
            ("f32[2, 3, 10, 9]",),
            lambda x, k, b: functional.conv2d(
                functional.pad(x, (2, 0, 1, 1)), k[:, None], b, stride=(2, 1), groups=3
            ).exp(),
            ({"one": 1},),
            magnitude=20.0,
            tolerance=8.0,
            source=_DEPTHWISE,
        ),
        *_DEPTHWISE_PROGRAMS,
        # Elements apart along a dim without a window: half of the results have no terms.
        Convolution(1, 140, 5, (4, 5), (1, 3), _ONES, (1, 1), _ONES, apart=(2, 2)).program(
            "apart_alone"
        ),
        # Dilated by as much as elements lie apart.
        Convolution(1, 90, 5, (4, 5), (3, 3), _ONES, (2, 2), (2, 2), apart=(2, 2)).program(
            "apart_dilated"
        ),
        # Tiles of which each lacks some places of windows, in parts, and with steps.
        Convolution(1, 60, 5, (6, 40), (5, 1), _ONES, (4, 0), _ONES).program("ranged"),
        Convolution(2, 60, 5, (12, 40), (5, 1), (2, 1), (4, 0), _ONES).program("ranged_steps"),
        Written(
            "integers",
            ("i32[3, 70, 90]", "i32[3, 90, 301]"),
            ("i32[3, 70, 301]",),
            torch.matmul,
            ({"one": 1},),
            source="""
      func.func @NAME(%x: tensor<3x70x90xi32>, %k: tensor<3x90x301xi32>) -> tensor<3x70x301xi32> {
        %zero = arith.constant 0 : i32
        %empty = tensor.empty() : tensor<3x70x301xi32>
        %zeros = linalg.fill ins(%zero : i32) outs(%empty : tensor<3x70x301xi32>)
            -> tensor<3x70x301xi32>
        %y = linalg.batch_matmul ins(%x, %k : tensor<3x70x90xi32>, tensor<3x90x301xi32>)
            outs(%zeros : tensor<3x70x301xi32>) -> tensor<3x70x301xi32>
        return %y : tensor<3x70x301xi32>
      }""",
        ),
        # Whole tiles; and terms whose places take two tables.
        Convolution(2, 16, 64, (16, 16), (1, 1), _ONES, _ZEROS, _ONES).program("whole"),
        Convolution(1, 230, 3, (5, 5), (3, 3), _ONES, _ONES, _ONES).program("long"),
        # Tensor cores: whole and partial tiles.
        Convolution(2, 5, 70, (7, 9), (3, 2), (2, 1), _ONES, _ONES, "bf16").program("bf16"),
        Convolution(1, 40, 64, (8, 16), (1, 1), _ONES, _ZEROS, _ONES, "f16").program("f16"),
        Convolution(0, 3, 4, (5, 5), (3, 3), _ONES, _ONES, _ONES).program("no_images"),
        Convolution(2, 3, 4, (5, 5), (3, 3), _ONES, (20, 20), _ONES).program("mostly_padding"),
    ]
)


# Factors rounded to tf32: channels apart and together, and columns together.
ROUNDED = Suite(
    [
        replace(program, tolerance=250.0)
        for program in (
            Convolution(2, 9, 40, (9, 7), (3, 2), (2, 1), _ONES, _ONES).program("apart"),
            _channels_last("f32", "fhwc", 36),
            _channels_last("f32", "hwcf", 36),
            _windows(
                *("boxes", "f32", "3 5 6 36", "rows = 64, columns = 64, consumers = 1"),
                result="n, f, h, w",
            ),
            _windows(
                *("steps", "f32", "3 5 6 36", "rows = 64, columns = 64, consumers = 1"),
                channels=32,
                step=2,
            ),
            # Copies take every place of those that leave a remainder of 1 by 2.
            _windows(
                *("common", "f32", "3 5 6 36", "rows = 64, columns = 64, consumers = 1"),
                channels=32,
                step=4,
                dilation=6,
            ),
        )
    ],
    flags=("-O0", "--float32-products=tf32"),
)


def _deep_groups(name: str, channels: int) -> Written:
    """Returns a convolution in three dims of two groups of so many channels, which lie together.

    The image has six dims, and the weights have: more than the copy engine takes.
    """
    x, k, y = [2, 6, 7, 9, 2, channels], [2, 24, 3, 2, 3, channels], [2, 2, 24, 4, 6, 7]
    kinds = {key: _tensor(sizes, "bf16") for key, sizes in (("x", x), ("k", k))}
    sums = _tensor(y, "f32")

    def reference(x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        image = x.double().permute(0, 4, 5, 1, 2, 3).reshape(2, 2 * channels, 6, 7, 9)
        weights = k.double().permute(0, 1, 5, 2, 3, 4).reshape(48, channels, 3, 2, 3)
        return functional.conv3d(image, weights, groups=2).reshape(y)

    return Written(
        name,
        (f"bf16{x}", f"bf16{k}"),
        (f"f32{y}",),
        reference,
        ({"one": 1},),
        magnitude=20.0,
        source=f"""
      func.func @NAME(%x: {kinds["x"]}, %k: {kinds["k"]}) -> {sums} {{
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : {sums}
        %start = linalg.fill ins(%zero : f32) outs(%empty : {sums}) -> {sums}
        %y = linalg.generic {{
          indexing_maps = [
            affine_map<(n, g, f, d, h, w, i, j, l, c) -> (n, d + i, h + j, w + l, g, c)>,
            affine_map<(n, g, f, d, h, w, i, j, l, c) -> (g, f, i, j, l, c)>,
            affine_map<(n, g, f, d, h, w, i, j, l, c) -> (n, g, f, d, h, w)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel",
                            "reduction", "reduction", "reduction", "reduction"]}}
          ins(%x, %k : {kinds["x"]}, {kinds["k"]}) outs(%start : {sums}) {{
        ^bb0(%a: bf16, %b: bf16, %o: f32):
          %wa = arith.extf %a : bf16 to f32
          %wb = arith.extf %b : bf16 to f32
          %m = arith.mulf %wa, %wb : f32
          %s = arith.addf %m, %o : f32
          linalg.yield %s : f32
        }} -> {sums}
        return %y : {sums}
      }}""",
    )


@pytest.mark.parametrize(
    ("channels", "are_read"), [(48, True), (64, True), (128, True), (40, False), (96, False)]
)
def test_groups_beside_one_another(
    channels: int, are_read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps of terms have no channels of the next group, but in pieces that nothing multiplies."""

    def is_less(*_: object) -> bool:
        return True

    monkeypatch.setattr(ContractionChooser, "_is_less", is_less)
    made: list[WarpgroupKernel] = []
    emit = WarpgroupKernel.emit

    def counted(kernel: WarpgroupKernel) -> None:
        made.append(kernel)
        emit(kernel)

    monkeypatch.setattr(WarpgroupKernel, "emit", counted)
    suite = Suite([_deep_groups(f"deep_groups_{channels}", channels)])
    suite.check(f"deep_groups_{channels}")
    assert bool(made) == are_read


# What tensor cores multiply of images with channels apart is read from copies in which they lie
# together, where that pays: here it always does. Channels are no multiple of 16 bytes, or steps do
# not divide the image, or threads copy what neither is for.
_TWO, _THREE = (2, 2), (3, 3)
LAID = Suite(
    [
        Convolution(2, 22, 40, (9, 7), (3, 3), _ONES, _ONES, _ONES, "bf16").program("laid_odd"),
        Convolution(1, 70, 33, (9, 10), (3, 5), _THREE, _TWO, _ONES, "f16").program("laid_steps"),
        Convolution(2, 16, 40, (10, 11), (1, 7), _THREE, (0, 3), _ONES, "bf16").program("laid_far"),
        Convolution(1, 19, 24, (11, 9), (3, 2), _TWO, _ONES, _TWO, "bf16").program("laid_dilated"),
        Convolution(1, 24, 24, (150,), (3,), (3,), (1,), (1,), "bf16").program("laid_row"),
        # Without edges; places lie beside results, between them, and one beyond the next.
        Convolution(2, 24, 40, (11, 10), (3, 3), _TWO, _ZEROS, _ONES, "bf16").program("laid_whole"),
        Convolution(2, 24, 40, (12, 17), (3, 3), (3, 2), _ZEROS, (2, 3), "f16").program(
            "laid_between"
        ),
        Convolution(2, 24, 40, (23, 27), (3, 3), (5, 1), _ZEROS, (1, 4), "bf16").program(
            "laid_past"
        ),
        # Steps of 5 and 8 divide neither image.
        Convolution(1, 24, 40, (23, 27), (3, 3), (5, 8), _ONES, _ONES, "bf16").program("laid_wide"),
        # A step that no copy takes does not divide this one.
        Convolution(1, 24, 24, (200,), (3,), (9,), (1,), (1,), "bf16").program("laid_farther"),
        # All places that are read have the same remainders by a common factor; and by 2 of 4.
        Convolution(2, 40, 24, (13, 12), (3, 3), _TWO, (1, 2), _TWO, "bf16").program("laid_common"),
        Convolution(2, 19, 24, (23, 22), (3, 2), (4, 3), _ONES, (2, 3), "f16").program("laid_half"),
        # A window of one column in steps, and a row of results.
        Convolution(1, 40, 24, (9, 16), (4, 1), (1, 3), (1, 0), _TWO, "bf16").program("laid_thin"),
        Convolution(1, 40, 24, (5, 12), (3, 3), (2, 1), _ZEROS, _TWO, "bf16").program("laid_line"),
        Convolution(
            1, 19, 24, (4, 5, 6), (3, 3, 3), (2, 2, 2), (1, 1, 1), (1, 1, 1), "f16"
        ).program("laid_deep"),
        Convolution(2, 27, 40, (9, 7), (1, 1), _ONES, _ZEROS, _ONES, "bf16").program("laid_points"),
        # Weights alone have wider rows: warpgroups read the image across its channels.
        Convolution(2, 27, 40, (8, 8), (1, 1), _ONES, _ZEROS, _ONES, "bf16").program("laid_across"),
        # The zeros between elements leave no boxes.
        Convolution(2, 22, 40, (6, 5), (3, 3), _ONES, _ONES, _ONES, "bf16", apart=_TWO).program(
            "laid_apart"
        ),
        Convolution(2, 24, 40, (6, 5), (3, 3), _ONES, _ONES, _ONES, "bf16", apart=_TWO).program(
            "laid_whole_apart"
        ),
    ]
)
LAID_ROUNDED = Suite(
    [
        replace(program, tolerance=250.0)
        for program in (
            Convolution(2, 22, 40, (9, 7), (3, 3), _ONES, _ONES, _ONES).program("laid_odd_f32"),
            Convolution(1, 24, 33, (9, 10), (3, 5), _THREE, _TWO, _ONES).program("laid_steps_f32"),
            _grouped("laid_groups_f32"),
        )
    ],
    flags=("-O0", "--float32-products=tf32"),
)


_LAID_SILENT = (
    *("laid_odd", "laid_steps", "laid_wide", "laid_row", "laid_deep", "laid_points", "laid_across"),
    *("laid_apart", "laid_odd_f32", "laid_groups_f32"),
)


@pytest.mark.parametrize("suite", [LAID, LAID_ROUNDED], ids=["of_16_bits", "rounded"])
def test_copies_with_channels_together(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hirc.pipelines.contractions.channels.SINGLE", 1.0)
    monkeypatch.setattr("hirc.pipelines.contractions.channels._ORDINARY", {4: 1.0, 1: 1.0})
    for name in suite.names:
        suite.check(name)
    # Nothing reads what lies between two rows, which nothing writes.
    suite.check_silence([name for name in suite.names if name in _LAID_SILENT])


# Rows that end with zeros, up to a whole step: with edges and without, in a step of three.
WHOLE = Suite(
    [
        Convolution(2, 70, 40, (9, 7), (3, 3), _ONES, _ONES, _ONES, "bf16").program("whole_edges"),
        Convolution(1, 72, 33, (9, 10), (3, 2), _THREE, _ZEROS, _ONES, "f16").program(
            "whole_steps"
        ),
    ]
)
WHOLE_ROUNDED = Suite(
    [
        replace(
            Convolution(2, 37, 40, (9, 7), (3, 3), _ONES, _ONES, _ONES).program("whole_f32"),
            tolerance=250.0,
        )
    ],
    flags=("-O0", "--float32-products=tf32"),
)


@pytest.mark.parametrize("suite", [WHOLE, WHOLE_ROUNDED], ids=["of_16_bits", "rounded"])
def test_rows_of_whole_steps(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    filled: list[object] = []

    def pays(*given: Sequence[object]) -> bool:
        filled.extend(given[-1])
        return True

    monkeypatch.setattr("hirc.pipelines.contractions.channels.SINGLE", 1.0)
    monkeypatch.setattr("hirc.pipelines.contractions.channels._ORDINARY", {4: 1.0, 1: 1.0})
    monkeypatch.setattr("hirc.pipelines.contractions.rows.pays_whole_rows", pays)
    for name in suite.names:
        suite.check(name)
    assert len(filled) >= 2 * len(suite.names)
    suite.check_silence(suite.names)


@pytest.mark.parametrize("name", ROUNDED.names)
def test_rounded(name: str) -> None:
    ROUNDED.check(name)


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


def test_buffers_that_32_bits_do_not_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows' places, and results', in 64 bits; here of more than 100 elements."""
    monkeypatch.setattr("hirc.pipelines.schedules.contraction.form.MOST_IN_32_BITS", 100)
    names = ("drawn_0", "depthwise", "stepping", "ranged", "bf16", "last_fhwc_bf16_24")
    programs = [replace(_written(name), name=f"far_{name}") for name in names]
    suite = Suite(programs)
    for each in suite.names:
        suite.check(each)


def _written(name: str) -> Written:
    program = SUITE.program(name)
    assert isinstance(program, Written)
    return program


def test_checks_are_silent() -> None:
    SUITE.check_silence(
        [
            *(f"drawn_{seed}" for seed in range(3)),
            *("open_batch", "long", "depthwise", "bf16", "last_fhwc_bf16_24", "last_hwcf_f16_24"),
            *("last_fhwc_i8_32", "apart_alone", "ranged"),
            *(each.name for each in _DEPTHWISE_PROGRAMS),
        ]
    )
