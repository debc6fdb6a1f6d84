"""The text of a function in the making, with what each of its values is."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

import numpy as np

from .numbers import (
    BF16,
    F16,
    F32,
    F64,
    I1,
    I8,
    I16,
    I32,
    I64,
    INDEX,
    Element,
    Numbers,
    exact,
    round_to,
)
from .operation import Operation

Values = dict[str, Numbers]
# Reads and writes the values of a function being evaluated.
Evaluate = Callable[[Values], None]

ELEMENTS = (F32, F32, F32, F16, BF16, F64, I64, I32, I32, I8, I16, I1)
_PART = re.compile(r"\{([^{}]*)\}")
_SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 16, 17, 32, 33, 64, 65, 130)
# Elements of a tensor, and iterations of an operation, at most.
MOST = 12_000


@dataclass(frozen=True)
class Dim:
    """A size, and the index value that holds it where the type does not say it."""

    size: int
    name: str | None = None

    @property
    def text(self) -> str:
        return "?" if self.name else str(self.size)


Dims = tuple[Dim, ...]


@dataclass(frozen=True)
class Tensor:
    """A value of the function; a scalar has no dims."""

    name: str
    element: Element
    dims: Dims
    is_scalar: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(dim.size for dim in self.dims)

    @property
    def type(self) -> str:
        return self.element.name if self.is_scalar else tensor_type(self.element, self.dims)


def tensor_type(element: Element, dims: Dims) -> str:
    return f"tensor<{''.join(f'{dim.text}x' for dim in dims)}{element.name}>"


@dataclass
class Writer:
    """A function being written; `tensors` may be read where the writer is."""

    random: Random
    arguments: list[Tensor] = field(default_factory=list[Tensor])
    given: dict[str, Numbers] = field(default_factory=dict[str, Numbers])
    lines: list[str] = field(default_factory=list[str])
    steps: list[Evaluate] = field(default_factory=list[Evaluate])
    tensors: list[Tensor] = field(default_factory=list[Tensor])
    names: int = 0
    depth: int = 0

    def __post_init__(self) -> None:
        self.sizes = [self.random.choice(_SIZES) for _ in range(self.random.randint(1, 4))]
        self.is_dynamic = self.random.choice((0.0, 0.0, 0.5, 1.0))

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def add(self, text: str, evaluate: Evaluate | None = None) -> None:
        """Adds operations; what they give is found when the function is evaluated."""
        self.lines.append(text)
        if evaluate is not None:
            self.steps.append(evaluate)

    def result(self, tensor: Tensor) -> Tensor:
        """Makes a value one that what follows may read."""
        self.tensors.append(tensor)
        return tensor

    def index(self, number: int) -> str:
        """Returns an index constant."""
        name = self.name()
        self.add(f"{name} = arith.constant {number} : index")
        return name

    def scalar(self, element: Element, number: float | bool) -> Tensor:
        """Returns a scalar constant."""
        made = Tensor(self.name(), element, (), is_scalar=True)
        self.add(
            f"{made.name} = arith.constant {literal(element, number)}", self._gives(made, number)
        )
        return made

    def _gives(self, tensor: Tensor, number: float | bool) -> Evaluate:
        value = exact(np.full(tensor.shape, number, tensor.element.dtype))

        def evaluate(values: Values) -> None:
            values[tensor.name] = value

        return evaluate

    def number(self, size: int) -> str:
        """Returns an index that only the caller knows."""
        for argument in self.arguments:
            if argument.element is INDEX and int(self.given[argument.name].value) == size:
                return argument.name
        made = Tensor(f"%k{len(self.arguments)}", INDEX, (), is_scalar=True)
        self.arguments.append(made)
        self.given[made.name] = exact(np.asarray(size, np.int64))
        return made.name

    def dim(self, size: int) -> Dim:
        """Returns a dim of a size, open in some functions."""
        if self.random.random() < self.is_dynamic:
            return Dim(size, self.number(size))
        return Dim(size)

    def argument(self, element: Element, dims: Dims) -> Tensor:
        """Adds a tensor that the caller gives. Its open sizes are passed besides."""
        made = Tensor(f"%a{len(self.arguments)}", element, dims)
        self.arguments.append(made)
        self.given[made.name] = exact(draw_values(self.random, element, made.shape))
        self.tensors.insert(0, made)
        return made

    def empty(self, element: Element, dims: Dims) -> Tensor:
        made = Tensor(self.name(), element, dims)
        sizes = ", ".join(dim.name for dim in dims if dim.name)
        self.add(f"{made.name} = tensor.empty({sizes}) : {made.type}")
        return made

    def filled(self, element: Element, dims: Dims, number: float | bool) -> Tensor:
        """Returns a tensor of one value, written in one of several ways."""
        if all(dim.name is None for dim in dims) and self.random.random() < 0.4:
            made = Tensor(self.name(), element, dims)
            value = literal(element, number).split(" : ")[0]
            self.add(
                f"{made.name} = arith.constant dense<{value}> : {made.type}",
                self._gives(made, number),
            )
            return made
        scalar, empty = self.scalar(element, number), self.empty(element, dims)
        made = Tensor(self.name(), element, dims)
        self.add(
            f"{made.name} = linalg.fill ins({scalar.name} : {scalar.type}) "
            f"outs({empty.name} : {empty.type}) -> {made.type}",
            self._gives(made, number),
        )
        return made

    def pick(self, fits: Callable[[Tensor], bool] = lambda _: True) -> Tensor | None:
        """Returns a value that fits, rather a late one."""
        found = [tensor for tensor in self.tensors if fits(tensor)]
        if not found:
            return None
        return found[max(self.random.randrange(len(found)) for _ in range(2))]

    @contextmanager
    def body(self) -> Generator[list[Evaluate]]:
        """Writes a nested block; gives what evaluates it once it is written."""
        steps, tensors = self.steps, list(self.tensors)
        self.steps, self.depth = [], self.depth + 1
        before = {argument.name for argument in self.arguments}
        inner = self.steps
        yield inner
        self.steps, self.depth = steps, self.depth - 1
        fresh = [
            each for each in self.tensors if each in self.arguments and each.name not in before
        ]
        self.tensors = fresh + tensors

    def text(self, name: str, outputs: list[Tensor]) -> str:
        arguments = ", ".join(f"{each.name}: {each.type}" for each in self.arguments)
        types = ", ".join(each.type for each in outputs)
        returned = ", ".join(each.name for each in outputs)
        return "\n".join(
            [
                f"func.func @{name}({arguments}) -> ({types}) {{",
                *(f"  {line}" for text in self.lines for line in text.split("\n")),
                f"  return {returned} : {types}",
                "}",
            ]
        )

    def evaluate(self) -> Values:
        """Returns what every value of the function is."""
        values = dict(self.given)
        # What a GPU computes without a word, numpy warns of.
        with np.errstate(all="ignore"):
            for step in self.steps:
                step(values)
        return values


def write_operation(
    writer: Writer,
    operation: Operation,
    operands: list[str],
    type_of: Callable[[Element], str],
    constant: Callable[[Element, float], str],
) -> str:
    """Writes an operation, or the several that it is made of; returns the name of the last."""
    last = ""
    for statement in operation.text.split(" ; "):
        typed = operation.takes[0] if "{t0}" in statement else operation.gives

        def fill(match: re.Match[str], last: str = last, typed: Element = typed) -> str:
            part = match[1]
            if part in ("0", "1", "2"):
                return operands[int(part)]
            if part == "m":
                return last
            if part.startswith("="):
                return constant(typed, float(part[1:]))
            if part.startswith("t"):
                return type_of(operation.takes[int(part[1:])])
            return type_of(F32 if part == "f32" else operation.gives)

        text = _PART.sub(fill, statement)
        last = writer.name()
        writer.add(f"{last} = {text}")
    return last


def literal(element: Element, number: float | bool) -> str:
    """Returns a constant's text, with its type."""
    if element is I1:
        return "true" if number else "false"
    if not element.is_float:
        return f"{int(number)} : {element.name}"
    if math.isfinite(number):
        return f"{float(number):.17e} : {element.name}"
    bits = {"f64": (11, 52), "f32": (8, 23), "f16": (5, 10), "bf16": (8, 7)}[element.name]
    exponent = (2 ** bits[0] - 1) << bits[1]
    if math.isnan(number):
        exponent |= 1 << (bits[1] - 1)
    elif number < 0:
        exponent |= 1 << (bits[0] + bits[1])
    return f"0x{exponent:0{(1 + sum(bits)) // 4}X} : {element.name}"


