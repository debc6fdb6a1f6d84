"""externalize-dynamic-shared: dynamic shared memory as the external symbol CUDA sizes at launch."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register

_SHARED_SPACE = 3


@register
@dataclass(frozen=True)
class ExternalizeDynamicShared(Pass):
    """Makes zero-sized globals in shared memory external.

    Upstream leaves them internal; the code generator then gives each a byte of its own, which
    overlaps other shared data.

      llvm.mlir.global internal @__dynamic_shmem__0() {addr_space = 3 : i32} : !llvm.array<0 x i8>
    becomes
      llvm.mlir.global external @__dynamic_shmem__0() {addr_space = 3 : i32} : !llvm.array<0 x i8>
    """

    name: ClassVar[str] = "externalize-dynamic-shared"

    def run(self, op: ir.Operation) -> None:
        for child in op.regions[0].blocks[0]:
            inner = child.operation
            if inner.name != "llvm.mlir.global" or "addr_space" not in inner.attributes:
                continue
            shared = ir.IntegerAttr(inner.attributes["addr_space"]).value == _SHARED_SPACE
            kind = str(ir.TypeAttr(inner.attributes["global_type"]).value)
            if shared and kind.startswith("!llvm.array<0 x "):
                inner.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<external>")
