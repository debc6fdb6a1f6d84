"""Networks of convolutions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor, nn


def convolution(
    inputs: int, outputs: int, size: int = 1, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    """Returns a convolution that keeps the image's size but for its stride, and a batch norm."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    )


class Classifier(nn.Module):
    """Blocks, the mean over the image, and a linear layer."""

    def __init__(self, blocks: Sequence[nn.Module], channels: int, classes: int) -> None:
        super().__init__()
        self.blocks = nn.Sequential(*blocks)
        self.last = nn.Linear(channels, classes)

    def forward(self, images: Tensor) -> Tensor:
        return self.last(self.blocks(images).mean((2, 3)))


class Vgg(nn.Module):
    """Stacks of 3x3 convolutions with a pooling after each, and three linear layers."""

    def __init__(self, stacks: Sequence[Sequence[int]], size: int, width: int, classes: int):
        super().__init__()
        layers: list[nn.Module] = []
        channels = 3
        for stack in stacks:
            for outputs in stack:
                layers += [nn.Conv2d(channels, outputs, 3, padding=1), nn.ReLU()]
                channels = outputs
            layers.append(nn.MaxPool2d(2))
        self.layers = nn.Sequential(*layers)
        left = size // 2 ** len(stacks)
        self.head = nn.Sequential(
            *(nn.Flatten(), nn.Linear(channels * left * left, width), nn.ReLU(), nn.Dropout()),
            *(nn.Linear(width, width), nn.ReLU(), nn.Dropout(), nn.Linear(width, classes)),
        )

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.layers(images))


