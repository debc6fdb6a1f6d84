"""Gradients of pools, of padding and of convolutions, which torch-mlir does not lower."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import SymInt, Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

from .halves import widened
from .pools import sums_of_windows

_ATEN = torch.ops.aten


def backward_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of gradients."""
    found: dict[Any, Callable[..., Any]] = {
        _ATEN.max_pool3d_with_indices_backward.default: partial(_max_pool, 3),
        _ATEN.replication_pad1d_backward.default: _replication_pad,
        _ATEN.convolution_backward.default: _convolution,
    }
    for dims in (2, 3):
        found |= {
            getattr(_ATEN, f"avg_pool{dims}d_backward").default: partial(_avg_pool, dims),
            getattr(_ATEN, f"_adaptive_avg_pool{dims}d_backward").default: partial(
                _adaptive_avg_pool, dims
            ),
            getattr(_ATEN, f"adaptive_max_pool{dims}d_backward").default: partial(_max_pool, dims),
            getattr(_ATEN, f"fractional_max_pool{dims}d_backward").default: partial(
                _max_pool, dims
            ),
            getattr(_ATEN, f"replication_pad{dims}d_backward").default: _replication_pad,
        }
    return found


def _avg_pool(
    dims: int,
    grad: Tensor,
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """Returns a convolution, transposed, of what each window gives its elements with ones."""
    windows, steps, pads = (
        [*each] * (dims // len(each)) for each in (kernel_size, stride or kernel_size, padding)
    )
    given: list[Any] = list(x.shape[-dims:])
    sizes: list[Any] = list(grad.shape[-dims:])
    each = widened(grad)
    if divisor_override is not None:
        each = each / divisor_override
    else:
        for axis, (size, count) in enumerate(zip(given, sizes, strict=True)):
            first = torch.arange(count, device=x.device) * steps[axis] - pads[axis]
            last = (first + windows[axis]).clamp(max=size + pads[axis])
            if not count_include_pad:
                first, last = first.clamp(min=0), last.clamp(max=size)
            each = each / (last - first).reshape(-1, *[1] * (dims - 1 - axis))
    ones = torch.ones([1, 1, *windows], dtype=each.dtype, device=x.device)
    flat = each.reshape(-1, 1, *sizes)
    none = [0] * dims
    whole = torch.convolution(flat, ones, None, steps, none, [1] * dims, True, none, 1)
    for axis, (size, pad) in enumerate(zip(given, pads, strict=True), 2):
        # Without what was padded, and with what no window has.
        length: Any = whole.shape[axis]
        more: Any = size + pad - length
        if not isinstance(more, SymInt):
            more = max(more, 0)
        margins: list[Any] = [0, 0] * (dims + 1 - axis) + [0, more]
        whole = torch.constant_pad_nd(whole, margins).narrow(axis, pad, size)
    return whole.reshape(x.shape).to(x.dtype)


def _adaptive_avg_pool(dims: int, grad: Tensor, x: Tensor) -> Tensor:
    """Returns sums over the windows that have an element.

    These lie as the windows of a pool from the size of the result to that of the input.
    """
    total = widened(grad)
    for axis in range(x.dim() - dims, x.dim()):
        size: Any = x.shape[axis]
        count: Any = grad.shape[axis]
        if statically_known_true(size % count == 0):
            times = size // count
            shape: list[Any] = list(total.unsqueeze(axis + 1).shape)
            shape[axis + 1] = times
            total = (total / times).unsqueeze(axis + 1).expand(shape).flatten(axis, axis + 1)
            continue
        places = torch.arange(count, device=x.device)
        first = torch.div(places * size, count, rounding_mode="floor")
        last = torch.div((places + 1) * size + (count - 1), count, rounding_mode="floor")
        each = total / (last - first).reshape(-1, *[1] * (x.dim() - 1 - axis))
        total, _ = sums_of_windows(each, axis, size)
    return total.to(x.dtype)


def _max_pool(dims: int, grad: Tensor, x: Tensor, *given: Any, **named: Any) -> Tensor:
    """Returns what windows give to the places of their greatest elements."""
    indices: Tensor = named["indices"] if "indices" in named else given[-1]
    first = x.dim() - dims
    nothing = torch.zeros_like(x).flatten(first)
    return nothing.scatter_add(-1, indices.flatten(first), grad.flatten(first)).reshape(x.shape)


def _replication_pad(grad: Tensor, x: Tensor, padding: Sequence[int | SymInt]) -> Tensor:
    """Returns sums of what repeats an element."""
    total = widened(grad)
    for number in range(len(padding) // 2):
        axis = x.dim() - 1 - number
        size: Any = x.shape[axis]
        before: Any = padding[2 * number]
        place = torch.arange(total.shape[axis], device=x.device) - before
        shape: list[Any] = list(total.shape)
        shape[axis] = size
        nothing = total.new_zeros(shape)
        total = nothing.index_add(axis, place.clamp(0, size - 1), total)
    return total.to(x.dtype)


def _convolution(
    grad: Tensor,
    x: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int | SymInt] | None,
    stride: Sequence[int],
    padding: Sequence[int | SymInt],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int | SymInt],
    groups: int,
    output_mask: Sequence[bool],
) -> Any:
    """Returns the gradients of convolutions: torch-mlir's of transposed ones and of groups fail."""
    if not transposed and groups == 1:
        return NotImplemented
    of_x = of_weight = of_bias = None
    dims = x.dim() - 2
    none = [0] * dims
    how = (stride, padding, dilation)
    if output_mask[0] and transposed:
        of_x = torch.convolution(grad, weight, None, *how, False, none, groups)
        # Where more is added to the result than a step.
        of_x = _first(of_x, x.shape[2:])
    elif output_mask[0]:
        left: list[Any] = []
        for axis in range(dims):
            steps: Any = (grad.shape[axis + 2] - 1) * stride[axis] - 2 * padding[axis]
            width = dilation[axis] * (weight.shape[axis + 2] - 1) + 1
            left.append(x.shape[axis + 2] - steps - width)
        of_x = torch.convolution(grad, weight, None, *how, True, left, groups)
    if output_mask[1] and transposed:
        only: Any = (False, True, False)
        given = (x, grad, weight, None, *how, False, none, groups, only)
        of_weight = _ATEN.convolution_backward.default(*given)[1]
    elif output_mask[1]:
        # The batch is what is summed over, and the channels of a group are a batch.
        windows = grad.unflatten(1, (groups, -1)).movedim(0, 2).flatten(0, 1)
        apart = x.unflatten(1, (groups, -1)).permute(2, 1, 0, *range(3, x.dim() + 1)).flatten(1, 2)
        found = torch.convolution(
            apart, windows, None, dilation, padding, stride, False, none, groups
        )
        of_weight = _first(found.transpose(0, 1), weight.shape[2:])
    if output_mask[2]:
        of_bias = widened(grad).sum([0, *range(2, x.dim())]).to(grad.dtype)
    return of_x, of_weight, of_bias


def _first(x: Tensor, sizes: Sequence[Any]) -> Tensor:
    """Returns the first elements along each dim from the third on."""
    for axis, size in enumerate(sizes, 2):
        if not statically_known_true(x.shape[axis] == size):
            x = x.narrow(axis, 0, size)
    return x
