"""The functions that bench_host compiles and compares with torch: ten operations, two blocks, and
tensors in containers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as f
from torch import Tensor


def add(a: Tensor, b: Tensor) -> Tensor:
    """One operation."""
    return a + b


def sum_rows(a: Tensor, b: Tensor) -> Tensor:
    """Returns an addition and a sum, one kernel of hirc."""
    return (a + b).sum(1)


def ten(a: Tensor, b: Tensor) -> Tensor:
    """Ten operations on elements."""
    c = torch.tanh(a * b + a)
    d = torch.relu(c - b) * 0.5
    return torch.sigmoid(d) + c * a - b


def mlp(
    x: Tensor, gain: Tensor, shift: Tensor, up: Tensor, up_bias: Tensor, down: Tensor, bias: Tensor
) -> Tensor:
    """Layer norm, linear, gelu, linear, residual."""
    y = f.layer_norm(x, (x.shape[1],), gain, shift)
    y = f.gelu(f.linear(y, up, up_bias))
    return x + f.linear(y, down, bias)


def products(x: Tensor, up: Tensor, down: Tensor) -> Tensor:
    """Two products that are large enough for cuBLASLt, in bf16."""
    return f.linear(f.gelu(f.linear(x, up)), down)


def containers(given: dict[str, Any]) -> dict[str, Any]:
    """Computes one operation for each tensor, in containers such as models have."""
    return {"first": given["first"] + 1, "rest": tuple(each + 1 for each in given["rest"])}


def contained(tensors: Sequence[Tensor]) -> dict[str, Any]:
    """Returns containers that hold these tensors."""
    return {"first": tensors[0], "rest": tuple(tensors[1:])}


# The numbers of tensors in the containers.
CONTAINED = (1, 3, 10)
# The tensors' sizes; the first one of the first is open, and that of others too where it is equal.
SIZES: dict[str, list[tuple[int, ...]]] = {
    "add": [(8, 64), (8, 64)],
    "sum_rows": [(8, 64), (8, 64)],
    "ten": [(8, 64), (8, 64)],
    "products": [(512, 2048), (2048, 2048), (2048, 2048)],
    "mlp": [(32, 1024), (1024,), (1024,), (4096, 1024), (4096,), (1024, 4096), (1024,)],
}
# How many of them have the open size.
OPEN = {"add": 2, "sum_rows": 2, "ten": 2, "products": 1, "mlp": 1}
FUNCTIONS = {"add": add, "sum_rows": sum_rows, "ten": ten, "products": products, "mlp": mlp}
TYPES = {"products": torch.bfloat16}
