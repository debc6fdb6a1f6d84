"""Modules of sequences: transformers, recurrent layers, scans, mixers. A drawn file has the source
of those that it uses.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional


class Perceptron(nn.Module):
    """Linear layers with an activation between them."""

    def __init__(self, widths: Sequence[int], activation: str) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for inputs, outputs in itertools.pairwise(widths):
            layers += [nn.Linear(inputs, outputs), getattr(nn, activation)()]
        self.layers = nn.Sequential(*layers[:-1])

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Attention(nn.Module):
    """Attention of several heads, by hand; causal, and by relu instead of softmax, if asked."""

    mask: Tensor

    def __init__(self, width: int, heads: int, tokens: int, causal: bool, relu: bool) -> None:
        super().__init__()
        self.heads, self.causal, self.relu = heads, causal, relu
        self.qkv, self.last = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.drop = nn.Dropout(0.0)
        mask = torch.tril(torch.ones(tokens, tokens)).view(1, 1, tokens, tokens)
        self.register_buffer("mask", mask)

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, width = x.size()
        split = (batch, tokens, self.heads, width // self.heads)
        q, k, v = (part.view(split).transpose(1, 2) for part in self.qkv(x).split(width, dim=2))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        if self.causal:
            scores = scores.masked_fill(self.mask[:, :, :tokens, :tokens] == 0, float("-inf"))
        scores = functional.relu(scores) if self.relu else functional.softmax(scores, dim=-1)
        mixed = (self.drop(scores) @ v).transpose(1, 2).contiguous().view(batch, tokens, width)
        return self.last(mixed)


class Block(nn.Module):
    """Attention and two linear layers, each after a norm, added to what they take."""

    def __init__(
        self, width: int, heads: int, tokens: int, times: int, causal: bool, relu: bool
    ) -> None:
        super().__init__()
        self.one, self.two = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, tokens, causal, relu)
        self.wide, self.narrow = nn.Linear(width, times * width), nn.Linear(times * width, width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.one(x))
        y = self.wide(self.two(x))
        y = 0.5 * y * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (y + 0.044715 * y**3)))
        return x + self.narrow(y)


class Gpt(nn.Module):
    """Tokens to the scores of the next ones."""

    def __init__(self, words: int, tokens: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(tokens, width)
        self.blocks = nn.ModuleList(
            Block(width, heads, tokens, 4, True, False) for _ in range(layers)
        )
        self.norm, self.last = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens) + self.places(torch.arange(tokens.size(1), device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.last(self.norm(x))


class Vit(nn.Module):
    """Patches of a picture, by a convolution or unfolded, to torch's encoder; the first token."""

    def __init__(
        self, side: int, patch: int, width: int, heads: int, layers: int, unfolds: bool
    ) -> None:
        super().__init__()
        count = (side // patch) ** 2
        self.patch, self.unfolds = patch, unfolds
        self.conv, self.linear = nn.Identity(), nn.Identity()
        if unfolds:
            self.linear = nn.Linear(3 * patch * patch, width)
        else:
            self.conv = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, count + 1, width))
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, 10))

    def forward(self, x: Tensor) -> Tensor:
        if self.unfolds:
            parts = x.unfold(2, self.patch, self.patch).unfold(3, self.patch, self.patch)
            parts = parts.permute(0, 2, 3, 1, 4, 5).reshape(x.shape[0], -1, 3 * self.patch**2)
            x = self.linear(parts)
        else:
            x = self.conv(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.places
        return self.head(self.encoder(x)[:, 0])


class ImageAttention(nn.Module):
    """Attention over the places of an image, with a norm after it."""

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(channels, heads)
        self.norm = nn.LayerNorm(channels)

    def forward(self, x: Tensor) -> Tensor:
        batch, channels, height, width = x.shape
        rows = x.view(batch, channels, height * width).permute(2, 0, 1)
        mixed, _ = self.attention(rows, rows, rows)
        return self.norm(mixed + rows).permute(1, 2, 0).view(batch, channels, height, width)


class Windows(nn.Module):
    """Attention in windows of an image, shifted if asked, with a bias by distance (or cosines)."""

    index: Tensor

    def __init__(
        self, side: int, width: int, heads: int, window: int, shift: int, cosine: bool
    ) -> None:
        super().__init__()
        self.side, self.heads, self.window, self.shift = side, heads, window, shift
        self.cosine = cosine
        self.one, self.two = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.last = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.table = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads) * 0.02)
        self.scale = nn.Parameter(torch.ones(heads, 1, 1) * 2.0)
        places = torch.stack(
            torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")
        ).flatten(1)
        apart = (places[:, :, None] - places[:, None, :]) + window - 1
        self.register_buffer("index", apart[0] * (2 * window - 1) + apart[1])
        self.layers = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        batch, _, width = x.shape
        side, window = self.side, self.window
        y = self.one(x).view(batch, side, side, width)
        if self.shift:
            y = torch.roll(y, (-self.shift, -self.shift), (1, 2))
        count = side // window
        y = y.view(batch, count, window, count, window, width).permute(0, 1, 3, 2, 4, 5)
        y = y.reshape(-1, window * window, width)
        qkv = self.qkv(y).reshape(y.shape[0], y.shape[1], 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        if self.cosine:
            scores = functional.normalize(q, dim=-1) @ functional.normalize(k, dim=-1).mT
            scores = scores * torch.clamp(self.scale, max=4.6).exp()
        else:
            scores = q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5
        bias = self.table[self.index.view(-1)].view(window**2, window**2, -1).permute(2, 0, 1)
        y = ((scores + bias).softmax(-1) @ v).transpose(1, 2).reshape(y.shape)
        y = self.last(y).view(batch, count, count, window, window, width)
        y = y.permute(0, 1, 3, 2, 4, 5).reshape(batch, side, side, width)
        if self.shift:
            y = torch.roll(y, (self.shift, self.shift), (1, 2))
        x = x + y.view(batch, side * side, width)
        return x + self.layers(self.two(x))


class Merge(nn.Module):
    """Four neighbours to one, of twice the width."""

    def __init__(self, side: int, width: int) -> None:
        super().__init__()
        self.side, self.norm = side, nn.LayerNorm(4 * width)
        self.linear = nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = x.view(x.shape[0], self.side, self.side, -1)
        parts = [x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)]
        return self.linear(self.norm(torch.cat(parts, -1).flatten(1, 2)))


