"""Modules that make images of images. A drawn file has the source of those that it uses."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional


class Twice(nn.Sequential):
    """Two convolutions of 3x3, each with a norm and an activation."""

    def __init__(self, inputs: int, outputs: int, last: type[nn.Module] = nn.ReLU) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, 3, padding=1),
            nn.BatchNorm2d(outputs),
            last(),
            nn.Conv2d(outputs, outputs, 3, padding=1),
            nn.BatchNorm2d(outputs),
            last(),
        )


class UNet(nn.Module):
    """Down by poolings, up by transposed convolutions or by interpolation, joined by channels."""

    def __init__(
        self, inputs: int, outputs: int, widths: Sequence[int], interpolates: bool
    ) -> None:
        super().__init__()
        self.down, self.up, self.join = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        for width in widths:
            self.down.append(Twice(inputs, width))
            inputs = width
        for width in reversed(widths[:-1]):
            if interpolates:
                up: nn.Module = nn.Sequential(
                    nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
                    nn.Conv2d(inputs, width, 1),
                )
            else:
                up = nn.ConvTranspose2d(inputs, width, 2, 2)
            self.up.append(up)
            self.join.append(Twice(2 * width, width))
            inputs = width
        self.last = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x: Tensor) -> Tensor:
        seen: list[Tensor] = []
        for number, block in enumerate(self.down):
            x = block(x if number == 0 else functional.max_pool2d(x, 2))
            seen.append(x)
        for up, join, before in zip(self.up, self.join, reversed(seen[:-1]), strict=True):
            x = join(torch.cat([up(x), before], dim=1))
        return torch.sigmoid(self.last(x))


class Denoiser(nn.Module):
    """A part of a denoising network: group norms, the time by sines, attention over the image."""

    def __init__(self, inputs: int, outputs: int, time: int, groups: int, heads: int) -> None:
        super().__init__()
        self.time, self.heads = time, heads
        self.one_norm, self.two_norm = nn.GroupNorm(groups, inputs), nn.GroupNorm(groups, outputs)
        self.one = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.two = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.by_time = nn.Sequential(
            nn.Linear(time, outputs), nn.SiLU(), nn.Linear(outputs, outputs)
        )
        self.short = nn.Conv2d(inputs, outputs, 1)
        self.norm = nn.GroupNorm(groups, outputs)
        self.qkv, self.last = nn.Conv2d(outputs, 3 * outputs, 1), nn.Conv2d(outputs, outputs, 1)

    def forward(self, x: Tensor, steps: Tensor) -> Tensor:
        half = self.time // 2
        rates = torch.exp(torch.arange(half, device=x.device) * (-math.log(10000.0) / half))
        angles = steps[:, None] * rates[None]
        time = self.by_time(torch.cat([angles.sin(), angles.cos()], -1))
        y = self.one(functional.silu(self.one_norm(x))) + time[:, :, None, None]
        y = self.two(functional.silu(self.two_norm(y))) + self.short(x)
        batch, channels, height, width = y.shape
        parts = self.qkv(self.norm(y)).reshape(batch * self.heads, -1, height * width)
        q, k, v = parts.chunk(3, dim=1)
        weights = torch.softmax(torch.einsum("bct,bcs->bts", q, k) * q.shape[1] ** -0.5, dim=-1)
        mixed = torch.einsum("bts,bcs->bct", weights, v).reshape(batch, channels, height, width)
        return y + self.last(mixed)
