"""Every kind of drawn operation in torch: what is built, what is compared with, and what is right.

A function of the inputs for the parameters of a row. It is exported to be built, called and
compiled as the peer, and called with float64 as the judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional

from .row import Row

Results = tuple[Tensor, ...]
_Function = (
    Callable[[Tensor], Any]
    | Callable[[Tensor, Tensor], Any]
    | Callable[[Tensor, Tensor, Tensor], Any]
    | Callable[[Tensor, Tensor, Tensor, Tensor], Any]
)
_DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
_EPSILON = 1e-5


def function_of(row: Row) -> Callable[..., Results]:
    """Returns the operation of a row: inputs to outputs."""
    make, parameters = _KINDS[row.operation], row.parameters
    inner = cast(Callable[..., Any], make(parameters))
    view: Sequence[int] | None = parameters.get("view")

    def function(*inputs: Tensor) -> Results:
        first, *rest = inputs
        if view is not None:
            first = first.permute(*view)
        found = inner(first, *rest)
        return (found,) if isinstance(found, Tensor) else tuple(found)

    return function


def index_outputs(row: Row) -> dict[int, int]:
    """Which outputs are places along which axis: several places may be right."""
    op = row.parameters.get("op")
    if op in ("argmax", "argmin"):
        return {0: row.parameters["axes"][0]}
    if op in ("max_index", "min_index"):
        return {1: row.parameters["axes"][0]}
    return {}


def _reduction(p: dict[str, Any]) -> _Function:
    axes, keep = tuple(p["axes"]), p["keep"]
    functions: dict[str, _Function] = {
        "sum": lambda x: x.sum(axes, keepdim=keep),
        "mean": lambda x: x.mean(axes, keepdim=keep),
        "amax": lambda x: x.amax(axes, keepdim=keep),
        "amin": lambda x: x.amin(axes, keepdim=keep),
        "var": lambda x: x.var(axes, correction=0, keepdim=keep),
        "std": lambda x: x.std(axes, correction=0, keepdim=keep),
        "l2": lambda x: (x * x).sum(axes, keepdim=keep).sqrt(),
        "logsumexp": lambda x: torch.logsumexp(x, axes, keepdim=keep),
        "abs_sum": lambda x: x.abs().sum(axes, keepdim=keep),
    }
    return functions[p["op"]]


def _normalization(p: dict[str, Any]) -> _Function:
    axes: tuple[int, ...] = tuple(p["axes"])

    def standardize(x: Tensor) -> Tensor:
        variance, mean = torch.var_mean(x, axes, correction=0, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + _EPSILON)

    def over_axes(x: Tensor) -> Tensor:
        powers = torch.exp(x - x.amax(axes, keepdim=True))
        return powers / powers.sum(axes, keepdim=True)

    functions: dict[str, _Function] = {
        "softmax": lambda x: torch.softmax(x, axes[0]),
        "log_softmax": lambda x: torch.log_softmax(x, axes[0]),
        "standardize": standardize,
        "rms": lambda x: x * torch.rsqrt((x * x).mean(axes, keepdim=True) + _EPSILON),
        "l2": lambda x: x / ((x * x).sum(axes, keepdim=True).sqrt() + _EPSILON),
        "softmax_over_axes": over_axes,
    }
    return functions[p["op"]]


def _affine_norm(p: dict[str, Any]) -> _Function:
    functions: dict[str, _Function] = {
        "layer_norm": lambda x, w, b: functional.layer_norm(x, x.shape[-1:], w, b),
        "rms_norm": lambda x, w: functional.rms_norm(x, x.shape[-1:], w, _EPSILON),
        "group_norm": lambda x, w, b: functional.group_norm(x, p["groups"], w, b),
        "instance_norm": lambda x, w, b: functional.instance_norm(x, weight=w, bias=b),
        "add_layer_norm": lambda x, w, b, y: functional.layer_norm(x + y, x.shape[-1:], w, b),
    }
    return functions[p["op"]]


def _statistics(p: dict[str, Any]) -> _Function:
    axes: tuple[int, ...] = tuple(p["axes"])
    functions: dict[str, _Function] = {
        "var_mean": lambda x: (*torch.var_mean(x, axes, correction=0),),
        "std_mean": lambda x: (*torch.std_mean(x, axes, correction=0),),
        "aminmax": lambda x: torch.aminmax(x, dim=axes[0]),
        "max_index": lambda x: torch.max(x, axes[0]),
        "min_index": lambda x: torch.min(x, axes[0]),
        "sum_and_square": lambda x: (x.sum(axes), (x * x).sum(axes)),
    }
    return functions[p["op"]]


def _stencil(p: dict[str, Any]) -> _Function:
    def along(x: Tensor, axis: int, first: int) -> Tensor:
        return x.narrow(axis, first, x.shape[axis] - 2)

    def cross(x: Tensor) -> Tensor:
        axes = range(1, x.dim())
        inner = x
        for axis in axes:
            inner = along(inner, axis, 1)
        total = inner * (-2.0 * len(axes))
        for axis in axes:
            for first in (0, 2):
                each = along(x, axis, first)
                for other in axes:
                    if other != axis:
                        each = along(each, other, 1)
                total = total + each
        return total

    def box(x: Tensor) -> Tensor:
        for axis in range(1, x.dim()):
            x = (along(x, axis, 0) + along(x, axis, 1) * 2.0 + along(x, axis, 2)) * 0.25
        return x

    return cross if p["op"] == "cross" else box


def _pooling(p: dict[str, Any]) -> _Function:
    window, stride, padding = p["window"], p["stride"], p["padding"]

    def of(name: str) -> _Function:
        def pool(x: Tensor) -> Tensor:
            dims = x.dim() - 2
            function = getattr(functional, f"{name}_pool{dims}d")
            return function(x, window, stride, padding)

        return pool

    if p["op"] == "whole_average":
        return lambda x: x.mean(tuple(range(2, x.dim())), keepdim=True)
    return of("max" if p["op"] == "max" else "avg")


def _resampling(p: dict[str, Any]) -> _Function:
    if p["op"] == "nearest":
        return lambda x: functional.interpolate(x, scale_factor=p["scale"], mode="nearest")
    corners = p["op"] == "bilinear_corners"
    return lambda x: functional.interpolate(
        x, scale_factor=p["scale"], mode="bilinear", align_corners=corners
    )


def _piece(p: dict[str, Any]) -> _Function:
    axis, by = p["axis"], p["by"]

    def rotate_half(x: Tensor) -> Tensor:
        half = x.shape[-1] // 2
        return torch.cat([-x[..., half:], x[..., :half]], -1)

    def step(x: Tensor) -> Tensor:
        places = tuple(
            slice(None, None, 2) if each == axis else slice(None) for each in range(x.dim())
        )
        return x[places] + 1

    def glu(x: Tensor) -> Tensor:
        one, other = x.chunk(2, -1)
        return one * torch.sigmoid(other)

    functions: dict[str, _Function] = {
        "slice": lambda x: x.narrow(axis, by, x.shape[axis] - by) + 1,
        "step": step,
        "concatenate": lambda x, y: torch.cat([x, y], axis),
        "rotate_half": rotate_half,
        "rotary": lambda x, c, s: x * c + rotate_half(x) * s,
        "roll": lambda x: torch.roll(x, by, axis),
        "flip": lambda x: torch.flip(x, (axis,)),
        "glu": glu,
        "stack": lambda x, y: torch.stack([x, y], axis),
        "pad": lambda x: functional.pad(x, (1, 2, 0, 1)),
    }
    return functions[p["op"]]


def _gather(p: dict[str, Any]) -> _Function:
    axis = p["axis"]
    functions: dict[str, _Function] = {
        "select": lambda x, i: torch.index_select(x, axis, i),
        "embedding": lambda x, i: functional.embedding(i, x),
        "gather": lambda x, i: torch.gather(x, axis, i),
        "index_add": lambda x, i, y: torch.index_add(x, axis, i, y),
        "scatter_add": lambda x, i, y: torch.scatter_add(x, axis, i, y),
        "index_copy": lambda x, i, y: torch.index_copy(x, axis, i, y),
    }
    return functions[p["op"]]


def _scan(p: dict[str, Any]) -> _Function:
    axis = p["axis"]
    functions: dict[str, _Function] = {
        "cumsum": lambda x: torch.cumsum(x, axis),
        # Near one, so that products of many stay numbers.
        "cumprod": lambda x: torch.cumprod(x * 0.001 + 1.0, axis),
        "logcumsumexp": lambda x: torch.logcumsumexp(x, axis),
        "cummax": lambda x: torch.cummax(x, axis)[0],
    }
    return functions[p["op"]]


def _cast(p: dict[str, Any]) -> _Function:
    def quantize_rows(x: Tensor) -> Results:
        scale = x.abs().amax(-1, keepdim=True) / 127.0 + 1e-3
        return torch.round(x / scale).clamp(-127, 127).to(torch.int8), scale

    dtype = _DTYPES.get(p.get("to", ""))
    functions: dict[str, _Function] = {
        "to": lambda x: x.to(dtype),
        "to_integer": lambda x: (x * 50.0).to(torch.int32),
        "quantize_rows": quantize_rows,
        "quantize": lambda x: torch.round(x * 40.0).clamp(-127, 127).to(torch.int8),
        "dequantize_rows": lambda x, s: x.to(s.dtype) * s,
    }
    return functions[p["op"]]


def _permutation(p: dict[str, Any]) -> _Function:
    order = tuple(p["order"])
    functions: dict[str, _Function] = {
        "copy": lambda x: x.permute(order).contiguous(),
        "add": lambda x, y: x.permute(order) + y,
        "scale_cast": lambda x: (x.permute(order) * 0.5).to(torch.float32).contiguous(),
    }
    return functions[p["op"]]


def _elementwise(p: dict[str, Any]) -> _Function:
    functions: dict[str, _Function] = {
        "gelu_bias": lambda x, b: functional.gelu(x + b),
        "swiglu": lambda x, y: functional.silu(x) * y,
        "chain": lambda x: torch.exp(-torch.abs(x)) * torch.sin(x) + torch.sqrt(torch.abs(x)),
        "where": lambda x, y: torch.where(x > y, x, y * 2.0),
        "clamp_add": lambda x, y: torch.clamp(x, -1.0, 1.0) + y,
        "broadcast_add": lambda x, y: x + y,
        "sigmoid_mul": lambda x, y: torch.sigmoid(x) * y,
        "tanh": lambda x: torch.tanh(x),
        "polynomial": lambda x: ((x * 0.3 + 1.0) * x - 0.7) * x + 0.1,
    }
    return functions[p["op"]]


def _loss(p: dict[str, Any]) -> _Function:
    functions: dict[str, _Function] = {
        "cross_entropy": functional.cross_entropy,
        "mse": functional.mse_loss,
        "l1": functional.l1_loss,
        "huber": functional.smooth_l1_loss,
        "kl": lambda x, y: functional.kl_div(
            torch.log_softmax(x, 1), torch.softmax(y, 1), reduction="batchmean"
        ),
        "bce": lambda x, y: functional.binary_cross_entropy_with_logits(x, torch.sigmoid(y)),
        "cosine": lambda x, y: functional.cosine_similarity(x, y, 1),
    }
    return functions[p["op"]]


def _arg(p: dict[str, Any]) -> _Function:
    axis = p["axes"][0]
    if p["op"] == "argmax":
        return lambda x: torch.argmax(x, axis)
    return lambda x: torch.argmin(x, axis)


def _product(p: dict[str, Any]) -> _Function:
    after: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
        "bias": lambda x, b: x + b,
        "bias_gelu": lambda x, b: functional.gelu(x + b),
        "residual": lambda x, y: x + y,
        "gate": lambda x, y: functional.silu(x) * y,
    }
    if p["op"] == "scores":
        return lambda x, y: x @ y.mT
    if p["op"] == "linear" and "bias" in p["after"]:
        linear = functional.linear
        if p["after"] == "bias":
            return lambda x, w, b: linear(x, w, b)
        return lambda x, w, b: functional.gelu(linear(x, w, b))

    def multiply(x: Tensor, w: Tensor) -> Tensor:
        return functional.linear(x, w) if p["op"] == "linear" else x @ w

    if not p["after"]:
        return multiply
    last = after[p["after"]]
    return lambda x, w, other: last(multiply(x, w), other)


def _convolution(p: dict[str, Any]) -> _Function:
    def convolve(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        dims = w.dim() - 2
        if p["last"]:
            x = x.permute(0, -1, *range(1, 1 + dims))
        if p["op"] == "transposed":
            function = getattr(functional, f"conv_transpose{dims}d")
            y = function(x, w, b, p["step"], p["padding"], 0, p["groups"], p["dilation"])
        else:
            function = getattr(functional, f"conv{dims}d")
            y = function(x, w, b, p["step"], p["padding"], p["dilation"], p["groups"])
        # As torch has the results of such an image.
        return y.permute(0, *range(2, 2 + dims), 1) if p["last"] else y

    return convolve


def _attention(p: dict[str, Any]) -> _Function:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return functional.scaled_dot_product_attention(
            q, k, v, is_causal=p["op"] == "causal", enable_gqa=q.shape[1] != k.shape[1]
        )

    return attend


_KINDS: dict[str, Callable[[dict[str, Any]], _Function]] = {
    "reduction": _reduction,
    "normalization": _normalization,
    "affine_norm": _affine_norm,
    "statistics": _statistics,
    "stencil": _stencil,
    "pooling": _pooling,
    "resampling": _resampling,
    "piece": _piece,
    "gather": _gather,
    "scan": _scan,
    "cast": _cast,
    "permutation": _permutation,
    "elementwise": _elementwise,
    "loss": _loss,
    "arg": _arg,
    "product": _product,
    "convolution": _convolution,
    "attention": _attention,
}