class Swin(nn.Module):
    """Two blocks of windows, one of them shifted, and a merge."""

    def __init__(self, side: int, width: int, heads: int, window: int, cosine: bool) -> None:
        super().__init__()
        self.one = Windows(side, width, heads, window, 0, cosine)
        self.two = Windows(side, width, heads, window, window // 2, cosine)
        self.merge = Merge(side, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.merge(self.two(self.one(x)))


class Mixer(nn.Module):
    """Linear layers over the tokens, and over the features, in turn."""

    def __init__(self, tokens: int, width: int, inner: int, layers: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * layers))
        sizes = [(tokens, inner), (width, 4 * width)] * layers
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(outer, most), nn.GELU(), nn.Linear(most, outer))
            for outer, most in sizes
        )

    def forward(self, x: Tensor) -> Tensor:
        for number, layer in enumerate(self.layers):
            y = self.norms[number](x)
            x = x + (layer(y) if number % 2 else layer(y.transpose(1, 2)).transpose(1, 2))
        return x.mean(dim=1)


class Recurrent(nn.Module):
    """torch's recurrent layers; gives the last step's features, the last states, or all steps."""

    def __init__(
        self, kind: str, inputs: int, width: int, layers: int, both: bool, gives: str, first: bool
    ) -> None:
        super().__init__()
        make = getattr(nn, kind)
        self.layers = make(inputs, width, layers, batch_first=first, bidirectional=both)
        self.gives, self.first = gives, first
        self.head = nn.Linear(width * (2 if both else 1), 10)

    def forward(self, x: Tensor, *states: Tensor) -> Tensor:
        state = None if not states else states[0] if len(states) == 1 else (states[0], states[1])
        steps, last = self.layers(x, state)
        if self.gives == "last":
            return self.head(steps[:, -1, :] if self.first else steps[-1])
        if self.gives == "states":
            return last[0] if isinstance(last, tuple) else last
        return steps


class StepByStep(nn.Module):
    """A recurrent layer by hand: each step joins what comes with what is kept."""

    def __init__(self, inputs: int, width: int, outputs: int) -> None:
        super().__init__()
        self.step = nn.Linear(inputs + width, width)
        self.last = nn.Linear(width, outputs)

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        outputs: list[Tensor] = []
        for step in range(x.size(0)):
            state = torch.tanh(self.step(torch.cat((x[step], state), dim=1)))
            outputs.append(self.last(state))
        return torch.stack(outputs, dim=0)


