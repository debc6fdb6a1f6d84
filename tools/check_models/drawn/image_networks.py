"""Networks of images and blocks of them, with drawn sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .draw import Draw, Problem
from .modules import batch, module, tensor, wide


def _conv(name: str, inputs: tuple[int, ...], *given: Any, kind: str = "") -> Problem:
    return module("convolutional", name, {"x": tensor(*inputs)}, *given, kind=kind)


def _side(draw: Draw, halvings: int) -> int:
    """Returns the side of a picture that can be halved so often."""
    least = 2**halvings
    return draw.size(max(96, least), 256, of=least, tiny=(1, 1), odd=0.5)


def _mobile_net(draw: Draw) -> Problem:
    gated = draw.chance(0.5)
    rows: list[tuple[int, ...]] = []
    width = wide(draw, 16, 24, 8)
    for stage in range(draw.count(2, 6)):
        rows.append(
            (1 if stage == 0 else draw.pick(3, 4, 6), width, draw.count(1, 4),
             draw.pick(1, 2, 2), draw.pick(3, 3, 5) if gated else 3)
        )  # fmt: skip
        width = width * 3 // 2 // 8 * 8
    shape = (batch(draw), 3, _side(draw, 6), _side(draw, 6))
    given = (wide(draw, 16, 32, 8), rows, wide(draw, 256, 1280), wide(draw, 10, 1000), gated)
    return _conv("MobileNet", shape, *given)


def _inverted(draw: Draw) -> Problem:
    inputs = wide(draw, 16, 192, 8)
    outputs = inputs if draw.chance(0.5) else wide(draw, 16, 256, 8)
    shape = (batch(draw), inputs, *[draw.size(14, 224, tiny=(5, 9))] * 2)
    given = (inputs, outputs, draw.pick(3, 5), draw.pick(1, 2), draw.pick(1, 4, 6))
    return _conv("Inverted", shape, *given, draw.chance(0.6))


def _separables(draw: Draw) -> Problem:
    rows = [(wide(draw, 32, 512), draw.pick(1, 2)) for _ in range(draw.count(2, 8))]
    inputs = wide(draw, 16, 64)
    side = draw.size(64, 224, tiny=(20, 24))
    halvings = sum(stride - 1 for _, stride in rows)
    side = max(side, 2 ** (halvings + 1))
    return _conv(
        "Separables", (batch(draw), inputs, side, side), inputs, rows, wide(draw, 10, 1000)
    )


def _fire(draw: Draw) -> Problem:
    inputs = wide(draw, 16, 512)
    side = draw.size(27, 256, tiny=(4, 9), odd=0.4)
    given = (inputs, wide(draw, 6, 64), wide(draw, 32, 256), wide(draw, 32, 256))
    return _conv("Fire", (batch(draw), inputs, side, side), *given)


def _squeeze_net(draw: Draw) -> Problem:
    widths = [wide(draw, 32, 256, 4) for _ in range(draw.count(2, 6))]
    side = draw.size(128, 320, tiny=(60, 64), odd=0.4)
    given = (wide(draw, 32, 96), widths, wide(draw, 10, 1000))
    return _conv("SqueezeNet", (batch(draw), 3, side, side), *given)


def _shuffle(draw: Draw) -> Problem:
    side = draw.size(14, 224, tiny=(4, 9))
    if draw.chance(0.4):
        channels = wide(draw, 48, 464, 4)
        return _conv("SplitUnit", (batch(draw), channels, side, side), channels)
    groups = draw.pick(2, 3, 4)
    inputs, outputs = wide(draw, 24, 480, groups), wide(draw, 96, 960, 4 * groups)
    shape = (batch(draw), inputs, side, side)
    return _conv("ShuffleUnit", shape, inputs, outputs, groups)


def _inception(draw: Draw) -> Problem:
    inputs, side = wide(draw, 64, 832), draw.size(7, 224, tiny=(4, 9))
    lows = ((32, 384), (16, 192), (64, 384), (8, 48), (16, 128), (16, 128))
    widths = [wide(draw, *each) for each in lows]
    return _conv(
        "InceptionBlock", (batch(draw), inputs, side, side), inputs, widths, draw.chance(0.4)
    )


def _dense(draw: Draw) -> Problem:
    growth, side = wide(draw, 12, 48, 4), draw.size(14, 224, tiny=(4, 9))
    form = draw.pick("block", "transition", "net")
    if form == "block":
        inputs = wide(draw, 16, 64)
        shape = (batch(draw), inputs, side, side)
        return _conv("DenseBlock", shape, inputs, growth, draw.count(3, 8))
    if form == "transition":
        inputs, outputs = wide(draw, 32, 512), wide(draw, 32, 256)
        return _conv("Transition", (batch(draw), inputs, side, side), inputs, outputs)
    blocks = [draw.count(2, 12) for _ in range(draw.few(2, 4))]
    picture = draw.size(96, 256, tiny=(48, 56), odd=0.4)
    shape = (batch(draw), 3, picture, picture)
    return _conv("DenseNet", shape, wide(draw, 32, 64, 4), growth, blocks, wide(draw, 10, 1000))


def _residual(draw: Draw) -> Problem:
    """ResNet's, ResNeXt's and RegNet's, a block or the network, gated or not."""
    form = draw.pick("basic", "bottleneck", "grouped")
    groups = draw.pick(4, 8, 32) if form == "grouped" else 1
    gated = draw.chance(0.25)
    inner = 0 if form == "basic" else wide(draw, 32, 128, groups)
    if draw.chance(0.45):
        inputs, outputs = wide(draw, 32, 256), wide(draw, 64, 512, 4)
        side = draw.size(14, 128, tiny=(5, 9))
        given = (inputs, inner, outputs, draw.pick(1, 2), groups, gated)
        return _conv("Residual", (batch(draw), inputs, side, side), *given)
    width, rows = wide(draw, 48, 128, 8), list[tuple[int, ...]]()
    for _ in range(draw.count(2, 4)):
        rows.append((inner, width, draw.count(1, 4), groups))
        inner, width = inner * 2, width * 2
    side = draw.size(64, 256, tiny=(33, 40), odd=0.3)
    given = (wide(draw, 32, 64), rows, wide(draw, 10, 1000), gated)
    return _conv("ResNet", (batch(draw), 3, side, side), *given)


