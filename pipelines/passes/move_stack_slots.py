"""move-stack-slots: stack slots of AMD's device code lie in private memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import ir, llvm
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import rewrite_each

_GENERIC, _PRIVATE = "!llvm.ptr", "!llvm.ptr<5>"


@register
@dataclass(frozen=True)
class MoveStackSlots(Pass):
    """Puts each llvm.alloca into address space 5, the only one that AMD's threads have a stack in.

      %slot = llvm.alloca %count x f32 : (i64) -> !llvm.ptr
    becomes
      %private = llvm.alloca %count x f32 : (i64) -> !llvm.ptr<5>
      %slot = llvm.addrspacecast %private : !llvm.ptr<5> to !llvm.ptr
    """

    name: ClassVar[str] = "move-stack-slots"
    subjects: ClassVar[tuple[str, ...]] = ("llvm.alloca",)

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(op, {"llvm.alloca": _move})


def _move(op: ir.Operation) -> Sequence[ir.Value] | None:
    generic = op.results[0].type
    if str(generic) != _GENERIC:
        return None
    private = ir.Operation.create(
        "llvm.alloca",
        results=[ir.Type.parse(_PRIVATE)],
        operands=list(op.operands),
        attributes={name: op.attributes[name] for name in op.attributes},
    ).results[0]
    return [llvm.addrspacecast(generic, private)]
