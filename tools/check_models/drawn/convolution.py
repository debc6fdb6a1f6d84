"""Convolutions of every kind: what they are made with, take and give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .draw import Draw

# The sizes of an image's side by the number of dimensions: low and high.
_SIDES = {1: (2048, 131072), 2: (24, 512), 3: (12, 64)}


@dataclass(frozen=True)
class Convolution:
    """A convolution: the text that makes it, and the shapes of what it takes and gives."""

    text: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    transposed: bool


def drawn_convolution(
    draw: Draw, dims: int, *, transposed: bool, form: str = "plain"
) -> Convolution:
    """Returns a convolution of so many dimensions.

    `form` is plain, depthwise, pointwise, or separable, which is depthwise with another to follow.
    """
    is_depthwise = form in ("depthwise", "separable")
    transposed = transposed and form in ("plain", "depthwise")
    channels, results, groups = _channels(draw, is_depthwise)
    size = [draw.pick(2, 3, 3, 3, 4, 5, 7 if dims < 3 else 3)] * dims
    if draw.chance(0.3):
        size = [draw.pick(1, 3, 5, 7 if dims < 3 else 2) for _ in range(dims)]
    stride, padding, dilation = [1] * dims, [0] * dims, [1] * dims
    if draw.chance(0.35):
        stride = _sides(draw, dims, 2, 2, 3)
    if draw.chance(0.45):
        padding = [each // 2 for each in size]
    if draw.chance(0.2):
        dilation = _sides(draw, dims, 2, 2, 3)
    if form == "pointwise":
        size, stride, padding, dilation = [1] * dims, [1] * dims, [0] * dims, [1] * dims
    bias = draw.chance(0.6)
    batch = draw.size(4, 128, tiny=(1, 3))
    low, high = _SIDES[dims]
    # The least that a kernel fits in, and one more.
    reach = [each * (width - 1) + 2 for each, width in zip(dilation, size, strict=True)]
    side = draw.size(max(low, *reach), high, tiny=(max(reach), max(reach) + 5), odd=0.15)
    sides = [side] * dims
    if draw.chance(0.45):
        sides = [
            draw.size(max(low, least), high, tiny=(least, least + 5), odd=0.15) for least in reach
        ]
    rest = [f"groups={groups}"] if groups > 1 else []
    more = [0] * dims
    if transposed and max(stride) > 1 and draw.chance(0.5):
        more = [each - 1 for each in stride]
        rest.append(f"output_padding={_text(more)}")
    rest += [] if bias else ["bias=False"]
    given = ((size, "kernel_size", 0), (stride, "stride", 1), (padding, "padding", 0))
    words = [f"{name}={_text(of)}" for of, name, usual in given if set(of) != {usual}]
    words += [f"dilation={_text(dilation)}"] if set(dilation) != {1} else []
    name = f"nn.Conv{'Transpose' if transposed else ''}{dims}d"
    text = f"{name}({', '.join([str(channels), str(results), *words, *rest])})"
    ends = zip(sides, size, stride, padding, dilation, more, strict=True)
    after = tuple(_after(*each, transposed=transposed) for each in ends)
    return Convolution(text, (batch, channels, *sides), (batch, results, *after), transposed)


def _channels(draw: Draw, is_depthwise: bool) -> tuple[int, int, int]:
    """Returns the channels of what is taken and given, and the groups."""
    groups = draw.weighted({1: 0.8, 2: 0.08, 4: 0.08, 8: 0.04})
    channels = draw.size(8, 256, of=groups, tiny=(1, 4))
    results = draw.size(16, 256, of=groups, tiny=(1, 5))
    if is_depthwise:
        return channels, channels * draw.pick(1, 1, 1, 2), channels
    if groups == 1 and draw.chance(0.2):
        channels = 3
    return channels, results, groups


def _sides(draw: Draw, dims: int, *options: int) -> list[int]:
    """Returns one number for all dimensions, or one for each."""
    if draw.chance(0.7):
        return [draw.pick(*options)] * dims
    return [draw.pick(1, *options) for _ in range(dims)]


def _text(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(set(numbers)) == 1 else str(tuple(numbers))


def _after(
    side: int, size: int, stride: int, padding: int, dilation: int, more: int, *, transposed: bool
) -> int:
    if transposed:
        return (side - 1) * stride - 2 * padding + dilation * (size - 1) + more + 1
    return (side + 2 * padding - dilation * (size - 1) - 1) // stride + 1
