"""What hir.call, hir.host_call and hir.if give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...dialects.mlir import ir
from .buffer import Buffer


@dataclass(frozen=True, eq=False)
class Results:
    """The values, and whether buffers among them change hands: those of a call do."""

    values: list[Any]
    are_of_call: bool = False

    def take(self, value: Any, result: ir.Value) -> None:
        """Notes that `result` is what made a buffer, as far as the caller knows."""
        if self.are_of_call and isinstance(value, Buffer):
            value.allocation.site = result
