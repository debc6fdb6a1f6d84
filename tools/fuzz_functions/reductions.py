"""Reductions: any axes and kinds, by themselves or of what a region computes first."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .floats import convert_float
from .numbers import (
    FLOATS,
    I1,
    I32,
    I64,
    Array,
    Element,
    Numbers,
    known,
    settle,
)
from .operation import signed, unsigned
from .region import Expression, add_operands, draw_loops, write_generic
from .writer import Dim, Tensor, Values, Writer


@dataclass(frozen=True)
class Kind:
    """A way to combine elements: its operation and the value that changes nothing."""

    operation: str
    neutral: Callable[[Element], float]


def _lowest(element: Element) -> float:
    return -math.inf if element.is_float else -(2 ** (element.bits - 1))


def _highest(element: Element) -> float:
    return math.inf if element.is_float else 2 ** (element.bits - 1) - 1


_FLOAT_KINDS = (
    *(Kind("arith.addf", lambda _: 0.0),) * 3,
    Kind("arith.mulf", lambda _: 1.0),
    Kind("arith.maximumf", _lowest),
    Kind("arith.minimumf", _highest),
    Kind("arith.maxnumf", _lowest),
    Kind("arith.minnumf", _highest),
)
_INTEGER_KINDS = (
    *(Kind("arith.addi", lambda _: 0),) * 2,
    Kind("arith.muli", lambda _: 1),
    Kind("arith.maxsi", _lowest),
    Kind("arith.minsi", _highest),
    Kind("arith.maxui", lambda _: 0),
    Kind("arith.minui", lambda _: -1),
    Kind("arith.andi", lambda _: -1),
    Kind("arith.ori", lambda _: 0),
    Kind("arith.xori", lambda _: 0),
)
_BOOL_KINDS = (Kind("arith.ori", lambda _: 0), Kind("arith.andi", lambda _: 1))
_JOINED: dict[str, Callable[[Array, Array], Array]] = {
    "arith.addi": np.add,
    "arith.muli": np.multiply,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
}


def reduce_numbers(
    kind: str, element: Element, numbers: Numbers, axes: tuple[int, ...], start: Numbers
) -> Numbers:
    """Returns `start` and the numbers along `axes` combined, in any order."""
    value, error = numbers
    count = math.prod(value.shape[axis] for axis in axes)
    sure = np.all(known(numbers), axis=axes) & known(start)
    first = start.value
    if not element.is_float:
        join = (
            np.maximum if kind == "arith.maxui" else np.minimum if kind == "arith.minui" else None
        )
        if join is not None:
            whole = join.reduce(unsigned(value), axis=axes, initial=None) if count else None
            result = unsigned(first) if whole is None else join(whole, unsigned(first))
            result = result.astype(element.dtype)
        else:
            joined = _JOINED[kind]
            if count == 0:
                result = first
            elif element is I1:
                result = joined(joined.reduce(value, axis=axes), first)  # type: ignore
            else:
                part = joined.reduce(signed(value), axis=axes, dtype=element.dtype)  # type: ignore
                result = joined(part, first)
        return Numbers(result, np.where(sure, 0.0, np.inf))
    safe = np.where(known(numbers), error, 0.0)
    start_error = np.where(known(start), start.error, 0.0)
    if kind == "arith.addf":
        total = np.sum(value, axis=axes) + first
        finite = np.where(np.isfinite(value), np.abs(value), 0.0)
        size = np.sum(finite, axis=axes) + np.where(np.isfinite(first), np.abs(first), 0.0)
        # The order is any: what any order may round. Sums of few bits are kept in f32.
        inner = min(element.step, 2.0**-23)
        shift = np.sum(safe, axis=axes) + start_error
        whole = np.all(value == np.rint(value), axis=axes) & (first == np.rint(first))
        small = size < min(1 / element.step, 2.0**50)
        is_exact = whole & small & (shift == 0)
        shift = shift + np.where(is_exact, 0.0, (count + 1) * inner * size)
        sure = sure & (size + shift < element.largest * 0.9)
        return settle(element, total, shift, sure, 1.0, whole=True)
    if kind == "arith.mulf":
        total = np.prod(value, axis=axes) * first
        parts = np.where(np.isfinite(value), np.abs(value), np.nan)
        with np.errstate(all="ignore"):
            high = np.prod(np.maximum(parts + safe, 1.0), axis=axes) * np.maximum(np.abs(first), 1)
            low = np.prod(np.where(parts > 0, np.minimum(parts, 1.0), 1.0), axis=axes)
            low = low * np.where(first != 0, np.minimum(np.abs(first), 1.0), 1.0)
            upper = np.prod(parts + safe, axis=axes) * (np.abs(first) + start_error)
        shift = upper - np.abs(total)
        shift = np.maximum(np.where(np.isfinite(shift), shift, 0.0), 0.0)
        is_exact = np.all((value == np.rint(value)), axis=axes) & (high < 1 / element.step)
        shift = shift + np.where(
            is_exact & (shift == 0), 0.0, (count + 1) * element.step * np.abs(total)
        )
        sure = (
            sure
            & (high < element.largest * 0.9)
            & (low > 1e-4 if element.name == "f16" else low > 1e-30)
        )
        return settle(element, total, shift, sure, 1.0, whole=True)
    joined = _JOINED[kind]
    total = joined(joined.reduce(value, axis=axes), first) if count else first  # type: ignore
    largest = np.maximum(np.max(safe, axis=axes, initial=0.0), start_error)
    # Of zeros, maximumf and minimumf take -0 for the lesser; the others may give any there is.
    negative = np.any((value == 0) & np.signbit(value), axis=axes)
    positive = np.any((value == 0) & ~np.signbit(value), axis=axes)
    negative = negative | ((first == 0) & np.signbit(first))
    positive = positive | ((first == 0) & ~np.signbit(first))
    both = (total == 0) & negative & positive
    if kind in ("arith.maximumf", "arith.minimumf"):
        total = np.where(both, 0.0 if kind == "arith.maximumf" else -0.0, total)
        return settle(element, total, largest, sure, 0.0)
    largest = np.where(both, np.maximum(largest, element.tiny), largest)
    return settle(element, np.asarray(total), largest, sure, 0.0)


def draw_kind(writer: Writer, element: Element) -> Kind:
    kinds = _FLOAT_KINDS if element.is_float else _BOOL_KINDS if element is I1 else _INTEGER_KINDS
    return writer.random.choice(kinds)


def _start(writer: Writer, kind: Kind, element: Element, dims: tuple[Dim, ...]) -> Tensor:
    """Returns what a reduction begins with: mostly a fill."""
    shape = tuple(dim.size for dim in dims)
    if writer.random.random() < 0.2:
        found = writer.pick(
            lambda each: (
                each.element is element
                and not each.is_scalar
                and each.shape == shape
                and [dim.text for dim in each.dims] == [dim.text for dim in dims]
            )
        )
        if found is not None:
            return found
    neutral = kind.neutral(element)
    other = writer.random.choice((0, 1, 2)) if element is not I1 else 0
    return writer.filled(element, dims, neutral if writer.random.random() < 0.8 else other)


def by_name(writer: Writer) -> None:
    """Adds a linalg.reduce."""
    random = writer.random
    source = writer.pick(lambda each: bool(each.dims))
    if source is None:
        return
    rank = len(source.dims)
    axes = tuple(sorted(random.sample(range(rank), random.randint(1, rank))))
    kept = tuple(dim for axis, dim in enumerate(source.dims) if axis not in axes)
    kind = draw_kind(writer, source.element)
    start = _start(writer, kind, source.element, kept)
    result = Tensor(writer.name(), source.element, kept)
    writer.add(
        f"{result.name} = linalg.reduce {{ {kind.operation} }} ins({source.name} : {source.type}) "
        f"outs({start.name} : {start.type}) dimensions = [{', '.join(map(str, axes))}]"
    )

    def evaluate(values: Values) -> None:
        values[result.name] = reduce_numbers(
            kind.operation, source.element, values[source.name], axes, values[start.name]
        )

    writer.steps.append(evaluate)
    writer.result(result)


def in_loops(writer: Writer) -> None:
    """Adds a linalg.generic that reduces what its region computes, in one or two ways."""
    random = writer.random
    first = writer.pick(lambda each: bool(each.dims))
    drawn = None if first is None else draw_loops(writer, first)
    if first is None or drawn is None or not drawn[0].dims:
        return
    loops, places = drawn
    loops.read(first, places)
    add_operands(loops, random.choice((0, 0, 1, 2)))
    rank = len(loops.dims)
    reduced = tuple(sorted(random.sample(range(rank), random.randint(1, rank))))
    # Every loop's size must be an operand's.
    covered = {int(each[1:]) for map_ in loops.maps for each in map_ if each != "0"}
    if not covered.issuperset(reduced):
        return
    order = [loop for loop in range(rank) if loop not in reduced]
    if random.random() < 0.3:
        random.shuffle(order)
    kept = tuple(loops.dims[loop] for loop in order)
    lines, writer.lines = writer.lines, []
    expression = loops.expression()
    for _ in range(random.choice((0, 1, 1, 2, 4))):
        expression.grow()
    outputs: list[tuple[Kind, str, Element]] = []
    for _ in range(random.choice((1, 1, 1, 2))):
        outputs.append(_combined(writer, expression))
    names = [writer.name() for _ in outputs]
    yielded: list[tuple[str, Element]] = []
    for (kind, value, element), name in zip(outputs, names, strict=True):
        joined = writer.name()
        writer.add(f"{joined} = {kind.operation} {name}, {value} : {element.name}")
        yielded.append((joined, element))
    region, writer.lines = writer.lines, lines
    starts = [_start(writer, kind, element, kept) for kind, _, element in outputs]
    map_ = [f"d{loop}" for loop in order]
    results = [Tensor(writer.name(), element, kept) for _, _, element in outputs]
    outs = [(start, map_) for start in starts]
    write_generic(loops, outs, region, yielded, results, names, reduced)
    shape = [dim.size for dim in loops.dims]
    positions = [sorted(order).index(loop) for loop in order]

    def evaluate(values: Values) -> None:
        for step in loops.steps:
            step(values)
        for (kind, value, element), start, result in zip(outputs, starts, results, strict=True):
            whole = Numbers(*(np.broadcast_to(each, shape) for each in values[value]))
            back = np.argsort(positions) if positions else []
            begun = Numbers(*(each.transpose(back) for each in values[start.name]))
            total = reduce_numbers(kind.operation, element, whole, reduced, begun)
            values[result.name] = Numbers(*(each.transpose(positions) for each in total))

    writer.steps.append(evaluate)
    for result in results:
        writer.result(result)


def _combined(writer: Writer, expression: Expression) -> tuple[Kind, str, Element]:
    """Returns what is reduced: a value of the region, maybe of a wider type."""
    name, element = expression.values[-1]
    if writer.random.random() < 0.3:
        name, element = writer.random.choice(expression.values)
    if element.is_float and element.bits == 16 and writer.random.random() < 0.5:
        name, element = expression.apply(convert_float(element, FLOATS[1]), name)
    return draw_kind(writer, element), name, element


def extreme_place(writer: Writer) -> None:
    """Adds a linalg.generic that finds the largest or least element and its place."""
    random = writer.random
    source = writer.pick(
        lambda each: (
            len(each.dims) in (1, 2, 3) and each.element is not I1 and math.prod(each.shape) > 0
        )
    )
    if source is None:
        return
    rank = len(source.dims)
    axis = random.randrange(rank)
    kept = tuple(dim for each, dim in enumerate(source.dims) if each != axis)
    place = random.choice((I32, I64))
    element = source.element
    greatest = random.random() < 0.6
    first_value = _lowest(element) if greatest else _highest(element)
    start = writer.filled(element, kept, first_value)
    start_place = writer.filled(place, kept, 0)
    dims = ", ".join(f"d{each}" for each in range(rank))
    out = ", ".join(f"d{each}" for each in range(rank) if each != axis)
    kinds = ", ".join('"reduction"' if each == axis else '"parallel"' for each in range(rank))
    best, where = (Tensor(writer.name(), element, kept), Tensor(writer.name(), place, kept))
    if element.is_float:
        compare = f"arith.cmpf {'ogt' if greatest else 'olt'}"
    else:
        compare = f"arith.cmpi {'sgt' if greatest else 'slt'}"
    a, o, p, i, j, c, x, y = (writer.name() for _ in range(8))
    writer.add(
        f"{best.name}, {where.name} = linalg.generic {{indexing_maps = [affine_map<({dims}) -> "
        f"({dims})>, affine_map<({dims}) -> ({out})>, affine_map<({dims}) -> ({out})>], "
        f"iterator_types = [{kinds}]}} ins({source.name} : {source.type}) "
        f"outs({start.name}, {start_place.name} : {start.type}, {start_place.type}) {{\n"
        f"^bb0({a}: {element.name}, {o}: {element.name}, {p}: {place.name}):\n"
        f"  {i} = linalg.index {axis} : index\n"
        f"  {j} = arith.index_cast {i} : index to {place.name}\n"
        f"  {c} = {compare}, {a}, {o} : {element.name}\n"
        f"  {x} = arith.select {c}, {a}, {o} : {element.name}\n"
        f"  {y} = arith.select {c}, {j}, {p} : {place.name}\n"
        f"  linalg.yield {x}, {y} : {element.name}, {place.name}\n"
        f"}} -> ({best.type}, {where.type})"
    )

    def evaluate(values: Values) -> None:
        value, error = values[source.name]
        sure = np.all(error == 0, axis=axis)
        extreme = np.full(sure.shape, first_value, element.dtype)
        at = np.zeros(sure.shape, place.dtype)
        for step in range(value.shape[axis]):
            one = np.take(value, step, axis=axis)
            better = one > extreme if greatest else one < extreme
            extreme, at = np.where(better, one, extreme), np.where(better, step, at)
        unsure = np.where(sure, 0.0, np.inf)
        values[best.name] = Numbers(extreme.astype(element.dtype), unsure)
        values[where.name] = Numbers(at.astype(place.dtype), unsure)

    writer.steps.append(evaluate)
    writer.result(best)
    writer.result(where)
