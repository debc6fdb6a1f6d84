"""Networks of attention."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor, nn
from torch.nn import functional


class Attention(nn.Module):
    """Heads that attend to the tokens of `context`, or to the same."""

    def __init__(self, width: int, heads: int, context: int | None = None) -> None:
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(width, width)
        self.k, self.v = (nn.Linear(context or width, width) for _ in range(2))
        self.last = nn.Linear(width, width)

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(
        self, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        context = x if context is None else context
        q, k, v = self.split(self.q(x)), self.split(self.k(context)), self.split(self.v(context))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores + mask.to(scores.dtype)
        return self.last((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


def causal(tokens: int) -> Tensor:
    """Returns what is added to scores so that no token sees those after it."""
    return torch.full((tokens, tokens), -math.inf).triu(1)


class Encoder(nn.Module):
    """A layer of attention and of two linear ones; the norms stand before them, or after."""

    def __init__(self, width: int, heads: int, *, norm_first: bool) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.linear = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )
        self.norm_first = norm_first

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.norm_first:
            x = x + self.attention(self.first(x), mask=mask)
            return x + self.linear(self.second(x))
        x = self.first(x + self.attention(x, mask=mask))
        return self.second(x + self.linear(x))


class Vit(nn.Module):
    """A vision transformer: patches, a class token, encoders."""

    def __init__(
        self, size: int, patch: int, width: int, heads: int, layers: int, classes: int
    ) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, width))
        self.layers = nn.Sequential(
            *(Encoder(width, heads, norm_first=True) for _ in range(layers))
        )
        self.norm, self.last = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, images: Tensor) -> Tensor:
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.last(self.norm(self.layers(x))[:, 0])


class SwinBlock(nn.Module):
    """Attention within windows, which are shifted against those of the block before."""

    apart: Tensor
    mask: Tensor

    def __init__(self, size: int, width: int, heads: int, window: int, shift: int) -> None:
        super().__init__()
        self.size, self.heads, self.window, self.shift = size, heads, window, shift
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.bias = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads) / 10)
        place = torch.stack(
            torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")
        ).flatten(1)
        apart = place[:, :, None] - place[:, None] + window - 1
        self.register_buffer("apart", apart[0] * (2 * window - 1) + apart[1])
        self.register_buffer("mask", self._mask())
        self.linear = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def _mask(self) -> Tensor:
        """Returns what keeps the parts of a window apart that the shift brought together."""
        part = torch.zeros(1, self.size, self.size, 1)
        if self.shift:
            edges = [0, self.size - self.window, self.size - self.shift, self.size]
            spans = [slice(*pair) for pair in itertools.pairwise(edges)]
            for number, (rows, columns) in enumerate((a, b) for a in spans for b in spans):
                part[:, rows, columns] = number
        parts = self._windows(part).squeeze(-1)
        return torch.where(parts[:, None] == parts[:, :, None], 0.0, -100.0)

    def _windows(self, x: Tensor) -> Tensor:
        batch, count, channels = x.shape[0], self.size // self.window, x.shape[-1]
        x = x.view(batch, count, self.window, count, self.window, channels)
        return x.transpose(2, 3).reshape(-1, self.window**2, channels)

    def forward(self, x: Tensor) -> Tensor:
        batch, count, channels = x.shape[0], self.size // self.window, x.shape[-1]
        moved = self.first(x).view(batch, self.size, self.size, channels)
        windows = self._windows(moved.roll((-self.shift, -self.shift), (1, 2)))
        bias = self.bias[self.apart].permute(2, 0, 1)
        mask = bias + self.mask[:, None].repeat(batch, 1, 1, 1)
        y = self.attention(windows, mask=mask)
        y = y.view(batch, count, count, self.window, self.window, channels).transpose(2, 3)
        y = y.reshape(batch, self.size, self.size, channels)
        x = x + y.roll((self.shift, self.shift), (1, 2)).view(batch, -1, channels)
        return x + self.linear(self.second(x))


class Bert(nn.Module):
    """An encoder of tokens of two segments, some of which are padding."""

    def __init__(self, words: int, tokens: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(tokens, width)
        self.segments, self.norm = nn.Embedding(2, width), nn.LayerNorm(width)
        self.layers = nn.ModuleList(Encoder(width, heads, norm_first=False) for _ in range(layers))
        self.pooled = nn.Linear(width, width)

    def forward(self, tokens: Tensor, segments: Tensor, kept: Tensor) -> tuple[Tensor, Tensor]:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.norm(self.words(tokens) + self.places(places) + self.segments(segments))
        mask = torch.where(kept, 0.0, -1e4)[:, None, None]
        for layer in self.layers:
            x = layer(x, mask)
        return x, torch.tanh(self.pooled(x[:, 0]))


class Gpt2Layer(nn.Module):
    """A layer of GPT-2. With a cache its tokens come after those whose keys and values it holds."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.linear = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width)
        )

    def forward(
        self, x: Tensor, cache: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        q, k, v = (
            each.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for each in self.qkv(self.first(x)).chunk(3, -1)
        )
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=cache is None)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.linear(self.second(x)), (k, v)


