"""hir.reduce, hir.matmul and hir.linear against torch."""

from __future__ import annotations

import math

import pytest
import torch

from hirc.compiler.errors import InputError
from hirc.compiler.interpreter import interpret
from hirc.compiler.interpreter.dtypes import DTYPES
from hirc.dialects.hir.kinds import REDUCE, Gives
from support.host_ir import buffer, compute, parsed


def reduced(
    x: torch.Tensor,
    kind: str,
    axes: list[int],
    element: str = "f32",
    result: str = "",
    keep: str = "",
) -> torch.Tensor:
    gives = REDUCE[kind].gives
    result = result or {Gives.TRUTH: "i1", Gives.INDEX: "i64"}.get(gives, element)
    every = axes or list(range(x.dim()))
    sizes = [1 if d in every else n for d, n in enumerate(x.shape) if keep or d not in every]
    attributes = (
        f'kind = "{kind}", axes = array<i64{": " if axes else ""}{", ".join(map(str, axes))}>'
    )
    text = compute("reduce", [buffer(x.shape, element)], buffer(sizes, result), attributes + keep)
    return interpret(parsed(text), [x])[0]


@pytest.mark.parametrize("axes", [[], [0], [1, 2], [0, 2]])
@pytest.mark.parametrize("kind", ["sum", "mean", "prod", "min", "max", "any", "all", "fmin"])
def test_reduce(kind: str, axes: list[int]) -> None:
    x = torch.randn(3, 4, 5).round(decimals=1)
    every = axes or [0, 1, 2]
    expected = {
        "sum": lambda: x.double().sum(every).float(),
        "mean": lambda: x.double().mean(every).float(),
        "prod": lambda: _product(x.double(), every).float(),
        "min": lambda: x.amin(every),
        "max": lambda: x.amax(every),
        "fmin": lambda: x.amin(every),
        "any": lambda: (x != 0).sum(every) > 0,
        "all": lambda: (x == 0).sum(every) == 0,
    }[kind]()
    torch.testing.assert_close(reduced(x, kind, axes), expected)
    kept = reduced(x, kind, axes, keep=", keep_dims")
    assert list(kept.shape) == [1 if dim in every else n for dim, n in enumerate(x.shape)]


def _product(x: torch.Tensor, axes: list[int]) -> torch.Tensor:
    for axis in reversed(axes):
        x = x.prod(axis)
    return x


def test_sums_of_f16_are_kept_in_f32() -> None:
    x = torch.full((4096,), 1.0, dtype=torch.float16)
    assert reduced(x, "sum", [0], "f16").item() == 4096
    # In f16 the sum would stop at 2048.
    x[0] = 0.5
    assert reduced(x, "mean", [0], "f16").item() == torch.tensor(4095.5 / 4096).half().item()


def test_sums_of_integers_may_be_wider() -> None:
    x = torch.full((300,), 100, dtype=torch.int8)
    assert reduced(x, "sum", [0], "i8", "i32").item() == 30000
    assert reduced(x, "sum", [0], "i8", "i8").item() == 30000 % 256 - 256 * (30000 % 256 > 127)


@pytest.mark.parametrize("kind", ["argmin", "argmax"])
@pytest.mark.parametrize("element", ["f32", "i16", "ui64", "bf16"])
def test_the_first_place_counts(kind: str, element: str) -> None:
    x = torch.tensor([[2, 1, 3, 1, 3], [5, 5, 5, 5, 5]]).to(DTYPES[element])
    expected = [1, 0] if kind == "argmin" else [2, 0]
    assert reduced(x, kind, [1], element).tolist() == expected


def test_ui64_compares_without_sign() -> None:
    x = torch.tensor([1, -1]).view(torch.uint64)
    assert reduced(x, "argmax", [0], "ui64").item() == 1
    assert reduced(x, "max", [0], "ui64").item() == 2**64 - 1
    assert reduced(x, "min", [0], "ui64").item() == 1


def test_nan_among_others() -> None:
    x = torch.tensor([[1.0, math.nan, -2.0, math.nan], [math.nan] * 4])
    assert reduced(x, "max", [1]).isnan().all()
    assert reduced(x, "argmin", [1]).tolist() == [1, 0]
    assert reduced(x, "fmin", [1])[0].item() == -2.0
    assert reduced(x, "fmax", [1])[1].isnan()
    assert reduced(x, "any", [1]).all()


def test_of_no_elements() -> None:
    x = torch.zeros(2, 0)
    assert reduced(x, "sum", [1]).tolist() == [0, 0]
    assert reduced(x, "prod", [1]).tolist() == [1, 1]
    assert reduced(x, "min", [1]).tolist() == [math.inf] * 2
    assert reduced(x, "fmax", [1]).tolist() == [-math.inf] * 2
    assert reduced(x, "mean", [1]).isnan().all()
    assert reduced(x.to(torch.int8), "max", [1], "i8").tolist() == [-128] * 2
    assert reduced(x.bool(), "all", [1], "i1").all()
    text = compute(
        "reduce",
        [buffer([2, "?"], "f32")],
        buffer([2], "i64"),
        'kind = "argmax", axes = array<i64: 1>',
    )
    with pytest.raises(InputError, match="'argmax' of no elements: input 'input0' is 2x0"):
        interpret(text, [x])


@pytest.mark.parametrize("element", ["f64", "f32", "tf32", "f16", "bf16", "f8E5M2", "i32", "ui8"])
@pytest.mark.parametrize(
    ("a", "b"), [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (7, 4, 5)), ((3, 0), (0, 2))]
)
def test_matmul(element: str, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x, y = ((torch.arange(float(torch.Size(s).numel())) % 5).reshape(s) for s in (a, b))
    exact = torch.matmul(x, y)
    types = [buffer(a, element), buffer(b, element)]
    text = compute("matmul", types, buffer(exact.shape, element))
    (z,) = interpret(text, [x.to(DTYPES[element]), y.to(DTYPES[element])])
    assert torch.equal(z.double(), exact.to(DTYPES[element]).double())


def test_matmul_of_sizes_that_do_not_fit() -> None:
    types = [buffer(["?", "?"], "f32")] * 2
    text = compute("matmul", types, types[0])
    with pytest.raises(InputError, match=r"expected \(..., m, k\) and \(..., k, n\)"):
        interpret(text, [torch.zeros(2, 3), torch.zeros(4, 2)])


@pytest.mark.parametrize("has_bias", [False, True])
def test_linear(has_bias: bool) -> None:
    x, w, bias = torch.randn(2, 3, 4), torch.randn(5, 4), torch.randn(5)
    inputs = [x, w, bias] if has_bias else [x, w]
    types = [buffer(item.shape, "f32") for item in inputs]
    segments = f"operandSegmentSizes = array<i32: 1, 1, {int(has_bias)}, 0>"
    (y,) = interpret(compute("linear", types, buffer([2, 3, 5], "f32"), segments), inputs)
    expected = torch.nn.functional.linear(x, w, bias if has_bias else None)
    torch.testing.assert_close(y, expected)
