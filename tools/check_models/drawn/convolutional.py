"""Modules that take images. A drawn file has the source of those that it uses."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional


class ConvNorm(nn.Sequential):
    """A convolution that keeps the side but for its stride, a batch norm, and an activation."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        size: int = 1,
        stride: int = 1,
        groups: int = 1,
        activation: type[nn.Module] = nn.ReLU,
    ) -> None:
        conv = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
        super().__init__(conv, nn.BatchNorm2d(outputs), activation())


class Gate(nn.Module):
    """Squeeze and excite: each channel by a number from the means of all."""

    def __init__(self, channels: int, inner: int, *, linear: bool = False) -> None:
        super().__init__()
        self.linear = linear
        if linear:
            layers = nn.Linear(channels, inner), nn.ReLU(), nn.Linear(inner, channels)
        else:
            layers = nn.Conv2d(channels, inner, 1), nn.SiLU(), nn.Conv2d(inner, channels, 1)
        self.layers = nn.Sequential(*layers, nn.Sigmoid())

    def forward(self, x: Tensor) -> Tensor:
        if self.linear:
            batch, channels, _, _ = x.shape
            means = functional.adaptive_avg_pool2d(x, 1).view(batch, channels)
            return x * self.layers(means).view(batch, channels, 1, 1).expand_as(x)
        return x * self.layers(functional.adaptive_avg_pool2d(x, 1))


