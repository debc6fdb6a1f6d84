"""lower-linalg: linalg operations on buffers become loops."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir, passmanager
from ...dialects.records import dataclass
from ..pass_base import Pass, PassFailure, register


@register
@dataclass(frozen=True)
class LowerLinalg(Pass):
    """Runs upstream's convert-linalg-to-loops on a module that has such operations.

    Its rewriting gathers constants at the beginning of a function, in time that grows with the
    square of a function's length: programs of thousands of launches, which have none, are spared.
    """

    name: ClassVar[str] = "lower-linalg"
    subjects: ClassVar[tuple[str, ...]] = ("linalg.",)

    def run(self, op: ir.Operation) -> None:
        manager = passmanager.PassManager.parse(
            "builtin.module(convert-linalg-to-loops)", op.context
        )
        try:
            manager.run(op)
        except ir.MLIRError as error:
            raise PassFailure("convert-linalg-to-loops") from error
