"""Convolutions that torch-mlir does not lower."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import SymInt, Tensor

from .depthwise import depthwise_of

_ATEN = torch.ops.aten


def convolution_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decomposition of convolutions."""
    return {
        _ATEN.convolution.default: _convolution,
    }


def _convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int | SymInt],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int | SymInt],
    groups: int,
) -> Tensor:
    """torch-mlir fails where each channel is a group: for transposed ones, and those of 3 dims."""
    how = (stride, padding, dilation, transposed, output_padding, groups)
    is_imported = depthwise_of(x.shape, weight.shape, *how) is not None
    if groups == 1 or x.shape[1] != groups or is_imported:
        return NotImplemented
    dims = weight.dim() - 2
    if transposed:
        apart = _set_apart(x, weight, stride, padding, dilation, output_padding)
        windows = weight.flip(list(range(2, weight.dim()))).reshape(-1, 1, *weight.shape[2:])
        ones, none = [1] * dims, [0] * dims
        return torch.convolution(apart, windows, bias, ones, none, dilation, False, none, groups)
    if dims != 3:
        return NotImplemented
    # What of the first dim a window has is further channels of a group.
    before: Any = padding[0]
    size = weight.shape[2]
    x = torch.nn.functional.pad(x, [0, 0, 0, 0, before, before])
    count = (x.shape[2] - dilation[0] * (size - 1) - 1) // stride[0] + 1
    steps = [
        x[:, :, first : first + (count - 1) * stride[0] + 1 : stride[0]]
        for first in range(0, dilation[0] * size, dilation[0])
    ]
    images = torch.stack(steps, 2).movedim(3, 1).flatten(2, 3)
    flat = torch.convolution(
        images.flatten(0, 1), weight.squeeze(1), bias,
        stride[1:], padding[1:], dilation[1:], False, [0, 0], groups,
    )  # fmt: skip
    return flat.unflatten(0, (x.shape[0], count)).movedim(1, 2)


def _set_apart(
    x: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    padding: Sequence[int | SymInt],
    dilation: Sequence[int],
    more: Sequence[int | SymInt],
) -> Tensor:
    """Returns the elements among zeros, of which a convolution is the transposed one of the
    elements.
    """
    for number, size in enumerate(weight.shape[2:]):
        axis = number + 2
        around = dilation[number] * (size - 1) - padding[number]
        first, length = max(around, 0), (x.shape[axis] - 1) * stride[number] + 1
        sizes: list[Any] = list(x.shape)
        sizes[axis] = length + 2 * first + more[number]
        last = first + length
        x = torch.slice_scatter(x.new_zeros(sizes), x, axis, first, last, stride[number])
        if around < 0:
            x = x.narrow(axis, -around, length + 2 * around + more[number])
    return x
