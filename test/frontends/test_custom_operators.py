"""Operators that libraries register with torch, and quantized numbers."""

from __future__ import annotations

from collections.abc import Generator

import pytest
import torch
from torch import Tensor
from torch._decomp import decomposition_table, register_decomposition
from torch.ao.quantization.fx._decomposed import quantized_decomposed_lib as _library
from torch.export import Dim

import hirc
from hirc.compiler.errors import UnsupportedError
from hirc.frontends.torch.import_model import import_model

_NAMESPACE = "hirc_test"


@torch.library.custom_op(f"{_NAMESPACE}::shifted", mutates_args=())
def _shifted(x: Tensor, by: float) -> Tensor:
    return torch.roll(x, 1, 0) + by


@torch.library.custom_op(f"{_NAMESPACE}::hidden", mutates_args=())
def _hidden(x: Tensor) -> Tensor:
    return torch.from_numpy(x.numpy() * 2)


@torch.library.custom_op(f"{_NAMESPACE}::fixing", mutates_args=())
def _fixing(x: Tensor) -> Tensor:
    return x * 2 if x.shape[0] == 3 else x * 1


def _like(x: Tensor, *given: float) -> Tensor:
    return torch.empty_like(x)


for _operator in (_shifted, _hidden, _fixing):
    _operator.register_fake(_like)


def _asks(x: Tensor) -> Tensor:
    return _hidden(x) + 1


@pytest.fixture
def library() -> Generator[torch.library.Library]:
    with torch.library._scoped_library(_NAMESPACE, "FRAGMENT") as library:  # pyright: ignore[reportPrivateUsage]
        yield library


def _of_all_devices(x: Tensor) -> Tensor:
    return x * 4


def _never_called(x: Tensor) -> Tensor:
    return x * 6


def _made_of(x: Tensor) -> Tensor:
    return x * 5


def test_operators_of_others(library: torch.library.Library) -> None:
    library.define("four(Tensor x) -> Tensor")
    library.impl("four", _of_all_devices, "CompositeExplicitAutograd")
    library.define("five(Tensor x) -> Tensor")
    library.impl("five", _never_called, "CPU")
    library.impl("five", torch.empty_like, "Meta")
    operators = getattr(torch.ops, _NAMESPACE)
    register_decomposition(operators.five)(_made_of)

    def model(x: Tensor) -> list[Tensor]:
        return [_shifted(x, 0.5), operators.four(x), operators.five(x)]

    x = torch.rand(3, 4)
    found = hirc.compile(model, (x,), target="cpu", opt_level=0)(x)
    del decomposition_table[operators.five.default]
    for ours, theirs in zip(found, (_shifted(x, 0.5), x * 4, x * 5), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_grouped_products_of_transformers() -> None:
    """In types that torch's own operator lacks; rows behind the last group are zeros."""
    with torch.library._scoped_library("transformers", "FRAGMENT") as library:  # pyright: ignore[reportPrivateUsage]
        library.define("grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor")
        library.impl("grouped_mm_fallback", _never_traced, "CompositeExplicitAutograd")
        library.impl("grouped_mm_fallback", _of_sizes, "Meta")
        grouped = torch.ops.transformers.grouped_mm_fallback
        x, y = torch.randn(7, 3), torch.randn(4, 3, 5)
        ends = torch.tensor([2, 2, 5, 6], dtype=torch.int32)
        found = hirc.compile(grouped, (x, y, ends), target="cpu", opt_level=0)(x, y, ends)
    parts = [x[:2] @ y[0], x[2:5] @ y[2], x[5:6] @ y[3], torch.zeros(1, 5)]
    torch.testing.assert_close(found, torch.cat(parts))


def _never_traced(x: Tensor, y: Tensor, offs: Tensor) -> Tensor:
    return x[: offs.tolist()[0]] @ y[0]


def _of_sizes(x: Tensor, y: Tensor, offs: Tensor) -> Tensor:
    return x.new_empty(x.shape[0], y.shape[2])


def test_an_operator_that_asks_for_memory_is_named() -> None:
    with pytest.raises(UnsupportedError, match=f"{_NAMESPACE}.hidden"):
        import_model(_asks, (torch.rand(3),))


def _quantized(x: Tensor, w: Tensor) -> list[Tensor]:
    ops = getattr(torch.ops, _library.ns)
    limits = -128, 127, torch.int8
    scale, zero = ops.choose_qparams.tensor(x, -128, 127, 1e-5, torch.int8)
    bytes_ = ops.quantize_per_tensor.tensor(x, scale, zero, *limits)
    each, point = ops.choose_qparams_per_token_asymmetric(x, torch.int8)
    token = ops.quantize_per_token(x, each, point, *limits)
    scales, zeros = w.abs().amax(1) / 127, torch.zeros(4, dtype=torch.int32)
    grouped = scales[:, None].expand(4, 2), torch.zeros(4, 2, dtype=torch.int64)
    return [
        *(scale, zero, bytes_, *ops.choose_qparams_symmetric.tensor(x, -127, 127, 9.0, torch.int8)),
        ops.dequantize_per_tensor.tensor(bytes_, scale, zero, *limits) @ w.T,
        ops.dequantize_per_token(token, each, point, *limits, torch.float32),
        ops.quantize_per_channel_group(w, *grouped, -8, 7, torch.int8, 16),
        torch.fake_quantize_per_channel_affine(w, scales / 3, zeros, 0, -128, 127),
    ]


def _products(x: Tensor, b: Tensor) -> list[Tensor]:
    f8, scaled = torch.float8_e4m3fn, torch.ops.aten._scaled_mm
    y = (x @ x.T).to(f8).T
    rows, one = x.abs().amax(1, keepdim=True), torch.tensor(0.5)
    return [
        scaled(y, y.T, rows, rows.T, out_dtype=torch.bfloat16),
        scaled(y, y.T, one, one * 3, out_dtype=torch.float32),
        torch.ops.aten._weight_int8pack_mm(x.bfloat16(), b, rows[:, 0].bfloat16()),
    ]


def test_quantized_numbers() -> None:
    torch.manual_seed(0)
    x, w = torch.randn(16, 32), torch.randn(4, 32)
    b = torch.randint(-128, 128, (16, 32)).to(torch.int8)

    def model(x: Tensor, w: Tensor, b: Tensor) -> list[Tensor]:
        return [*_quantized(x, w), *_products(x, b)]

    found = hirc.compile(model, (x, w, b), target="cpu", opt_level=0)(x, w, b)
    for number, (ours, theirs) in enumerate(zip(found, model(x, w, b), strict=True)):
        bound = 2**-7 if theirs.dtype is torch.bfloat16 else 1e-5
        torch.testing.assert_close(
            ours, theirs, rtol=bound, atol=bound,
            msg=lambda said, number=number: f"{number}: {said}",
        )  # fmt: skip


def test_an_operator_that_fixes_an_open_size_is_refused() -> None:
    def model(x: Tensor) -> Tensor:
        return _fixing(x) + 1

    with pytest.raises(UnsupportedError, match="dim 0 of the input 'x' is open"):
        import_model(model, (torch.ones(3, 2),), dynamic_shapes={"x": {0: Dim("rows", max=9)}})
