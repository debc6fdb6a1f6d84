"""The collective operations of a region along a row, as states that are combined."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from ....dialects.hir.loop_operation import kind_of, loops_of
from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...rewriting import constant
from ..combine import combine, combine_places, neutral
from ..region import Point
from .vectors import RowVectors

State = tuple[ir.Value, ...]


class States(ABC):
    """What there is of some elements, and can be combined with what there is of others."""

    @property
    @abstractmethod
    def types(self) -> list[ir.Type]:
        """The types of a state's values."""

    @abstractmethod
    def neutral(self) -> State:
        """The state of no elements."""

    @abstractmethod
    def combine(self, a: State, b: State) -> State:
        """The state of the elements of both."""


class Collective(States):
    """What some operations of a region make of a row. A state is that of some of its elements."""

    @property
    @abstractmethod
    def inputs(self) -> list[ir.Value]:
        """The values of the region that are reduced."""

    @abstractmethod
    def accumulate(self, state: State | None, vectors: RowVectors) -> State:
        """The state with a thread's next vectors, which come after those in it."""

    @abstractmethod
    def finish(self, state: State, point: Point) -> None:
        """Makes what the operations give known at a row's point, from the state of all of it."""


class Reduce(Collective):
    """A hir.reduce_loops."""

    def __init__(self, op: ir.Operation) -> None:
        self._op = op
        self._kind = kind_of(op)

    @property
    def inputs(self) -> list[ir.Value]:
        return [self._op.operands[0]]

    @property
    def types(self) -> list[ir.Type]:
        return [self._op.operands[0].type]

    def neutral(self) -> State:
        return (neutral(self._kind, self.types[0]),)

    def combine(self, a: State, b: State) -> State:
        return (combine(self._kind, a[0], b[0]),)

    def accumulate(self, state: State | None, vectors: RowVectors) -> State:
        (rest,) = self.neutral()
        for number in range(len(vectors)):
            (value,) = self.inputs
            whole = vectors.folded(number, value, lambda a, b: combine(self._kind, a, b), rest)
            state = (whole,) if state is None else self.combine(state, (whole,))
        assert state is not None
        return state

    def finish(self, state: State, point: Point) -> None:
        (value,) = state
        if self._kind == "addf":
            # A sum begins with +0, so that one of -0 alone is +0 too.
            value = combine(self._kind, value, *self.neutral())
        point.known[self._op.results[0]] = value


class Total(States):
    """A sum of numbers of one type."""

    def __init__(self, kind: ir.Type) -> None:
        self._kind = kind

    @property
    def types(self) -> list[ir.Type]:
        return [self._kind]

    def neutral(self) -> State:
        return (neutral("addf", self._kind),)

    def combine(self, a: State, b: State) -> State:
        return (combine("addf", a[0], b[0]),)


@dataclass(frozen=True)
class BlockShare:
    """What a block has of a row, which others may share: `are_several` says whether they do.

    `count` gives the number of its elements, as a float of a type. `where_several` gives what is
    emitted in place of values where others share the row. `is_kept` says of a value of the region
    whether outputs need it, and but for it no element that another value is computed from.
    """

    are_several: ir.Value
    count: Callable[[ir.Type], ir.Value]
    where_several: Callable[[Sequence[ir.Value], Callable[[], list[ir.Value]]], list[ir.Value]]
    is_kept: Callable[[ir.Value, ir.Value], bool]


class Merged(Collective):
    """Two operations, the second of which needs the result of the first, in one pass.

    A block that keeps its elements finds both one after the other, which takes less than to combine
    states of both, thread by thread: it reduces `first`, and then adds up what `around` gives.
    """

    @property
    @abstractmethod
    def first(self) -> Collective:
        """The first operation."""

    @abstractmethod
    def center(self, first: ir.Value, block: BlockShare) -> ir.Value:
        """What the block's elements are taken from, given the first operation's result."""

    @abstractmethod
    def around(self, center: ir.Value, vectors: RowVectors) -> tuple[ir.Value, list[ir.Value]]:
        """What vectors add to the second operation's result, and values of all elements to `keep`
        or none.
        """

    @abstractmethod
    def state(self, first: ir.Value, center: ir.Value, total: ir.Value, block: BlockShare) -> State:
        """The state of the block's elements, given what they add up to."""

    is_kept = False

    def is_found_in_warps(self, block: BlockShare) -> bool:
        """Returns whether each warp of a block rather finds a state of its own."""
        return False

    @property
    def kept(self) -> ir.Value:
        """The value of the region that such values are at last."""
        raise AssertionError("nothing is kept")

    def keep(
        self, values: list[ir.Value], first: ir.Value, state: State, block: BlockShare
    ) -> list[ir.Value]:
        """Makes what was computed of the block's elements what it is in the row, whose state it is
        given.
        """
        return values


class Find(Collective):
    """A hir.find_loops, with places of type `place`."""

    def __init__(self, op: ir.Operation, place: ir.Type) -> None:
        self._op = op
        self._kind = kind_of(op)
        self._place = place

    @property
    def inputs(self) -> list[ir.Value]:
        return [self._op.operands[0]]

    @property
    def types(self) -> list[ir.Type]:
        return [self._op.operands[0].type, self._place]

    def neutral(self) -> State:
        return neutral(self._kind, self.types[0]), constant(self._place, 0)

    def combine(self, a: State, b: State) -> State:
        return combine_places(self._kind, (a[0], a[1]), (b[0], b[1]))

    def accumulate(self, state: State | None, vectors: RowVectors) -> State:
        loops = loops_of(self._op)
        (value,) = self.inputs
        none = self.neutral()
        for number in range(len(vectors)):
            whole: State | None = None
            for element in range(vectors.width):
                column = arith.index_cast(self._place, vectors.column(number, element, loops))
                found = (vectors.value(number, element, value), column)
                whole = found if whole is None else self._next(whole, found)
            assert whole is not None
            inside = tuple(
                vectors.masked(number, part, rest) for part, rest in zip(whole, none, strict=True)
            )
            state = inside if state is None else self._next(state, inside)
        assert state is not None
        return state

    def finish(self, state: State, point: Point) -> None:
        place = state[1]
        if place.type != self._op.results[1].type:
            place = arith.extui(self._op.results[1].type, place)
        point.known.update(zip(self._op.results, (state[0], place), strict=True))

    def _next(self, a: State, b: State) -> State:
        return combine_places(self._kind, (a[0], a[1]), (b[0], b[1]), ascending=True)


def as_states(collectives: Sequence[States], values: Sequence[ir.Value]) -> list[State]:
    """The values of all states, one after another, as states."""
    states: list[State] = []
    at = 0
    for each in collectives:
        count = len(each.types)
        states.append(tuple(values[at : at + count]))
        at += count
    return states


def flat(states: Sequence[State]) -> list[ir.Value]:
    """The values of all states, one after another."""
    return [value for state in states for value in state]
