"""Plans of resharding over meshes, done step by step on arrays of numpy."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hirc.dialects.hir.mesh import Mesh, Spreads
from hirc.dialects.hir.spread import Spread
from hirc.pipelines.hir.communication.mesh_plan import Plan, State, Step, find_plan, state_of

Parts = dict[tuple[int, ...], NDArray[np.int64]]
_WHOLE = (8, 16, 4)


def _mesh(shape: tuple[int, ...]) -> Mesh:
    return Mesh(shape, tuple(range(int(np.prod(shape)))))


def _block(mesh: Mesh, state: State, whole: NDArray[np.int64], place: tuple[int, ...]):
    for dim, axes in enumerate(state.dims):
        for axis in axes:
            whole = np.split(whole, mesh.shape[axis], dim)[place[axis]]
    return whole


def _parts(mesh: Mesh, state: State, whole: NDArray[np.int64]) -> Parts:
    """What each device has; of what is to be combined, each of n places has its number's share."""
    scale: dict[tuple[int, ...], int] = {}
    for place in mesh.places:
        shares = [2 * place[axis] - mesh.shape[axis] + 2 for axis in state.partial]
        scale[place] = int(np.prod(shares))
    return {place: _block(mesh, state, whole, place) * scale[place] for place in mesh.places}


def _done(mesh: Mesh, before: State, step: Step, parts: Parts) -> Parts:
    """What each device has after a step: the communication's own meaning."""
    if step.axis is None:
        wants: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for place in mesh.places:
            wants.setdefault(_index(mesh, step.state, place), []).append(place)
        return {wants[_index(mesh, before, place)].pop(): part for place, part in parts.items()}
    given: Parts = {}
    for place in mesh.places:
        row = [
            parts[(*place[: step.axis], number, *place[step.axis + 1 :])]
            for number in range(mesh.shape[step.axis])
        ]
        if step.before.axis is not None:
            mine = np.concatenate(row, step.before.axis)
        else:
            mine = np.add.reduce(row) if step.before.reduction else parts[place]
        if step.after.axis is not None:
            mine = np.split(mine, len(row), step.after.axis)[place[step.axis]]
        given[place] = mine
    return given


def _index(mesh: Mesh, state: State, place: tuple[int, ...]) -> tuple[int, ...]:
    whole = np.arange(np.prod(_WHOLE)).reshape(_WHOLE)
    first = int(_block(mesh, state, whole, place).flat[0])
    return (first, *(at for axis, at in enumerate(place) if axis in state.partial))


def _spreads(axes: int, reduction: bool) -> st.SearchStrategy[Spreads]:
    kinds = [Spread(), *(Spread(axis=dim) for dim in range(len(_WHOLE)))]
    if reduction:
        kinds.append(Spread(reduction="sum"))
    return st.tuples(*[st.sampled_from(kinds)] * axes)


@st.composite
def _changes(draw: st.DrawFn) -> tuple[Mesh, Spreads, Spreads]:
    shape = draw(st.sampled_from([(2,), (4,), (2, 2), (2, 4), (4, 2), (2, 2, 2)]))
    before = draw(_spreads(len(shape), reduction=True))
    after = draw(_spreads(len(shape), reduction=False))
    mesh = _mesh(shape)
    for dim, size in enumerate(_WHOLE):
        for spreads in (before, after):
            if size % mesh.parts(spreads, dim):
                after = before = tuple(Spread() for _ in shape)
    return mesh, before, after


@settings(max_examples=150, deadline=None, derandomize=True)
@given(_changes())
def test_the_steps_bring_every_part_where_it_belongs(
    change: tuple[Mesh, Spreads, Spreads],
) -> None:
    mesh, before, after = change
    whole = np.arange(np.prod(_WHOLE), dtype=np.int64).reshape(_WHOLE)
    state, end = state_of(before, len(_WHOLE)), state_of(after, len(_WHOLE))
    parts = _parts(mesh, state, whole)
    total = int(np.prod([sum(2 * i - n + 2 for i in range(n)) for n in _sizes(mesh, state)]))
    plan = find_plan(mesh.shape, before, after, _WHOLE)
    for step in plan.steps:
        parts = _done(mesh, state, step, parts)
        state = step.state
    assert state == end
    for place, part in parts.items():
        np.testing.assert_array_equal(part, _block(mesh, end, whole * total, place))
    assert plan.cost <= _through_the_whole(mesh, before, after)


def _sizes(mesh: Mesh, state: State) -> list[int]:
    return [mesh.shape[axis] for axis in state.partial]


def _through_the_whole(mesh: Mesh, before: Spreads, after: Spreads) -> Fraction:
    """What it takes to collect everything, inner axes first, and to cut it up again."""
    size, sent = Fraction(1), Fraction(0)
    for spread, count in reversed(list(zip(before, mesh.shape, strict=True))):
        if spread.axis is not None:
            sent += size * (count - 1)
            size *= count
        if spread.reduction is not None:
            sent += 2 * size * Fraction(count - 1, count)
    return Fraction(0) if before == after else sent


def _plan(shape: tuple[int, ...], before: str, after: str, size: int | None = 16) -> Plan:
    kinds = {"W": Spread(), "0": Spread(axis=0), "1": Spread(axis=1), "P": Spread(reduction="sum")}
    spreads = [tuple(kinds[letter] for letter in text) for text in (before, after)]
    return find_plan(shape, spreads[0], spreads[1], (size, size))


@pytest.mark.parametrize(
    ("shape", "before", "after", "cost"),
    [
        ((4,), "0", "W", Fraction(3)),
        ((4,), "0", "1", Fraction(3, 4)),
        ((4,), "P", "0", Fraction(3, 4)),
        ((4,), "P", "W", Fraction(3, 2)),
        ((2, 4), "W0", "WW", Fraction(3)),
        # An axis of the mesh takes over from another: parts first, so that less is moved.
        ((2, 4), "W0", "0W", Fraction(1, 2) + Fraction(3, 2)),
        ((4, 2), "W0", "0W", Fraction(1, 4) + Fraction(1, 4)),
        ((2, 2), "00", "WW", Fraction(3)),
        ((2, 2), "01", "10", Fraction(1)),
    ],
)
def test_what_a_device_sends(
    shape: tuple[int, ...], before: str, after: str, cost: Fraction
) -> None:
    assert _plan(shape, before, after).cost == cost


def test_sizes_only_the_run_knows_are_not_divided_otherwise() -> None:
    """3 does not divide 16, nor may an open size be divided by what no spread divides it by."""
    for size in (15, None):
        plan = _plan((2, 4), "WP", "WW", size)
        divided = [step for step in plan.steps if step.after.axis is not None]
        assert divided == []
    assert [step.after.axis for step in _plan((2, 4), "PW", "0W", None).steps] == [0]


def test_every_small_change_has_a_plan() -> None:
    for before, after in product(product("W01P", repeat=2), product("W01", repeat=2)):
        assert _plan((2, 2), "".join(before), "".join(after)).cost >= 0