class SelectiveScan(nn.Module):
    """Mamba's layer: a short convolution, and a scan whose rates depend on what comes."""

    def __init__(self, width: int, state: int, size: int) -> None:
        super().__init__()
        self.width, self.state = width, state
        self.first = nn.Linear(width, 2 * width, bias=False)
        self.conv = nn.Conv1d(width, width, size, groups=width, padding=size - 1)
        self.rates = nn.Linear(width, 2 * state + width)
        self.decay = nn.Parameter(torch.log(torch.arange(1, state + 1).float()).repeat(width, 1))
        self.skip = nn.Parameter(torch.ones(width))
        self.last = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, width = x.shape
        x, gate = self.first(x).chunk(2, dim=-1)
        x = functional.silu(self.conv(x.transpose(1, 2))[:, :, :tokens].transpose(1, 2))
        step, into, out = self.rates(x).split([width, self.state, self.state], dim=-1)
        step = functional.softplus(step)
        kept = torch.exp(step.unsqueeze(-1) * -torch.exp(self.decay))
        new = (step * x).unsqueeze(-1) * into.unsqueeze(2)
        state = torch.zeros(batch, width, self.state, device=x.device, dtype=x.dtype)
        outputs: list[Tensor] = []
        for at in range(tokens):
            state = kept[:, at] * state + new[:, at]
            outputs.append((state * out[:, at].unsqueeze(1)).sum(-1))
        y = torch.stack(outputs, dim=1) + x * self.skip
        return self.last(y * functional.silu(gate))


class ChunkedScan(nn.Module):
    """Mamba 2's layer in chunks: products within a chunk, and states from chunk to chunk."""

    def __init__(self, heads: int, width: int, state: int, chunk: int) -> None:
        super().__init__()
        self.heads, self.chunk = heads, chunk
        self.rates = nn.Linear(width, 1)
        self.into, self.out = nn.Linear(width, state), nn.Linear(width, state)

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, heads, width = x.shape
        count = tokens // self.chunk
        x = x.view(batch, count, self.chunk, heads, width)
        rates = -functional.softplus(self.rates(x)).squeeze(-1).permute(0, 3, 1, 2)
        into, out = self.into(x), self.out(x)
        sums = torch.cumsum(rates, dim=-1)
        within = _decays(rates)
        y = torch.einsum("bclhn,bcshn,bhcls,bcshp->bclhp", out, into, within, x)
        decays = torch.exp(sums[..., -1:] - sums)
        states = torch.einsum("bclhn,bhcl,bclhp->bchpn", into, decays, x)
        states = torch.cat([torch.zeros_like(states[:, :1]), states], dim=1)
        between = _decays(functional.pad(sums[..., -1], (1, 0)))
        states = torch.einsum("bhzc,bchpn->bzhpn", between, states)[:, :-1]
        y = y + torch.einsum("bclhn,bchpn,bhcl->bclhp", out, states, torch.exp(sums))
        return y.reshape(batch, tokens, heads, width)


def _decays(rates: Tensor) -> Tensor:
    """Returns exp of the sum of rates from one place to a later one; 0 to an earlier one."""
    sums = torch.cumsum(rates, dim=-1)
    apart = sums[..., :, None] - sums[..., None, :]
    mask = torch.tril(torch.ones(rates.size(-1), rates.size(-1), device=rates.device)).bool()
    return torch.exp(apart.masked_fill(~mask, -torch.inf))


class Clusters(nn.Module):
    """NetVLAD's pooling: what is left of features after the centres that they belong to."""

    def __init__(self, clusters: int, ghosts: int, width: int) -> None:
        super().__init__()
        self.count = clusters
        self.assign = nn.Parameter(torch.randn(width, clusters + ghosts) * width**-0.5)
        self.norm = nn.BatchNorm1d(clusters + ghosts)
        self.centres = nn.Parameter(torch.randn(1, width, clusters) * width**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        batch, features, width = x.shape
        shares = self.norm(torch.matmul(x.reshape(-1, width), self.assign)).softmax(dim=1)
        shares = shares[:, : self.count].view(batch, features, self.count)
        centres = shares.sum(dim=1, keepdim=True) * self.centres
        left = torch.matmul(shares.transpose(1, 2), x).transpose(1, 2) - centres
        left = functional.normalize(left, dim=1)
        return functional.normalize(left.reshape(batch, -1), dim=1)


class LinearAttention(nn.Module):
    """Attention without softmax: features of keys times values first, causal if asked."""

    def __init__(self, width: int, heads: int, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, width = x.shape
        split = (batch, tokens, self.heads, width // self.heads)
        q, k = (functional.elu(part(x).view(split)) + 1 for part in (self.q, self.k))
        v = self.v(x).view(split)
        if self.causal:
            scores = torch.tril(torch.einsum("bthd,bshd->bhts", q, k))
            mixed = torch.einsum("bhts,bshd->bthd", scores, v)
            sums = torch.einsum("bthd,bthd->bth", q, torch.cumsum(k, dim=1))
        else:
            mixed = torch.einsum("bthd,bhde->bthe", q, torch.einsum("bshd,bshe->bhde", k, v))
            sums = torch.einsum("bthd,bhd->bth", q, k.sum(dim=1))
        return (mixed / (sums.unsqueeze(-1) + 1e-6)).reshape(batch, tokens, width)
