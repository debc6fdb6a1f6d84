"""Norms, variances and distances, computed in f32 at least, of open sizes too."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import SymInt, Tensor

from .complex_numbers import parts_of
from .halves import HALVES, widened

_ATEN = torch.ops.aten


def normalization_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of norms, variances and distances of rows."""
    return {
        _ATEN.linalg_vector_norm.default: _vector_norm,
        _ATEN.native_group_norm.default: _group_norm,
        _ATEN.rms_norm.default: _rms_norm,
        _ATEN.var.correction: _var,
        _ATEN.var_mean.correction: _var_mean,
        _ATEN._cdist_forward.default: _cdist,
        _ATEN._pdist_forward.default: _pdist,
        _ATEN.embedding_renorm.default: _embedding_renorm,
    }


def _vector_norm(
    x: Tensor,
    order: float = 2,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Any:
    """torch-mlir rounds a root's exponent to 16 bits."""
    if x.dtype not in HALVES:
        return NotImplemented
    axes = None if dim is None else [*dim]
    return torch.linalg.vector_norm(x.float(), order, axes, keepdim).to(dtype or x.dtype)


def _group_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    batch: int | SymInt,
    channels: int,
    size: int | SymInt,
    groups: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """torch's own form for the CPU takes what is left of two great numbers, and strides."""
    grouped = widened(x).unflatten(1, (groups, channels // groups))
    dims = list(range(2, grouped.dim()))
    variance, mean = torch.var_mean(grouped, dims, correction=0, keepdim=True)
    scale = torch.rsqrt(variance + eps)
    result = ((grouped - mean) * scale).flatten(1, 2)
    along = [channels, *[1] * (x.dim() - 2)]
    if weight is not None:
        result = result * weight.reshape(along)
    if bias is not None:
        result = result + bias.reshape(along)
    return result.to(x.dtype), mean.squeeze(dims).to(x.dtype), scale.squeeze(dims).to(x.dtype)


def _rms_norm(
    x: Tensor, shape: Sequence[int | SymInt], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Where no eps is given torch-mlir takes that of f64; open sizes it does not take."""
    wide = widened(x)
    eps = torch.finfo(wide.dtype).eps if eps is None else eps
    mean = (wide * wide).mean(list(range(-len(shape), 0)), keepdim=True)
    result = wide * torch.rsqrt(mean + eps)
    return (result if weight is None else result * weight).to(x.dtype)


def _var(
    x: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> Tensor:
    """torch-mlir computes it in f64."""
    return _var_mean(x, dim, correction=correction, keepdim=keepdim)[0]


def _var_mean(
    x: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> tuple[Tensor, Tensor]:
    if x.is_complex():
        given: dict[str, Any] = {"correction": correction, "keepdim": keepdim}
        variances, means = zip(
            *(_var_mean(each, dim, **given) for each in parts_of(x)), strict=True
        )
        return variances[0] + variances[1], torch.complex(*means)
    if correction is not None and correction == int(correction):
        # Of an open size no other number is lowered.
        correction = int(correction)
    dims = list(dim) if dim else list(range(x.dim()))
    count = math.prod(x.shape[each] for each in dims)
    wide = widened(x)
    mean = wide.mean(dims, keepdim=True)
    apart = wide - mean
    total = (apart * apart).sum(dims, keepdim=keepdim)
    # Fewer elements than the correction give nan or inf, as 0 / 0 does.
    variance = total / max(count - (1 if correction is None else correction), 0)
    kept = mean if keepdim else mean.squeeze(dims)
    return variance.to(x.dtype), kept.to(x.dtype)


def _cdist(x: Tensor, y: Tensor, p: float, compute_mode: int | None) -> Tensor:
    return _norm(widened(x).unsqueeze(-2) - widened(y).unsqueeze(-3), p).to(x.dtype)


def _pdist(x: Tensor, p: float = 2) -> Tensor:
    count: int | SymInt = x.shape[0]
    if isinstance(count, SymInt):
        return NotImplemented
    first, second = torch.triu_indices(count, count, 1, device=x.device).unbind()
    wide = widened(x)
    return _norm(wide.index_select(0, first) - wide.index_select(0, second), p).to(x.dtype)


def _norm(x: Tensor, p: float) -> Tensor:
    """Along the last dim."""
    sizes = x.abs()
    if p == 0:
        return (sizes != 0).to(x.dtype).sum(-1)
    if p == 1:
        return sizes.sum(-1)
    if p == 2:
        return (x * x).sum(-1).sqrt()
    return sizes.amax(-1) if p == math.inf else sizes.pow(p).sum(-1).pow(1 / p)


def _embedding_renorm(weight: Tensor, indices: Tensor, most: float, order: float) -> Tensor:
    """Scales the rows that indices name, where their norms are greater than `most`.

    An index that is there twice writes the same row twice.
    """
    places = indices.reshape(-1)
    rows = widened(weight[places])
    norms = torch.linalg.vector_norm(rows, order, 1, keepdim=True)
    short = torch.where(norms > most, rows * (most / (norms + 1e-7)), rows)
    return weight.index_put((places,), short.to(weight.dtype))
