"""Networks of sequences and blocks of them, with drawn sizes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from .draw import Draw, Problem
from .modules import batch, module, tensor, wide


def _sequence(name: str, sizes: tuple[int, ...], *given: Any) -> Problem:
    return module("sequences", name, {"x": tensor(*sizes)}, *given)


def _tokens(draw: Draw, low: int = 64, high: int = 1024) -> int:
    return draw.size(low, high, tiny=(3, 9), odd=0.2)


def _heads(draw: Draw) -> tuple[int, int]:
    """Returns the width of all heads, and how many there are."""
    heads = draw.pick(2, 4, 8, 12)
    return draw.size(128, 1024, of=2 * heads, tiny=(1, 2)), heads


def _perceptron(draw: Draw) -> Problem:
    hidden = wide(draw, 512, 8192)
    same = draw.chance(0.5)
    inner = [hidden if same else wide(draw, 512, 8192) for _ in range(draw.count(1, 8))]
    widths = [wide(draw, 512, 8192), *inner, wide(draw, 10, 8192)]
    activation = draw.pick("ReLU", "ReLU", "GELU", "Tanh", "SiLU")
    return _sequence("Perceptron", (draw.size(1, 2048, tiny=(1, 5)), widths[0]), widths, activation)


def _attention(draw: Draw) -> Problem:
    (width, heads), tokens = _heads(draw), _tokens(draw)
    given = (width, heads, tokens, draw.chance(0.7), draw.chance(0.3))
    return _sequence("Attention", (batch(draw), tokens, width), *given)


def _block(draw: Draw) -> Problem:
    (width, heads), tokens = _heads(draw), _tokens(draw)
    relu = draw.chance(0.2)
    given = (width, heads, tokens, draw.pick(2, 4, 4), relu or draw.chance(0.7), relu)
    return _sequence("Block", (batch(draw), tokens, width), *given)


def _gpt(draw: Draw) -> Problem:
    (width, heads), tokens, words = _heads(draw), _tokens(draw), wide(draw, 1000, 50257)
    rows = draw.size(1, 16, tiny=(1, 3))
    inputs = {"tokens": f"torch.randint(0, {words}, ({rows}, {tokens}))"}
    return module("sequences", "Gpt", inputs, words, tokens, width, heads, draw.count(1, 6))


def _vit(draw: Draw) -> Problem:
    (width, heads), patch = _heads(draw), draw.pick(4, 8, 16)
    side = draw.size(8 * patch, 14 * patch, of=patch, tiny=(2, 3), odd=0.7)
    given = (side, patch, width, heads, draw.count(1, 6), draw.chance(0.4))
    return _sequence("Vit", (batch(draw), 3, side, side), *given)


def _image_attention(draw: Draw) -> Problem:
    (width, heads), side = _heads(draw), draw.size(16, 96, tiny=(3, 5))
    return _sequence("ImageAttention", (draw.size(1, 8), width, side, side), width, heads)


def _swin(draw: Draw) -> Problem:
    heads, window = draw.pick(2, 3, 4), draw.pick(4, 7, 8)
    width = draw.size(64, 384, of=4 * heads, tiny=(1, 2))
    side = 2 * window * draw.few(1, 4)
    cosine = draw.chance(0.3)
    if draw.chance(0.4):
        given = (side, width, heads, window, draw.pick(0, window // 2), cosine)
        return _sequence("Windows", (batch(draw), side * side, width), *given)
    return _sequence("Swin", (batch(draw), side * side, width), side, width, heads, window, cosine)


def _mixer(draw: Draw) -> Problem:
    tokens, width = _tokens(draw, 49, 512), wide(draw, 128, 1024)
    given = (tokens, width, wide(draw, 64, 1024), draw.count(1, 8))
    return _sequence("Mixer", (batch(draw), tokens, width), *given)


def _recurrent(draw: Draw) -> Problem:
    kind, layers = draw.pick("GRU", "LSTM", "RNN", "LSTM", "GRU"), draw.count(1, 6)
    inputs, width = wide(draw, 32, 512), wide(draw, 64, 512)
    rows, steps = draw.size(1, 64, tiny=(1, 4)), draw.size(32, 512, tiny=(2, 6), odd=0.1)
    both, first = draw.chance(0.3), draw.chance(0.6)
    given = (kind, inputs, width, layers, both, draw.pick("last", "states", "steps"), first)
    x = tensor(*((rows, steps, inputs) if first else (steps, rows, inputs)))
    taken = {"x": x}
    if draw.chance(0.5):
        state = tensor(layers * (2 if both else 1), rows, width)
        taken["state"] = state
        if kind == "LSTM":
            taken["cell"] = state
    made = module("sequences", "Recurrent", taken, *given, kind=f"recurrent_{kind.lower()}")
    return dataclasses.replace(made, is_stepwise=True)


def _step_by_step(draw: Draw) -> Problem:
    inputs, width, outputs = (wide(draw, 128, 2048) for _ in range(3))
    rows, steps = draw.size(4, 256, tiny=(1, 4)), draw.size(8, 96, tiny=(2, 5))
    taken = {"x": tensor(steps, rows, inputs), "state": tensor(rows, width)}
    return module("sequences", "StepByStep", taken, inputs, width, outputs)


def _selective(draw: Draw) -> Problem:
    width, state = wide(draw, 128, 1024), draw.size(4, 16, tiny=(2, 4))
    shape = (draw.size(1, 16, tiny=(1, 3)), draw.size(16, 64, tiny=(2, 7)), width)
    return _sequence("SelectiveScan", shape, width, state, draw.pick(3, 4))


def _chunked(draw: Draw) -> Problem:
    heads, width = draw.size(2, 16, tiny=(1, 3)), draw.size(16, 64, tiny=(2, 6))
    state, chunk = draw.size(8, 64, tiny=(2, 5)), draw.size(16, 64, tiny=(2, 4))
    tokens = chunk * draw.few(2, 8)
    shape = (draw.size(4, 512, tiny=(1, 3)), tokens, heads, width)
    return _sequence("ChunkedScan", shape, heads, width, state, chunk)


def _clusters(draw: Draw) -> Problem:
    width, ghosts = wide(draw, 64, 1024), draw.pick(0, 0, 1, 8)
    shape = (draw.size(16, 2048, tiny=(2, 4)), draw.size(50, 400, tiny=(3, 9), odd=0.3), width)
    return _sequence("Clusters", shape, wide(draw, 8, 128), ghosts, width)


def _linear_attention(draw: Draw) -> Problem:
    (width, heads), tokens = _heads(draw), _tokens(draw, 128, 2048)
    return _sequence(
        "LinearAttention", (batch(draw), tokens, width), width, heads, draw.chance(0.4)
    )


SEQUENCES: dict[Callable[[Draw], Problem], float] = {
    _perceptron: 3,
    _attention: 2.5,
    _block: 2,
    _gpt: 1.5,
    _vit: 3,
    _image_attention: 1.5,
    _swin: 3,
    _mixer: 1.5,
    _recurrent: 5,
    _step_by_step: 1.5,
    _selective: 1,
    _chunked: 2,
    _clusters: 2,
    _linear_attention: 1,
}
