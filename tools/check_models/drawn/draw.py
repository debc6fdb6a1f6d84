"""Choices and sizes, drawn from a seed; and the text of a problem."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

_FILE = '''\
"""Drawn: {title}"""

import itertools
import math

import torch
from torch import Tensor, nn
from torch.nn import functional

{classes}
class Model(nn.Module):
    def __init__(self):
        super().__init__()
{fields}
    def forward(self, {names}):
{lines}

def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
'''


@dataclass(frozen=True)
class Problem:
    """A module as text: statements of `__init__`, those of `forward`, and its inputs by name.

    `classes` is the source of the modules that it uses. What `is_stepwise` takes time by its steps,
    not by its work, and an estimate takes long.
    """

    kind: str
    fields: Sequence[str]
    lines: Sequence[str]
    inputs: Mapping[str, str]
    classes: str = field(default="", repr=False)
    is_stepwise: bool = False

    def text(self, title: str) -> str:
        """Returns the file."""
        return _FILE.format(
            title=title,
            classes=f"\n{self.classes}\n\n" if self.classes else "",
            fields="".join(f"        {line}\n" for line in self.fields),
            names=", ".join(self.inputs),
            lines="".join(f"        {line}\n" for line in self.lines),
            inputs=", ".join(self.inputs.values()),
        )


class Draw:
    """Draws from a seed. With `tiny` sizes are small; the choices are the same."""

    def __init__(self, seed: str, *, tiny: bool) -> None:
        self._random = random.Random(seed)
        self._tiny = tiny

    def pick(self, *options: T) -> T:
        """Returns one of the options."""
        return self._random.choice(options)

    def some(self, most: int, options: Sequence[T]) -> list[T]:
        """Returns up to so many of the options, in their order, at least one."""
        count = self._random.randint(1, min(most, len(options)))
        return [options[i] for i in sorted(self._random.sample(range(len(options)), count))]

    def weighted(self, options: Mapping[T, float]) -> T:
        """Returns one of the options, each as often as its weight says."""
        return self._random.choices(list(options), list(options.values()))[0]

    def chance(self, share: float) -> bool:
        """Returns whether what happens in such a share of cases does."""
        return self._random.random() < share

    def number(self, low: float, high: float) -> float:
        """Returns a number between two, of two digits after the point."""
        return round(self._random.uniform(low, high), 2)

    def few(self, low: int, high: int) -> int:
        """Returns a count from one to another, both included; tiny or not."""
        return self._random.randint(low, high)

    def count(self, low: int, high: int) -> int:
        """Returns a count of layers or steps; tiny: at most two more than the least."""
        fraction = self._random.random()
        return low + int(fraction * ((min(high, low + 2) if self._tiny else high) - low + 1))

    def size(
        self, low: int, high: int, *, of: int = 1, tiny: tuple[int, int] = (2, 9), odd: float = 0.0
    ) -> int:
        """Returns a multiple of `of` from `low` to `high`, each magnitude as often as another.

        Most are round: a power of two, or three of them. A share of `odd` is not.
        """
        fraction, is_round = self._random.random(), self._random.random()
        uneven = self._random.random()
        if self._tiny:
            return of * (tiny[0] + int(fraction * (tiny[1] - tiny[0] + 1)))
        drawn = low * (high / low) ** fraction
        if uneven < odd:
            return max(of, int(drawn) // of * of)
        return max(of, (_nearest(drawn, power=is_round < 0.7) + of - 1) // of * of)


def _nearest(value: float, *, power: bool) -> int:
    """Returns what is nearest to a value: a power of two, or that or three of them."""
    floor = 1 << (int(value).bit_length() - 1)
    options = [floor, 2 * floor] if power else [floor, floor * 3 // 2, 2 * floor]
    return min(options, key=lambda each: abs(each - value))