def draw_values(random: Random, element: Element, shape: tuple[int, ...]) -> np.ndarray:
    """Returns an argument's elements: plain, whole, or with what is rare in between."""
    drawn = np.random.default_rng(random.randrange(2**32))
    if element is I1:
        return drawn.integers(0, 2, shape).astype(np.bool_)
    rare = random.random() < 0.25
    if not element.is_float:
        low, high = random.choice([(-9, 10), (0, 5), (-128, 128)])
        values = drawn.integers(low, high, shape).astype(element.dtype)
        edges = np.array([-(2 ** (element.bits - 1)), 2 ** (element.bits - 1) - 1, -1, 0, 1])
    else:
        kind = random.random()
        values = (
            drawn.integers(-4, 5, shape).astype(np.float64)
            if kind < 0.4
            else drawn.normal(size=shape) * random.choice([0.1, 1.0, 3.0])
        )
        values = round_to(element, np.asarray(values))
        edges = np.array(
            [
                *(np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, element.largest, -element.largest),
                *(element.tiny, -element.tiny * 3, 0.5, 1e4),
            ]
        )
        edges = round_to(element, edges)
    if rare:
        places = drawn.random(shape) < random.choice([0.02, 0.3])
        values = np.where(places, edges[drawn.integers(0, len(edges), shape)], values)
    return values.astype(element.dtype)
