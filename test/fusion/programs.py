"""Models' parts, and what torch-mlir makes of them: functions on tensors with open sizes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch_mlir import fx

from hirc.frontends.torch.registrations import quick_registrations

OPEN = torch.export.Dim.DYNAMIC
ROWS, COLUMNS = 6, 8
PROGRAMS: dict[str, Program] = {}


@dataclass(frozen=True)
class Program:
    """A function of torch, and the shapes of its arguments: r and c are its sizes.

    An argument `r<c` is of whole numbers below the size c. `kernels` is how many linalg.generics
    are left of it. `fixed` names sizes that stay as they are.
    """

    function: Callable[..., Any]
    arguments: tuple[str, ...]
    kernels: int
    fixed: str


def program(
    *arguments: str, kernels: int = 1, fixed: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a function one of PROGRAMS."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = Program(function, arguments, kernels, fixed)
        return function

    return add


@program("rc")
def softmax(x: Tensor) -> Tensor:
    return torch.softmax(x, -1)


@program("rc")
def softmax_outer(x: Tensor) -> Tensor:
    return torch.softmax(x, 0)


@program("rc")
def log_softmax(x: Tensor) -> Tensor:
    return torch.log_softmax(x, -1)


@program("rc", "rc", "c", "c", fixed="c")
def residual_layer_norm(x: Tensor, y: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return functional.layer_norm(x + y, (COLUMNS,), weight, bias)


@program("rc", "c")
def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    wide = x.float()
    scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
    return scaled.to(x.dtype) * weight


@program("rc", "c")
def bias_gelu(x: Tensor, bias: Tensor) -> Tensor:
    return functional.gelu(x + bias)


@program("rc", "cr")
def add_transposed(x: Tensor, y: Tensor) -> Tensor:
    return x + y.t()


@program("rc")
def column_sum(x: Tensor) -> Tensor:
    return x.sum(0)


@program("rcr")
def middle_sum(x: Tensor) -> Tensor:
    return x.sum(1)


@program("rc")
def full_sum(x: Tensor) -> Tensor:
    return x.sum()


@program("rc")
def variance(x: Tensor) -> Tensor:
    return (x - x.mean(1, keepdim=True)).square().mean(1)


@program("rc", "rc")
def diamond(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    e = torch.exp(x)
    return e * y, e + y


@program("rc")
def centred(x: Tensor) -> tuple[Tensor, Tensor]:
    mean = x.mean(1, keepdim=True)
    return x - mean, mean


@program("rc")
def argmax(x: Tensor) -> Tensor:
    return torch.argmax(x, 1)


@program("rc")
def cumsum(x: Tensor) -> Tensor:
    return torch.cumsum(x, 1)


@program("r<c", "cr")
def embedding(tokens: Tensor, weight: Tensor) -> Tensor:
    return functional.embedding(tokens, weight)


# The mean over the rows is a second kernel: another loop is reduced.
@program("rc", "r<c", kernels=2)
def cross_entropy(x: Tensor, target: Tensor) -> Tensor:
    return functional.cross_entropy(x, target)


@program("rc")
def share(x: Tensor) -> Tensor:
    return x / x.abs().sum()


@program("rc", "c", "c", fixed="c")
def group_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    groups = x.unflatten(1, (2, 4))
    apart = groups - groups.mean(2, keepdim=True)
    apart = apart * torch.rsqrt(apart.square().mean(2, keepdim=True) + 1e-5)
    return functional.hardtanh(apart.flatten(1, 2) * weight + bias)


@program("rc", "c", fixed="c")
def heads_merged(x: Tensor, scale: Tensor) -> Tensor:
    return torch.softmax(torch.relu(x).unflatten(1, (2, 4)), 2).flatten(1, 2) * scale


# What is merged is scanned as one.
@program("rc", kernels=2, fixed="c")
def scan_of_merged(x: Tensor) -> Tensor:
    return torch.cumsum(torch.softmax(x.unflatten(1, (2, 4)), 2).flatten(1, 2), 1)


# The one reads, merged, what the other also makes: all that shares the loops is split.
@program("rc", "rc", fixed="c")
def merged_twice(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    e = torch.exp(x.unflatten(1, (4, 2))).flatten(1, 2)
    total = e + y
    return total, torch.sigmoid(total) * e


# One is split in twos, and the other in fours: the second stays as it is.
@program("rc", "rc", kernels=2, fixed="c")
def split_in_two_ways(x: Tensor, y: Tensor) -> Tensor:
    twos = torch.softmax(x.unflatten(1, (4, 2)), 2).flatten(1, 2)
    fours = torch.softmax(y.unflatten(1, (2, 4)), 2).flatten(1, 2)
    return twos + fours


def arguments(of: Program, dtype: torch.dtype, sizes: dict[str, int]) -> list[Tensor]:
    """Arguments for a program, the same every time."""
    numbers = torch.Generator().manual_seed(0)
    made: list[Tensor] = []
    for words in of.arguments:
        shape, _, below = words.partition("<")
        extents = [sizes[dim] for dim in shape]
        if below:
            made.append(torch.randint(0, max(sizes[below], 1), extents, generator=numbers))
        else:
            made.append(torch.randn(extents, generator=numbers).to(dtype))
    return made


@cache
def program_text(name: str, dtype: torch.dtype) -> str:
    """A program as a function of its name."""
    of = PROGRAMS[name]

    class Module(torch.nn.Module):
        def forward(self, *inputs: Tensor) -> Any:
            return of.function(*inputs)

    open_dims: Any = tuple(
        {axis: OPEN for axis, dim in enumerate(words.partition("<")[0]) if dim not in of.fixed}
        for words in of.arguments
    )
    shapes: Any = (open_dims,)
    with warnings.catch_warnings(), quick_registrations():
        # torch's own, about itself.
        warnings.simplefilter("ignore")
        module: Any = fx.export_and_import(
            Module(),
            *arguments(of, dtype, {"r": ROWS, "c": COLUMNS}),
            output_type="linalg-on-tensors",
            func_name=name,
            dynamic_shapes=shapes,
        )
    return module.body.operations[0].operation.get_asm(use_local_scope=True)
