"""What products, convolutions and attention are drawn from.

Products have the shapes of transformers' layers; convolutions have one to three dims, and steps,
dilations, groups and zeros between elements; attention is over a prompt or of a token's few rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .dice import Dice, Drawn
from .row import Array

# A share of what a scale divides sizes by, each of a product's three.
_OF_THREE = 1 / 3
_HIDDEN = (512, 768, 1024, 1280, 1536, 2048, 2560, 3072, 3584, 4096, 5120, 6144, 8192)
_WORDS = (32000, 32064, 50257, 128256, 151936)
_MOST_PRODUCT_FLOPS, _MOST_BYTES = 2e12, 2e9
_PRODUCT_TYPES = (("bf16", 0.55), ("f16", 0.25), ("f32", 0.2))
_LAYERS = (
    ("queries", 0.15),
    ("square", 0.2),
    ("up", 0.2),
    ("down", 0.2),
    ("words", 0.05),
    ("thin", 0.05),
    ("scores", 0.15),
)
_AFTER = (("", 0.5), ("bias", 0.15), ("bias_gelu", 0.15), ("residual", 0.1), ("gate", 0.1))


def _count(dice: Dice, least: int, most: int) -> int:
    """A size between two, logarithmically even: a power of two, a multiple of 8, or any."""
    return dice.size(dice.random.uniform(math.log2(least), math.log2(most)))


def _product(dice: Dice) -> Drawn:
    while True:
        drawn = _drawn_product(dice)
        bytes_ = sum(each.bytes for each in drawn.inputs)
        if drawn.flops <= _MOST_PRODUCT_FLOPS and bytes_ <= _MOST_BYTES:
            return drawn


def _drawn_product(dice: Dice) -> Drawn:
    hidden, layer = dice.one_of(_HIDDEN), dice.weighed(_LAYERS)
    inner = dice.one_of((4 * hidden, 8 * hidden // 3 // 64 * 64, 2 * hidden))
    rows, batch = _count(dice, 1, 16384), 1
    columns, terms = {
        "queries": (dice.one_of((3 * hidden, hidden + hidden // 2, hidden // 4)), hidden),
        "square": (hidden, hidden),
        "up": (inner, hidden),
        "down": (hidden, inner),
        "words": (dice.one_of(_WORDS), hidden),
        "thin": (dice.one_of((8, 16, 32, 64)), hidden),
        "scores": (_count(dice, 64, 4096), dice.one_of((32, 64, 80, 96, 128))),
    }[layer]
    if layer == "scores":
        rows, batch = _count(dice, 64, 4096), dice.one_of((8, 12, 16, 32, 64, 96))
    sizes = (rows, columns, terms)
    rows, columns, terms = (dice.smaller(each, _OF_THREE, 8) for each in sizes)
    element = dice.weighed(_PRODUCT_TYPES)
    op = "scores" if layer == "scores" else dice.one_of(("linear", "linear", "product"))
    many = (batch,) if op == "scores" else ()
    factor = (terms, columns) if op == "product" else (columns, terms)
    inputs = [Array(element, (*many, rows, terms)), Array(element, (*many, *factor))]
    after = "" if op == "scores" else dice.weighed(_AFTER)
    if "bias" in after:
        inputs.append(Array(element, (columns,)))
    elif after:
        inputs.append(Array(element, (rows, columns)))
    return Drawn(inputs, {"op": op, "after": after}, 2 * batch * rows * columns * terms)


# The least and the greatest size of a picture, by its dims; operations that a convolution has.
_PICTURES = {1: (64, 32768), 2: (7, 512), 3: (4, 96)}
_CONVOLUTIONS = (("plain", 0.45), ("grouped", 0.15), ("depthwise", 0.15), ("transposed", 0.25))
_CONVOLUTION_FLOPS, _DEPTHWISE_FLOPS = (2e8, 1.2e11), (1e7, 1.2e11)
_CONVOLUTION_TYPES = (("f32", 0.5), ("bf16", 0.35), ("f16", 0.15))
_CONVOLUTION_BYTES = 1.5e9
_CHANNELS = (16, 32, 64, 96, 128, 192, 256, 384, 512)


def _convolution(dice: Dice) -> Drawn:
    while True:
        drawn = _drawn_convolution(dice)
        if drawn is not None:
            return drawn


def _drawn_convolution(dice: Dice) -> Drawn | None:
    """None for one that is empty, too small or too large."""
    draw = dice.random
    dims = draw.choices((1, 2, 3), (20, 60, 20))[0]
    op = dice.weighed(
        (("plain", 0.45), ("grouped", 0.15), ("depthwise", 0.15), ("transposed", 0.25))
    )
    window = [draw.choices((1, 2, 3, 4, 5, 7), (15, 5, 50, 5, 15, 10))[0] for _ in range(dims)]
    if dice.chance(0.7):
        window = [window[0]] * dims
    step = 1 if dice.chance(0.65) else dice.one_of((2, 2, 3))
    dilation = 1 if dice.chance(0.8) else 2
    is_same = dice.chance(0.7)
    padding = [dilation * (each - 1) // 2 if is_same else 0 for each in window]
    channels, filters = (_channels(dice) for _ in range(2))
    groups = 1
    if op == "depthwise":
        groups = filters = channels
    elif op == "grouped":
        groups = dice.one_of((2, 4, 8, 16, 32))
        channels, filters = (-(-each // groups) * groups for each in (channels, filters))
    batch = dice.one_of((1, 2, 4, 8, 16, 32, 64))
    least, most = _PICTURES[dims]
    base = math.exp(draw.uniform(math.log(least), math.log(most)))
    is_even = dice.chance(0.5)
    picture: list[int] = []
    for each in window:
        size = base * draw.uniform(0.7, 1.3)
        size = 8 * round(size / 8) if is_even else int(size)
        picture.append(max(dice.smaller(size, 1 / (dims + 2)), dilation * (each - 1) + 1))
    if dice.less:
        batch, groups = dice.smaller(batch, 1 / (dims + 2)), min(groups, 8)
        channels, filters = (
            groups * dice.smaller(each // groups, 1 / (dims + 2)) for each in (channels, filters)
        )
    reach = [dilation * (each - 1) + 1 for each in window]
    if op == "transposed":
        result = [
            (size - 1) * step - 2 * pad + far
            for size, pad, far in zip(picture, padding, reach, strict=True)
        ]
        added = math.prod(picture)
        weights = (channels, filters // groups, *window)
    else:
        result = [
            (size + 2 * pad - far) // step + 1
            for size, pad, far in zip(picture, padding, reach, strict=True)
        ]
        added = math.prod(result)
        weights = (filters, channels // groups, *window)
    if min(result) < 1:
        return None
    flops = 2 * batch * channels * (filters // groups) * math.prod(window) * added
    bytes_ = 4 * batch * (channels * math.prod(picture) + filters * math.prod(result))
    least_flops, most_flops = _DEPTHWISE_FLOPS if op == "depthwise" else _CONVOLUTION_FLOPS
    is_large = flops >= least_flops / 2**dice.less
    if not is_large or flops > most_flops or bytes_ > _CONVOLUTION_BYTES:
        return None
    element = dice.weighed(_CONVOLUTION_TYPES)
    # A picture whose channels lie together is a view of one that has them last.
    is_last = dims > 1 and dice.chance(0.3)
    sizes = (batch, *picture, channels) if is_last else (batch, channels, *picture)
    parameters: dict[str, Any] = {
        "op": op,
        "step": step,
        "padding": padding,
        "dilation": dilation,
        "groups": groups,
        "last": is_last,
    }
    arrays = [Array(element, sizes), Array(element, weights), Array(element, (filters,))]
    return Drawn(arrays, parameters, flops)


def _channels(dice: Dice) -> int:
    choices: Sequence[Callable[[], int]] = (
        lambda: dice.one_of(_CHANNELS),
        lambda: 8 * dice.random.randint(1, 64),
        lambda: dice.random.randint(3, 200),
    )
    return dice.one_of(choices)()


_HEADS = (32, 40, 64, 64, 64, 80, 96, 128, 128, 128, 160, 192, 256)
_ATTENTION_TYPES = (("bf16", 0.6), ("f16", 0.25), ("f32", 0.15))
# In float64, as the judge computes them, they are 10 GB.
_MOST_SCORES = 1.25e9


def _attention(dice: Dice) -> Drawn:
    while True:
        drawn = _drawn_attention(dice)
        bytes_ = sum(each.bytes for each in drawn.inputs)
        scores = math.prod(drawn.inputs[0].sizes[:3]) * drawn.inputs[1].sizes[2]
        if scores <= _MOST_SCORES and bytes_ <= _MOST_BYTES:
            return drawn


def _drawn_attention(dice: Dice) -> Drawn:
    op = dice.weighed((("prompt", 0.3), ("causal", 0.3), ("token", 0.4)))
    head, heads = dice.one_of(_HEADS), dice.one_of((8, 12, 16, 24, 32, 40, 64))
    shared = dice.one_of([each for each in (1, 1, 2, 4, 8) if heads % each == 0])
    if op == "token":
        batch, keys = dice.one_of((1, 2, 4, 8, 16, 32, 64)), _count(dice, 128, 32768)
        rows = dice.one_of((1, 1, 1, 1, 2, 4, 8))
    else:
        batch, keys = dice.one_of((1, 2, 4, 8, 16)), _count(dice, 64, 8192)
        rows = keys if op == "causal" or dice.chance(0.7) else _count(dice, 64, 8192)
    if dice.less:
        batch, heads = 1, 2 * shared
    rows, keys = (dice.smaller(each, _OF_THREE) for each in (rows, keys))
    element = dice.weighed(_ATTENTION_TYPES)
    key = Array(element, (batch, heads // shared, keys, head))
    inputs = [Array(element, (batch, heads, rows, head)), key, key]
    flops = 4 * batch * heads * rows * keys * head
    return Drawn(inputs, {"op": op}, flops // 2 if op == "causal" else flops)


CONTRACTIONS: dict[str, Callable[[Dice], Drawn]] = {
    "product": _product,
    "convolution": _convolution,
    "attention": _attention,
}
