"""hir-list-configurations: what kernels could be made of each linalg operation, for searches."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..schedules.choose import configurations
from ..schedules.device import device_of_option
from ..walking import operations_where

LISTED = "hir.configurations"
# The class whose entry of a tuning the operation takes (pipelines/schedules/shape_class.py).
CLASS = "hir.class"


@register
@dataclass(frozen=True)
class HirListConfigurations(Pass):
    """Lists on every linalg.generic of a hir.program its class and what it may ask for.

    Of all that a search tries those are listed that kernels can be made of, in order: first as the
    compiler chooses. `chips`, joined by `+`, are those that the kernels are made for.

      linalg.generic {...} ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) { ... }
    becomes
      linalg.generic {..., hir.class = "p2^6/16; in f32 1; out f32 1; 2^1",
                      hir.configurations = [{family = "pointwise", kernel = "flat", ...}, ...]}
        ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) { ... }
    """

    name: ClassVar[str] = "hir-list-configurations"
    subjects: ClassVar[tuple[str, ...]] = ("linalg.generic",)

    chips: str = ""

    def run(self, op: ir.Operation) -> None:
        device = device_of_option(self.chips)
        for program in list(op.regions[0].blocks[0]):
            if program.operation.name != "hir.program":
                continue
            for work in operations_where(
                program.operation, lambda each: each.name == "linalg.generic"
            ):
                key, found = configurations(work, device)
                work.attributes[LISTED] = ir.ArrayAttr.get([each.attribute for each in found])
                if key is not None:
                    work.attributes[CLASS] = ir.StringAttr.get(key)
