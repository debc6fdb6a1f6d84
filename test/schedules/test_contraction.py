"""Convolutions on the CPU device against torch in float64: drawn shapes, padding, what follows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
import torch
from schedules.harness import Suite
from schedules.programs import Written
from torch.nn import functional

_PER_RANK = (functional.conv1d, functional.conv2d, functional.conv3d)


@dataclass(frozen=True)
class Convolution:
    """A convolution, channels first, with a bias, and relu of that and of what is added."""

    batch: int
    channels: int
    features: int
    image: tuple[int, ...]
    window: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    element: str = "f32"

    @property
    def rank(self) -> int:
        return len(self.image)

    @property
    def padded(self) -> list[int]:
        return [size + 2 * by for size, by in zip(self.image, self.padding, strict=True)]

    @property
    def result(self) -> list[int]:
        return [
            (size - by * (window - 1) - 1) // step + 1
            for size, window, step, by in zip(
                self.padded, self.window, self.stride, self.dilation, strict=True
            )
        ]

    def reference(self, x: torch.Tensor, k: torch.Tensor, b: torch.Tensor, r: torch.Tensor):
        padded = functional.pad(x, [by for each in reversed(self.padding) for by in (each, each)])
        y = _PER_RANK[self.rank - 1](padded, k, b, stride=self.stride, dilation=self.dilation)
        return (y + r).relu()

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
        amounts = ", ".join(map(str, (0, 0, *self.padding)))
        arguments = ", ".join(f"%i{axis}: index" for axis in range(len(images)))
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
        %zero = arith.constant 0.0 : {e}
        %p = tensor.pad %x low[{amounts}] high[{amounts}] {{
        ^bb0({arguments}):
          tensor.yield %zero : {e}
        }} : {x} to {padded}
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
          linalg.yield %m : {e}
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
    )


_ONES, _ZEROS = (1, 1), (0, 0)
SUITE = Suite(
    [
        *(_drawn(seed).program(f"drawn_{seed}") for seed in range(8)),
        # Whole tiles; and terms whose places take two tables.
        Convolution(2, 16, 64, (16, 16), (1, 1), _ONES, _ZEROS, _ONES).program("whole"),
        Convolution(1, 230, 3, (5, 5), (3, 3), _ONES, _ONES, _ONES).program("long"),
        Convolution(0, 3, 4, (5, 5), (3, 3), _ONES, _ONES, _ONES).program("no_images"),
        Convolution(2, 3, 4, (5, 5), (3, 3), _ONES, (20, 20), _ONES).program("mostly_padding"),
    ]
)


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


def test_checks_are_silent() -> None:
    SUITE.check_silence(["drawn_0", "drawn_1", "drawn_2", "long"])
