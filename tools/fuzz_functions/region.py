"""Regions of linalg.generic in the making: their loops, operands and scalar operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from .floats import draw_float
from .integers import draw_integer
from .numbers import I1, Element, Numbers, exact
from .operation import Operation
from .writer import MOST, Dims, Evaluate, Tensor, Values, Writer, literal, write_operation


@dataclass
class Expression:
    """Scalar operations on values of one shape: elements of a region, or whole tensors."""

    writer: Writer
    values: list[tuple[str, Element]]
    type_of: Callable[[Element], str]
    constant: Callable[[Element, float], str]
    steps: list[Evaluate]

    def grow(self) -> tuple[str, Element]:
        """Adds an operation on what there is."""
        random = self.writer.random
        name, have = self.values[max(random.randrange(len(self.values)) for _ in range(2))]
        draw = draw_float if have.is_float else draw_integer
        return self.apply(draw(random, have), name)

    def apply(self, operation: Operation, first: str) -> tuple[str, Element]:
        """Adds an operation on `first` and what else there is of the types that it takes."""
        random = self.writer.random
        operands = [first]
        for element in operation.takes[1:]:
            fits = [name for name, have in self.values if have is element]
            if fits and random.random() < 0.75:
                operands.append(random.choice(fits))
            else:
                number = random.choice((0, 1)) if element is I1 else random.choice((0, 1, -1, 2, 3))
                operands.append(self._known(element, number))
        name = write_operation(self.writer, operation, operands, self.type_of, self.constant)

        def evaluate(values: Values) -> None:
            values[name] = operation.step([values[operand] for operand in operands])

        self.steps.append(evaluate)
        self.values.append((name, operation.gives))
        return self.values[-1]

    def _known(self, element: Element, number: float) -> str:
        name = self.constant(element, number)
        value = np.asarray(number).astype(element.dtype)

        def evaluate(values: Values) -> None:
            values[name] = exact(value)

        self.steps.append(evaluate)
        return name


@dataclass
class Loops:
    """The loops of a linalg.generic in the making, with its operands."""

    writer: Writer
    dims: Dims
    operands: list[Tensor] = field(default_factory=list[Tensor])
    maps: list[list[str]] = field(default_factory=list[list[str]])
    steps: list[Evaluate] = field(default_factory=list[Evaluate])
    elements: list[tuple[str, Element]] = field(default_factory=list[tuple[str, Element]])

    def read(self, tensor: Tensor, loops: Sequence[int | None]) -> None:
        """Adds an input whose dims lie along the loops; None is a dim of size 1, read at 0."""
        name = self.writer.name()
        self.operands.append(tensor)
        self.maps.append(["0" if loop is None else f"d{loop}" for loop in loops])
        self.elements.append((name, tensor.element))
        rank = len(self.dims)

        def evaluate(values: Values) -> None:
            source = values[tensor.name]
            axes = {loop: axis for axis, loop in enumerate(loops) if loop is not None}
            order = [axes[loop] for loop in sorted(axes)]
            shape = [tensor.dims[axes[loop]].size if loop in axes else 1 for loop in range(rank)]
            dropped = [axis for axis, loop in enumerate(loops) if loop is None]
            values[name] = Numbers(
                *(each.transpose([*order, *dropped]).reshape(shape) for each in source)
            )

        self.steps.append(evaluate)

    def expression(self) -> Expression:
        return Expression(
            self.writer,
            list(self.elements),
            lambda element: element.name,
            self.constant,
            self.steps,
        )

    def constant(self, element: Element, number: float) -> str:
        name = self.writer.name()
        self.writer.add(f"{name} = arith.constant {literal(element, number)}")
        return name

    def index(self, loop: int) -> str:
        """Returns the index along a loop."""
        name, rank = self.writer.name(), len(self.dims)
        self.writer.add(f"{name} = linalg.index {loop} : index")
        size = self.dims[loop].size
        shape = [size if each == loop else 1 for each in range(rank)]

        def evaluate(values: Values) -> None:
            values[name] = exact(np.arange(size, dtype=np.int64).reshape(shape))

        self.steps.append(evaluate)
        return name

    def head(self, outputs: list[tuple[Tensor, list[str]]], reduced: Sequence[int] = ()) -> str:
        """Returns the text up to the region, which then begins with the block's arguments."""
        dims = ", ".join(f"d{loop}" for loop in range(len(self.dims)))
        maps = ", ".join(
            f"affine_map<({dims}) -> ({', '.join(each)})>"
            for each in [*self.maps, *(map_ for _, map_ in outputs)]
        )
        kinds = ", ".join(
            '"reduction"' if loop in reduced else '"parallel"' for loop in range(len(self.dims))
        )
        inputs = ", ".join(each.name for each in self.operands)
        types = ", ".join(each.type for each in self.operands)
        given = f"ins({inputs} : {types}) " if self.operands else ""
        outs = ", ".join(each.name for each, _ in outputs)
        out_types = ", ".join(each.type for each, _ in outputs)
        return (
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
            f"{given}outs({outs} : {out_types}) {{"
        )


