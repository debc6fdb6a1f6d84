"""Elementwise operations: on tensors as they are, and as linalg.generic with broadcasts."""

from __future__ import annotations

import numpy as np

from .numbers import Element, Numbers
from .reads import add_index, add_read
from .region import Expression, Loops, add_operands, draw_loops, write_generic
from .writer import Tensor, Values, Writer, tensor_type


def on_tensors(writer: Writer) -> None:
    """Adds operations of arith and math on tensors of one type."""
    first = writer.pick(lambda each: bool(each.dims) or writer.random.random() < 0.3)
    if first is None:
        return
    dims = first.dims

    def constant(element: Element, number: float) -> str:
        return writer.filled(element, dims, number).name

    fits = [
        each for each in writer.tensors if [d.text for d in each.dims] == [d.text for d in dims]
    ]
    fits = [each for each in fits if each.shape == first.shape and not each.is_scalar]
    expression = Expression(
        writer,
        [(each.name, each.element) for each in [*fits, first]],
        lambda element: tensor_type(element, dims),
        constant,
        writer.steps,
    )
    for _ in range(writer.random.choice((1, 1, 2, 3, 4))):
        name, element = expression.grow()
        writer.result(Tensor(name, element, dims))
        _spread_to(writer, name, first.shape)


def _spread_to(writer: Writer, name: str, shape: tuple[int, ...]) -> None:
    """Makes a value that constants alone may have given one of every element."""

    def evaluate(values: Values) -> None:
        value, error = values[name]
        values[name] = Numbers(np.broadcast_to(value, shape), np.broadcast_to(error, shape))

    writer.steps.append(evaluate)


def in_loops(writer: Writer) -> None:
    """Adds a linalg.generic that writes every element of one or two tensors."""
    random = writer.random
    first = writer.pick(lambda each: not each.is_scalar)
    drawn = None if first is None else draw_loops(writer, first)
    if first is None or drawn is None:
        return
    loops, places = drawn
    loops.read(first, places)
    add_operands(loops, random.choice((0, 1, 1, 2, 3)))
    # What is written before the region is known.
    text, writer.lines = writer.lines, []
    expression = loops.expression()
    for _ in range(random.choice((0, 0, 1))):
        add_read(loops, expression)
    if random.random() < 0.15 and loops.dims:
        add_index(loops, expression)
    for _ in range(random.choice((0, 1, 1, 2, 3, 6))):
        expression.grow()
    yielded = [expression.values[-1]]
    if len(expression.values) > 1 and random.random() < 0.2:
        yielded.append(random.choice(expression.values))
    region, writer.lines = writer.lines, text
    finish(loops, region, yielded)


def finish(loops: Loops, region: list[str], yielded: list[tuple[str, Element]]) -> None:
    """Writes a parallel linalg.generic around its region."""
    writer = loops.writer
    order = list(range(len(loops.dims)))
    if writer.random.random() < 0.3:
        writer.random.shuffle(order)
    dims = tuple(loops.dims[loop] for loop in order)
    outs = [(writer.empty(element, dims), [f"d{loop}" for loop in order]) for _, element in yielded]
    results = [Tensor(writer.name(), element, dims) for _, element in yielded]
    write_generic(loops, outs, region, yielded, results)
    shape = [dim.size for dim in loops.dims]

    def evaluate(values: Values) -> None:
        for step in loops.steps:
            step(values)
        for (name, _), result in zip(yielded, results, strict=True):
            values[result.name] = Numbers(
                *(np.broadcast_to(each, shape).transpose(order) for each in values[name])
            )

    writer.steps.append(evaluate)
    for result in results:
        writer.result(result)
