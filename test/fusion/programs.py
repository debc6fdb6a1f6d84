"""What torch-mlir makes of models' parts, as one module of functions with open sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch.nn import functional
from torch_mlir import fx

OPEN = torch.export.Dim.DYNAMIC
ROWS, COLUMNS = 6, 8


@dataclass(frozen=True)
class Program:
    """A function of torch, and the shapes of its arguments: r and c are its sizes.

    An argument of words is of whole numbers below that size; `fixed` names sizes that stay.
    `kernels` is how many linalg.generics it is once it is fused.
    """

    function: Callable[..., Any]
    arguments: tuple[str, ...]
    kernels: int = 1
    fixed: str = ""


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    wide = x.float()
    scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
    return scaled.to(x.dtype) * weight


def diamond(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    e = torch.exp(x)
    return e * y, e + y


def centred(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    mean = x.mean(1, keepdim=True)
    return x - mean, mean


PROGRAMS: dict[str, Program] = {
    "softmax": Program(lambda x: torch.softmax(x, -1), ("rc",)),
    "softmax_outer": Program(lambda x: torch.softmax(x, 0), ("rc",)),
    "log_softmax": Program(lambda x: torch.log_softmax(x, -1), ("rc",)),
    "layer_norm": Program(
        lambda x, w, b: functional.layer_norm(x, (COLUMNS,), w, b), ("rc", "c", "c"), fixed="c"
    ),
    "rms_norm": Program(rms_norm, ("rc", "c")),
    "residual": Program(
        lambda x, y, w: functional.rms_norm(x + y, (COLUMNS,), w, 1e-5), ("rc", "rc", "c"), fixed="c"
    ),
    "bias_gelu": Program(lambda x, b: functional.gelu(x + b), ("rc", "c")),
    "gelu_fma": Program(lambda x, y: functional.gelu(x * y + x), ("rc", "rc")),
    "add_transposed": Program(lambda x, y: x + y.t(), ("rc", "cr")),
    "row_sum": Program(lambda x: x.sum(1), ("rc",)),
    "column_sum": Program(lambda x: x.sum(0), ("rc",)),
    "middle_sum": Program(lambda x: x.sum(1), ("rcr",)),
    "full_sum": Program(lambda x: x.sum(), ("rc",)),
    "variance": Program(lambda x: torch.var(x, 1), ("rc",)),
    "diamond": Program(diamond, ("rc", "rc")),
    "centred": Program(centred, ("rc",)),
    "argmax": Program(lambda x: torch.argmax(x, 1), ("rc",)),
    "cumsum": Program(lambda x: torch.cumsum(x, 1), ("rc",)),
    "embedding": Program(functional.embedding, ("r<c", "cr")),
    # The mean over the rows is a second kernel: another loop is reduced.
    "cross_entropy": Program(functional.cross_entropy, ("rc", "r<c"), kernels=2),
}


def arguments(program: Program, dtype: torch.dtype, sizes: dict[str, int]) -> list[torch.Tensor]:
    """Arguments for a program, the same every time."""
    numbers = torch.Generator().manual_seed(0)
    made: list[torch.Tensor] = []
    for words in program.arguments:
        shape, _, below = words.partition("<")
        extents = [sizes[dim] for dim in shape]
        if below:
            made.append(torch.randint(0, max(sizes[below], 1), extents, generator=numbers))
        else:
            made.append(torch.randn(extents, generator=numbers).to(dtype))
    return made


@cache
def module_text(dtype: torch.dtype) -> str:
    """All programs as functions of their names."""
    return "\n".join(_text(name, program, dtype) for name, program in PROGRAMS.items())


class _One(torch.nn.Module):
    """A function of one tensor; torch.export wants the arguments counted."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, a: torch.Tensor) -> Any:
        return self.function(a)


class _Two(_One):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> Any:
        return self.function(a, b)


class _Three(_One):
    def forward(self, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> Any:
        return self.function(a, b, c)


def _text(name: str, program: Program, dtype: torch.dtype) -> str:
    example = arguments(program, dtype, {"r": ROWS, "c": COLUMNS})
    open_dims = tuple(
        {axis: OPEN for axis, dim in enumerate(words.partition("<")[0]) if dim not in program.fixed}
        for words in program.arguments
    )
    module: Any = fx.export_and_import(
        (_One, _Two, _Three)[len(example) - 1](program.function),
        *example,
        output_type="linalg-on-tensors",
        func_name=name,
        dynamic_shapes=open_dims,
    )
    return module.body.operations[0].operation.get_asm(use_local_scope=True)
