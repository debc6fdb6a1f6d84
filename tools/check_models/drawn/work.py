"""How much work a problem is, from the operations of one call on tensors without elements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

# Sums and bytes that an H200 does in a second, about, with f32 as it is.
_FLOPS, _BYTES = 4e13, 3.5e12
_MOST_SECONDS, _MOST_BYTES = 2e-2, 4e9


@dataclass
class Work:
    """An estimate: seconds of a call, and the most bytes that are alive."""

    seconds: float
    bytes: int

    def is_wanted(self, least: float) -> bool:
        """Returns whether it is as much as problems have that a GPU is timed with."""
        return least <= self.seconds <= _MOST_SECONDS and self.bytes <= _MOST_BYTES


class _Traffic(TorchDispatchMode):
    """Adds up what operations read and write."""

    def __init__(self) -> None:
        super().__init__()
        self.moved = self.most = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            moved = sum(_bytes(each) for each in pytree.tree_leaves((args, kwargs, result)))
            self.moved += moved
            self.most = max(self.most, moved)
        return result


def _bytes(value: Any) -> int:
    return value.numel() * value.element_size() if isinstance(value, Tensor) else 0


def estimate(text: str) -> Work:
    """Returns an estimate for the problem of a file's text."""
    defined: dict[str, Any] = {"__name__": "drawn"}
    exec(compile(text, "drawn.py", "exec"), defined)
    with torch.device("meta"), torch.no_grad(), FlopCounterMode(display=False) as flops:
        model = defined["Model"](*defined["get_init_inputs"]()).eval()
        inputs = defined["get_inputs"]()
        with _Traffic() as traffic:
            model(*inputs)
    held = sum(map(_bytes, (*model.parameters(), *model.buffers(), *inputs)))
    seconds = flops.get_total_flops() / _FLOPS + traffic.moved / _BYTES
    return Work(seconds, held + traffic.most)
