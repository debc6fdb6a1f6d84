"""Elementwise operations compute what kinds.py says, against torch and Python's integers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from hirc.compiler.errors import InputError
from hirc.compiler.interpreter import interpret
from hirc.compiler.interpreter.dtypes import DTYPES
from hirc.dialects.hir.kinds import BINARY, TERNARY, UNARY
from support.host_ir import buffer, compute, parsed

FLOATS = ("f64", "f32", "tf32", "f16", "bf16", "f8E4M3FN", "f8E5M2")
INTEGERS = ("i64", "i32", "i16", "i8", "ui64", "ui32", "ui16", "ui8")
BITS = {"f64": 52, "f32": 23, "tf32": 10, "f16": 10, "bf16": 7, "f8E4M3FN": 3, "f8E5M2": 2}

UNARY_OF_FLOATS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "neg": torch.neg,
    "abs": torch.abs,
    "sign": lambda x: torch.where(x.isnan(), x, x.sign()),
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "silu": torch.nn.functional.silu,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "round": lambda x: torch.tensor([float(round(v)) for v in x.tolist()], dtype=x.dtype),
    **{
        name: getattr(torch, name)
        for name in (
            *("exp", "exp2", "log", "log2", "log1p", "expm1", "sqrt", "rsqrt", "reciprocal"),
            *("sin", "cos", "tan", "tanh", "erf", "floor", "ceil", "trunc", "isnan"),
        )
    },
}
BINARY_OF_FLOATS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "floordiv": lambda x, y: torch.floor(x / y),
    "mod": torch.remainder,
    "pow": torch.pow,
    "atan2": torch.atan2,
    "min": torch.minimum,
    "max": torch.maximum,
    **{name: getattr(torch, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
}


def close(actual: torch.Tensor, exact: torch.Tensor, element: str) -> None:
    """Within one unit in the last place of the type that is computed in, rounded once."""
    assert actual.dtype == (torch.bool if exact.dtype == torch.bool else DTYPES[element])
    if exact.dtype == torch.bool:
        assert torch.equal(actual, exact)
        return
    error = 2.0 ** -(BITS[element] + 1) + 2.0 ** -(
        min(BITS[element], 23) if element == "f64" else 20
    )
    tolerance = 1e-13 if element == "f64" else error
    torch.testing.assert_close(
        actual.double(), exact, rtol=tolerance, atol=tolerance / 16, equal_nan=True
    )


def numbers(element: str, *values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float32).to(DTYPES[element])


def of_integers(kind: str, x: int, y: int) -> int:
    match kind:
        case "add":
            return x + y
        case "sub":
            return x - y
        case "mul":
            return x * y
        case "div":
            return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        case "floordiv":
            return x // y
        case "mod":
            return x % y
        case "pow":
            return x**y if y >= 0 else int(float(x) ** y) if abs(x) == 1 else 0
        case "min":
            return min(x, y)
        case "max":
            return max(x, y)
        case "and":
            return x & y
        case "or":
            return x | y
        case "xor":
            return x ^ y
        case _:
            return {
                "eq": x == y,
                "ne": x != y,
                "lt": x < y,
                "le": x <= y,
                "gt": x > y,
                "ge": x >= y,
            }[kind]


def of_one_integer(kind: str, x: int) -> int:
    match kind:
        case "neg":
            return -x
        case "abs":
            return abs(x)
        case "sign":
            return (x > 0) - (x < 0)
        case "relu":
            return max(x, 0)
        case "not":
            return ~x
        case _:
            return x


def wrapped(value: int, element: str) -> int:
    bits = int(element.lstrip("ui"))
    value %= 1 << bits
    return value if element.startswith("u") or value < 1 << (bits - 1) else value - (1 << bits)


def integers(element: str, *values: int) -> torch.Tensor:
    if element == "ui64":
        return torch.tensor([wrapped(v, "i64") for v in values]).view(torch.uint64)
    return torch.tensor([wrapped(value, element) for value in values], dtype=DTYPES[element])


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("kind", UNARY_OF_FLOATS)
def test_unary_of_floats(kind: str, element: str) -> None:
    x = numbers(element, 0.5, 1.5, 2.5, 3.25, 0.125, 1.0)
    if kind not in ("log", "log2", "log1p", "sqrt", "rsqrt"):
        x = torch.cat([x, numbers(element, -0.5, -1.5, -2.5, -0.125)])
    result = "i1" if kind == "isnan" else element
    text = compute(
        "unary", [buffer([len(x)], element)], buffer([len(x)], result), f'kind = "{kind}"'
    )
    (y,) = interpret(parsed(text), [x])
    close(y, UNARY_OF_FLOATS[kind](x.double()), element)


def test_every_kind_is_tried() -> None:
    assert set(UNARY) == {*UNARY_OF_FLOATS, "cast", "not"}
    assert set(BINARY) == {*BINARY_OF_FLOATS, "and", "or", "xor"}
    assert set(TERNARY) == {"where", "fma", "clamp"}


@pytest.mark.parametrize("kind", ["neg", "abs", "sign", "relu", "floor", "round", "not"])
@pytest.mark.parametrize("element", INTEGERS)
def test_unary_of_integers(kind: str, element: str) -> None:
    bits = int(element.lstrip("ui"))
    values = [
        wrapped(v, element) for v in (0, 1, 7, -1, -7, 1 << (bits - 1), (1 << (bits - 1)) - 1)
    ]
    shape = buffer([len(values)], element)
    text = compute("unary", [shape], shape, f'kind = "{kind}"')
    (y,) = interpret(parsed(text), [integers(element, *values)])
    assert y.tolist() == [wrapped(of_one_integer(kind, value), element) for value in values]


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("kind", BINARY_OF_FLOATS)
def test_binary_of_floats(kind: str, element: str) -> None:
    x = numbers(element, 0.5, 1.5, 2.5, 3.0, 1.0, 7.0)
    y = numbers(element, 2.0, 1.5, -1.0, 2.0, -3.0, 2.0)
    result = "i1" if kind in ("eq", "ne", "lt", "le", "gt", "ge") else element
    shape = buffer([6], element)
    text = compute("binary", [shape, shape], buffer([6], result), f'kind = "{kind}"')
    (z,) = interpret(parsed(text), [x, y])
    close(z, BINARY_OF_FLOATS[kind](x.double(), y.double()), element)


@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize("kind", [kind for kind in BINARY if kind != "atan2"])
def test_binary_of_integers(kind: str, element: str) -> None:
    bits = int(element.lstrip("ui"))
    least = 0 if element.startswith("u") else -(1 << (bits - 1))
    some = [0, 1, 3, 7, -1, -3, least, least - 1]
    pairs = [
        (wrapped(x, element), wrapped(y, element))
        for x in some
        for y in (1, 3, -1, -3, least - 1, 2)
        if kind != "pow" or abs(wrapped(y, element)) < 300
    ]
    shape = buffer([len(pairs)], element)
    comparison = kind in ("eq", "ne", "lt", "le", "gt", "ge")
    result = buffer([len(pairs)], "i1") if comparison else shape
    text = compute("binary", [shape, shape], result, f'kind = "{kind}"')
    x, y = (integers(element, *column) for column in zip(*pairs, strict=True))
    (z,) = interpret(parsed(text), [x, y])
    expected = [of_integers(kind, *pair) for pair in pairs]
    assert z.tolist() == [value if comparison else wrapped(value, element) for value in expected]


def test_integers_are_not_divided_by_zero() -> None:
    shape = buffer([2], "i32")
    text = compute("binary", [shape, shape], shape, 'kind = "mod"')
    with pytest.raises(InputError, match="divides by 0"):
        interpret(text, [integers("i32", 1, 2), integers("i32", 1, 0)])


@pytest.mark.parametrize("kind", ["min", "max", "and", "or", "xor", "eq", "lt"])
def test_binary_of_truths(kind: str) -> None:
    shape = buffer([4], "i1")
    x, y = torch.tensor([False, False, True, True]), torch.tensor([False, True, False, True])
    text = compute("binary", [shape, shape], shape, f'kind = "{kind}"')
    (z,) = interpret(parsed(text), [x, y])
    expected = [bool(of_integers(kind, a, b)) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert z.tolist() == expected


@pytest.mark.parametrize("kind", ["min", "max", "relu", "sign", "ne", "eq"])
def test_nan(kind: str) -> None:
    x = torch.tensor([math.nan, 1.0])
    op = "binary" if kind in BINARY else "unary"
    operands = [x, x.flip(0)] if op == "binary" else [x]
    result = "i1" if kind in ("eq", "ne") else "f32"
    text = compute(
        op, [buffer([2], "f32")] * len(operands), buffer([2], result), f'kind = "{kind}"'
    )
    (y,) = interpret(parsed(text), operands)
    if result == "i1":
        assert y.tolist() == [kind == "ne"] * 2
    else:
        assert y.isnan().tolist() == [True, op == "binary"]


def test_where_takes_either() -> None:
    types = [buffer([3], "i1"), buffer([2, 1], "i16"), buffer([3], "i16")]
    text = compute("ternary", types, buffer([2, 3], "i16"), 'kind = "where"')
    mask = torch.tensor([True, False, True])
    x, y = torch.tensor([[1], [2]], dtype=torch.int16), torch.tensor([7, 8, 9], dtype=torch.int16)
    assert torch.equal(interpret(text, [mask, x, y])[0], torch.where(mask, x, y))


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_fma_rounds_once(element: str) -> None:
    # x * x is 1 + 2e + e^2; rounded before the sum, e^2 is lost.
    e = 2.0**-23 if element == "f32" else 2.0**-52
    x = torch.tensor([1 + e], dtype=DTYPES[element])
    z = torch.tensor([-(1 + 2 * e)], dtype=DTYPES[element])
    shape = buffer([1], element)
    (y,) = interpret(compute("ternary", [shape] * 3, shape, 'kind = "fma"'), [x, x, z])
    assert y.item() == e * e


def test_clamp_with_scalars() -> None:
    text = compute(
        "ternary", [buffer([4], "f16"), "f32", "index"], buffer([4], "f16"), 'kind = "clamp"'
    )
    x = torch.tensor([-9.0, 0.5, 9.0, math.nan], dtype=torch.float16)
    (y,) = interpret(text, [x, -1.5, 2])
    assert y[:3].tolist() == [-1.5, 0.5, 2.0]
    assert y[3].isnan()


def test_a_scalar_is_converted_to_the_elements_type() -> None:
    text = compute("binary", [buffer([2], "i8"), "f32"], buffer([2], "i8"), 'kind = "add"')
    assert interpret(text, [torch.tensor([1, 2], dtype=torch.int8), 2.9])[0].tolist() == [3, 4]


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_the_square_root_is_rounded_correctly(element: str) -> None:
    x = torch.rand(10000, dtype=DTYPES[element], generator=torch.Generator().manual_seed(1)) * 10
    shape = buffer([10000], element)
    (y,) = interpret(compute("unary", [shape], shape, 'kind = "sqrt"'), [x])
    # C's is rounded correctly, and then once more to f32 is as once.
    exact = np.array([math.sqrt(value) for value in x.tolist()]).astype(x.numpy().dtype)
    assert np.array_equal(y.numpy(), exact)