class Inverted(nn.Module):
    """MBConv: wider, depthwise, gated, narrower, and added where the shapes allow."""

    def __init__(
        self, inputs: int, outputs: int, size: int, stride: int, times: int, gated: bool
    ) -> None:
        super().__init__()
        inner = inputs * times
        layers: list[nn.Module] = []
        activation = nn.SiLU if gated else nn.ReLU6
        if times > 1:
            layers.append(ConvNorm(inputs, inner, activation=activation))
        layers.append(ConvNorm(inner, inner, size, stride, inner, activation))
        if gated:
            layers.append(Gate(inner, max(1, inputs // 4)))
        layers += [nn.Conv2d(inner, outputs, 1, bias=False), nn.BatchNorm2d(outputs)]
        self.layers = nn.Sequential(*layers)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x) if self.adds else self.layers(x)


class MobileNet(nn.Module):
    """Inverted residuals from a picture to classes; rows: times, outputs, repeats, stride, size."""

    def __init__(
        self, first: int, rows: Sequence[Sequence[int]], last: int, classes: int, gated: bool
    ) -> None:
        super().__init__()
        self.first = ConvNorm(3, first, 3, 2, activation=nn.ReLU6)
        blocks: list[nn.Module] = []
        inputs = first
        for times, outputs, repeats, stride, size in rows:
            for number in range(repeats):
                blocks.append(
                    Inverted(inputs, outputs, size, 1 if number else stride, times, gated)
                )
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.last = ConvNorm(inputs, last, activation=nn.ReLU6)
        self.head = nn.Linear(last, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.last(self.blocks(self.first(x)))
        return self.head(torch.flatten(functional.adaptive_avg_pool2d(x, (1, 1)), 1))


class Separables(nn.Module):
    """A depthwise convolution and one of 1x1, again and again."""

    def __init__(self, inputs: int, rows: Sequence[Sequence[int]], classes: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for outputs, stride in rows:
            layers += [ConvNorm(inputs, inputs, 3, stride, inputs), ConvNorm(inputs, outputs)]
            inputs = outputs
        self.layers = nn.Sequential(*layers, nn.AvgPool2d(2))
        self.head = nn.Linear(inputs, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(x).mean((2, 3)))


class Fire(nn.Module):
    """Squeezed to few channels, and expanded by convolutions of 1x1 and 3x3, side by side."""

    def __init__(self, inputs: int, squeezed: int, one: int, three: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(inputs, squeezed, 1)
        self.one = nn.Conv2d(squeezed, one, 1)
        self.three = nn.Conv2d(squeezed, three, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.squeeze(x))
        return torch.cat([torch.relu(self.one(x)), torch.relu(self.three(x))], 1)


class SqueezeNet(nn.Module):
    """Fire modules with poolings between; the last convolution gives the classes."""

    def __init__(self, first: int, widths: Sequence[int], classes: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(3, first, 7, stride=2), nn.ReLU()]
        inputs = first
        for number, width in enumerate(widths):
            if number % 2 == 0:
                layers.append(nn.MaxPool2d(3, 2, ceil_mode=True))
            layers.append(Fire(inputs, max(1, width // 4), width, width))
            inputs = 2 * width
        layers += [nn.Dropout(), nn.Conv2d(inputs, classes, 1), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return torch.flatten(functional.adaptive_avg_pool2d(self.layers(x), 1), 1)


class ShuffleUnit(nn.Module):
    """Grouped 1x1, channels shuffled between the groups, depthwise, grouped 1x1, and a shortcut."""

    def __init__(self, inputs: int, outputs: int, groups: int) -> None:
        super().__init__()
        inner = outputs // 4
        self.groups = groups
        self.one = ConvNorm(inputs, inner, groups=groups)
        self.two = ConvNorm(inner, inner, 3, groups=inner, activation=nn.Identity)
        self.three = ConvNorm(inner, outputs, groups=groups, activation=nn.Identity)
        self.short = nn.Sequential() if inputs == outputs else ConvNorm(inputs, outputs)

    def forward(self, x: Tensor) -> Tensor:
        y = self.one(x)
        batch, channels, height, width = y.size()
        y = y.view(batch, self.groups, channels // self.groups, height, width)
        y = y.transpose(1, 2).contiguous().view(batch, -1, height, width)
        return torch.relu(self.three(self.two(y)) + self.short(x))


class SplitUnit(nn.Module):
    """Half of the channels pass; the others are convolved; then all are shuffled."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        half = channels // 2
        self.layers = nn.Sequential(
            ConvNorm(half, half),
            ConvNorm(half, half, 3, groups=half, activation=nn.Identity),
            ConvNorm(half, half),
        )
        self.shuffle = nn.ChannelShuffle(2)

    def forward(self, x: Tensor) -> Tensor:
        one, other = x.chunk(2, dim=1)
        return self.shuffle(torch.cat((one, self.layers(other)), dim=1))


class InceptionBlock(nn.Module):
    """Four ways side by side: 1x1, 3x3, 5x5 (or two of 3x3), and a pooling."""

    def __init__(self, inputs: int, widths: Sequence[int], normed: bool) -> None:
        super().__init__()
        one, before, three, less, five, pooled = widths
        conv = ConvNorm if normed else PlainConv
        self.one = conv(inputs, one)
        self.three = nn.Sequential(conv(inputs, before), conv(before, three, 3))
        self.five = nn.Sequential(conv(inputs, less), conv(less, five, 5))
        self.pooled = nn.Sequential(nn.MaxPool2d(3, 1, 1), conv(inputs, pooled))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.one(x), self.three(x), self.five(x), self.pooled(x)], 1)


class PlainConv(nn.Conv2d):
    """A convolution that keeps the side."""

    def __init__(self, inputs: int, outputs: int, size: int = 1) -> None:
        super().__init__(inputs, outputs, size, padding=size // 2)


class DenseNet(nn.Module):
    """Blocks of layers that each see all before them, and transitions of half as much."""

    def __init__(self, inputs: int, growth: int, blocks: Sequence[int], classes: int) -> None:
        super().__init__()
        self.first = nn.Sequential(ConvNorm(3, inputs, 7, 2), nn.MaxPool2d(3, 2, 1))
        self.blocks = nn.ModuleList()
        for number, layers in enumerate(blocks):
            self.blocks.append(DenseBlock(inputs, growth, layers))
            inputs += growth * layers
            if number + 1 < len(blocks):
                self.blocks.append(Transition(inputs, inputs // 2))
                inputs //= 2
        self.norm = nn.BatchNorm2d(inputs)
        self.head = nn.Linear(inputs, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        x = torch.relu(self.norm(x))
        return self.head(functional.adaptive_avg_pool2d(x, (1, 1)).view(x.size(0), -1))


class DenseBlock(nn.Module):
    """Layers that each see all before them."""

    def __init__(self, inputs: int, growth: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(
                nn.BatchNorm2d(inputs + growth * number),
                nn.ReLU(inplace=True),
                nn.Conv2d(inputs + growth * number, growth, 3, padding=1, bias=False),
                nn.Dropout(0.0),
            )
            for number in range(layers)
        )

    def forward(self, x: Tensor) -> Tensor:
        features = [x]
        for layer in self.layers:
            features.append(layer(torch.cat(features, 1)))
        return torch.cat(features, 1)


class Transition(nn.Sequential):
    """Fewer channels, and half the side."""

    def __init__(self, inputs: int, outputs: int) -> None:
        conv = nn.Conv2d(inputs, outputs, 1, bias=False)
        super().__init__(nn.BatchNorm2d(inputs), nn.ReLU(), conv, nn.AvgPool2d(2, 2))


class Residual(nn.Module):
    """Two convolutions of 3x3; or one, maybe grouped, between two of 1x1; and a shortcut."""

    def __init__(
        self, inputs: int, inner: int, outputs: int, stride: int, groups: int, gated: bool
    ) -> None:
        super().__init__()
        if inner:
            layers: list[nn.Module] = [
                ConvNorm(inputs, inner),
                ConvNorm(inner, inner, 3, stride, groups),
                ConvNorm(inner, outputs, activation=nn.Identity),
            ]
        else:
            last = ConvNorm(outputs, outputs, 3, activation=nn.Identity)
            layers = [ConvNorm(inputs, outputs, 3, stride), last]
        if gated:
            layers.append(Gate(outputs, max(1, outputs // 16), linear=True))
        self.layers = nn.Sequential(*layers)
        self.short: nn.Module = nn.Identity()
        if stride > 1 or inputs != outputs:
            self.short = ConvNorm(inputs, outputs, 1, stride, activation=nn.Identity)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.layers(x) + self.short(x))


class ResNet(nn.Module):
    """Stages of residual blocks; rows: inner channels or 0, outputs, repeats, groups."""

    def __init__(
        self, first: int, rows: Sequence[Sequence[int]], classes: int, gated: bool
    ) -> None:
        super().__init__()
        self.first = nn.Sequential(ConvNorm(3, first, 7, 2), nn.MaxPool2d(3, 2, 1))
        blocks: list[nn.Module] = []
        inputs = first
        for stage, (inner, outputs, repeats, groups) in enumerate(rows):
            for number in range(repeats):
                stride = 2 if stage and not number else 1
                blocks.append(Residual(inputs, inner, outputs, stride, groups, gated))
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(inputs, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = functional.adaptive_avg_pool2d(self.blocks(self.first(x)), (1, 1))
        return self.head(torch.flatten(x, 1))


class Vgg(nn.Module):
    """Stacks of convolutions with a pooling after each, and linear layers."""

    def __init__(
        self, stacks: Sequence[Sequence[int]], side: int, size: int, width: int, classes: int
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        inputs = 3
        for stack in stacks:
            for outputs in stack:
                layers += [nn.Conv2d(inputs, outputs, size, padding=size // 2), nn.ReLU()]
                inputs = outputs
            layers.append(nn.MaxPool2d(2, 2))
        self.layers = nn.Sequential(*layers)
        left = inputs * (side // 2 ** len(stacks)) ** 2
        self.head = nn.Sequential(
            nn.Linear(left, width), nn.ReLU(), nn.Dropout(0.5), nn.Linear(width, classes)
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.flatten(self.layers(x), 1))


class ConvNext(nn.Module):
    """Wide depthwise convolutions, a norm over the channels, and two linear layers."""

    def __init__(self, channels: int, layers: int, size: int) -> None:
        super().__init__()
        self.mixing = nn.ModuleList(
            nn.Conv2d(channels, channels, size, padding=size // 2, groups=channels)
            for _ in range(layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(channels) for _ in range(layers))
        self.wide = nn.ModuleList(nn.Linear(channels, 4 * channels) for _ in range(layers))
        self.narrow = nn.ModuleList(nn.Linear(4 * channels, channels) for _ in range(layers))
        self.scales = nn.Parameter(torch.rand(layers, channels))

    def forward(self, x: Tensor) -> Tensor:
        for number, mix in enumerate(self.mixing):
            y = self.norms[number](mix(x).permute(0, 2, 3, 1))
            y = self.narrow[number](functional.gelu(self.wide[number](y))) * self.scales[number]
            x = x + y.permute(0, 3, 1, 2)
        return x
