"""A row of the benchmark: one program at one size, and what is expected of it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from typing import Any, Self

# A program with sizes in its text, and one that takes any.
STATIC, DYNAMIC = "static", "dynamic"
BUILDS = (STATIC, DYNAMIC)

# The operation of rows that cuDNN has a kernel of its own for.
ATTENTION = "attention"

# What the JSON of a row says in its own way.
_WRITTEN = ("name", "inputs", "outputs")
_ELEMENT_BYTES = {
    "f64": 8,
    "f32": 4,
    "tf32": 4,
    "f16": 2,
    "bf16": 2,
    "i64": 8,
    "i32": 4,
    "i8": 1,
}


@dataclass(frozen=True)
class Array:
    """An input or an output. Integers of an input are below `below`, each once in a permutation."""

    element: str
    sizes: tuple[int, ...]
    below: int = 0
    is_permutation: bool = False

    @property
    def bytes(self) -> int:
        return math.prod(self.sizes) * _ELEMENT_BYTES[self.element]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    `sizes` name it, and `derived` are those of its program that follow from them. `bytes` counts
    each input read once and each output written once. `flops` is 0 but for matrix products, whose
    speed is in TFLOP/s. `share` is what of a copy's rate is to be reached, or, of a matrix product,
    of torch's (0: no more than the peers reach); a rate of `figure` (0 for none) does as well.
    One that was drawn has a `label` instead of sizes, and `parameters` that say with them what it
    computes (`drawn.py`); its program takes any sizes if it `is_open`.
    """

    operation: str
    element: str
    sizes: dict[str, int]
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    bytes: int
    flops: int = 0
    share: float = 0.98
    figure: float = 0.0
    derived: dict[str, int] = field(default_factory=dict[str, int])
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    label: str = ""
    is_open: bool = False

    @property
    def name(self) -> str:
        """What the table, the JSON and --rows call it: softmax_16384x16384_f32."""
        return (
            self.label
            or f"{self.operation}_{'x'.join(map(str, self.sizes.values()))}_{self.element}"
        )

    def program(self, build: str) -> str:
        """Returns the name of its program in the library."""
        return self.name if build == STATIC else f"{self.name}_{build}"

    def is_chosen(self, patterns: str) -> bool:
        """Returns whether its name has one of these parts, separated by commas (* stands for
        anything).
        """
        return any(fnmatch(self.name, f"*{part.strip()}*") for part in patterns.split(","))

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, **asdict(self)}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        given = {key: value for key, value in fields.items() if key not in _WRITTEN}
        inputs = tuple(_array(item) for item in fields["inputs"])
        outputs = tuple(_array(item) for item in fields["outputs"])
        return cls(inputs=inputs, outputs=outputs, **given)


def _array(fields: dict[str, Any]) -> Array:
    rest = {key: value for key, value in fields.items() if key != "sizes"}
    return Array(sizes=tuple(fields["sizes"]), **rest)
