"""What torch asks of sizes and elements while it exports, where the answer changes no result."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import torch
import torch._prims_common
import torch.nn.modules.transformer
from torch import Tensor
from torch._C import DispatchKey
from torch.distributions import Distribution
from torch.fx.experimental.symbolic_shapes import statically_known_true

_CONTIGUITY = "check_contiguous_sizes_strides"
_CAUSALITY = "_detect_is_causal_mask"


@contextmanager
def without_needless_guards() -> Generator[None]:
    """Answers these questions by what is known of every size: what is asked becomes a limit.

    A slice `table[:length]` of a table of 64 rows is contiguous if the length is 64, so torch
    excludes that length. nn.Transformer compares the mask that it is given with a causal one.
    Distances are computed in another way from 25 rows on. Distributions look whether their
    parameters, and what they are asked for, may be such.
    """
    with ExitStack() as stack:
        stack.enter_context(made_of(_WITHOUT_ASKING))
        stack.enter_context(mock.patch.object(Distribution, "_validate_args", False))
        for module, name, answer in (
            (torch._prims_common, _CONTIGUITY, _is_known_contiguous),
            (torch.nn.modules.transformer, _CAUSALITY, _is_said_causal),
        ):
            # Other versions of torch may have other names, and ask.
            if hasattr(module, name):
                stack.enter_context(mock.patch.object(module, name, answer))
        yield


@contextmanager
def made_of(decompositions: Mapping[Any, Callable[..., Any]]) -> Generator[None]:
    """Lets torch.export see these operators as what they are made of here, not in torch."""
    key = DispatchKey.CompositeImplicitAutograd
    before = {operator: operator.py_kernels.get(key) for operator in decompositions}
    try:
        for operator, decomposition in decompositions.items():
            _set_kernel(operator, key, decomposition)
        yield
    finally:
        for operator, kernel in before.items():
            _set_kernel(operator, key, kernel)


def _set_kernel(operator: Any, key: DispatchKey, kernel: Callable[..., Any] | None) -> None:
    if kernel is None:
        operator.py_kernels.pop(key, None)
    else:
        operator.py_kernels[key] = kernel
    operator._dispatch_cache.clear()


def _distances(x: Tensor, y: Tensor, p: float = 2, compute_mode: int | None = None) -> Tensor:
    return torch.ops.aten._cdist_forward.default(x, y, p, compute_mode)


def _greatest_in_windows(
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> Tensor:
    """torch makes a constant of the length."""
    apart = stride or kernel
    found = torch.ops.aten.max_pool2d.default(
        x.unsqueeze(-2), [1, *kernel], [1, *apart], [0, *padding], [1, *dilation], ceil_mode
    )
    return found.squeeze(-2)


_WITHOUT_ASKING: dict[Any, Callable[..., Any]] = {
    torch.ops.aten.cdist.default: _distances,
    torch.ops.aten.max_pool1d.default: _greatest_in_windows,
}


def _is_known_contiguous(
    sizes: Sequence[Any], strides: Sequence[Any], false_if_dde: bool = False
) -> bool:
    """How a tensor lies is no matter here: what may be contiguous need not be."""
    # torch writes the strides of sizes that may be 0 with a factor of 1 in their place.
    expected: Any = 1
    never_zero: Any = 1
    for size, stride in reversed(tuple(zip(sizes, strides, strict=True))):
        if statically_known_true(size == 1):
            continue
        if not (
            statically_known_true(stride == expected) or statically_known_true(stride == never_zero)
        ):
            return False
        expected = expected * size
        never_zero = never_zero * torch.sym_max(size, 1)
    return True


def _is_said_causal(
    mask: Tensor | None, is_causal: bool | None = None, size: int | None = None
) -> bool:
    """Returns a hint: the mask is applied in any case."""
    return is_causal is True
