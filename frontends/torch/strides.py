"""Tensors that are read by given strides, where sizes are open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import SymInt, Tensor
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing
from torch.fx.experimental.symbolic_shapes import statically_known_true

from ...compiler.errors import UnsupportedError
from .export_guards import are_equal, is_known_contiguous


def as_strided(
    x: Tensor,
    size: Sequence[int | SymInt],
    stride: Sequence[int | SymInt],
    storage_offset: int | SymInt | None = None,
) -> Tensor:
    """Returns the elements at these strides: a view of the tensor, or elements that are gathered.

    torch-mlir lowers known sizes, and crashes where a tensor has no dims. Raises UnsupportedError
    where x has gaps or is part of another tensor.
    """
    if not x.dim() and all(each == 1 for each in size):
        return x.reshape([*size])
    first: Any = x.storage_offset() if storage_offset is None else storage_offset
    if not any(isinstance(each, SymInt) for each in (*x.shape, *size, *stride, first)):
        return NotImplemented
    if statically_known_true(first == x.storage_offset()) and _is_as_it_lies(x, size, stride):
        return x.view(list(size))
    with disable_proxy_modes_tracing():
        # Not part of the traced program.
        is_whole = are_equal(x.untyped_storage().nbytes(), x.numel() * x.element_size())
    if not is_whole or not is_known_contiguous(x.shape, x.stride()):
        raise UnsupportedError(
            "strides into a tensor that is part of another, or has gaps, are not supported where "
            "sizes are open",
            op="aten.as_strided.default",
            stage="import",
            hint="make it contiguous() before, or take the parts by slices, unfold or view",
        )
    place = first + torch.zeros((), dtype=torch.int64, device=x.device)
    counts: list[Any] = list(size)
    for count, step in zip(counts, stride, strict=True):
        places = torch.arange(count, device=x.device)
        place = place.unsqueeze(-1) + places * step
    return x.reshape(-1)[place]


def _is_as_it_lies(x: Tensor, size: Sequence[int | SymInt], stride: Sequence[int | SymInt]) -> bool:
    """Returns whether sizes and strides are known to be x's; a dim of size 1 has any stride."""
    if len(size) != x.dim():
        return False
    return all(
        statically_known_true(here == there)
        and (statically_known_true(there == 1) or statically_known_true(step == own))
        for here, there, step, own in zip(x.shape, size, stride, x.stride(), strict=True)
    )
