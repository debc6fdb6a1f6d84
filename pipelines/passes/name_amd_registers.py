"""name-amd-registers: says in what registers AMD's chips keep values that are disguised."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..walking import operations_where


@register
@dataclass(frozen=True)
class NameAmdRegisters(Pass):
    """Gives inline assembly without any text the constraints of vector registers.

      %b = llvm.inline_asm has_side_effects "", "=r,0" %a : (i32) -> i32
    gets `=v,0`. To the code generator for AMD, `r` is a register that all lanes share.
    """

    name: ClassVar[str] = "name-amd-registers"
    subjects: ClassVar[tuple[str, ...]] = ("llvm.inline_asm",)
    makes: ClassVar[tuple[str, ...]] = ()

    def run(self, op: ir.Operation) -> None:
        for inner in operations_where(op, lambda inner: inner.name == "llvm.inline_asm"):
            if not ir.StringAttr(inner.attributes["asm_string"]).value:
                inner.attributes["constraints"] = ir.StringAttr.get("=v,0")