class Residual(nn.Module):
    """A residual block of two 3x3 convolutions, or of a 3x3 one between two of 1x1."""

    def __init__(self, inputs: int, outputs: int, stride: int, bottleneck: int) -> None:
        super().__init__()
        if bottleneck:
            middle = outputs // bottleneck
            self.body = nn.Sequential(
                *(convolution(inputs, middle), nn.ReLU()),
                *(convolution(middle, middle, 3, stride), nn.ReLU()),
                convolution(middle, outputs),
            )
        else:
            self.body = nn.Sequential(
                *(convolution(inputs, outputs, 3, stride), nn.ReLU()),
                convolution(outputs, outputs, 3),
            )
        is_same = inputs == outputs and stride == 1
        self.shortcut = nn.Identity() if is_same else convolution(inputs, outputs, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet(counts: Sequence[int], width: int, bottleneck: int, classes: int) -> Classifier:
    """Returns a ResNet: `counts` blocks at one resolution after another."""
    blocks: list[nn.Module] = [convolution(3, width, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    channels = width
    for level, count in enumerate(counts):
        outputs = width * 2**level * (bottleneck or 1)
        for number in range(count):
            stride = 2 if level and not number else 1
            blocks.append(Residual(channels, outputs, stride, bottleneck))
            channels = outputs
    return Classifier(blocks, channels, classes)


class Inception(nn.Module):
    """Convolutions of 1x1, 3x3 and 5x5 and a pooling side by side, concatenated."""

    def __init__(self, inputs: int, one: int, three: int, five: int, pooled: int) -> None:
        super().__init__()

        def branch(outputs: int, size: int) -> nn.Sequential:
            middle = max(outputs // 2, 1)
            return nn.Sequential(
                *(nn.Conv2d(inputs, middle, 1), nn.ReLU()),
                *(nn.Conv2d(middle, outputs, size, padding=size // 2), nn.ReLU()),
            )

        self.one = nn.Sequential(nn.Conv2d(inputs, one, 1), nn.ReLU())
        self.three, self.five = branch(three, 3), branch(five, 5)
        self.pooled = nn.Sequential(nn.MaxPool2d(3, 1, 1), nn.Conv2d(inputs, pooled, 1), nn.ReLU())
        self.outputs = one + three + five + pooled

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.one(x), self.three(x), self.five(x), self.pooled(x)], 1)


def googlenet(width: int, classes: int, blocks: Sequence[int]) -> Classifier:
    """Returns a GoogLeNet: a stem, and Inception blocks with a pooling between two resolutions."""
    layers: list[nn.Module] = [
        *(nn.Conv2d(3, width, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True)),
        *(nn.Conv2d(width, 3 * width, 3, padding=1), nn.ReLU()),
    ]
    channels = 3 * width
    for level, count in enumerate(blocks):
        layers.append(nn.MaxPool2d(3, 2, ceil_mode=True))
        for _ in range(count):
            unit = width * (level + 1) // 2
            block = Inception(channels, 2 * unit, 4 * unit, unit, unit)
            layers.append(block)
            channels = block.outputs
    return Classifier(layers, channels, classes)


class Squeeze(nn.Module):
    """The mean over the image through two layers, as factors of the channels."""

    def __init__(self, channels: int, middle: int) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, middle, 1), nn.Conv2d(middle, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        mean = nn.functional.adaptive_avg_pool2d(x, 1)
        return x * torch.sigmoid(self.up(nn.functional.silu(self.down(mean))))


class InvertedResidual(nn.Module):
    """Widened, convolved channel by channel, and narrowed again."""

    def __init__(
        self, inputs: int, outputs: int, size: int, stride: int, expansion: int, *, squeeze: bool
    ) -> None:
        super().__init__()
        middle = inputs * expansion
        activation = nn.SiLU if squeeze else nn.ReLU6
        layers: list[nn.Module] = []
        if expansion != 1:
            layers += [convolution(inputs, middle), activation()]
        layers += [convolution(middle, middle, size, stride, groups=middle), activation()]
        if squeeze:
            layers.append(Squeeze(middle, max(inputs // 4, 1)))
        self.body = nn.Sequential(*layers, convolution(middle, outputs))
        self.is_residual = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x) if self.is_residual else self.body(x)


def inverted_residuals(
    rows: Sequence[tuple[int, int, int, int, int]],
    width: float,
    last: int,
    classes: int,
    *,
    squeeze: bool,
) -> Classifier:
    """Returns a MobileNetV2 or EfficientNet: rows of expansion, channels, blocks,
    stride and size.
    """
    activation = nn.SiLU if squeeze else nn.ReLU6
    channels = max(int(32 * width), 4)
    blocks: list[nn.Module] = [convolution(3, channels, 3, 2), activation()]
    for expansion, wide, count, stride, size in rows:
        outputs = max(int(wide * width), 4)
        for number in range(count):
            steps = stride if not number else 1
            blocks.append(
                InvertedResidual(channels, outputs, size, steps, expansion, squeeze=squeeze)
            )
            channels = outputs
    blocks += [convolution(channels, last), activation()]
    return Classifier(blocks, last, classes)


class ChannelNorm(nn.Module):
    """A layer norm over the channels of images."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels, eps=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNextBlock(nn.Module):
    """A 7x7 convolution of each channel, and two linear layers over the channels."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.spread = nn.Conv2d(channels, channels, 7, padding=3, groups=channels)
        self.body = nn.Sequential(
            *(nn.LayerNorm(channels, eps=1e-6), nn.Linear(channels, 4 * channels), nn.GELU()),
            nn.Linear(4 * channels, channels),
        )
        self.scale = nn.Parameter(torch.full((channels,), 0.1))

    def forward(self, x: Tensor) -> Tensor:
        inner = self.scale * self.body(self.spread(x).permute(0, 2, 3, 1))
        return x + inner.permute(0, 3, 1, 2)


def convnext(counts: Sequence[int], widths: Sequence[int], classes: int) -> Classifier:
    """Returns a ConvNeXt: `counts` blocks of `widths` channels at each resolution."""
    blocks: list[nn.Module] = [nn.Conv2d(3, widths[0], 4, 4), ChannelNorm(widths[0])]
    for level, (count, channels) in enumerate(zip(counts, widths, strict=True)):
        if level:
            before = widths[level - 1]
            blocks += [ChannelNorm(before), nn.Conv2d(before, channels, 2, 2)]
        blocks += [ConvNextBlock(channels) for _ in range(count)]
    return Classifier(blocks, widths[-1], classes)


class UNet(nn.Module):
    """Down through poolings and up through transposed convolutions, with what was on the way."""

    def __init__(self, inputs: int, outputs: int, widths: Sequence[int]) -> None:
        super().__init__()

        def double(before: int, after: int) -> nn.Sequential:
            return nn.Sequential(
                *(convolution(before, after, 3), nn.ReLU()),
                *(convolution(after, after, 3), nn.ReLU()),
            )

        self.down = nn.ModuleList(
            double(before, after)
            for before, after in zip([inputs, *widths[:-1]], widths, strict=True)
        )
        pairs = list(itertools.pairwise(widths))[::-1]
        self.widen = nn.ModuleList(nn.ConvTranspose2d(deep, flat, 2, 2) for flat, deep in pairs)
        self.up = nn.ModuleList(double(2 * flat, flat) for flat, _ in pairs)
        self.last = nn.Conv2d(widths[0], outputs, 1)

    def forward(self, images: Tensor) -> Tensor:
        x, kept = images, list[Tensor]()
        for number, block in enumerate(self.down):
            x = block(x if not number else nn.functional.max_pool2d(x, 2))
            kept.append(x)
        kept.pop()
        for widen, block in zip(self.widen, self.up, strict=True):
            x = block(torch.cat([kept.pop(), widen(x)], 1))
        return self.last(x)


class DenseLayer(nn.Module):
    """A convolution whose result is concatenated with what it read."""

    def __init__(self, channels: int, growth: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(nn.BatchNorm2d(channels), nn.ReLU(), nn.Conv2d(channels, 4 * growth, 1, bias=False)),
            *(nn.BatchNorm2d(4 * growth), nn.ReLU()),
            nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False),
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.body(x)], 1)


def densenet(counts: Sequence[int], growth: int, classes: int) -> Classifier:
    """Returns a DenseNet: `counts` layers at each resolution."""
    channels = 2 * growth
    blocks: list[nn.Module] = [convolution(3, channels, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    for level, count in enumerate(counts):
        if level:
            blocks += [nn.BatchNorm2d(channels), nn.ReLU(), nn.Conv2d(channels, channels // 2, 1)]
            blocks.append(nn.AvgPool2d(2))
            channels //= 2
        for _ in range(count):
            blocks.append(DenseLayer(channels, growth))
            channels += growth
    return Classifier([*blocks, nn.BatchNorm2d(channels), nn.ReLU()], channels, classes)


class Fire(nn.Module):
    """SqueezeNet's block: narrowed, then 1x1 and 3x3 side by side."""

    def __init__(self, inputs: int, narrow: int, wide: int) -> None:
        super().__init__()
        self.narrow = nn.Conv2d(inputs, narrow, 1)
        self.one, self.three = nn.Conv2d(narrow, wide, 1), nn.Conv2d(narrow, wide, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.narrow(x))
        return torch.cat([torch.relu(self.one(x)), torch.relu(self.three(x))], 1)


def squeezenet(width: int, classes: int) -> nn.Sequential:
    """Returns a SqueezeNet, whose last convolution gives the classes."""
    layers: list[nn.Module] = [nn.Conv2d(3, 4 * width, 3, 2), nn.ReLU()]
    channels = 4 * width
    for level in range(1, 4):
        layers.append(nn.MaxPool2d(3, 2, ceil_mode=True))
        for _ in range(2):
            layers.append(Fire(channels, level * width, 4 * level * width))
            channels = 8 * level * width
    layers += [nn.Dropout(), nn.Conv2d(channels, classes, 1), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())


class ShuffleUnit(nn.Module):
    """ShuffleNetV2's unit: one half of the channels is convolved, then both are shuffled."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        half = outputs // 2
        self.splits = stride == 1
        source = half if self.splits else inputs
        self.body = nn.Sequential(
            *(convolution(source, half), nn.ReLU()),
            convolution(half, half, 3, stride, groups=half),
            *(convolution(half, half), nn.ReLU()),
        )
        self.other = (
            nn.Identity()
            if self.splits
            else nn.Sequential(
                convolution(inputs, inputs, 3, stride, groups=inputs),
                *(convolution(inputs, half), nn.ReLU()),
            )
        )

    def forward(self, x: Tensor) -> Tensor:
        kept, worked = x.chunk(2, 1) if self.splits else (x, x)
        y = torch.cat([self.other(kept), self.body(worked)], 1)
        batch, channels, height, width = y.shape
        shuffled = y.view(batch, 2, channels // 2, height, width).transpose(1, 2)
        return shuffled.reshape(batch, channels, height, width)


def shufflenet(counts: Sequence[int], width: int, classes: int) -> Classifier:
    """Returns a ShuffleNetV2: `counts` units at each resolution."""
    channels = width // 2
    blocks: list[nn.Module] = [convolution(3, channels, 3, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    for level, count in enumerate(counts):
        outputs = width * 2**level
        for number in range(count):
            blocks.append(ShuffleUnit(channels, outputs, 1 if number else 2))
            channels = outputs
    return Classifier(blocks, channels, classes)
