"""The steps that change how a buffer is spread over a mesh, at the fewest bytes.

A state is who divides each dim: for every dim of the buffer the mesh's axes that divide it, the
outer one first, and the axes along which the devices have parts to be combined. A step changes the
place of one axis, by one communication within the rows along it, or has other axes divide the dims
into as many parts, by every device sending its buffer to another. Of all sequences of steps the one
is taken whose devices send the fewest bytes, and of those the shortest: the shortest path between
states.

That dividing first may save bytes (what is whole along a second axis may be divided by it, moved in
parts, and collected) is from Rink et al., "Memory-efficient array redistribution through portable
collective communication" (2021).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import count, permutations, product
from math import prod

from ....dialects.hir.mesh import Spreads
from ....dialects.hir.spread import Spread
from ....dialects.records import dataclass

Division = tuple[int, ...]


@dataclass(frozen=True)
class State:
    """For each dim the axes that divide it, outer ones first; and the axes of parts to combine."""

    dims: tuple[Division, ...]
    partial: frozenset[int] = frozenset()

    def moved(self, axis: int, to: int | None = None) -> State:
        """The state with an axis dividing another dim, as its innermost, or none."""
        dims = [tuple(each for each in dim if each != axis) for dim in self.dims]
        if to is not None:
            dims[to] = (*dims[to], axis)
        return State(tuple(dims), self.partial - {axis})


@dataclass(frozen=True)
class Step:
    """The change of one axis of the mesh from a spread to another.

    Without `axis` every device sends its buffer to the one that has it in the state `after`.
    """

    axis: int | None
    before: Spread
    after: Spread
    state: State


@dataclass(frozen=True)
class Plan:
    """Steps, and what a device sends for them: so many times the buffer that it has at first."""

    steps: tuple[Step, ...]
    cost: Fraction


def state_of(spreads: Spreads, rank: int) -> State:
    """The state that spreads describe."""
    return State(
        tuple(
            tuple(axis for axis, spread in enumerate(spreads) if spread.axis == dim)
            for dim in range(rank)
        ),
        frozenset(axis for axis, spread in enumerate(spreads) if spread.reduction is not None),
    )


@lru_cache(maxsize=4096)
def find_plan(
    mesh: tuple[int, ...], before: Spreads, after: Spreads, whole: tuple[int | None, ...]
) -> Plan:
    """The cheapest steps from spreads to others of a buffer with whole dims of these sizes.

    None is a size that only the run knows: it is divided only as the spreads themselves divide it.
    """
    rank = len(whole)
    start, end = state_of(before, rank), state_of(after, rank)
    reduction = next((each.reduction for each in before if each.reduction), None)
    order = count()
    # What was sent, how many steps, who came first; the buffer's size beside the first one's.
    queue: list[tuple[Fraction, int, int, State, Fraction, tuple[Step, ...]]] = []
    heapq.heappush(queue, (Fraction(0), 0, next(order), start, Fraction(1), ()))
    seen: set[State] = set()
    while queue:
        cost, number, _, state, size, steps = heapq.heappop(queue)
        if state == end:
            return Plan(steps, cost)
        if state in seen:
            continue
        seen.add(state)
        for step, sent, scale in _steps(mesh, state, reduction):
            if step.state in seen or not _divides(mesh, step.state, (start, end), whole):
                continue
            entry = (cost + sent * size, number + 1, next(order), step.state, size * scale)
            heapq.heappush(queue, (*entry, (*steps, step)))
    raise AssertionError(f"no steps lead from {before} to {after}")


def _steps(
    mesh: tuple[int, ...], state: State, reduction: str | None
) -> Iterator[tuple[Step, Fraction, Fraction]]:
    """Each step from a state, what it sends, and how much larger it makes the buffer."""
    placed = {axis: dim for dim, axes in enumerate(state.dims) for axis in axes}
    for axis, size in enumerate(mesh):
        part, rest = Fraction(1, size), Fraction(size - 1, size)
        dim = placed.get(axis)
        targets = [to for to in range(len(state.dims)) if to != dim]
        if axis in state.partial:
            before = Spread(reduction=reduction)
            yield Step(axis, before, Spread(), state.moved(axis)), 2 * rest, Fraction(1)
            for to in targets:
                yield Step(axis, before, Spread(axis=to), state.moved(axis, to)), rest, part
        elif dim is None:
            for to in targets:
                after = state.moved(axis, to)
                yield Step(axis, Spread(), Spread(axis=to), after), Fraction(0), part
        elif state.dims[dim][-1] == axis:
            before = Spread(axis=dim)
            sent = Fraction(size - 1)
            yield Step(axis, before, Spread(), state.moved(axis)), sent, Fraction(size)
            for to in targets:
                after = state.moved(axis, to)
                yield Step(axis, before, Spread(axis=to), after), rest, Fraction(1)
    for after in _alike(mesh, len(state.dims))[_parts_of(mesh, state)]:
        if after != state:
            yield Step(None, Spread(), Spread(), after), Fraction(1), Fraction(1)


def _parts_of(mesh: tuple[int, ...], state: State) -> tuple[tuple[int, ...], frozenset[int]]:
    """Into how many parts the dims are divided, and the axes along which there are parts."""
    return tuple(prod(mesh[axis] for axis in axes) for axes in state.dims), state.partial


@lru_cache(maxsize=64)
def _alike(
    mesh: tuple[int, ...], rank: int
) -> dict[tuple[tuple[int, ...], frozenset[int]], list[State]]:
    """All states, by into how many parts they divide the dims: these differ by who has which."""
    found: dict[tuple[tuple[int, ...], frozenset[int]], list[State]] = {}
    axes = range(len(mesh))
    # The dim that an axis of the mesh divides; `rank` for none, and -1 for parts to combine.
    for places in product(range(-1, rank + 1), repeat=len(mesh)):
        partial = frozenset(axis for axis in axes if places[axis] == -1)
        divisions = [[axis for axis in axes if places[axis] == dim] for dim in range(rank)]
        for dims in product(*map(permutations, divisions)):
            state = State(dims, partial)
            found.setdefault(_parts_of(mesh, state), []).append(state)
    return found


def _divides(
    mesh: tuple[int, ...], state: State, ends: Sequence[State], whole: tuple[int | None, ...]
) -> bool:
    """Returns whether the dims have as many equal parts as a state divides them into."""
    for dim, (axes, size) in enumerate(zip(state.dims, whole, strict=True)):
        parts = prod(mesh[axis] for axis in axes)
        given = [prod(mesh[axis] for axis in end.dims[dim]) for end in ends]
        if not any(each % parts == 0 for each in given) and (size is None or size % parts):
            return False
    return True
