"""name-atomic-scopes: how far atomic operations and fences reach, in AMD's words."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..walking import operations_where

# LLVM's "User Guide for AMDGPU Backend", memory scopes.
_OWN = ("", "singlethread", "wavefront", "workgroup", "agent")
_SCOPES = {name: name for name in (*_OWN, *(f"{name}-one-as" for name in _OWN[1:]), "one-as")}
_NVIDIA = {"block": "workgroup", "device": "agent"}


@register
@dataclass(frozen=True)
class NameAtomicScopes(Pass):
    """Renames the scopes of LLVM operations that NVIDIA's code generator knows.

    A scope that AMD's does not know either is refused: it would fail without a line.

      llvm.fence syncscope("block") release
    becomes
      llvm.fence syncscope("workgroup") release
    """

    name: ClassVar[str] = "name-atomic-scopes"
    subjects: ClassVar[tuple[str, ...]] = ("llvm.",)

    def run(self, op: ir.Operation) -> None:
        for inner in operations_where(op, _has_scope):
            scope = ir.StringAttr(inner.attributes["syncscope"]).value
            known = (_SCOPES | _NVIDIA).get(scope)
            if known is None:
                names = ", ".join(f"'{name}'" for name in [*_OWN[1:], *_NVIDIA])
                fail(
                    inner,
                    f"'{inner.name}' has the unknown scope '{scope}'; AMD's chips have {names}, "
                    "and the whole system where none is given",
                )
            inner.attributes["syncscope"] = ir.StringAttr.get(known, inner.context)


def _has_scope(op: ir.Operation) -> bool:
    return op.name.startswith("llvm.") and "syncscope" in op.attributes
