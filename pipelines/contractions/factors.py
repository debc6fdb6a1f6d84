"""One operation of a product and of what makes its factors.

It computes these where it reads what they are made of, in a loop for each digit of the product's.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...dialects.mlir import arith, ir
from ..fusion.access import Access, zero
from ..fusion.generic import accesses_of, inputs_of, make_generic, reducing_loops
from ..fusion.widen import widen
from ..generics import loop_index
from ..rewriting import index_constant
from ..tensors import collapsed, expanded, open_sizes
from ..walking import made_by
from .producers import (
    Choice,
    Digit,
    Element,
    Place,
    Producers,
    Source,
    elements_of,
    flat,
    places_of,
)


def compute_factors(found: Producers) -> ir.Operation:
    """Puts an operation in the place of a product that computes factors where it reads them.

    It has a loop for each digit of the product's loops.
    """
    op = found.op
    # What lies between two operations is rounded as it was in memory.
    for maker in found.makers:
        widen(maker)
    with op.location, ir.InsertionPoint(op):
        new = _Builder(found).build()
        for old, result in zip(op.results, new.results, strict=True):
            old.replace_all_uses_with(_whole(result, old.type))
    op.erase()
    return new


# A tensor, and the loops of each dim's digits.
_Key = tuple[ir.Value, tuple[tuple[int, ...], ...]]


class _Builder:
    """Makes the operation that reads the sources of factors, and computes these."""

    def __init__(self, found: Producers) -> None:
        self._op, self._loops, self._factors = found.op, found.loops, found.factors
        digits = [digit for loop in found.loops for digit in loop.flat if digit.size != 1]
        self._numbers = {digit: number for number, digit in enumerate(digits)}
        self._made: dict[tuple[ir.Operation, tuple[tuple[int, ...], ...]], list[ir.Value]] = {}
        self._arguments: dict[_Key, ir.Value] = {}

    def build(self) -> ir.Operation:
        """Returns the operation, at the insertion point."""
        op, factors = self._op, self._factors
        accesses, inputs = accesses_of(op), len(inputs_of(op))
        kept = [number for number in range(len(accesses)) if number not in factors]
        elements = {
            self._key(each): each for factor in factors.values() for each in elements_of(factor)
        }
        own = [self._own(accesses[number]) for number in kept]
        more = [self._access(each.value, each.places) for each in elements.values()]
        before = len([number for number in kept if number < inputs])
        read, written = [*own[:before], *more], own[before:]
        kinds = [_element_of(each.value) for each in (*read, *written)]
        block = op.regions[0].blocks.append(*kinds)
        arguments = list(block.arguments)
        self._arguments = dict(zip(elements, arguments[before : len(read)], strict=True))
        with ir.InsertionPoint(block):
            known = {number: self._value(factor) for number, factor in factors.items()}
            known.update(zip(kept, [*arguments[:before], *arguments[len(read) :]], strict=True))
            ends = self._cloned(op, [known[number] for number in range(len(accesses))], self._loops)
            ir.Operation.create("linalg.yield", operands=ends)
        reducing = self._names([self._loops[loop] for loop in reducing_loops(op)])
        return make_generic(read, written, len(self._numbers), reducing, block, of=[op])

    def _own(self, each: Access) -> Access:
        """Returns an access of the product's in the digits of its loops."""
        return self._access(each.value, places_of(each.index, self._loops))

    def _access(self, value: ir.Value, places: tuple[Place, ...]) -> Access:
        own = [self._names(place) for place in places]
        index = tuple(at for loops in own for at in (loops or (zero(),)))
        if all(len(loops) <= 1 for loops in own):
            return Access(value, index)
        sizes = [digit.size for digit in self._numbers]
        groups, shape = list[list[int]](), list[int]()
        for size, loops in zip(ir.RankedTensorType(value.type).shape, own, strict=True):
            split = [sizes[loop] for loop in loops] if len(loops) > 1 else [size]
            groups.append(list(range(len(shape), len(shape) + len(split))))
            shape += split
        return Access(_split(value, shape, groups), index)

    def _names(self, place: Sequence[Digit]) -> tuple[int, ...]:
        return tuple(self._numbers[digit] for digit in flat(tuple(place)) if digit.size != 1)

    def _key(self, each: Element) -> _Key:
        return each.value, tuple(map(self._names, each.places))

    def _value(self, source: Source) -> ir.Value:
        if isinstance(source, Element):
            return self._arguments[self._key(source)]
        if isinstance(source, Choice):
            *_, last = values = [self._value(each) for each in source.of]
            index = self._index((source.digit,))
            for number in reversed(range(len(values) - 1)):
                is_it = arith.cmpi(arith.CmpIPredicate.eq, index, index_constant(number))
                last = arith.select(is_it, values[number], last)
            return last
        key = source.op, tuple(map(self._names, source.places))
        if key not in self._made:
            given = [self._value(each) for each in source.read]
            self._made[key] = self._cloned(source.op, given, source.places)
        return self._made[key][source.result]

    def _cloned(
        self,
        op: ir.Operation,
        given: Sequence[ir.Value],
        loops: Sequence[Digit] | Sequence[Place],
    ) -> list[ir.Value]:
        """Returns what an operation yields of such elements, its loops at these places."""
        block = op.regions[0].blocks[0]
        places = [each if isinstance(each, tuple) else (each,) for each in loops]
        known: dict[ir.Value, ir.Value] = dict(zip(block.arguments, given, strict=False))
        *inner, end = [each.operation for each in block]
        for each in inner:
            if each.name == "linalg.index":
                place = places[ir.IntegerAttr(each.attributes["dim"]).value]
                known[each.results[0]] = self._index(place)
                continue
            copy = each.clone()
            if each.name == "hir.reduce_loops":
                at = ir.DenseI64ArrayAttr(each.attributes["loops"])
                names = [name for loop in at for name in self._names(places[loop])]
                copy.attributes["loops"] = ir.DenseI64ArrayAttr.get(names)
            for place, operand in enumerate(each.operands):
                copy.operands[place] = known.get(operand, operand)
            known.update(zip(each.results, copy.results, strict=True))
        return [known.get(value, value) for value in end.operands]

    def _index(self, place: Place) -> ir.Value:
        digits = [digit for digit in flat(place) if digit.size != 1]
        if not digits:
            return index_constant(0)
        found = loop_index(self._numbers[digits[0]])
        for digit in digits[1:]:
            outer = arith.muli(found, index_constant(digit.size))
            found = arith.addi(outer, loop_index(self._numbers[digit]))
        return found


def _element_of(value: ir.Value) -> ir.Type:
    kind = value.type
    return kind.element_type if isinstance(kind, ir.RankedTensorType) else kind


def _split(value: ir.Value, shape: Sequence[int], groups: Sequence[Sequence[int]]) -> ir.Value:
    """Returns a tensor with some of its dims split; one that nothing wrote to is made so."""
    element = ir.RankedTensorType(value.type).element_type
    kind = ir.RankedTensorType.get(list(shape), element)
    empty = made_by(value, "tensor.empty")
    if empty is not None:
        return ir.Operation.create(empty.name, [kind], list(empty.operands)).results[0]
    return expanded(value, kind, groups, open_sizes(value))


def _whole(value: ir.Value, kind: ir.Type) -> ir.Value:
    """Returns a result of split dims in the shape that its readers know."""
    if value.type == kind:
        return value
    shape, groups = list(ir.RankedTensorType(value.type).shape), list[list[int]]()
    at = 0
    for size in ir.RankedTensorType(kind).shape:
        own = [at]
        while prod(shape[each] for each in own) != size:
            own.append(own[-1] + 1)
        groups.append(own)
        at = own[-1] + 1
    return collapsed(value, kind, groups)
