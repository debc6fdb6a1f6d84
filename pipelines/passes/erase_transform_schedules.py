"""erase-transform-schedules: takes a module's transform dialect schedules away."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from .run_transform_schedules import is_only_schedules, transform_operations

_LIBRARY = "transform.with_named_sequence"


@register
@dataclass(frozen=True)
class EraseTransformSchedules(Pass):
    """Erases transform operations at top level, and modules that hold nothing but such.

      module attributes {transform.with_named_sequence} {
        transform.named_sequence @__transform_main(...) { ... }
      }
    is gone.
    """

    name: ClassVar[str] = "erase-transform-schedules"

    def run(self, op: ir.Operation) -> None:
        for child in list(op.regions[0].blocks[0]):
            if is_only_schedules(child.operation):
                child.operation.erase()
        for schedule in [each for each, _ in transform_operations(op)]:
            schedule.erase()
        if _LIBRARY in op.attributes:
            del op.attributes[_LIBRARY]
