"""verify-chips: refuses, by name, operations a chip the program is built for does not have."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, PassFailure, register


@register
@dataclass(frozen=True)
class VerifyChips(Pass):
    """Runs upstream's verifier over a gpu.module once for each chip.

    Operations of the nvvm dialect know which chips have them, and check the gpu.module's target.
    `chips` are joined by `+`. The module is left without targets: the driver decides them.

      verify-chips{chips=sm_80+sm_90a}
    """

    name: ClassVar[str] = "verify-chips"
    makes: ClassVar[tuple[str, ...]] = ()
    chips: str = ""

    def run(self, op: ir.Operation) -> None:
        for chip in filter(None, self.chips.split("+")):
            op.attributes["targets"] = ir.Attribute.parse(f'[#nvvm.target<chip = "{chip}">]')
            try:
                op.verify()
            except ir.MLIRError as error:
                raise PassFailure(f"an operation is not supported on {chip}") from error
        if "targets" in op.attributes:
            del op.attributes["targets"]
