"""Sizes are known symbolically, and what is computed in a run is what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hirc
from hirc.dialects.hir.builder import Program
from support.built_program import operations

_VALUES = (7, 12)

_COMPUTED: dict[str, Callable[[int, int], int]] = {
    "arith.addi": lambda x, y: x + y,
    "arith.subi": lambda x, y: x - y,
    "arith.muli": lambda x, y: x * y,
    "arith.floordivsi": lambda x, y: x // y,
    "arith.ceildivsi": lambda x, y: -(-x // y),
    "arith.minsi": min,
    "arith.maxsi": max,
}


def computed(program: Program) -> int:
    """What the program gives out for n and m of _VALUES, by its operations."""
    values: dict[object, int] = {}
    for op in operations(program):
        if op.name == "hir.program":
            values.update(zip(op.regions[0].blocks[0].arguments, _VALUES, strict=True))
        elif op.name == "arith.constant":
            values[op.results[0]] = op.attributes["value"].value
        elif op.name == "hir.output":
            return values[op.operands[0]]
        elif op.name in _COMPUTED:
            values[op.results[0]] = _COMPUTED[op.name](*(values[each] for each in op.operands))
    raise AssertionError("no output")


def test_sizes_that_are_equal_are_known_to_be() -> None:
    with hirc.program("main") as p:
        n, m = p.size("n"), p.size("m")
        x = p.input("x", (n, m), "f32")
        assert (n + 1) * 64 // 64 - 1 == n
        assert n * m // m == n
        assert (n + m) * (n + m) == n * n + 2 * n * m + m * m
        assert p.ceildiv(n * 6, 3) == 2 * n
        assert (n * 4) % 4 == 0
        assert n.minimum(n + 3) == n
        assert n.maximum(n + 3) == n + 3
        assert n.maximum(m) == m.maximum(n)
        assert n - n == 0
        assert isinstance(n - n + 4, int)
        assert (x + x.exp()).shape == (n, m)
        assert x.T.shape == (m, n)
        assert x[1:-1].shape == (n - 2, m)
        assert x.reshape(-1).shape == (n * m,)
        assert x.reshape(m, -1).shape == (m, n)
    names = {op.name for op in operations(p)}
    assert names & set(_COMPUTED) == {"arith.subi", "arith.muli"}, "only what operations take"


@pytest.mark.parametrize("n", [1, 8])
def test_a_slice_along_an_index_has_a_known_size(n: int) -> None:
    with hirc.program("main") as p:
        x = p.input("x", ("n", 8), "f32")
        with p.loop(0, p.size("n"), n) as i:
            assert x[i : i + n].shape == (n, 8)


def test_texts_of_sizes() -> None:
    with hirc.program("main") as p:
        n, m = p.size("n"), p.size("m")
        assert str(2 * n * m - n + 3) == "n * m * 2 - n + 3"
        assert str(p.ceildiv(n + 1, m)) == "ceildiv(n + 1, m)"


def test_each_size_is_computed_once_where_it_is_visible() -> None:
    with hirc.program("main") as p:
        n = p.size("n")
        p.input("x", (n,), "f32")
        p.allocate((n // 4, n), "f32")
        p.allocate((n // 4,), "f32")
        with p.loop(n) as i:
            p.allocate((n // 4, i + 1), "f32")
            p.allocate((i + 1,), "f32")
        with p.loop(n) as i:
            p.allocate((n * 5,), "f32")
        p.allocate((n * 5,), "f32")
    names = [op.name for op in operations(p)]
    assert names.count("arith.floordivsi") == 1
    assert names.count("arith.addi") == 1
    assert names.count("arith.muli") == 2


def test_the_size_of_a_broadcast_that_is_not_known_is_measured() -> None:
    with hirc.program("main") as p:
        x, y = p.input("x", ("n",), "f32"), p.input("y", ("m",), "f32")
        z = x + y
        with p.loop(4):
            p.allocate((z.shape[0],), "f32")
        p.deallocate(z)
        p.allocate(z.shape, "f32")
    names = [op.name for op in operations(p)]
    assert names.count("memref.dim") == 1
    assert names.index("memref.dim") == names.index("hir.binary") + 1


def sizes(depth: int) -> st.SearchStrategy[Any]:
    leaf = st.sampled_from(["n", "m", 1, 2, 3, 4])
    if not depth:
        return leaf
    below = sizes(depth - 1)
    kinds = st.sampled_from(["+", "-", "*", "//", "%", "ceildiv", "min", "max"])
    return leaf | st.tuples(kinds, below, below)


@settings(max_examples=60)
@given(sizes(3))
def test_sizes_are_what_they_are_for_numbers(expression: Any) -> None:
    with hirc.program("main") as p:
        n, m = p.scalar("n", "index"), p.scalar("m", "index")

        def divisor(value: Any) -> Any:
            return p.maximum(value, 1)

        def evaluate(tree: Any, leaves: Sequence[Any], clamp: Callable[[Any], Any]) -> Any:
            if not isinstance(tree, tuple):
                return tree if isinstance(tree, int) else leaves["nm".index(tree)]
            kind, x, y = tree[0], *(evaluate(each, leaves, clamp) for each in tree[1:])
            if kind in ("min", "max"):
                numbers = isinstance(x, int) and isinstance(y, int)
                known = {"min": min, "max": max}[kind]
                return known(x, y) if numbers else getattr(p, f"{kind}imum")(x, y)
            if kind == "ceildiv":
                return p.ceildiv(x, clamp(y))
            return {
                "+": lambda: x + y,
                "-": lambda: x - y,
                "*": lambda: x * y,
                "//": lambda: x // clamp(y),
                "%": lambda: x % clamp(y),
            }[kind]()

        symbolic = evaluate(expression, (n, m), divisor)
        expected = evaluate(expression, _VALUES, lambda value: max(value, 1))
        p.output(None, symbolic)
    assert computed(p) == expected


def test_a_size_is_measured_on_the_axis_that_has_it() -> None:
    with hirc.program("main") as p:
        p.input("x", (4, "n"), "f32")
        p.output(None, p.size("n"))
    text = str(p)
    assert "%dim = memref.dim %x, %c1 :" in text
    assert "%c1 = arith.constant 1 : index" in text
