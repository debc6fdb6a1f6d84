"""Convolutions drawn at random, for tests on the CPU device and on a GPU, where hirc is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

# Of the greatest result; of 16 bits sums are rounded before what follows them.
ERRORS = {torch.float32: 1e-5, torch.bfloat16: 1.2e-2, torch.float16: 1.5e-3, torch.float64: 1e-12}


@dataclass(frozen=True)
class Drawn:
    """A convolution, its inputs' sizes, and whether the library is called for it."""

    x: Sequence[int]
    w: Sequence[int]
    stride: Any = 1
    padding: Any = 0
    dilation: Any = 1
    groups: int = 1
    transposed: bool = False
    output_padding: Any = 0
    last: bool = False
    weights_last: bool = False
    element: torch.dtype = torch.float32
    bias: bool = False
    finish: Callable[[Tensor], Tensor] | None = None
    prepare: Callable[[Tensor], Tensor] | None = None

    def __call__(self, x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        dims = w.ndim - 2
        x = x if self.prepare is None else self.prepare(x)
        x = x.permute(0, -1, *range(1, 1 + dims)) if self.last else x
        w = w.permute(0, -1, *range(1, 1 + dims)) if self.weights_last else w
        bias = b if self.bias else None
        if self.transposed:
            convolve = getattr(functional, f"conv_transpose{dims}d")
            given = (self.output_padding, self.groups, self.dilation)
        else:
            convolve = getattr(functional, f"conv{dims}d")
            given = (self.dilation, self.groups)
        y = convolve(x, w, bias, self.stride, self.padding, *given)
        return y if self.finish is None else self.finish(y)

    @property
    def filters(self) -> int:
        own = self.w[-1] if self.weights_last else self.w[1]
        return own * self.groups if self.transposed else self.w[0]

    def inputs(self) -> tuple[Tensor, Tensor, Tensor]:
        x, w, b = (torch.randn(*sizes) for sizes in (self.x, self.w, (self.filters,)))
        return x.to(self.element), w.to(self.element), b.to(self.element)


def drawn(random: Random, least: int) -> Drawn:
    """Draws one whose sizes, but for the window's, are `least` or more."""
    dims = random.choice((1, 2, 3))
    transposed, groups = random.random() < 0.5, random.choice((1, 1, 2, 3))
    channels, filters = (groups * random.randint(least, 4) for _ in range(2))
    window = [random.choice((1, 2, 3, 4)) for _ in range(dims)]
    stride = [random.choice((1, 1, 2, 3)) for _ in range(dims)]
    dilation = [random.choice((1, 1, 2)) for _ in range(dims)]
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, window, strict=True)]
    padding = [random.choice((0, 0, 1, 2)) if each > 3 else each // 2 for each in reach]
    sizes = [
        random.randint(each + step * (least - 1), each + 6)
        for each, step in zip(reach, stride, strict=True)
    ]
    more = [
        random.randint(0, min(step - 1, size)) if transposed else 0
        for step, size in zip(stride, sizes, strict=True)
    ]
    last = dims > 1 and random.random() < 0.3
    images = random.randint(least, 3)
    own = (channels, filters // groups) if transposed else (filters, channels // groups)
    return Drawn(
        (images, *sizes, channels) if last else (images, channels, *sizes),
        (*own, *window),
        stride,
        padding,
        dilation,
        groups,
        transposed,
        more,
        last,
        False,
        random.choice((*[torch.float32] * 3, torch.bfloat16, torch.float16)),
        random.random() < 0.6,
        random.choice((None, torch.relu, torch.sigmoid)),
    )


def is_right(got: Tensor, wanted: Tensor, element: torch.dtype) -> bool:
    """Returns whether a result is as near to the one in f64 as its element type allows."""
    if got.shape != wanted.shape or not wanted.numel():
        return got.shape == wanted.shape
    error = (got.double() - wanted).abs().max() / wanted.abs().max().clamp(min=1)
    return bool(error < ERRORS[element])


@dataclass(frozen=True)
class Set:
    """Convolutions that one library has: how many, and with which flags it is built."""

    least: int
    flags: tuple[str, ...] = ()
    count: int = 40


SETS = {
    "plain": Set(2),
    "ones": Set(1),
    "general": Set(2, ("--schedules=general",)),
    "transformed": Set(2, ("--float32-products=winograd",)),
}


def drawn_set(name: str) -> list[Drawn]:
    """Returns the same ones each time."""
    random = Random(name)
    return [drawn(random, SETS[name].least) for _ in range(SETS[name].count)]
