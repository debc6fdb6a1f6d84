"""Compute operations: kinds, types of results, destinations, broadcasting, scalars among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import hirc
from hirc.dialects.hir.builder import Buffer
from hirc.dialects.hir.element_rules import kind_takes
from hirc.dialects.hir.element_types import ELEMENT_TYPES
from hirc.dialects.hir.kinds import BINARY, REDUCE, TERNARY, UNARY
from support.built_program import last, operations

_ELEMENTWISE = {**UNARY, **BINARY, **TERNARY}
_METHODS = {"min": "minimum", "max": "maximum", "not": "not_", "and": "and_", "or": "or_"}


def element_for(kind: Any) -> str:
    return next(name for name in ("f32", "i32") if kind_takes(kind, ELEMENT_TYPES[name]))


@pytest.mark.parametrize("kind", [kind for kind in _ELEMENTWISE if kind != "cast"])
def test_every_elementwise_kind_is_a_method_of_programs_and_of_buffers(kind: str) -> None:
    count = 1 if kind in UNARY else 2 if kind in BINARY else 3
    method = _METHODS.get(kind, kind)
    with hirc.program("main") as p:
        x = p.input("x", ("n",), element_for(_ELEMENTWISE[kind]))
        first = x > 0 if kind == "where" else x
        y = getattr(first, method)(*[x] * (count - 1))
        getattr(p, method)(first, *[x] * (count - 1), out=y)
    name = ("hir.unary", "hir.binary", "hir.ternary")[count - 1]
    made = [op for op in operations(p) if op.name == name][-2:]
    assert [op.attributes["kind"].value for op in made] == [kind, kind]
    assert [len(op.results) for op in made] == [1, 0]
    assert len(made[1].operands) == count + 1


@pytest.mark.parametrize("kind", REDUCE)
def test_every_reduction_is_a_method_of_programs_and_of_buffers(kind: str) -> None:
    with hirc.program("main") as p:
        x = p.input("x", ("n", 8), "f32")
        y = getattr(x, kind)(1)
        getattr(p, kind)(x, -1, out=y)
        assert y.shape == (p.size("n"),)
    made = [op for op in operations(p) if op.name == "hir.reduce"]
    assert [op.attributes["kind"].value for op in made] == [kind, kind]
    assert [list(op.attributes["axes"]) for op in made] == [[1], [1]]


_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


_OPERATORS: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda x, y: x + y, "add"),
    (lambda x, y: x - y, "sub"),
    (lambda x, y: x * y, "mul"),
    (lambda x, y: x / y, "div"),
    (lambda x, y: x // y, "floordiv"),
    (lambda x, y: x % y, "mod"),
    (lambda x, y: x**y, "pow"),
    (lambda x, y: x == y, "eq"),
    (lambda x, y: x != y, "ne"),
    (lambda x, y: x < y, "lt"),
    (lambda x, y: x <= y, "le"),
    (lambda x, y: x > y, "gt"),
    (lambda x, y: x >= y, "ge"),
]


@pytest.mark.parametrize(("write", "kind"), _OPERATORS)
@pytest.mark.parametrize("other", ["buffer", "scalar", "size", "number"])
def test_operators(write: Callable[[Any, Any], Any], kind: str, other: str) -> None:
    with hirc.program("main") as p:
        x = p.input("x", ("n",), "f32")
        n = p.size("n")
        y = {"buffer": x.exp(), "scalar": p.scalar("s", "f32"), "size": n, "number": 2.0}[other]
        z = write(x, y)
        assert isinstance(z, Buffer)
        write(y, x)
    made = [op for op in operations(p) if op.name == "hir.binary"]
    kinds = [op.attributes["kind"].value for op in made]
    is_buffer = [["memref" in str(each.type) for each in op.operands] for op in made]
    if other != "buffer" and kind in _TURNED:
        # Python's comparisons have no form for a right operand: it turns them around.
        assert kinds == [kind, _TURNED[kind]]
        assert is_buffer == [[True, False]] * 2
    else:
        assert kinds == [kind, kind]
        assert is_buffer == [[True, other == "buffer"], [other == "buffer", True]]


def test_operators_of_integers_and_truths() -> None:
    with hirc.program("main") as p:
        x = p.input("x", (8,), "i32")
        _ = ~(x & 3 | x ^ 1) & -abs(x)
        mask = (x > 1) & ~(x == 2) | True
        assert mask.element == "i1"
    kinds = [op.attributes["kind"].value for op in operations(p) if "kind" in op.attributes]
    assert kinds == ["and", "xor", "or", "not", "abs", "neg", "and", "gt", "eq", "not", "and", "or"]


@pytest.mark.parametrize(
    ("element", "number", "constant"),
    [
        ("f64", 0.1, "1.000000e-01 : f64"),
        ("f32", 2, "2.000000e+00 : f32"),
        ("tf32", 2.5, "2.500000e+00 : f32"),
        ("f16", 2.5, "2.500000e+00 : f16"),
        ("bf16", 2.5, "2.500000e+00 : bf16"),
        ("f8E4M3FN", 2.5, "2.500000e+00 : f32"),
        ("i64", -3, "-3 : i64"),
        ("i8", 2.0, "2 : i8"),
        ("ui8", 255, "-1 : i8"),
        ("ui64", 2**64 - 1, "-1 : i64"),
        ("i1", True, "true"),
    ],
)
def test_a_number_takes_the_buffers_element_type(
    element: str, number: float, constant: str
) -> None:
    with hirc.program("main") as p:
        _ = p.input("x", (8,), element) == number
    assert last(p, "arith.constant").endswith(f"arith.constant {constant}")


@pytest.mark.parametrize(
    ("element", "kind", "expected"),
    [
        ("f16", "sum", "f16"),
        ("i32", "sum", "i64"),
        ("i1", "sum", "i64"),
        ("ui8", "prod", "i64"),
        ("ui64", "sum", "ui64"),
        ("i8", "max", "i8"),
        ("f32", "argmax", "i64"),
        ("f32", "all", "i1"),
    ],
)
def test_element_types_of_reductions(element: str, kind: str, expected: str) -> None:
    with hirc.program("main") as p:
        x = p.input("x", (8,), element)
        assert getattr(x, kind)().element == expected


def test_shapes_of_reductions() -> None:
    with hirc.program("main") as p:
        n = p.size("n")
        x = p.input("x", (4, n, 8), "f32")
        assert x.sum().shape == ()
        assert x.sum(keep_dims=True).shape == (1, 1, 1)
        assert x.sum((0, -1)).shape == (n,)
        assert x.sum(1, keep_dims=True).shape == (4, 1, 8)
        assert x.argmax(axes=-1).shape == (4, n)
        assert x.sum(1, element="f32").element == "f32"


def test_shapes_and_types_of_broadcasts() -> None:
    with hirc.program("main") as p:
        n = p.size("n")
        x = p.input("x", (n, 1, 4), "f32")
        y = p.input("y", (8, 1), "f32")
        z = x + y
        assert z.shape == (n, 8, 4)
        assert str(z.type) == "memref<?x8x4xf32>"
        assert (x + p.input("w", (3, 1, 1), "f32")).shape == (3, 1, 4)
        assert p.where(y > 0, x, 0.0).shape == (n, 8, 4)


def test_products() -> None:
    with hirc.program("main") as p:
        n = p.size("n")
        x = p.input("x", (n, 4), "f16")
        w = p.input("w", (8, 4), "f16")
        bias = p.input("bias", (8,), "f16")
        assert (x @ w.T).shape == (n, 8)
        assert p.matmul(x, w.T, element="f32").element == "f32"
        y = p.linear(x, w)
        assert str(y.type) == "memref<?x8xf16>"
        assert p.linear(x, w, bias, out=y) is y
        batch = p.input("batch", (2, 1, n, 4), "f16")
        assert (batch @ p.input("b", (5, 4, 3), "f16")).shape == (2, 5, n, 3)
    segments = [
        list(op.attributes["operandSegmentSizes"])
        for op in operations(p)
        if op.name == "hir.linear"
    ]
    assert segments == [[1, 1, 0, 0], [1, 1, 1, 1]]


def test_copies_and_casts() -> None:
    with hirc.program("main") as p:
        x = p.input("x", (4, 8), "f32")
        y = p.allocate((4, 8), "f16")
        assert x.T.copy().shape == (8, 4)
        assert x.cast("f16").element == "f16"
        assert p.set(x, "f16").element == "f16"
        assert p.cast(x, out=y) is y
        y[...] = x
        y[0] = 1.0
        y[:, 2:4] = p.scalar("s", "f32")
    lines = [line.strip() for line in str(p).splitlines() if "hir.set" in line]
    assert lines == [
        '%2 = "hir.set"(%1) : (memref<8x4xf32, strided<[1, 8]>>) -> memref<8x4xf32>',
        '%4 = "hir.set"(%x) : (memref<4x8xf32>) -> memref<4x8xf16>',
        '"hir.set"(%x, %0) : (memref<4x8xf32>, memref<4x8xf16>) -> ()',
        '"hir.set"(%cst, %5) : (f16, memref<8xf16>) -> ()',
        '"hir.set"(%s, %6) : (f32, memref<4x2xf16, strided<[8, 1], offset: 2>>) -> ()',
    ]


def test_axes_spread_over_streams() -> None:
    with hirc.program("main") as p:
        x = p.input("x", (4, 8), "f32")
        p.relu(x, stream_axis=-1)
        with p.over_streams(0):
            y = x + 1.0
            x.sum(1, out=y.sum(1, stream_axis=0))
        y.neg()
    found = [
        op.attributes["stream_axis"].value if "stream_axis" in op.attributes else None
        for op in operations(p)
        if op.name in ("hir.unary", "hir.binary", "hir.reduce")
    ]
    assert found == [1, 0, 0, 0, None]


def test_scalars() -> None:
    with hirc.program("main") as p:
        a, k = p.scalar("a", "f32"), p.scalar("k", "i32")
        n = p.scalar("n", "index")
        b = (2.0 * a - 1) / (k.cast("f32") + n.cast("f32"))
        p.output("b", p.tanh(p.maximum(b, a)))
        p.output("c", p.where((b > 0.5) & ~(k == 3), k % 3, -k))
        p.output("d", k.cast("index") + n)
        p.output("e", p.constant(2.5, "f16"))
    names = [op.name for op in operations(p)]
    assert "math.tanh" in names
    assert "arith.maximumf" in names
    declared = next(op for op in operations(p) if op.name == "hir.program")
    assert str(declared.attributes["function_type"]).endswith("-> (f32, i32, index, f16)")


_COMPARISONS: list[tuple[Callable[[Any], Any], str, str]] = [
    (lambda x: x == 2, "eq", "oeq"),
    (lambda x: x != 2, "ne", "une"),
    (lambda x: x < 2, "slt", "olt"),
    (lambda x: x <= 2, "sle", "ole"),
    (lambda x: x > 2, "sgt", "ogt"),
    (lambda x: x >= 2, "sge", "oge"),
]


@pytest.mark.parametrize(("compare", "integers", "floats"), _COMPARISONS)
def test_comparisons_of_scalars(compare: Callable[[Any], Any], integers: str, floats: str) -> None:
    with hirc.program("main") as p:
        for scalar in ("index", "i32", "f32"):
            condition = compare(p.scalar(scalar, scalar))
            p.output(None, p.where(condition, p.scalar(scalar + "x", scalar), 3))
    lines = [line.split() for line in str(p).splitlines() if "arith." in line]
    made = [line[2:4] for line in lines if "cmp" in line[2]]
    assert made == [["arith.cmpi", integers + ","]] * 2 + [["arith.cmpf", floats + ","]]
    chosen = [line[3] for line in lines if line[2] == "arith.select"]
    assert chosen == [line[0] + "," for line in lines if "cmp" in line[2]]
