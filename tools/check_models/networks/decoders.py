"""Decoders that keep keys and values of the tokens they have seen, and write them in place."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from .transformers import RmsNorm, rotate


class Cached(nn.Module):
    """Grouped heads that attend to what is kept of all tokens, each to those up to itself."""

    keys: Tensor
    values: Tensor

    def __init__(
        self, batch: int, tokens: int, width: int, heads: int, groups: int, *, bias: bool
    ) -> None:
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.q = nn.Linear(width, width, bias=bias)
        self.k, self.v = (nn.Linear(width, groups * self.size, bias=bias) for _ in range(2))
        self.out = nn.Linear(width, width, bias=bias)
        for name in ("keys", "values"):
            kept = torch.zeros(batch, groups, tokens, self.size)
            self.register_buffer(name, kept, persistent=False)

    def forward(
        self, x: Tensor, places: Tensor, seen: Tensor, angles: Tensor | None = None
    ) -> Tensor:
        q = self.q(x).unflatten(-1, (self.heads, self.size)).transpose(1, 2)
        k, v = (
            each(x).unflatten(-1, (self.groups, self.size)).transpose(1, 2)
            for each in (self.k, self.v)
        )
        if angles is not None:
            q, k = rotate(q, angles), rotate(k, angles)
        self.keys.index_copy_(2, places, k)
        self.values.index_copy_(2, places, v)
        q = q.unflatten(1, (self.groups, -1))
        scores = q @ self.keys[:, :, None].transpose(-1, -2) / math.sqrt(self.size)
        weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
        y = (weights @ self.values[:, :, None]).flatten(1, 2)
        return self.out(y.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Attention to what is kept, and linear layers: GPT-2's, or gated ones as Llama's."""

    def __init__(
        self, batch: int, tokens: int, width: int, heads: int, groups: int, *, gated: bool
    ) -> None:
        super().__init__()
        self.attention = Cached(batch, tokens, width, heads, groups, bias=not gated)
        norm: Callable[[int], nn.Module] = RmsNorm if gated else nn.LayerNorm
        self.first, self.second = norm(width), norm(width)
        inner = 8 * width // 3 if gated else 4 * width
        self.gate = nn.Linear(width, inner, bias=False) if gated else None
        self.up = nn.Linear(width, inner, bias=not gated)
        self.down = nn.Linear(inner, width, bias=not gated)

    def forward(self, x: Tensor, places: Tensor, seen: Tensor, angles: Tensor | None) -> Tensor:
        x = x + self.attention(self.first(x), places, seen, angles)
        y = self.second(x)
        if self.gate is None:
            return x + self.down(functional.gelu(self.up(y), approximate="tanh"))
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """The scores of the token after the last one; tokens are of the places given.

    With `window` a token sees that many, places are angles, and linear layers are gated.
    """

    def __init__(
        self,
        words: int,
        batch: int,
        tokens: int,
        width: int,
        heads: int,
        groups: int,
        layers: int,
        window: int = 0,
    ) -> None:
        super().__init__()
        self.tokens, self.window, self.size = tokens, window, width // heads
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(tokens, width) if not window else None
        self.layers = nn.ModuleList(
            Layer(batch, tokens, width, heads, groups, gated=window > 0) for _ in range(layers)
        )
        self.norm = RmsNorm(width) if window else nn.LayerNorm(width)

    def forward(self, tokens: Tensor, places: Tensor) -> Tensor:
        apart = places[:, None] - torch.arange(self.tokens, device=tokens.device)
        seen = apart >= 0
        x, angles = self.words(tokens), None
        if self.places is not None:
            x = x + self.places(places)
        else:
            seen = seen & (apart < self.window)
            steps = torch.arange(0, self.size, 2, device=tokens.device) / self.size
            angles = places[:, None] / 10000.0**steps
            angles = torch.cat([angles, angles], -1).to(x.dtype)
        for layer in self.layers:
            x = layer(x, places, seen, angles)
        return self.norm(x[:, -1]) @ self.words.weight.T


def greedy(count: int) -> Callable[..., list[Tensor]]:
    """Decodes so many tokens, each the likeliest; returns them, and the last scores."""

    def run(call: Callable[..., Tensor], tokens: Tensor, places: Tensor) -> list[Tensor]:
        found: list[Tensor] = []
        scores = call(tokens, places)
        at = places[-1:] + 1
        for _ in range(count):
            found.append(scores.argmax(-1, keepdim=True))
            scores = call(found[-1], at)
            at = at + 1
        return [torch.cat(found, 1), scores]

    return run


def token_by_token(count: int) -> Callable[..., list[Tensor]]:
    """Returns the same, where the model takes one token in a call."""

    def run(call: Callable[..., Tensor], tokens: Tensor, places: Tensor) -> list[Tensor]:
        prompt = (tokens + torch.arange(5, device=tokens.device)) % 50
        for place in range(4):
            call(prompt[:, place : place + 1].contiguous(), places + place)
        return greedy(count)(call, prompt[:, 4:].contiguous(), places + 4)

    return run