def draw_loops(writer: Writer, first: Tensor) -> tuple[Loops, list[int | None]] | None:
    """Returns loops over a tensor's dims, in any order and maybe more, and those of its dims."""
    random = writer.random
    dims = [dim for dim in first.dims if dim.size != 1 or dim.name or random.random() < 0.7]
    if len(dims) < 4 and random.random() < 0.3:
        size = random.choice(writer.sizes)
        dims.append(writer.dim(size))
    order = list(range(len(dims)))
    if random.random() < 0.4:
        random.shuffle(order)
    loops = Loops(writer, tuple(dims[place] for place in order))
    if math.prod(dim.size for dim in loops.dims) > MOST:
        return None
    places: list[int | None] = []
    for dim in first.dims:
        found = next(
            (loop for loop, each in enumerate(loops.dims) if each is dim and loop not in places),
            None,
        )
        places.append(found)
    return loops, places


def add_operands(loops: Loops, count: int) -> None:
    """Adds inputs whose dims are some of the loops, or of size 1."""
    random = loops.writer.random
    for _ in range(count):
        found: list[tuple[Tensor, list[int | None]]] = []
        for tensor in loops.writer.tensors:
            places = _fit(loops, tensor)
            if places is not None:
                found.append((tensor, places))
        if found:
            loops.read(*random.choice(found))


def _fit(loops: Loops, tensor: Tensor) -> list[int | None] | None:
    places: list[int | None] = []
    starts = list(range(len(loops.dims)))
    loops.writer.random.shuffle(starts)
    for dim in tensor.dims:
        fits = [loop for loop in starts if loop not in places and loops.dims[loop].size == dim.size]
        if dim.size == 1 and dim.name is None and loops.writer.random.random() < 0.8:
            places.append(None)
        elif fits:
            places.append(fits[0])
        else:
            return None
    return places


def write_generic(
    loops: Loops,
    outs: list[tuple[Tensor, list[str]]],
    region: list[str],
    yielded: list[tuple[str, Element]],
    results: list[Tensor],
    out_names: list[str] | None = None,
    reduced: Sequence[int] = (),
) -> None:
    """Writes a linalg.generic; several results are named one by one."""
    writer = loops.writer
    arguments = [f"{name}: {element.name}" for name, element in loops.elements]
    for place, (out, _) in enumerate(outs):
        name = out_names[place] if out_names else writer.name()
        arguments.append(f"{name}: {out.element.name}")
    many = len(results) > 1
    target = ", ".join(result.name for result in results)
    types = ", ".join(result.type for result in results)
    names = ", ".join(name for name, _ in yielded)
    yields = ", ".join(element.name for _, element in yielded)
    writer.add(
        "\n".join(
            [
                f"{target} = {loops.head(outs, reduced)}",
                f"^bb0({', '.join(arguments)}):",
                *(f"  {line}" for text in region for line in text.split("\n")),
                f"  linalg.yield {names} : {yields}",
                f"}} -> {f'({types})' if many else types}",
            ]
        )
    )
