"""Branches and loops of the host over tensors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .numbers import I1, Numbers
from .writer import Dim, Tensor, Values, Writer

# Blocks within one another, at most.
_DEPTH = 2


def branch(writer: Writer, fill: Callable[[Writer], None]) -> None:
    """Adds an scf.if that gives a tensor: of the same type from both of its blocks."""
    random = writer.random
    source = writer.pick(lambda each: not each.is_scalar)
    if source is None or writer.depth == _DEPTH:
        return
    flag, condition = _condition(writer)
    result = Tensor(writer.name(), source.element, source.dims)
    lines, blocks, chosen = writer.lines, list[list[str]](), list[Tensor]()
    steps: list[Callable[[Values], None]] = []
    for side in (True, False):
        writer.lines = []
        with writer.body() as inner:
            for _ in range(random.randint(0, 2)):
                fill(writer)
            output = _like(writer, source)
        if side is flag:
            steps = inner
        blocks.append(writer.lines)
        chosen.append(output)
    writer.lines = lines
    texts = [
        "\n".join(f"  {line}" for text in block for line in text.split("\n"))
        + f"\n  scf.yield {output.name} : {output.type}"
        for block, output in zip(blocks, chosen, strict=True)
    ]
    writer.add(
        f"{result.name} = scf.if {condition} -> ({result.type}) {{\n{texts[0]}\n}} else {{\n"
        f"{texts[1]}\n}}"
    )
    taken = chosen[0 if flag else 1]

    def evaluate(values: Values) -> None:
        for step in steps:
            step(values)
        values[result.name] = values[taken.name]

    writer.steps.append(evaluate)
    writer.result(result)


def _condition(writer: Writer) -> tuple[bool, str]:
    """Returns a condition that only the caller knows, and what it is."""
    flag = writer.random.random() < 0.5
    limit, condition = writer.index(2), writer.name()
    writer.add(f"{condition} = arith.cmpi slt, {writer.number(1 if flag else 5)}, {limit} : index")
    return flag, condition


def choice(writer: Writer) -> None:
    """Adds an arith.select of whole tensors."""
    one = writer.pick(lambda each: not each.is_scalar)
    if one is None:
        return
    other = writer.pick(lambda each: each.type == one.type and each.shape == one.shape) or one
    flag, condition = _condition(writer)
    result = Tensor(writer.name(), one.element, one.dims)
    writer.add(
        f"{result.name} = arith.select {condition}, {one.name}, {other.name} : {result.type}"
    )
    taken = one if flag else other
    writer.steps.append(lambda values: values.update({result.name: values[taken.name]}))
    writer.result(result)


def _like(writer: Writer, source: Tensor) -> Tensor:
    """Returns a tensor of the type of `source`, rather one that the block has made."""
    found = [
        each for each in writer.tensors if each.type == source.type and each.shape == source.shape
    ]
    return found[-1]


def loop(writer: Writer, fill: Callable[[Writer], None]) -> None:
    """Adds an scf.for that carries one or two tensors."""
    random = writer.random
    if writer.depth == _DEPTH:
        return
    starts: list[Tensor] = []
    for _ in range(random.choice((1, 1, 2))):
        source = writer.pick(lambda each: not each.is_scalar)
        if source is not None:
            starts.append(source)
    if not starts:
        return
    trips = random.choice((0, 1, 2, 3))
    zero, one = writer.index(0), writer.index(1)
    end = writer.number(trips) if random.random() < 0.5 else writer.index(trips)
    carried = [Tensor(writer.name(), each.element, each.dims) for each in starts]
    results = [Tensor(writer.name(), each.element, each.dims) for each in starts]
    lines, writer.lines = writer.lines, []
    with writer.body() as inner:
        writer.tensors += carried
        for _ in range(random.randint(1, 3)):
            fill(writer)
        outputs = [_like(writer, each) for each in carried]
    block, writer.lines = writer.lines, lines
    pairs = ", ".join(f"{a.name} = {b.name}" for a, b in zip(carried, starts, strict=True))
    types = ", ".join(each.type for each in results)
    text = "\n".join(f"  {line}" for text in block for line in text.split("\n"))
    writer.add(
        f"{', '.join(each.name for each in results)} = scf.for {writer.name()} = {zero} to {end} "
        f"step {one} iter_args({pairs}) -> ({types}) {{\n{text}\n"
        f"  scf.yield {', '.join(each.name for each in outputs)} : {types}\n}}"
    )

    def evaluate(values: Values) -> None:
        for each, start in zip(carried, starts, strict=True):
            values[each.name] = values[start.name]
        for _ in range(trips):
            for step in inner:
                step(values)
            given = [values[each.name] for each in outputs]
            for each, value in zip(carried, given, strict=True):
                values[each.name] = value
        for each, result in zip(carried, results, strict=True):
            values[result.name] = values[each.name]

    writer.steps.append(evaluate)
    for result in results:
        writer.result(result)


def rows(writer: Writer, fill: Callable[[Writer], None]) -> None:
    """Adds an scf.for that computes each row of a tensor from a row of another."""
    random = writer.random
    source = writer.pick(lambda each: len(each.dims) > 1 and 0 not in each.shape)
    if source is None or writer.depth == _DEPTH or source.dims[0].size > 8:
        return
    first, *rest = source.dims
    start = writer.pick(lambda each: each.type == source.type and each.shape == source.shape)
    start = start or source
    zero, one = writer.index(0), writer.index(1)
    end = first.name or writer.index(first.size)
    at, carried = writer.name(), Tensor(writer.name(), source.element, source.dims)
    result = Tensor(writer.name(), source.element, source.dims)
    kept = tuple(rest) if random.random() < 0.5 else (Dim(1), *rest)
    row = Tensor(writer.name(), source.element, kept)
    place = f"[{at}{', 0' * len(rest)}]"
    sizes = f"[1, {', '.join(dim.name or str(dim.size) for dim in rest)}]"
    steps = f"[1{', 1' * len(rest)}]"
    lines, writer.lines = writer.lines, []
    with writer.body() as inner:
        writer.tensors += [carried, row]
        for _ in range(random.randint(1, 3)):
            fill(writer)
        output = _like(writer, row)
    block, writer.lines = writer.lines, lines
    read = source if random.random() < 0.6 else carried
    made = writer.name()
    text = "\n".join(f"  {line}" for text in block for line in text.split("\n"))
    writer.add(
        f"{result.name} = scf.for {at} = {zero} to {end} step {one} "
        f"iter_args({carried.name} = {start.name}) -> ({result.type}) {{\n"
        f"  {row.name} = tensor.extract_slice {read.name}{place} {sizes} {steps} "
        f": {source.type} to {row.type}\n{text}\n"
        f"  {made} = tensor.insert_slice {output.name} into {carried.name}{place} {sizes} {steps} "
        f": {row.type} into {source.type}\n"
        f"  scf.yield {made} : {source.type}\n}}"
    )

    def evaluate(values: Values) -> None:
        values[carried.name] = values[start.name]
        for number in range(first.size):
            values[row.name] = Numbers(
                *(each[number].reshape(row.shape) for each in values[read.name])
            )
            for step in inner:
                step(values)
            whole = [np.array(each) for each in values[carried.name]]
            for each, new in zip(whole, values[output.name], strict=True):
                each[number] = new.reshape(each[number].shape)
            values[carried.name] = Numbers(*whole)
        values[result.name] = values[carried.name]

    writer.steps.append(evaluate)
    writer.result(result)


def put_element(writer: Writer) -> None:
    """Adds a tensor.insert of a constant."""
    source = writer.pick(lambda each: bool(each.dims) and 0 not in each.shape)
    if source is None:
        return
    place = tuple(writer.random.randrange(size) for size in source.shape)
    scalar = writer.scalar(source.element, 1)
    at = ", ".join(writer.index(each) for each in place)
    result = Tensor(writer.name(), source.element, source.dims)
    writer.add(
        f"{result.name} = tensor.insert {scalar.name} into {source.name}[{at}] : {source.type}"
    )

    def evaluate(values: Values) -> None:
        value, error = (np.array(each) for each in values[source.name])
        value[place], error[place] = 1, 0.0
        values[result.name] = Numbers(value, error)

    writer.steps.append(evaluate)
    writer.result(result)


def element(writer: Writer) -> None:
    """Adds a tensor made from single elements of others, which the host reads."""
    source = writer.pick(lambda each: bool(each.dims) and 0 not in each.shape)
    if source is None or source.element is I1:
        return
    place = [writer.random.randrange(size) for size in source.shape]
    scalar = writer.name()
    at = ", ".join(writer.index(each) for each in place)
    writer.add(f"{scalar} = tensor.extract {source.name}[{at}] : {source.type}")
    result = Tensor(writer.name(), source.element, ())
    writer.add(f"{result.name} = tensor.from_elements {scalar} : {result.type}")

    def evaluate(values: Values) -> None:
        values[result.name] = Numbers(
            *(np.asarray(each[tuple(place)]) for each in values[source.name])
        )

    writer.steps.append(evaluate)
    writer.result(result)