def _vgg(draw: Draw) -> Problem:
    stacks: list[list[int]] = []
    width = wide(draw, 32, 64)
    for _ in range(draw.count(2, 5)):
        stacks.append([width] * draw.count(1, 3))
        width = min(512, 2 * width)
    side = draw.size(64, 224, tiny=(16, 20))
    given = (stacks, side, draw.pick(3, 3, 3, 5), wide(draw, 256, 4096), wide(draw, 10, 1000))
    return _conv("Vgg", (batch(draw), 3, side, side), *given)


def _unet(draw: Draw) -> Problem:
    first, levels = wide(draw, 16, 64), draw.few(3, 5)
    least = 2 ** (levels - 1)
    sides = [draw.size(64, 384, of=least, tiny=(1, 2)) for _ in range(2)]
    inputs = draw.pick(1, 3, 8)
    widths = [first * 2**level for level in range(levels)]
    shape = (draw.size(1, 16, tiny=(1, 2)), inputs, *sides)
    given = (inputs, draw.pick(1, 2, 4), widths, draw.chance(0.35))
    return module("image_to_image", "UNet", {"x": tensor(*shape)}, *given)


def _denoiser(draw: Draw) -> Problem:
    groups, heads = draw.pick(4, 8), draw.pick(1, 2, 4)
    inputs, outputs = wide(draw, 32, 256, groups), wide(draw, 64, 256, 8)
    batch, side = draw.size(2, 32, tiny=(1, 3)), draw.size(8, 32, tiny=(3, 6))
    given = {"x": tensor(batch, inputs, side, side), "steps": f"torch.rand({batch}) * 1000"}
    time = draw.size(64, 256, of=2, tiny=(4, 8))
    return module("image_to_image", "Denoiser", given, inputs, outputs, time, groups, heads)


def _conv_next(draw: Draw) -> Problem:
    channels, side = wide(draw, 64, 512), draw.size(7, 64, tiny=(5, 9))
    shape = (batch(draw), channels, side, side)
    return _conv("ConvNext", shape, channels, draw.count(1, 4), draw.pick(5, 7, 7))


CONVOLUTIONAL: dict[Callable[[Draw], Problem], float] = {
    _mobile_net: 4,
    _inverted: 2,
    _separables: 2,
    _fire: 1.5,
    _squeeze_net: 2,
    _shuffle: 3,
    _inception: 2.5,
    _dense: 4,
    _residual: 7,
    _vgg: 3,
    _unet: 2,
    _denoiser: 2,
    _conv_next: 1.5,
}
