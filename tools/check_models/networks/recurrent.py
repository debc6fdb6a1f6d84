"""Networks with a state, and the plain one of linear layers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional


def mlp(widths: Sequence[int]) -> nn.Sequential:
    """Linear layers with a ReLU between two."""
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Gated(nn.Module):
    """An LSTM or a GRU over the steps of a sequence, written with its cell."""

    def __init__(self, inputs: int, width: int, classes: int, *, lstm: bool) -> None:
        super().__init__()
        self.lstm, self.width = lstm, width
        self.cell = (nn.LSTMCell if lstm else nn.GRUCell)(inputs, width)
        self.last = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        h = c = x.new_zeros(x.shape[0], self.width)
        for step in x.unbind(1):
            if self.lstm:
                h, c = self.cell(step, (h, c))
            else:
                h = self.cell(step, h)
        return self.last(h)


class Layers(nn.Module):
    """torch's own recurrent layers, forwards or both ways."""

    def __init__(
        self, kind: type[nn.LSTM | nn.GRU], inputs: int, width: int, *, both: bool
    ) -> None:
        super().__init__()
        self.layers = kind(inputs, width, 2, batch_first=True, bidirectional=both)

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)[0]


class Mamba(nn.Module):
    """A selective state space: x[t] is decayed and added to, by amounts that x itself gives.

    The scan over time is written with sums of logarithms, so that it is no loop.
    """

    def __init__(self, width: int, state: int) -> None:
        super().__init__()
        inner = 2 * width
        self.state, self.norm = state, nn.LayerNorm(width)
        self.inward, self.out = nn.Linear(width, 2 * inner), nn.Linear(inner, width)
        self.mix = nn.Conv1d(inner, inner, 4, padding=3, groups=inner)
        self.amounts = nn.Linear(inner, 2 * state + 1)
        with torch.no_grad():
            # Steps begin at 0.02, as in Mamba's own range of 0.001 to 0.1 (Gu and Dao, 2023): the
            # sums' exponentials of many large ones are beyond f32.
            self.amounts.bias[-1] = math.log(math.expm1(0.02))
        self.decay = nn.Parameter(torch.rand(inner, state))
        self.skip = nn.Parameter(torch.ones(inner))

    def forward(self, x: Tensor) -> Tensor:
        y, gate = self.inward(self.norm(x)).chunk(2, -1)
        y = functional.silu(self.mix(y.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2))
        b, c, step = self.amounts(y).split([self.state, self.state, 1], -1)
        step = functional.softplus(step)
        decay = (step.unsqueeze(-1) * -torch.exp(self.decay)).cumsum(1)
        added = (step * y).unsqueeze(-1) * b.unsqueeze(2)
        states = torch.exp(decay) * (added * torch.exp(-decay)).cumsum(1)
        y = (states * c.unsqueeze(2)).sum(-1) + y * self.skip
        return x + self.out(y * functional.silu(gate))