class Gpt2(nn.Module):
    """GPT-2: the scores of the next token after each, and with a cache its new keys and values."""

    def __init__(self, words: int, tokens: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(tokens, width)
        self.layers = nn.ModuleList(Gpt2Layer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(
        self, tokens: Tensor, caches: list[tuple[Tensor, Tensor]] | None = None
    ) -> Tensor | tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        before = caches[0][0].shape[2] if caches else 0
        places = torch.arange(before, before + tokens.shape[1], device=tokens.device)
        x = self.words(tokens) + self.places(places)
        found: list[tuple[Tensor, Tensor]] = []
        for number, layer in enumerate(self.layers):
            x, cache = layer(x, caches[number] if caches else None)
            found.append(cache)
        scores = self.norm(x) @ self.words.weight.T
        return (scores, found) if caches else scores


class RmsNorm(nn.Module):
    """Divides by the root of the mean square, in f32."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)
        return self.weight * wide.to(x.dtype)


def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Turns pairs of elements by the angles of their places."""
    first, second = x.chunk(2, -1)
    turned = torch.cat([-second, first], -1)
    return x * angles.cos() + turned * angles.sin()


class LlamaLayer(nn.Module):
    """Grouped heads that see a window of tokens, and a gated linear part."""

    def __init__(self, width: int, heads: int, groups: int, inner: int) -> None:
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.first, self.second = RmsNorm(width), RmsNorm(width)
        self.q = nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, groups * self.size, bias=False) for _ in range(2))
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x: Tensor, angles: Tensor, seen: Tensor) -> Tensor:
        y = self.first(x)
        q = self.q(y).unflatten(-1, (self.heads, self.size)).transpose(1, 2)
        k, v = (
            each(y).unflatten(-1, (self.groups, self.size)).transpose(1, 2)
            for each in (self.k, self.v)
        )
        q, k = rotate(q, angles), rotate(k, angles)
        k, v = (each.repeat_interleave(self.heads // self.groups, 1) for each in (k, v))
        scores = (q @ k.transpose(-1, -2) / math.sqrt(self.size)).masked_fill(~seen, -math.inf)
        weights = scores.float().softmax(-1).to(x.dtype)
        x = x + self.out((weights @ v).transpose(1, 2).flatten(2))
        y = self.second(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """A decoder with rotary places whose tokens see a window of those before them."""

    def __init__(
        self, words: int, width: int, heads: int, groups: int, inner: int, layers: int, window: int
    ) -> None:
        super().__init__()
        self.words, self.window, self.size = nn.Embedding(words, width), window, width // heads
        self.layers = nn.ModuleList(LlamaLayer(width, heads, groups, inner) for _ in range(layers))
        self.norm, self.last = RmsNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        steps = torch.arange(0, self.size, 2, device=tokens.device) / self.size
        angles = places[:, None] / 10000.0**steps
        apart = places[:, None] - places
        seen = (apart >= 0) & (apart < self.window)
        x = self.words(tokens)
        angles = torch.cat([angles, angles], -1).to(x.dtype)
        for layer in self.layers:
            x = layer(x, angles, seen)
        return self.last(self.norm(x))


class T5Block(nn.Module):
    """A decoder's block: attention with a bias of distances, to the encoder, and linear layers."""

    def __init__(self, width: int, heads: int, buckets: int) -> None:
        super().__init__()
        self.buckets, self.bias = buckets, nn.Embedding(buckets, heads)
        self.attention, self.cross = Attention(width, heads), Attention(width, heads)
        self.norms = nn.ModuleList(RmsNorm(width) for _ in range(3))
        self.linear = nn.Sequential(
            nn.Linear(width, 4 * width, bias=False),
            nn.ReLU(),
            nn.Linear(4 * width, width, bias=False),
        )

    def distances(self, tokens: int, device: torch.device) -> Tensor:
        """Returns the bias of each pair's distance, whose buckets grow from some distance on."""
        places = torch.arange(tokens, device=device)
        apart = (places[:, None] - places).clamp(min=0)
        exact = self.buckets // 2
        far = torch.log(apart.clamp(min=1) / exact) / math.log(128 / exact) * exact
        bucket = torch.where(apart < exact, apart, (exact + far.long()).clamp(max=self.buckets - 1))
        return self.bias(bucket).permute(2, 0, 1)

    def forward(self, x: Tensor, encoded: Tensor) -> Tensor:
        first, second, third = self.norms
        mask = self.distances(x.shape[1], x.device) + causal(x.shape[1]).to(x.device)
        x = x + self.attention(first(x), mask=mask)
        x = x + self.cross(second(x), encoded)
        return x + self.linear(third(x))


class T5(nn.Module):
    """An encoder and a decoder of tokens, with biases of distances."""

    def __init__(self, words: int, width: int, heads: int, buckets: int, layers: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.encoder = nn.ModuleList(Encoder(width, heads, norm_first=True) for _ in range(layers))
        self.apart = T5Block(width, heads, buckets)
        self.decoder = nn.ModuleList(T5Block(width, heads, buckets) for _ in range(layers))
        self.norms = nn.ModuleList(RmsNorm(width) for _ in range(2))

    def forward(self, tokens: Tensor, source: Tensor) -> Tensor:
        encoded = self.words(source)
        bias = self.apart.distances(source.shape[1], source.device)
        bias = bias + bias.transpose(-1, -2)
        for layer in self.encoder:
            encoded = layer(encoded, bias)
        encoded, x = self.norms[0](encoded), self.words(tokens)
        for layer in self.decoder:
            x = layer(x, encoded)
        return self.norms[1](x) @ self.words.weight.T


class Whisper(nn.Module):
    """An encoder of sound: two convolutions over time, places as waves, encoders."""

    places: Tensor

    def __init__(self, bands: int, time: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.first = nn.Conv1d(bands, width, 3, padding=1)
        self.second = nn.Conv1d(width, width, 3, 2, 1)
        steps = torch.exp(torch.arange(width // 2) * (-math.log(10000) / (width // 2 - 1)))
        angles = torch.arange(time // 2)[:, None] * steps
        self.register_buffer("places", torch.cat([angles.sin(), angles.cos()], 1))
        self.layers = nn.Sequential(
            *(Encoder(width, heads, norm_first=True) for _ in range(layers)), nn.LayerNorm(width)
        )

    def forward(self, sound: Tensor) -> Tensor:
        x = functional.gelu(self.second(functional.gelu(self.first(sound))))
        return self.layers(x.transpose(1, 2) + self.places)


class WhisperDecoder(nn.Module):
    """Tokens that see those before them, and the encoder's output."""

    def __init__(self, words: int, tokens: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(tokens, width)
        self.layers = nn.ModuleList(Encoder(width, heads, norm_first=True) for _ in range(layers))
        self.cross = nn.ModuleList(Attention(width, heads) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers + 1))

    def forward(self, tokens: Tensor, encoded: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.words(tokens) + self.places(places)
        unseen = places[:, None] < places
        mask = torch.zeros_like(unseen, dtype=x.dtype).masked_fill(unseen, -math.inf)
        for layer, cross, norm in zip(self.layers, self.cross, self.norms, strict=False):
            x = layer(x, mask)
            x = x + cross(norm(x), encoded)
        return self.norms[-1](x) @ self.words.weight.T


class Mixture(nn.Module):
    """Experts of which the best few count for a token; all are computed."""

    def __init__(self, width: int, experts: int, chosen: int) -> None:
        super().__init__()
        self.chosen = chosen
        self.router = nn.Linear(width, experts, bias=False)
        self.up = nn.Parameter(torch.randn(experts, width, 4 * width) / math.sqrt(width))
        self.down = nn.Parameter(torch.randn(experts, 4 * width, width) / math.sqrt(4 * width))

    def forward(self, x: Tensor) -> Tensor:
        scores = self.router(x)
        best, which = scores.topk(self.chosen, -1)
        gates = torch.zeros_like(scores).scatter(-1, which, best.softmax(-1))
        inner = functional.silu(torch.einsum("btc,ecd->bted", x, self.up))
        return torch.einsum("bted,edc,bte->btc", inner, self.down, gates)
