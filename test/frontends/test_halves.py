"""Elements of 16 bits: what numbers and sums are computed with has more, and is rounded once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import hirc

_ORDERS = (0, 0.5, 1, 2, 2.5, 3, -1, float("inf"), float("-inf"))


def _of_numbers(x: Tensor) -> list[Tensor]:
    """None of the numbers is one of 16 bits."""
    return [
        *(x * 0.1, 0.1 * x, x + 0.1, x - 0.3, 0.7 - x, x / 0.3, x * 3, x * 0.5),
        *(F.leaky_relu(x, 0.013), torch.where(x > 0, x * 0.3, x * 0.1)),
    ]


def _of_sums(x: Tensor) -> list[Tensor]:
    return [
        torch.selu(x),
        *(torch.linalg.vector_norm(x, order, 1) for order in _ORDERS),
        torch.linalg.vector_norm(x, 3, keepdim=True),
    ]


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize(
    ("computed", "shape"),
    [(_of_numbers, (40, 33)), (_of_sums, (6, 33, 5))],
    ids=["numbers", "sums"],
)
def test_results_are_rounded_once(
    computed: Callable[[Tensor], list[Tensor]], shape: tuple[int, ...], kind: torch.dtype
) -> None:
    x = (torch.randn(shape) * 3).to(kind)
    found = hirc.compile(computed, (x,), target="cpu")(x)
    for own, exact in zip(found, computed(x.double()), strict=True):
        assert own.dtype == kind
        rounding = 0.51 * torch.finfo(kind).eps
        torch.testing.assert_close(own.double(), exact, rtol=rounding, atol=1e-7)


def test_a_norm_of_another_type() -> None:
    def norm(x: Tensor) -> Tensor:
        return torch.linalg.vector_norm(x, 3, 1, dtype=torch.float32)

    x = torch.randn(4, 50).bfloat16()
    torch.testing.assert_close(hirc.compile(norm, (x,), target="cpu")(x), norm(x))
