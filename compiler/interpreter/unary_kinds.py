"""The kinds of hir.unary but `cast`, on numbers in their computing type."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .torch_import import torch

Function = Callable[[torch.Tensor], torch.Tensor]


def _sign(x: torch.Tensor) -> torch.Tensor:
    if not x.is_floating_point():
        return torch.sign(x)
    return torch.where(x.isnan(), x, torch.sign(x) + 0.0)


def _relu(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x < 0, torch.zeros_like(x), x)


def _not(x: torch.Tensor) -> torch.Tensor:
    return ~x


def _gelu(x: torch.Tensor) -> torch.Tensor:
    return x / 2 * (1 + torch.erf(x / math.sqrt(2)))


def _gelu_tanh(x: torch.Tensor) -> torch.Tensor:
    return x / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def square_root(x: torch.Tensor) -> torch.Tensor:
    """Returns the square root, rounded correctly: torch's on the CPU is an approximation."""
    if x.is_cuda:
        return torch.sqrt(x)
    with np.errstate(invalid="ignore"):
        return torch.from_numpy(np.asarray(np.sqrt(x.numpy())))


def _of_floats(function: Function) -> Function:
    """Returns a function that leaves integers as they are."""
    return lambda x: function(x) if x.is_floating_point() else x


UNARY_FUNCTIONS: dict[str, Function] = {
    "neg": lambda x: -x,
    "abs": torch.abs,
    "sign": _sign,
    "exp": torch.exp,
    "exp2": torch.exp2,
    "log": torch.log,
    "log2": torch.log2,
    "log1p": torch.log1p,
    "expm1": torch.expm1,
    "sqrt": square_root,
    "rsqrt": torch.rsqrt,
    "reciprocal": torch.reciprocal,
    "sin": torch.sin,
    "cos": torch.cos,
    "tan": torch.tan,
    "tanh": torch.tanh,
    "erf": torch.erf,
    "sigmoid": torch.sigmoid,
    "silu": lambda x: x * torch.sigmoid(x),
    "relu": _relu,
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "floor": _of_floats(torch.floor),
    "ceil": _of_floats(torch.ceil),
    "round": _of_floats(torch.round),
    "trunc": _of_floats(torch.trunc),
    "isnan": torch.isnan,
    "not": _not,
}

# Where numbers without sign differ; ui64 is held as bits that may look negative.
UNSIGNED_FUNCTIONS: dict[str, Function] = {
    "abs": lambda x: x,
    "sign": lambda x: (x != 0).to(x.dtype),
    "relu": lambda x: x,
}
