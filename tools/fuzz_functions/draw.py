"""Draws a function on tensors from a seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from . import control, elementwise, products, reductions, shapes
from .writer import ELEMENTS, Tensor, Values, Writer

_SMALL = (
    *(elementwise.on_tensors,) * 4,
    *(elementwise.in_loops,) * 5,
    *(reductions.by_name,) * 2,
    *(reductions.in_loops,) * 3,
    reductions.extreme_place,
    shapes.transpose,
    shapes.broadcast,
    shapes.extract_slice,
    shapes.insert_slice,
    shapes.pad,
    shapes.collapse,
    shapes.expand,
    shapes.concatenate,
    shapes.cast,
    products.product,
    products.product,
)

# Most is a reshape, or what may become one kernel with what is before it.
_BESIDE_RESHAPES = (
    *(shapes.collapse,) * 3,
    *(shapes.expand,) * 3,
    *(shapes.reshape,) * 2,
    *(elementwise.on_tensors,) * 3,
    *(elementwise.in_loops,) * 3,
    *(reductions.by_name,) * 2,
    *(reductions.in_loops,) * 2,
    reductions.extreme_place,
    shapes.extract_slice,
    shapes.insert_slice,
    shapes.broadcast,
    shapes.transpose,
    products.product,
)


@dataclass(frozen=True)
class Function:
    """A drawn function; `outputs` are what it returns."""

    seed: int
    writer: Writer
    outputs: tuple[Tensor, ...]

    def text(self, name: str) -> str:
        return self.writer.text(name, list(self.outputs))

    def evaluate(self) -> Values:
        return self.writer.evaluate()


def draw(seed: int) -> Function:
    """Returns the function of a seed."""
    random = Random(seed)
    writer = Writer(random)
    for _ in range(random.choice((1, 1, 2))):
        rank = random.choice((0, 1, 1, 2, 2, 2, 3, 4))
        dims = tuple(writer.dim(random.choice(writer.sizes)) for _ in range(rank))
        while len(dims) > 1 and _count(dims) > 4000:
            dims = dims[1:]
        writer.argument(random.choice(ELEMENTS), dims)
    arguments = list(writer.tensors)
    steps = random.choice((1, 2, 3, 4, 5, 6, 8, 12))
    kinds = _BESIDE_RESHAPES if random.random() < 0.2 else _SMALL
    for _ in range(steps if kinds is _SMALL else steps + 3):
        _grow(writer, kinds)
    made = [each for each in writer.tensors if each not in writer.arguments]
    while not made:
        elementwise.in_loops(writer)
        made = [each for each in writer.tensors if each not in writer.arguments]
    outputs = [each for each in made[:-1] if random.random() < 0.15][-4:]
    outputs.append(made[-1])
    if arguments and random.random() < 0.02:
        outputs.append(arguments[0])
    return Function(seed, writer, tuple(outputs))


def _grow(writer: Writer, kinds: Sequence[Callable[[Writer], None]] = _SMALL) -> None:
    choice = writer.random.random()
    if choice < 0.04:
        control.branch(writer, _grow)
    elif choice < 0.07:
        control.loop(writer, _grow)
    elif choice < 0.09:
        control.rows(writer, _grow)
    elif choice < 0.1:
        control.choice(writer)
    elif choice < 0.11:
        control.element(writer)
    elif choice < 0.12:
        control.put_element(writer)
    else:
        writer.random.choice(kinds)(writer)


def _count(dims: tuple[object, ...]) -> int:
    count = 1
    for dim in dims:
        count *= dim.size  # type: ignore
    return count
