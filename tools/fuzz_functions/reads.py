"""What a region reads besides its operands: indices of loops, and elements at computed places."""

from __future__ import annotations

import math

import numpy as np

from .numbers import I32, I64, INTEGERS, Array, Numbers, exact
from .region import Expression, Loops
from .writer import Dim, Values


def add_index(loops: Loops, expression: Expression) -> None:
    random = loops.writer.random
    index = loops.index(random.randrange(len(loops.dims)))
    element = random.choice((I32, I64))
    name = loops.writer.name()
    loops.writer.add(f"{name} = arith.index_cast {index} : index to {element.name}")

    def evaluate(values: Values) -> None:
        values[name] = exact(values[index].value.astype(element.dtype))

    loops.steps.append(evaluate)
    expression.values.append((name, element))


def add_read(loops: Loops, expression: Expression) -> None:
    """Adds a read at places computed from integers or from the loops."""
    writer = loops.writer
    source = writer.pick(
        lambda each: not each.is_scalar and bool(each.dims) and math.prod(each.shape) > 0
    )
    if source is None:
        return
    places = [_place(loops, expression, dim) for dim in source.dims]
    name = writer.name()
    writer.add(f"{name} = tensor.extract {source.name}[{', '.join(places)}] : {source.type}")

    def evaluate(values: Values) -> None:
        at = tuple(np.broadcast_arrays(*(values[place].value for place in places)))
        unsure = sum((values[place].error for place in places), np.zeros(()))
        value, error = values[source.name]
        values[name] = Numbers(value[at], error[at] + unsure)

    loops.steps.append(evaluate)
    expression.values.append((name, source.element))


def _place(loops: Loops, expression: Expression, dim: Dim) -> str:
    """Returns an index within a dim."""
    writer, random = loops.writer, loops.writer.random
    whole = [name for name, element in expression.values if element in INTEGERS]
    if whole and random.random() < 0.6:
        chosen = random.choice(whole)
        source = writer.name()
        element = next(each for name, each in expression.values if name == chosen)
        writer.add(f"{source} = arith.index_cast {chosen} : {element.name} to index")
    elif loops.dims:
        chosen = source = loops.index(random.randrange(len(loops.dims)))
    else:
        chosen = source = writer.index(0)
        loops.steps.append(lambda values: values.update({source: exact(np.asarray(0, np.int64))}))
    size = dim.name or writer.index(dim.size)
    name = writer.name()
    if random.random() < 0.6:
        writer.add(f"{name} = arith.remui {source}, {size} : index")

        def apply(x: Array) -> Array:
            return (x.astype(np.int64).view(np.uint64) % np.uint64(dim.size)).view(np.int64)

    else:
        zero, one, last, low = writer.index(0), writer.index(1), writer.name(), writer.name()
        writer.add(f"{last} = arith.subi {size}, {one} : index")
        writer.add(f"{low} = arith.maxsi {source}, {zero} : index")
        writer.add(f"{name} = arith.minsi {low}, {last} : index")

        def apply(x: Array) -> Array:
            return np.clip(x.astype(np.int64), 0, dim.size - 1)

    def evaluate(values: Values) -> None:
        value, error = values[chosen]
        values[name] = Numbers(apply(value), error)

    loops.steps.append(evaluate)
    return name
