"""Allocation domains against their meaning, computed element by element."""

from itertools import combinations, product
from math import prod
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hirc.compiler.session import Session
from hirc.dialects.hir.domain import Plan, plan, plan_of_integers, static_plan
from hirc.dialects.hir.domain_steps import (
    Domain,
    DomainError,
    Expand,
    Merge,
    Reduce,
    Reorder,
    Shard,
    Split,
    Step,
    read_domain,
)
from hirc.dialects.hir.extents import Integers
from hirc.dialects.hir.layout import DYNAMIC
from hirc.dialects.mlir import ir

Places = dict[tuple[int, ...], int]


def walk(domain: Domain) -> tuple[Places, int]:
    """Where each element of the first device lies, and the number of elements of the memory.

    Every index is taken through the steps: what a split or merge does to an extent it does to the
    index, an element of another device or of a reduced dim has no place.
    """
    places: Places = {}
    elements = 1
    for element in product(*map(range, domain.logical)):
        dims = [(size, index, True) for size, index in zip(domain.logical, element, strict=True)]
        is_here = True
        for step in domain.steps:
            match step:
                case Split(p, factor, outer):
                    extent, index, memory = dims[p]
                    inner = -(-extent // factor) if outer else factor
                    high = factor if outer else -(-extent // factor)
                    dims[p : p + 1] = [
                        (high, index // inner, memory),
                        (inner, index % inner, memory),
                    ]
                case Merge(p):
                    (a, i, _), (b, j, memory) = dims[p : p + 2]
                    dims[p : p + 2] = [(a * b, i * b + j, memory)]
                case Reorder(order):
                    dims = [dims[p] for p in order]
                case Shard(p):
                    is_here &= dims[p][1] == 0
                    dims[p] = (1, 0, True)
                case Expand(p):
                    dims[p] = (1, 0, False)
                case Reduce(p):
                    is_here &= dims.pop(p)[1] == 0
        elements = prod(extent for extent, _, _ in dims)
        if is_here:
            place = 0
            for extent, index, _ in dims:
                place = place * extent + index
            places[element] = place
    return places, elements


def local(places: Places, rank: int) -> list[Places]:
    """The same by the indices that the first device's part has of its own.

    `rank` of the logical dims are left where some are reduced, in each way that leaves out dims
    with one index only.
    """
    values = [sorted(set(indices)) for indices in zip(*places, strict=True)]
    ways: list[Places] = []
    for kept in combinations(range(len(values)), rank):
        if all(len(indices) == 1 or dim in kept for dim, indices in enumerate(values)):
            ways.append(
                {
                    tuple(values[dim].index(element[dim]) for dim in kept): place
                    for element, place in places.items()
                }
            )
    return ways


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    logical = draw(st.lists(st.sampled_from([1, 2, 3, 4, 6, 7]), min_size=1, max_size=3))
    dims = list(range(len(logical)))  # negative: sharded or expanded
    steps: list[Step] = []
    names = ["split", "split", "merge", "reorder", "shard", "expand", "reduce"]
    for name in draw(st.lists(st.sampled_from(names), max_size=6)):
        free = [p for p, dim in enumerate(dims) if dim >= 0]
        if name == "merge":
            free = [p for p in free if p + 1 in free]
        if name == "reorder":
            order = draw(st.permutations(range(len(dims))))
            steps.append(Reorder(tuple(order)))
            dims = [dims[p] for p in order]
        elif free:
            p = draw(st.sampled_from(free))
            match name:
                case "split":
                    factor, outer = draw(st.sampled_from([1, 2, 3, 4, 6])), draw(st.booleans())
                    steps.append(Split(p, factor, outer))
                    dims.insert(p, dims[p])
                case "merge":
                    steps.append(Merge(p))
                    del dims[p]
                case "reduce":
                    steps.append(Reduce(p))
                    del dims[p]
                case _:
                    steps.append(Shard(p) if name == "shard" else Expand(p))
                    dims[p] = -1
    return Domain(tuple(logical), tuple(steps))


def is_strided(places: Places) -> bool:
    """Whether some strides give the places."""
    rank = len(next(iter(places)))
    origin = places[(0,) * rank]
    unit = [places.get(tuple(int(dim == d) for d in range(rank)), origin) for dim in range(rank)]
    strides = [place - origin for place in unit]
    return all(
        place == origin + sum(map(int.__mul__, element, strides))
        for element, place in places.items()
    )


@given(domains(), st.lists(st.booleans(), min_size=3, max_size=3))
@settings(max_examples=500, deadline=None)
def test_every_element_lies_where_the_steps_put_it(domain: Domain, is_open: list[bool]) -> None:
    places, elements = walk(domain)
    open_sizes = [size for size, unknown in zip(domain.logical, is_open, strict=False) if unknown]
    logical = [
        DYNAMIC if unknown else size for size, unknown in zip(domain.logical, is_open, strict=False)
    ]
    try:
        found = plan(Domain(tuple(logical), domain.steps), open_sizes, Integers())
    except DomainError:
        # Sizes may make a view possible that is none for others, and of a part of a dim this is
        # not asked at all.
        is_whole = not any(isinstance(step, Shard | Reduce) for step in domain.steps)
        if is_whole and not open_sizes:
            assert not is_strided(places)
        return
    assert found.elements == elements
    assert len(found.sizes) == len(found.strides)
    assert any(
        all(
            place == sum(map(int.__mul__, element, found.strides)) < elements
            and all(map(int.__lt__, element, found.sizes))
            for element, place in way.items()
        )
        for way in local(places, len(found.sizes))
    )


@pytest.mark.parametrize(
    ("domain", "elements", "sizes", "strides"),
    [
        (Domain((64, 32), (Reorder((1, 0)),)), 2048, (64, 32), (1, 64)),
        # Split by 16, then by 2, and left in loop order.
        (Domain((64, 32), (Split(0, 16), Split(1, 2))), 2048, (64, 32), (32, 1)),
        # Sharded over 4 devices.
        (Domain((5, 12), (Split(1, 4, outer=True), Shard(1))), 15, (5, 3), (3, 1)),
        # What a split pads is there, and the buffer its prefix.
        (Domain((5, 10), (Split(1, 4),)), 60, (5, 10), (12, 1)),
        # A size of 1 keeps a valid stride; a size of 0 counts as 1 in the others'.
        (Domain((5, 1, 3)), 15, (5, 1, 3), (3, 3, 1)),
        (Domain((4, 0, 3)), 0, (4, 0, 3), (3, 3, 1)),
        (Domain((4, 8), (Shard(0),)), 8, (1, 8), (8, 1)),
        # A part has the split's factor, whatever the size.
        (Domain((2, 8), (Split(0, 3), Shard(0))), 24, (3, 8), (8, 1)),
        (Domain((6, 8), (Expand(0),)), 8, (6, 8), (0, 1)),
        (Domain((6, 8), (Reduce(1),)), 6, (6,), (1,)),
        (Domain(()), 1, (), ()),
    ],
)
def test_examples(
    domain: Domain, elements: int, sizes: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    assert plan_of_integers(domain) == Plan(elements, sizes, strides)
    opened = Domain((DYNAMIC,) * len(domain.logical), domain.steps)
    assert plan_of_integers(opened, domain.logical) == Plan(elements, sizes, strides)


@given(st.lists(st.integers(0, 5), max_size=4), st.randoms(use_true_random=False))
def test_an_order_is_torchs(sizes: list[int], random: Random) -> None:
    order = list(range(len(sizes)))
    random.shuffle(order)
    found = plan_of_integers(Domain(tuple(sizes), (Reorder(tuple(order)),)))
    assert found.strides == torch.empty_permuted(sizes, order).stride()
    assert found.elements == prod(sizes)


class Recorded:
    """Arithmetic that writes down what it is asked for."""

    def constant(self, value: int) -> str:
        return str(value)

    def multiply(self, a: str, b: str) -> str:
        return f"{a}*{b}"

    def ceil_divide(self, a: str, b: str) -> str:
        return f"ceil({a}/{b})"

    def maximum(self, a: str, b: str) -> str:
        return f"max({a},{b})"


def test_what_is_static_is_not_computed_at_run_time() -> None:
    domain = Domain((DYNAMIC, 6, DYNAMIC), (Split(2, 8), Reorder((1, 0, 2, 3))))
    assert plan(domain, ["n", "m"], Recorded()) == Plan(
        "ceil(m/8)*n*48",
        ("n", "6", "m"),
        ("ceil(max(m,1)/8)*8", "ceil(max(m,1)/8)*max(n,1)*8", "1"),
    )
    sharded = Domain((DYNAMIC, 12), (Split(1, 4, outer=True), Shard(1)))
    assert plan(sharded, ["n"], Recorded()) == Plan("n*3", ("n", "3"), ("3", "1"))
    assert static_plan(sharded) == Plan(DYNAMIC, (DYNAMIC, 3), (3, 1))


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("{order = array<i64: 1, 0>}", (Reorder((1, 0)),)),
        ("{domain = [{split = 0, factor = 2}, {split = 1, factor = 4, outer}]}",
         (Split(0, 2), Split(1, 4, outer=True))),
        ("{domain = [{merge = 0}, {reorder = array<i64: 0>}, {expand = 0}]}",
         (Merge(0), Reorder((0,)), Expand(0))),
        ('{domain = [{shard = 1, over = "stream"}, {reduce = 0}]}',
         (Shard(1, "stream"), Reduce(0))),
        ("{}", ()),
    ],
)  # fmt: skip
def test_steps_are_read_from_attributes(text: str, steps: tuple[Step, ...]) -> None:
    session = Session()
    session.context.allow_unregistered_dialects = True
    module = ir.Module.parse(f'"test.op"() {text} : () -> ()', session.context)
    assert read_domain(module.body.operations[0], [8, 4]) == Domain((8, 4), steps)
