"""Running extremes and running sums of powers, which a kernel scans."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from ...dialects.mlir import ir
from .complex_numbers import in_steps

_ATEN = torch.ops.aten
_LIBRARY = torch.library.Library("hirc", "FRAGMENT")
_LIBRARY.define("running(Tensor x, int dim, str kind) -> Tensor")


def _empty(x: Tensor, dim: int, kind: str) -> Tensor:
    return torch.empty_like(x)


_LIBRARY.impl("running", _empty, "CompositeExplicitAutograd")
# Each element combined with all before it along a dim, by a kind of hir.scan_loop.
RUNNING = torch.ops.hirc.running.default


def running_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of running extremes and running sums of powers."""
    return {
        _ATEN.cummax.default: partial(_extremes, is_max=True),
        _ATEN.cummin.default: partial(_extremes, is_max=False),
        _ATEN.logcumsumexp.default: _logcumsumexp,
    }


def _extremes(x: Tensor, dim: int, *, is_max: bool) -> tuple[Tensor, Tensor]:
    """Returns the extremes up to each element, and their last places.

    After a nan all are nan.
    """
    if not x.dim():
        return x.clone(), torch.zeros((), dtype=torch.int64, device=x.device)
    axis, wide = dim % x.dim(), x.long() if x.dtype == torch.bool else x
    name = "maximum" if is_max else "minimum"
    kind = f"{name}f" if x.is_floating_point() else f"{name[:3]}si"
    values = _scan(wide, axis, kind)
    is_extreme = wide == values
    if x.is_floating_point():
        is_extreme = is_extreme | wide.isnan()
    shape = [1] * x.dim()
    shape[axis] = -1
    here = torch.arange(x.shape[axis], device=x.device).view(shape)
    places = torch.where(is_extreme, here, 0)
    return values.to(x.dtype), _scan(places, axis, "maxsi")


def _logcumsumexp(x: Tensor, dim: int) -> Tensor:
    """Returns logarithms of running sums of powers, none of which is made itself: it overflows."""
    if not x.dim():
        return x.clone()
    if x.is_complex():
        # No kind of scans takes complex numbers.
        return in_steps(torch.logaddexp, x, dim)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return _scan(wide, dim % x.dim(), "logaddexp").to(x.dtype)


def _scan(x: Tensor, axis: int, kind: str) -> Tensor:
    return RUNNING(x.contiguous(), axis, kind)


def emit_running(kind: str, axis: int, x: ir.Value) -> ir.Value:
    """Emits what an element is made of."""
    return ir.Operation.create(
        "hir.scan_loop",
        results=[x.type],
        operands=[x],
        attributes={
            "kind": ir.StringAttr.get(kind),
            "loop": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis),
        },
    ).results[0]
