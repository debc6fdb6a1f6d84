"""What elementwise operations make a factor of: computed where a product reads it.

Tiles of a product then read what the operations read, such as weights of 8 bits and their scales.
Reshapes between them split loops: `w.view(n, k / 128, 128) * s` is read at (n, g, t) by a product
over k, which becomes one over g and t.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.access import Access, Coordinate, is_zero, reassociation
from ..fusion.generic import (
    GENERIC,
    accesses_of,
    inputs_of,
    loop_count,
    loop_extents,
    reducing_loops,
)
from ..fusion.node import is_integer_division
from ..fusion.normalize import is_normal
from ..fusion.validity import MAX_OPERANDS
from ..generics import instructions_of
from ..walking import defining_op, is_used, made_by

_EXPAND, _COLLAPSE, _CONCAT = "tensor.expand_shape", "tensor.collapse_shape", "tensor.concat"
# Operations on tensors that one factor is made by: each is a walk over what it reads.
MOST_STEPS = 16


class Digit:
    """A loop, or a part of one: an index of mixed radix has them, outermost first."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._parts: tuple[Digit, Digit] | None = None

    def split(self, inner: int) -> None:
        """Makes two of it, the inner one of so many iterations."""
        self._parts = Digit(self.size // inner), Digit(inner)

    @property
    def flat(self) -> tuple[Digit, ...]:
        """Returns the digits that it now is."""
        if self._parts is None:
            return (self,)
        return tuple(each for part in self._parts for each in part.flat)


Place = tuple[Digit, ...]


def flat(place: Place) -> Place:
    """Returns a place by the digits that its digits now are."""
    return tuple(each for digit in place for each in digit.flat)


def _size(place: Place) -> int:
    sizes = [digit.size for digit in place]
    return DYNAMIC if DYNAMIC in sizes else prod(sizes)


@dataclass(frozen=True, eq=False)
class Element:
    """The element of a tensor at a place along each dim; of a scalar itself."""

    value: ir.Value
    places: tuple[Place, ...]


@dataclass(frozen=True, eq=False)
class Made:
    """What an elementwise operation makes of elements, in its loops' places: a result of it."""

    op: ir.Operation
    result: int
    places: tuple[Place, ...]
    read: tuple[Source, ...]


@dataclass(frozen=True, eq=False)
class Choice:
    """One of several elements, by a digit."""

    digit: Digit
    of: tuple[Source, ...]


Source = Element | Made | Choice


@dataclass(frozen=True, eq=False)
class Producers:
    """What a product's factors are made of: trees of sources by the numbers of operands."""

    op: ir.Operation
    loops: tuple[Digit, ...]
    factors: Mapping[int, Source]

    @property
    def makers(self) -> list[ir.Operation]:
        """The elementwise operations."""
        found = [op for factor in self.factors.values() for op in _makers(factor)]
        return list(dict.fromkeys(found))

    def elements(self, number: int) -> list[tuple[ir.Type, int]]:
        """Returns what is read for a factor: of each tensor the type of elements and how many
        there are, of known sizes.
        """
        found = {each.value for each in elements_of(self.factors[number])}
        return [
            (ir.RankedTensorType(value.type).element_type, _count_of(value))
            for value in found
            if isinstance(value.type, ir.RankedTensorType)
        ]

    def has_units(self, number: int, count: int) -> bool:
        """Returns whether each `count` neighbours of a factor along the loop along which most of
        what it is made of lies, from a multiple of `count` on, are neighbours of all its digits.
        """
        largest = max(elements_of(self.factors[number]), key=lambda each: _count_of(each.value))
        digits = [digit for place in largest.places for digit in flat(place) if digit.size != 1]
        if not digits:
            return False
        (inner,) = (loop for loop in self.loops if digits[-1] in loop.flat)
        return _size((inner,)) % count == 0 and _has_units(inner.flat, count)

    def finishes(self, number: int) -> bool:
        """Returns whether a factor is made of what sums alone: their kernel may end with that."""
        return any(_is_sum(each.value) for each in elements_of(self.factors[number]))

    def choices(self, number: int) -> int:
        """Returns how many concatenations a factor is made by."""
        return sum(1 for _ in _choices(self.factors[number]))

    def operations(self, number: int) -> int:
        """Returns how many instructions make an element of a factor, about: those of each operation
        but extensions and what is known of a place.
        """
        makers = dict.fromkeys(_makers(self.factors[number]))
        return instructions_of(each.operation for op in makers for each in op.regions[0].blocks[0])


def read_producers(
    op: ir.Operation, factors: Mapping[int, Access], extents: Sequence[int]
) -> Producers | None:
    """Returns what the `factors` of a product are made of, by the numbers of its operands; None
    where none is made by operations that it alone reads.

    `extents` are those of the product's loops, DYNAMIC where a size is open: no factor is computed
    along such a loop.
    """
    loops = tuple(map(Digit, extents))
    found: dict[int, Source] = {}
    for number, read in factors.items():
        if any(extents[loop] == DYNAMIC for loop in read.loops):
            continue
        source = _Reader(op, read.value).source(read.value, places_of(read.index, loops))
        if not isinstance(source, Element):
            found[number] = source
    made = Producers(op, loops, found)
    return made if found and _count(made) <= MAX_OPERANDS else None


def read_own_producers(op: ir.Operation, computed: Sequence[int]) -> Producers | None:
    """Returns the same of a linalg.generic in the form of a reduction, of some of its factors: 0 is
    the first, 1 the second.
    """
    accesses, known = accesses_of(op), loop_extents(op)
    if not all(isinstance(each, int) or is_zero(each) for read in accesses for each in read.index):
        return None
    reducing, arguments = set(reducing_loops(op)), list(op.regions[0].blocks[0].arguments)
    factors = [
        (number, read)
        for number, read in enumerate(accesses[: len(inputs_of(op))])
        if set(read.loops) & reducing and is_used(arguments[number])
    ]
    chosen = {number: read for place, (number, read) in enumerate(factors) if place in computed}
    extents = [known.get(loop, DYNAMIC) for loop in range(loop_count(op))]
    return read_producers(op, chosen, extents)


def _count(made: Producers) -> int:
    values = {value for number, value in enumerate(made.op.operands) if number not in made.factors}
    return len(values | {e.value for each in made.factors.values() for e in elements_of(each)})


def places_of(index: Sequence[Coordinate], loops: Sequence[Digit]) -> tuple[Place, ...]:
    """Returns the places of an index of plain loops and zeros."""
    return tuple((loops[each],) if isinstance(each, int) else () for each in index)


class _Reader:
    """Finds what makes a factor: all of it that nothing but the product needs."""

    def __init__(self, op: ir.Operation, value: ir.Value) -> None:
        self._inside = {op}
        self._steps = 0
        waiting = [value]
        while waiting:
            owner = waiting.pop().owner
            if isinstance(owner, ir.Block) or owner.operation in self._inside:
                continue
            made = owner.operation
            users = {use.owner.operation for result in made.results for use in result.uses}
            users = {each for each in users if not _is_idle(each)}
            if made.block == op.block and users <= self._inside and _is_known(made):
                self._inside.add(made)
                waiting += made.operands

    def source(self, value: ir.Value, places: tuple[Place, ...]) -> Source:
        """Returns what the element at these places is made of."""
        self._steps += 1
        owner, here = value.owner, Element(value, places)
        if isinstance(owner, ir.Block) or owner.operation not in self._inside:
            return here
        if self._steps > MOST_STEPS:
            return here
        op = owner.operation
        if op.name == GENERIC:
            return self._made(op, ir.OpResult(value).result_number, places) or here
        if op.name == _CONCAT:
            return self._choice(op, places) or here
        found = _of_expanded(op, places) if op.name == _EXPAND else _of_collapsed(op, places)
        return here if found is None else self.source(op.operands[0], found)

    def _made(self, op: ir.Operation, result: int, places: tuple[Place, ...]) -> Made | None:
        accesses, inputs = accesses_of(op), len(inputs_of(op))
        loops: dict[int, Place] = {}
        for each, place in zip(accesses[inputs + result].index, places, strict=True):
            if isinstance(each, int):
                loops[each] = place
        if sorted(loops) != list(range(loop_count(op))):
            return None
        read: list[Source] = []
        for each in accesses[:inputs]:
            if not all(isinstance(at, int) or is_zero(at) for at in each.index):
                return None
            own = tuple(loops[at] if isinstance(at, int) else () for at in each.index)
            read.append(self.source(each.value, own))
        return Made(op, result, tuple(loops[at] for at in range(loop_count(op))), tuple(read))

    def _choice(self, op: ir.Operation, places: tuple[Place, ...]) -> Choice | None:
        dim = ir.IntegerAttr(op.attributes["dim"]).value
        sizes = {ir.RankedTensorType(each.type).shape[dim] for each in op.operands}
        (size, *more) = sizes
        if more or size == DYNAMIC:
            return None
        found = _divided(places[dim], [len(op.operands), size])
        if found is None or len(found[0]) != 1:
            return None
        (which,), inner = found
        own = (*places[:dim], inner, *places[dim + 1 :])
        return Choice(which, tuple(self.source(each, own) for each in op.operands))


def _is_idle(op: ir.Operation) -> bool:
    """Returns whether an operation only gives a tensor that nothing needs any more."""
    is_view = op.name in (_EXPAND, _COLLAPSE, "tensor.cast")
    return is_view and not any(map(is_used, op.results))


def _is_known(op: ir.Operation) -> bool:
    if op.name in (_EXPAND, _COLLAPSE, _CONCAT):
        return True
    if op.name != GENERIC or not is_normal(op) or reducing_loops(op):
        return False
    names = [each.operation.name for each in op.regions[0].blocks[0]]
    return all(
        name.startswith(("arith.", "math.", "linalg.index", "linalg.yield"))
        and not is_integer_division(name)
        for name in names
    )


def _of_expanded(op: ir.Operation, places: tuple[Place, ...]) -> tuple[Place, ...] | None:
    """Returns the places in a tensor of those in one that has some of its dims split."""
    shape = ir.RankedTensorType(op.results[0].type).shape
    found: list[Place] = []
    for dims in reassociation(op):
        large = [dim for dim in dims if shape[dim] != 1]
        if len(large) > 1 and any(_size(places[dim]) != shape[dim] for dim in large):
            return None
        found.append(tuple(digit for dim in large for digit in places[dim]))
    return tuple(found)


def _of_collapsed(op: ir.Operation, places: tuple[Place, ...]) -> tuple[Place, ...] | None:
    """Returns the places in a tensor of those in one that has some of its dims merged."""
    shape = ir.RankedTensorType(op.operands[0].type).shape
    found: list[Place] = [()] * len(shape)
    for place, dims in zip(places, reassociation(op), strict=True):
        large = [dim for dim in dims if shape[dim] != 1]
        if len(large) == 1:
            found[large[0]] = place
            continue
        divided = _divided(place, [shape[dim] for dim in large])
        if divided is None:
            return None
        for dim, own in zip(large, divided, strict=True):
            found[dim] = own
    return tuple(found)


def _divided(place: Place, sizes: Sequence[int]) -> list[Place] | None:
    """Returns the places along dims of these sizes, of one along all of them; splits digits."""
    if DYNAMIC in sizes or _size(place) != prod(sizes):
        return None
    digits, found = list(flat(place)), list[Place]()
    for size in reversed(sizes):
        own: list[Digit] = []
        while size > 1:
            digit = digits.pop()
            if digit.size > size:
                if digit.size % size:
                    return None
                digit.split(size)
                digits += digit.flat
                digit = digits.pop()
            if size % digit.size:
                return None
            size //= digit.size
            own.insert(0, digit)
        found.insert(0, tuple(own))
    return found


def _count_of(value: ir.Value) -> int:
    """Returns how many elements of known size a tensor has; a scalar has none."""
    kind = value.type
    return prod(kind.shape) if isinstance(kind, ir.RankedTensorType) else 0


def _is_sum(value: ir.Value) -> bool:
    """Returns whether an operation that is not elementwise makes a tensor, behind reshapes."""
    while (view := made_by(value, _EXPAND, _COLLAPSE, "tensor.cast")) is not None:
        value = view.operands[0]
    op = defining_op(value)
    if op is None or not op.name.startswith("linalg."):
        return False
    return op.name != GENERIC or bool(reducing_loops(op))


def _has_units(digits: Sequence[Digit], count: int) -> bool:
    if len(digits) == 1:
        return True
    for digit in reversed(digits):
        if count % digit.size:
            return digit.size % count == 0
        count //= digit.size
    return count == 1


def _makers(source: Source) -> Iterator[ir.Operation]:
    if isinstance(source, Made):
        yield source.op
    for each in _parts(source):
        yield from _makers(each)


def _choices(source: Source) -> Iterator[Choice]:
    if isinstance(source, Choice):
        yield source
    for each in _parts(source):
        yield from _choices(each)


def elements_of(source: Source) -> Iterator[Element]:
    """Yields the elements that a source is made of."""
    if isinstance(source, Element):
        yield source
    for each in _parts(source):
        yield from elements_of(each)


def _parts(source: Source) -> tuple[Source, ...]:
    if isinstance(source, Made):
        return source.read
    return source.of if isinstance(source, Choice) else ()
