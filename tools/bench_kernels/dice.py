"""What draws an operation: random choices, the same on every machine."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .row import Array

# The number of elements of the largest input, as powers of two; of small problems.
_LARGE, _SMALL = (17.0, 26.5), (7.0, 17.0)
_SMALL_SHARE = 0.2
_LARGEST_SIZE = 2**20
_FLOATS = (("f32", 0.45), ("bf16", 0.27), ("f16", 0.16), ("f64", 0.12))
_INTEGERS = (("i32", 0.5), ("i64", 0.3), ("i8", 0.2))


@dataclass(frozen=True)
class Drawn:
    """Inputs, and the parameters of the function in torch (`drawn.py`).

    `flops` is 0 but for products, convolutions and attention.
    """

    inputs: list[Array]
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    flops: int = 0


class Dice:
    """Random choices for one operation."""

    def __init__(self, seed: int, number: int, scale: int) -> None:
        self.random = random.Random(f"{seed}:{number}")
        self.less = math.log2(scale)

    def one_of(self, options: Sequence[Any]) -> Any:
        return options[self.random.randrange(len(options))]

    def weighed(self, options: Sequence[tuple[str, float]]) -> str:
        names, weights = zip(*options, strict=True)
        return self.random.choices(names, weights)[0]

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def element(self, *, with_integers: bool = False) -> str:
        if with_integers and self.chance(0.2):
            return self.weighed(_INTEGERS)
        return self.weighed(_FLOATS)

    def total(self) -> float:
        """The elements of an input, as a power of two."""
        power = self.random.uniform(*(_SMALL if self.chance(_SMALL_SHARE) else _LARGE))
        return max(power - self.less, 4.0)

    def shape(self, ranks: Sequence[int], total: float | None = None) -> tuple[int, ...]:
        """Sizes whose product is near a power of two that is drawn."""
        rank = self.one_of(ranks)
        power = self.total() if total is None else total
        shares = [self.random.gammavariate(1.5, 1.0) for _ in range(rank)]
        powers = [power * share / sum(shares) for share in shares]
        return tuple(self.size(each) for each in powers)

    def size(self, power: float) -> int:
        """A size near a power of two: such a power, a multiple of 8, or any."""
        how = self.random.random()
        near = 2**power
        if how < 0.35:
            return min(2 ** round(power), _LARGEST_SIZE)
        if how < 0.65:
            return min(max(round(near / 8) * 8, 8), _LARGEST_SIZE)
        return min(max(round(near), 2), _LARGEST_SIZE)

    def axes(self, rank: int, most: int | None = None) -> list[int]:
        """Some axes, in order; one at least."""
        count = self.random.randint(1, most or rank)
        return sorted(self.random.sample(range(rank), min(count, rank)))

    def smaller(self, size: int, share: float = 1.0, least: int = 1) -> int:
        """A size divided by a power of the scale, no less than `least` if it was no less before."""
        return max(round(size / 2 ** (self.less * share)), min(size, least))
