"""Casts and copies round once, as kinds.py says."""

from __future__ import annotations

import math
import struct

import pytest
import torch

from hirc.compiler.interpreter import interpret
from hirc.compiler.interpreter.dtypes import DTYPES
from hirc.dialects.hir.element_types import ELEMENT_TYPES
from support.host_ir import buffer, compute, parsed


def cast(x: torch.Tensor, source: str, target: str, op: str = "unary") -> torch.Tensor:
    attributes = 'kind = "cast"' if op == "unary" else ""
    types = buffer([len(x)], source), buffer([len(x)], target)
    (y,) = interpret(parsed(compute(op, [types[0]], types[1], attributes)), [x])
    assert y.dtype == DTYPES[target]
    return y


@pytest.mark.parametrize(
    ("target", "pairs"),
    [
        ("f8E4M3FN", {448.0: 448.0, 464.0: 448.0, 465.0: math.nan, math.inf: math.nan}),
        ("f8E5M2", {57344.0: 57344.0, 61439.0: 57344.0, 61440.0: math.inf, math.inf: math.inf}),
        ("f16", {65504.0: 65504.0, 65519.0: 65504.0, 65520.0: math.inf}),
        # Ties away from zero, ten bits of mantissa.
        ("tf32", {1 + 2.0**-11: 1 + 2.0**-10, 1 + 2.0**-12: 1.0, -1 - 2.0**-11: -1 - 2.0**-10}),
        ("bf16", {1 + 2.0**-8: 1.0, 1 + 3 * 2.0**-8: 1 + 2.0**-6}),
        ("i1", {0.0: 0.0, 0.5: 1.0, math.nan: 1.0}),
        ("i8", {-1.9: -1.0, 126.9: 126.0}),
        ("ui32", {4294967295.0: 4294967295.0, 3.5: 3.0}),
        ("ui64", {2.0**63 + 2048: 2.0**63 + 2048, 1e19: 1e19}),
    ],
)
@pytest.mark.parametrize("op", ["unary", "set"])
def test_from_f64(target: str, pairs: dict[float, float], op: str) -> None:
    y = cast(torch.tensor(list(pairs), dtype=torch.float64), "f64", target, op)
    assert torch.equal(
        y.double().nan_to_num(-7.0),
        torch.tensor(list(pairs.values()), dtype=torch.float64).nan_to_num(-7.0),
    )


@pytest.mark.parametrize("source", ["f64", "i64", "ui64"])
@pytest.mark.parametrize(
    ("target", "half_of_last_place"), [("bf16", 2.0**22), ("f32", 2.0**6), ("f8E5M2", None)]
)
def test_is_rounded_once(source: str, target: str, half_of_last_place: float | None) -> None:
    # Just above a tie: rounding to a wider type first would lose the difference.
    if half_of_last_place is None:
        number, expected = 2.0**10 + 2.0**7 + 2.0**-30 * (source == "f64"), None
        expected = 2.0**10 + 2.0**8 * (source == "f64")
    else:
        number = 2.0**30 + half_of_last_place + (2.0**-20 if source == "f64" else 1)
        expected = 2.0**30 + 2 * half_of_last_place
    x = torch.tensor([number], dtype=torch.float64).to(DTYPES[source])
    assert cast(x, source, target).double().item() == expected


@pytest.mark.parametrize("source", ["i64", "i8", "ui64", "ui16", "i1"])
@pytest.mark.parametrize("target", ["i64", "i32", "i8", "ui64", "ui32", "ui8"])
def test_integers_are_taken_modulo(source: str, target: str) -> None:
    values = [0, 1] if source == "i1" else [0, 1, 100, 127]
    wide = [-1, -128] if source in ("i64", "i8") else [] if source == "i1" else [255, 128]
    kind = ELEMENT_TYPES[source]
    bits = 8 * kind.bytes
    wide += [2**bits - 1, 2 ** (bits - 1)] if kind.kind == "unsigned" else []
    numbers = [*values, *wide]
    packed = [n - 2**64 if n >= 2**63 else n for n in numbers]
    x = (
        torch.tensor(packed).view(torch.uint64)
        if source == "ui64"
        else torch.tensor(numbers, dtype=DTYPES[source])
    )
    size = 8 * ELEMENT_TYPES[target].bytes
    expected = [n % 2**size for n in numbers]
    if ELEMENT_TYPES[target].kind == "signed":
        expected = [n - 2**size if n >= 2 ** (size - 1) else n for n in expected]
    assert cast(x, source, target).tolist() == expected


@pytest.mark.parametrize("source", ["i64", "ui64"])
def test_integers_of_more_bits_than_f64_are_rounded_once(source: str) -> None:
    x = torch.tensor([2**62 + 2**54 + 1]).to(DTYPES[source])
    assert cast(x, source, "bf16").double().item() == 2.0**62 + 2.0**55


def test_ui64_to_floats() -> None:
    numbers = [2**64 - 1, 2**63 + 2**39 + 1, 5]
    x = torch.tensor([n - 2**64 if n >= 2**63 else n for n in numbers]).view(torch.uint64)
    assert cast(x, "ui64", "f64").tolist() == [float(n) for n in numbers]
    # The sum is a tie of f32's, but for its last bit.
    assert cast(x, "ui64", "f32").tolist() == [2.0**64, 2.0**63 + 2.0**40, 5.0]


def test_complex_numbers_are_copied() -> None:
    x = torch.tensor([1 + 2j, -3j], dtype=torch.complex64)
    assert torch.equal(cast(x, "complex<f32>", "complex<f32>", "set"), x)


def test_a_scalar_of_f32_is_rounded() -> None:
    text = compute("binary", [buffer([1], "f64"), "f32"], buffer([1], "f64"), 'kind = "add"')
    (y,) = interpret(text, [torch.zeros(1, dtype=torch.float64), 0.1])
    assert y.item() == struct.unpack("f", struct.pack("f", 0.1))[0]
