"""Every operation of the rows in torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional

_Operation = Callable[..., Tensor]

_UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    "row_sum": lambda x: x.sum(1),
    "column_sum": lambda x: x.sum(0),
    "full_sum": lambda x: x.sum(),
    "middle_sum": lambda x: x.sum(1),
    "softmax": lambda x: torch.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "transpose": lambda x: x.t().contiguous(),
    "cumsum": lambda x: torch.cumsum(x, 1),
    "argmax": lambda x: torch.argmax(x, 1),
    "pad": lambda x: functional.pad(x, (2, 2)),
    "max_pool": lambda x: functional.max_pool2d(x, 3, 1),
}
_BINARY: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": lambda x, y: x + y,
    "gelu_of_product": lambda x, y: functional.gelu(x * y + x),
    "rms_norm": lambda x, weight: functional.rms_norm(x, (x.shape[1],), weight, 1e-6),
    "matmul": lambda x, y: torch.mm(x, y),
    "batch_matmul": lambda x, y: torch.bmm(x, y),
    "bias_gelu": lambda x, bias: functional.gelu(x + bias),
    "bias_gelu_tanh": lambda x, bias: functional.gelu(x + bias, approximate="tanh"),
    "add_transposed": lambda x, y: x + y.t(),
    "cross_entropy": lambda x, target: functional.cross_entropy(x, target, reduction="none"),
    "cross_entropy_mean": lambda x, target: functional.cross_entropy(x, target),
    "embedding": lambda tokens, table: functional.embedding(tokens, table),
    "concatenate": lambda x, y: torch.cat([x, y], 0),
    "concatenate_rows": lambda x, y: torch.cat([x, y], 1),
}


def _layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return functional.layer_norm(x, (x.shape[1],), weight, bias, 1e-5)


# As functions of the inputs: what Inductor compiles, and in float64 what is right.
FUNCTIONS: dict[str, _Operation] = {
    **_UNARY,
    **_BINARY,
    "layer_norm": _layer_norm,
    "layer_norm_f64": _layer_norm,
}

_UNARY_INTO: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "row_sum": lambda out, x: torch.sum(x, 1, out=out),
    "column_sum": lambda out, x: torch.sum(x, 0, out=out),
    "middle_sum": lambda out, x: torch.sum(x, 1, out=out),
    "transpose": lambda out, x: out.copy_(x.t()),
    "cumsum": lambda out, x: torch.cumsum(x, 1, out=out),
    "argmax": lambda out, x: torch.argmax(x, 1, out=out),
}
_BINARY_INTO: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "add": lambda out, x, y: torch.add(x, y, out=out),
    "matmul": lambda out, x, y: torch.mm(x, y, out=out),
    "batch_matmul": lambda out, x, y: torch.bmm(x, y, out=out),
    "add_transposed": lambda out, x, y: torch.add(x, y.t(), out=out),
    "concatenate": lambda out, x, y: torch.cat([x, y], 0, out=out),
    "concatenate_rows": lambda out, x, y: torch.cat([x, y], 1, out=out),
}
_INTO: dict[str, _Operation] = {**_UNARY_INTO, **_BINARY_INTO}


def eager(operation: str, inputs: Sequence[Tensor], out: Tensor) -> Callable[[], Tensor]:
    """A call of torch itself, into the given output where it can."""
    if operation in _INTO:
        into = _INTO[operation]
        return lambda: into(out, *inputs)
    function = FUNCTIONS[operation]
    return lambda: function(*inputs)


def exact(operation: str, inputs: Sequence[Tensor]) -> Tensor:
    """Returns the result in float64; of integers as they are."""
    wide = [each.double() if each.dtype.is_floating_point else each for each in inputs]
    if operation == "argmax":
        # torch does not promise the first of equal ones.
        places = torch.arange(wide[0].shape[1], device=wide[0].device)
        is_largest = wide[0] == wide[0].amax(1, keepdim=True)
        return torch.where(is_largest, places, wide[0].shape[1]).amin(1)
    return FUNCTIONS[operation](*wide)
