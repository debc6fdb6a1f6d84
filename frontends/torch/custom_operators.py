"""Decompositions of operators that libraries register with torch, and of quantized ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import DispatchKey, Tensor
from torch._decomp import decomposition_table
from torch._ops import OpOverload
from torch.export import ExportedProgram

from ...compiler.errors import HircError
from .grouped import grouped_mm
from .halves import widened
from .refusals import nodes_of

_ATEN = torch.ops.aten
_QUANTIZED = "quantized_decomposed"
# Operators that torch-mlir lowers itself.
_KNOWN = tuple(
    f"{_QUANTIZED}.{name}.default"
    for name in (
        *("quantize_per_tensor", "dequantize_per_tensor"),
        *("quantize_per_channel", "dequantize_per_channel"),
    )
)


def custom_decompositions(program: ExportedProgram) -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of those operators of a program that are not torch's own.

    A decomposition is the one registered with torch, or else the kernel for all devices, where
    tracing it succeeds.
    """
    targets = {node.target for node in nodes_of(program) if isinstance(node.target, OpOverload)}
    found: dict[Any, Callable[..., Any]] = {}
    for operator in targets:
        if operator.namespace in ("aten", "prims", "hirc") or str(operator) in _KNOWN:
            continue
        name, _, overload = operator.__name__.partition(".")
        schema = operator._schema  # pyright: ignore[reportPrivateUsage]
        if operator.namespace == _QUANTIZED and (name, overload) in _BY_TENSORS:
            found[operator] = _BY_TENSORS[name, overload]
        elif str(operator) in _OF_LIBRARIES:
            found[operator] = _OF_LIBRARIES[str(operator)]
        elif operator in decomposition_table:
            found[operator] = decomposition_table[operator]
        elif not schema.is_mutable and operator.has_kernel_for_dispatch_key(
            DispatchKey.CompositeExplicitAutograd
        ):
            found[operator] = partial(_of_kernel, operator)
    return found


def _of_kernel(operator: OpOverload, *given: Any, **named: Any) -> Any:
    """Traces an operator's kernel. One that reads elements or memory stays an operator."""
    try:
        run = operator._op_dk  # pyright: ignore[reportPrivateUsage]
        return run(DispatchKey.CompositeExplicitAutograd, *given, **named)
    except HircError:
        raise
    except Exception:  # noqa: BLE001 - the kernel is anyone's
        return NotImplemented


def _grouped_or_zero(x: Tensor, y: Tensor, offs: Tensor) -> Tensor:
    """Multiplies each row with the matrix of its group; rows behind the last group give zeros."""
    places = torch.arange(x.shape[0], device=x.device).unsqueeze(-1)
    return torch.where(places < offs[-1], grouped_mm(x, y, offs), 0)


# Operators of widespread libraries whose kernels read elements, which tracing cannot.
_OF_LIBRARIES: dict[str, Callable[..., Any]] = {
    "transformers.grouped_mm_fallback.default": _grouped_or_zero,
}


def _quantize(
    x: Tensor, scale: Tensor, zero_point: Tensor, least: Any, most: Any, dtype: torch.dtype
) -> Tensor:
    """Quantizes by scales that are tensors, whose elements torch's kernel reads."""
    inverse = (1 / scale.double()).float()
    rounded = (widened(x) * inverse).round() + zero_point.long()
    return torch.minimum(torch.maximum(rounded, _number(least)), _number(most)).to(dtype)


def _number(x: Any) -> Tensor:
    return x.float() if isinstance(x, Tensor) else torch.full((), x, dtype=torch.float32)


def _dequantize(
    x: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    least: Any,
    most: Any,
    dtype: torch.dtype,
    *,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    kind = torch.float32 if out_dtype is None else out_dtype
    return (x.to(kind) - zero_point.to(kind)) * scale.to(kind)


def _parameters(
    is_symmetric: bool, x: Tensor, least: int, most: int, eps: float, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Returns the scale and the zero point for a least and a greatest element."""
    low, high = x.amin().clamp(max=0), x.amax().clamp(min=0)
    floor = torch.full((1,), eps, dtype=torch.float32, device=x.device)
    if is_symmetric:
        scale = torch.maximum(torch.maximum(-low, high) / ((most - least) / 2), floor)
        middle = 128 if dtype is torch.uint8 else 0
        zero = torch.full((1,), middle, dtype=torch.int64, device=x.device)
        return scale.double(), zero
    scale = torch.maximum((high - low) / (most - least), floor)
    zero = (least - (low / scale).round().long()).clamp(least, most)
    return scale.double(), zero


_BY_TENSORS: dict[tuple[str, str], Callable[..., Any]] = {
    (f"{name}_per_tensor", overload): function
    for name, function in (("quantize", _quantize), ("dequantize", _dequantize))
    for overload in ("tensor", "tensor2")
}
_BY_TENSORS["choose_qparams", "tensor"] = partial(_parameters, False)
_BY_TENSORS["choose_qparams_symmetric", "tensor"] = partial(_parameters, True)


def quantized_products() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of products of quantized operands."""
    return {
        _ATEN._scaled_mm.default: _scaled_product,
        _ATEN._weight_int8pack_mm.default: _product_with_bytes,
        _ATEN.fake_quantize_per_channel_affine.default: _fake_quantize,
        _ATEN.fake_quantize_per_channel_affine_cachemask.default: _fake_quantize_and_mask,
    }


def _scaled_product(
    x: Tensor,
    y: Tensor,
    scale_x: Tensor,
    scale_y: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    use_fast_accum: bool = False,
) -> Tensor:
    """Multiplies by one scale for all, or one for each row of x and column of y.

    Scales of blocks are not supported.
    """
    sizes = (scale_x, (x.shape[0], 1)), (scale_y, (1, y.shape[1]))
    if any(scale.numel() != 1 and tuple(scale.shape) != shape for scale, shape in sizes):
        return NotImplemented
    if any(scale.dtype is not torch.float32 for scale, _ in sizes):
        return NotImplemented
    one, other = (each if each.dim() == 2 else each.reshape(()) for each in (scale_x, scale_y))
    found = (x.float() @ y.float()) * one * other
    if bias is not None:
        found = found + bias.float()
    kind = x.dtype if out_dtype is None else out_dtype
    if scale_result is not None and kind.itemsize == 1:
        found = found * scale_result
    return found.to(kind)


def _product_with_bytes(x: Tensor, weight: Tensor, scales: Tensor) -> Tensor:
    return ((widened(x) @ weight.to(widened(x).dtype).mT) * scales).to(x.dtype)


def _fake_quantize(x: Tensor, *given: Any) -> Tensor:
    return _fake_quantize_and_mask(x, *given)[0]


def _fake_quantize_and_mask(
    x: Tensor, scale: Tensor, zero_point: Tensor, axis: int, least: int, most: int
) -> tuple[Tensor, Tensor]:
    along = [1] * x.dim()
    along[axis] = -1
    wide = widened(x)
    scale, zero = scale.reshape(along), zero_point.reshape(along).to(wide.dtype)
    rounded = (wide * (1 / scale) + zero).round()
    quantized = rounded.clamp(least, most)
    return ((quantized - zero) * scale).to(x.dtype), rounded == quantized
