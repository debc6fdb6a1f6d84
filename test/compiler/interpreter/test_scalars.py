"""Scalars of arith, math and index, against Python's and numpy's numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hirc.compiler.errors import InputError
from hirc.compiler.interpreter import interpret
from support.host_ir import parsed, program


def value(op: str, operands: dict[str, str] | list[str], result: str, *inputs: Any) -> Any:
    """What `op` gives for inputs of these types; in `op`, %0 and so on are the inputs."""
    text = program(list(operands), f"  %y = {op}", [f"%y: {result}"])
    return interpret(parsed(text), inputs)[0]


INTEGERS: list[tuple[str, int, int, int]] = [
    ("addi", 100, 100, -56),
    ("subi", -100, 100, 56),
    ("muli", 100, 3, 44),
    ("divsi", -7, 2, -3),
    ("divui", -7, 2, 124),
    ("ceildivsi", 7, 2, 4),
    ("ceildivsi", -7, 2, -3),
    ("ceildivui", -7, 2, 125),
    ("floordivsi", -7, 2, -4),
    ("remsi", -7, 2, -1),
    ("remui", -7, 2, 1),
    ("minsi", -7, 2, -7),
    ("minui", -7, 2, 2),
    ("maxsi", -7, 2, 2),
    ("maxui", -7, 2, -7),
    ("andi", 12, 10, 8),
    ("ori", 12, 10, 14),
    ("xori", 12, 10, 6),
    ("shli", 3, 7, -128),
    ("shrsi", -8, 1, -4),
    ("shrui", -8, 1, 124),
]


@pytest.mark.parametrize(("op", "a", "b", "expected"), INTEGERS)
def test_integers(op: str, a: int, b: int, expected: int) -> None:
    assert value(f"arith.{op} %0, %1 : i8", ["i8", "i8"], "i8", a, b) == expected


@pytest.mark.parametrize(("op", "b"), [("divsi", 0), ("remui", 0), ("shli", 8), ("shrsi", -1)])
def test_integers_without_a_result(op: str, b: int) -> None:
    with pytest.raises(InputError, match="has no result"):
        value(f"arith.{op} %0, %1 : i8", ["i8", "i8"], "i8", 1, b)


@pytest.mark.parametrize(
    ("op", "a", "b", "expected"),
    [
        ("add", 5, 3, 8),
        ("sub", 5, 8, -3),
        ("mul", -5, 3, -15),
        ("divs", -7, 2, -3),
        ("ceildivs", 7, 2, 4),
        ("floordivs", -7, 2, -4),
        ("rems", -7, 2, -1),
        ("maxs", -7, 2, 2),
        ("minu", -7, 2, 2),
        ("shl", 3, 2, 12),
        ("and", 6, 3, 2),
    ],
)
def test_indices(op: str, a: int, b: int, expected: int) -> None:
    assert value(f"index.{op} %0, %1", ["index", "index"], "index", a, b) == expected


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [("eq", 0), ("ne", 1), ("slt", 1), ("sle", 1), ("sgt", 0), ("sge", 0), ("ult", 0), ("ule", 0)],
)
def test_comparisons_of_integers(predicate: str, expected: int) -> None:
    assert value(f"arith.cmpi {predicate}, %0, %1 : i32", ["i32", "i32"], "i1", -1, 5) == expected
    compared = value(f"index.cmp {predicate}(%0, %1)", ["index", "index"], "i1", -1, 5)
    assert compared == expected


@pytest.mark.parametrize(
    ("predicate", "less", "equal", "greater", "with_nan"),
    [
        ("oeq", 0, 1, 0, 0),
        ("ogt", 0, 0, 1, 0),
        ("oge", 0, 1, 1, 0),
        ("olt", 1, 0, 0, 0),
        ("ole", 1, 1, 0, 0),
        ("one", 1, 0, 1, 0),
        ("ord", 1, 1, 1, 0),
        ("ueq", 0, 1, 0, 1),
        ("ugt", 0, 0, 1, 1),
        ("uge", 0, 1, 1, 1),
        ("ult", 1, 0, 0, 1),
        ("ule", 1, 1, 0, 1),
        ("une", 1, 0, 1, 1),
        ("uno", 0, 0, 0, 1),
        ("false", 0, 0, 0, 0),
        ("true", 1, 1, 1, 1),
    ],
)
def test_comparisons_of_floats(
    predicate: str, less: int, equal: int, greater: int, with_nan: int
) -> None:
    for a, expected in ((1.0, less), (2.0, equal), (3.0, greater), (math.nan, with_nan)):
        op = f"arith.cmpf {predicate}, %0, %1 : f32"
        assert value(op, ["f32", "f32"], "i1", a, 2.0) == expected


@pytest.mark.parametrize("op", ["addf", "subf", "mulf", "divf", "remf", "minimumf", "maxnumf"])
@pytest.mark.parametrize("element", ["f64", "f32", "f16"])
def test_floats(op: str, element: str) -> None:
    kind = {"f64": np.float64, "f32": np.float32, "f16": np.float16}[element]
    a, b = kind(0.1), kind(-3.7)
    expected = {
        "addf": a + b,
        "subf": a - b,
        "mulf": a * b,
        "divf": a / b,
        "remf": np.fmod(a, b),
        "minimumf": b,
        "maxnumf": a,
    }[op]
    result = value(f"arith.{op} %0, %1 : {element}", [element, element], element, a, b)
    assert result == float(expected)


def test_floats_at_the_edges() -> None:
    def both(op: str, a: float, b: float) -> float:
        return value(f"arith.{op} %0, %1 : f32", ["f32", "f32"], "f32", a, b)

    assert both("divf", 1.0, -0.0) == -math.inf
    assert math.isnan(both("divf", 0.0, 0.0))
    assert math.isnan(both("minimumf", math.nan, 1.0))
    assert both("minnumf", math.nan, 1.0) == 1.0
    assert math.copysign(1, both("maximumf", -0.0, 0.0)) == 1
    assert both("mulf", 3e38, 10.0) == math.inf


@pytest.mark.parametrize(
    ("op", "source", "target", "given", "expected"),
    [
        ("arith.extsi", "i8", "i32", -5, -5),
        ("arith.extui", "i8", "i32", -5, 251),
        ("arith.extui", "i1", "i32", True, 1),
        ("arith.extsi", "i1", "i32", True, -1),
        ("arith.trunci", "i32", "i8", 300, 44),
        ("arith.trunci", "i32", "i1", 2, False),
        ("arith.index_cast", "i32", "index", -5, -5),
        ("arith.index_castui", "i32", "index", -5, 2**32 - 5),
        ("arith.sitofp", "i64", "f32", 2**24 + 1, 2.0**24),
        ("arith.uitofp", "i8", "f64", -1, 255.0),
        ("arith.fptosi", "f32", "i8", -3.9, -3),
        ("arith.fptoui", "f32", "i8", 200.5, -56),
        ("arith.extf", "f16", "f64", 0.1, float(np.float16(0.1))),
        ("arith.truncf", "f64", "f32", 0.1, float(np.float32(0.1))),
        ("arith.bitcast", "f32", "i32", 1.0, 0x3F800000),
        ("arith.bitcast", "i32", "f32", 0x40000000, 2.0),
        ("index.casts", "i32", "index", -5, -5),
        ("index.castu", "i32", "index", -5, 2**32 - 5),
    ],
)
def test_conversions(op: str, source: str, target: str, given: Any, expected: Any) -> None:
    assert value(f"{op} %0 : {source} to {target}", [source], target, given) == expected


@pytest.mark.parametrize(
    "name",
    ["absf", "ceil", "cos", "erf", "exp", "exp2", "expm1", "floor", "log", "log1p", "sqrt", "tanh"],
)
def test_math(name: str) -> None:
    expected = getattr(math, {"absf": "fabs"}.get(name, name))(0.7)
    assert value(f"math.{name} %0 : f64", ["f64"], "f64", 0.7) == pytest.approx(expected, rel=1e-15)


def test_math_that_differs_from_pythons() -> None:
    assert value("math.round %0 : f32", ["f32"], "f32", -2.5) == -3
    assert value("math.roundeven %0 : f32", ["f32"], "f32", -2.5) == -2
    assert value("math.ctlz %0 : i8", ["i8"], "i8", 1) == 7
    assert value("math.cttz %0 : i8", ["i8"], "i8", 0) == 8
    assert value("math.ctpop %0 : i8", ["i8"], "i8", -1) == 8
    assert value("math.ipowi %0, %1 : i8", ["i8", "i8"], "i8", 3, 5) == 243 - 256
    assert value("math.absi %0 : i8", ["i8"], "i8", -128) == -128
    assert value("math.powf %0, %1 : f32", ["f32", "f32"], "f32", 2.0, 0.5) == np.float32(2**0.5)
    e = 2.0**-23
    arguments = ("f32",) * 3
    fused = value("math.fma %0, %1, %2 : f32", list(arguments), "f32", 1 + e, 1 + e, -1 - 2 * e)
    assert fused == e * e


def test_select_and_constants() -> None:
    op = "arith.select %0, %1, %2 : f32"
    assert value(op, ["i1", "f32", "f32"], "f32", False, 1.0, 2.0) == 2.0
    for type_, text, expected in (
        ("i1", "true", True),
        ("i8", "-3 : i8", -3),
        ("f16", "0.1 : f16", float(np.float16(0.1))),
        ("f32", "0x7F800000 : f32", math.inf),
        ("index", "7 : index", 7),
    ):
        assert value(f"arith.constant {text}", [], type_) == expected


def test_sizes_and_assertions() -> None:
    body = """\
  %c = arith.constant 1 : index
  %n = memref.dim %0, %c : memref<2x?xf32>
  %two = arith.constant 2 : index
  %ok = arith.cmpi ult, %n, %two : index
  cf.assert %ok, "too many columns"
"""
    import torch

    text = program(["memref<2x?xf32>"], body, ["%n: index"])
    assert interpret(text, [torch.zeros(2, 1)]) == [1]
    with pytest.raises(InputError, match="too many columns") as caught:
        interpret(text, [torch.zeros(2, 2)])
    assert caught.value.op == "cf.assert"
    assert caught.value.position is not None
    assert caught.value.position.line == 7
