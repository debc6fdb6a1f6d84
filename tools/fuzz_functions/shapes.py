"""Operations that move elements: transposes, broadcasts, slices, pads, reshapes, concatenations."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import numpy as np

from .numbers import Array, Numbers
from .writer import MOST, Dim, Tensor, Values, Writer


def _moved(writer: Writer, source: Tensor, result: Tensor, move: Callable[[Array], Array]) -> None:
    def evaluate(values: Values) -> None:
        values[result.name] = Numbers(*(move(each) for each in values[source.name]))

    writer.steps.append(evaluate)
    writer.result(result)


def transpose(writer: Writer) -> None:
    source = writer.pick(lambda each: len(each.dims) > 1)
    if source is None:
        return
    order = writer.random.sample(range(len(source.dims)), len(source.dims))
    dims = tuple(source.dims[axis] for axis in order)
    empty = writer.empty(source.element, dims)
    result = Tensor(writer.name(), source.element, dims)
    writer.add(
        f"{result.name} = linalg.transpose ins({source.name} : {source.type}) "
        f"outs({empty.name} : {empty.type}) permutation = [{', '.join(map(str, order))}]"
    )
    _moved(writer, source, result, lambda each: each.transpose(order))


def broadcast(writer: Writer) -> None:
    random = writer.random
    source = writer.pick(lambda each: not each.is_scalar and len(each.dims) < 4)
    if source is None:
        return
    dims = list(source.dims)
    added: list[int] = []
    for _ in range(random.choice((1, 1, 2))):
        if len(dims) == 4:
            break
        at = random.randint(0, len(dims))
        added = sorted([place + (place >= at) for place in added] + [at])
        dims.insert(at, writer.dim(random.choice(writer.sizes)))
    if math.prod(dim.size for dim in dims) > MOST:
        return
    shape = [dim.size for dim in dims]
    middle = [1 if axis in added else dim.size for axis, dim in enumerate(dims)]
    empty = writer.empty(source.element, tuple(dims))
    result = Tensor(writer.name(), source.element, tuple(dims))
    writer.add(
        f"{result.name} = linalg.broadcast ins({source.name} : {source.type}) "
        f"outs({empty.name} : {empty.type}) dimensions = [{', '.join(map(str, added))}]"
    )
    _moved(writer, source, result, lambda each: np.broadcast_to(each.reshape(middle), shape))


def _piece(writer: Writer, dim: Dim) -> tuple[tuple[str, str, str], Dim, slice]:
    """Returns a part of a dim: texts of its offset, size and stride, and what they are."""
    random = writer.random
    choice = random.random()
    if choice < 0.35:
        return ("0", dim.name or str(dim.size), "1"), dim, slice(None)
    if choice < 0.5:
        start, count, step = random.randrange(dim.size), 1, 1
    else:
        # A verifier wants the offset within the dim, also where nothing is taken.
        start = random.randrange(dim.size)
        step = random.choice((1, 1, 2, 3))
        most = -(-(dim.size - start) // step)
        count = random.randint(0, most)
    made = Dim(count) if random.random() > writer.is_dynamic else Dim(count, writer.number(count))
    begin = str(start) if random.random() > writer.is_dynamic / 2 else writer.number(start)
    return (
        (begin, made.name or str(count), str(step)),
        made,
        slice(start, start + count * step, step),
    )


def extract_slice(writer: Writer) -> None:
    source = writer.pick(lambda each: bool(each.dims) and 0 not in each.shape)
    if source is None:
        return
    pieces = [_piece(writer, dim) for dim in source.dims]
    slices = tuple(each[2] for each in pieces)
    dims = [each[1] for each in pieces]
    if writer.random.random() < 0.4:
        dims = [dim for dim in dims if dim.size != 1 or dim.name]
    result = Tensor(writer.name(), source.element, tuple(dims))
    parts = [", ".join(each[0][part] for each in pieces) for part in range(3)]
    writer.add(
        f"{result.name} = tensor.extract_slice {source.name}[{parts[0]}] [{parts[1]}] [{parts[2]}] "
        f": {source.type} to {result.type}"
    )
    _moved(writer, source, result, lambda each: each[slices].reshape(result.shape))


def insert_slice(writer: Writer) -> None:
    target = writer.pick(lambda each: bool(each.dims) and 0 not in each.shape)
    if target is None:
        return
    pieces = [_piece(writer, dim) for dim in target.dims]
    slices = tuple(each[2] for each in pieces)
    dims = tuple(each[1] for each in pieces)
    source = writer.pick(
        lambda each: (
            each.element is target.element
            and not each.is_scalar
            and [dim.text for dim in each.dims] == [dim.text for dim in dims]
            and each.shape == tuple(dim.size for dim in dims)
        )
    )
    if source is None:
        source = writer.argument(target.element, dims)
    result = Tensor(writer.name(), target.element, target.dims)
    parts = [", ".join(each[0][part] for each in pieces) for part in range(3)]
    writer.add(
        f"{result.name} = tensor.insert_slice {source.name} into {target.name}"
        f"[{parts[0]}] [{parts[1]}] [{parts[2]}] : {source.type} into {target.type}"
    )

    def evaluate(values: Values) -> None:
        made: list[Array] = []
        for new, old in zip(values[source.name], values[target.name], strict=True):
            whole = np.array(old)
            whole[slices] = new
            made.append(whole)
        values[result.name] = Numbers(*made)

    writer.steps.append(evaluate)
    writer.result(result)


def pad(writer: Writer) -> None:
    random = writer.random
    source = writer.pick(lambda each: bool(each.dims))
    if source is None:
        return
    low = [random.choice((0, 0, 1, 2)) for _ in source.dims]
    high = [random.choice((0, 0, 1, 3)) for _ in source.dims]
    texts: list[list[str]] = [[], []]
    dims: list[Dim] = []
    for dim, begin, end in zip(source.dims, low, high, strict=True):
        size, is_open = dim.size + begin + end, bool(dim.name)
        for text, width in zip(texts, (begin, end), strict=True):
            if random.random() < writer.is_dynamic / 4:
                text.append(writer.number(width))
                is_open = True
            else:
                text.append(str(width))
        dims.append(Dim(size, writer.number(size)) if is_open else Dim(size))
    if math.prod(dim.size for dim in dims) > MOST:
        return
    most = (math.inf, -math.inf, math.nan) if source.element.is_float else ()
    number = random.choice((0, 0, 0, 1, 1, *most))
    value = writer.scalar(source.element, number)
    result = Tensor(writer.name(), source.element, tuple(dims))
    arguments = ", ".join(f"{writer.name()}: index" for _ in dims)
    before, after = (", ".join(each) for each in texts)
    writer.add(
        f"{result.name} = tensor.pad {source.name} low[{before}] high[{after}] {{\n"
        f"^bb0({arguments}):\n"
        f"  tensor.yield {value.name} : {value.type}\n"
        f"}} : {source.type} to {result.type}"
    )
    widths = list(zip(low, high, strict=True))

    def evaluate(values: Values) -> None:
        given, error = values[source.name]
        values[result.name] = Numbers(
            np.pad(given, widths, constant_values=number), np.pad(error, widths)
        )

    writer.steps.append(evaluate)
    writer.result(result)


def collapse(writer: Writer) -> None:
    random = writer.random
    source = writer.pick(lambda each: len(each.dims) > 1)
    if source is None:
        return
    groups: list[list[int]] = [[0]]
    for axis in range(1, len(source.dims)):
        if random.random() < 0.5:
            groups[-1].append(axis)
        else:
            groups.append([axis])
    dims: list[Dim] = []
    for group in groups:
        parts = [source.dims[axis] for axis in group]
        size = math.prod(dim.size for dim in parts)
        named = any(dim.name for dim in parts)
        dims.append(
            parts[0] if len(parts) == 1 else Dim(size, writer.number(size) if named else None)
        )
    result = Tensor(writer.name(), source.element, tuple(dims))
    writer.add(
        f"{result.name} = tensor.collapse_shape {source.name} {_groups(groups)} "
        f": {source.type} into {result.type}"
    )
    _moved(writer, source, result, lambda each: each.reshape(result.shape))


def expand(writer: Writer) -> None:
    random = writer.random
    source = writer.pick(lambda each: bool(each.dims) and len(each.dims) < 4)
    if source is None:
        return
    groups: list[list[int]] = []
    dims: list[Dim] = []
    for dim in source.dims:
        parts = [dim]
        if random.random() < 0.6:
            factors = [each for each in range(1, dim.size + 1) if dim.size % each == 0] or [1, 3]
            one = random.choice(factors)
            other = dim.size // one
            if dim.name:
                # One open size of a group at most is found from the others.
                parts = [Dim(one), Dim(other, writer.number(other))]
            else:
                parts = [Dim(one), Dim(other)]
            if random.random() < 0.5:
                parts.reverse()
        groups.append(list(range(len(dims), len(dims) + len(parts))))
        dims += parts
    result = Tensor(writer.name(), source.element, tuple(dims))
    sizes = ", ".join(dim.name or str(dim.size) for dim in dims)
    writer.add(
        f"{result.name} = tensor.expand_shape {source.name} {_groups(groups)} "
        f"output_shape [{sizes}] : {source.type} into {result.type}"
    )
    _moved(writer, source, result, lambda each: each.reshape(result.shape))


def reshape(writer: Writer) -> None:
    """Adds a tensor.reshape to any sizes of as many elements, some of which the caller gives."""
    random = writer.random
    source = writer.pick(lambda each: not each.is_scalar)
    if source is None:
        return
    sizes = _factors(random, math.prod(source.shape))
    dims = tuple(writer.dim(size) for size in sizes)
    numbers = [dim.name or writer.index(dim.size) for dim in dims]
    shape, result = writer.name(), Tensor(writer.name(), source.element, dims)
    kind = f"tensor<{len(dims)}x{'index' if dims else 'i64'}>"
    made = f"tensor.from_elements {', '.join(numbers)}" if dims else "tensor.empty()"
    writer.add(f"{shape} = {made} : {kind}")
    writer.add(
        f"{result.name} = tensor.reshape {source.name}({shape}) "
        f": ({source.type}, {kind}) -> {result.type}"
    )
    _moved(writer, source, result, lambda each: each.reshape(result.shape))


def _factors(random: Random, count: int) -> list[int]:
    """Returns sizes, four at most, of tensors of so many elements."""
    if count == 1 and random.random() < 0.3:
        return []
    found = [count]
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        at = random.randrange(len(found))
        size = found[at]
        one = random.choice([each for each in range(1, size + 1) if size % each == 0] or [1, 3])
        found[at : at + 1] = [one, size // one]
    return found


def _groups(groups: list[list[int]]) -> str:
    return "[" + ", ".join(f"[{', '.join(map(str, group))}]" for group in groups) + "]"


def concatenate(writer: Writer) -> None:
    random = writer.random
    source = writer.pick(lambda each: bool(each.dims))
    if source is None:
        return
    axis = random.randrange(len(source.dims))
    rest = [dim.text for place, dim in enumerate(source.dims) if place != axis]

    def fits(each: Tensor) -> bool:
        others = [dim for place, dim in enumerate(each.dims) if place != axis]
        return (
            each.element is source.element
            and not each.is_scalar
            and len(each.dims) == len(source.dims)
            and [dim.text for dim in others] == rest
            and [dim.size for dim in others]
            == [dim.size for place, dim in enumerate(source.dims) if place != axis]
        )

    parts = [source]
    for _ in range(random.choice((1, 1, 2))):
        parts.append(writer.pick(fits) or source)
    size = sum(part.dims[axis].size for part in parts)
    named = any(part.dims[axis].name for part in parts)
    dims = list(source.dims)
    dims[axis] = Dim(size, writer.number(size) if named else None)
    if math.prod(dim.size for dim in dims) > MOST:
        return
    result = Tensor(writer.name(), source.element, tuple(dims))
    writer.add(
        f"{result.name} = tensor.concat dim({axis}) {', '.join(each.name for each in parts)} "
        f": ({', '.join(each.type for each in parts)}) -> {result.type}"
    )

    def evaluate(values: Values) -> None:
        values[result.name] = Numbers(
            np.concatenate([values[each.name].value for each in parts], axis),
            np.concatenate([values[each.name].error for each in parts], axis),
        )

    writer.steps.append(evaluate)
    writer.result(result)


def cast(writer: Writer) -> None:
    """Forgets sizes that are known, or says those that are not."""
    random = writer.random
    source = writer.pick(lambda each: bool(each.dims))
    if source is None:
        return
    dims: list[Dim] = []
    for dim in source.dims:
        choice = random.random()
        if choice < 0.4:
            dims.append(dim)
        else:
            dims.append(Dim(dim.size, writer.number(dim.size)) if choice < 0.7 else Dim(dim.size))
    result = Tensor(writer.name(), source.element, tuple(dims))
    writer.add(f"{result.name} = tensor.cast {source.name} : {source.type} to {result.type}")
    _moved(writer, source, result, lambda each: each)
