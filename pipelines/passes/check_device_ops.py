"""check-device-ops: refuses, by name, what only the host can have."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..walking import operations_where

_UNSUPPORTED = {
    "vector.print": "use gpu.printf",
    "llvm.mlir.global_ctors": "nothing runs on the device before a kernel; initialise in a kernel",
    "llvm.mlir.global_dtors": "nothing runs on the device after the last kernel",
}


@register
@dataclass(frozen=True)
class CheckDeviceOps(Pass):
    """Reports the first operation of a gpu.module that device code has no place for.

      prog.mlir:3:2: error: 'vector.print' is not supported in device code; use gpu.printf

    Constructors and thread-local variables would otherwise be dropped and shared without a word.
    """

    name: ClassVar[str] = "check-device-ops"
    subjects: ClassVar[tuple[str, ...]] = (*_UNSUPPORTED, "llvm.mlir.global")
    makes: ClassVar[tuple[str, ...]] = ()

    def run(self, op: ir.Operation) -> None:
        for inner in operations_where(op, _is_unsupported):
            hint = _UNSUPPORTED.get(inner.name)
            if hint is None:
                name = ir.StringAttr(inner.attributes["sym_name"]).value
                fail(
                    inner,
                    f"variable '{name}' is thread_local, which device code does not support; use "
                    "an llvm.alloca, or a memref in the private address space",
                )
            fail(inner, f"'{inner.name}' is not supported in device code; {hint}")


def _is_unsupported(op: ir.Operation) -> bool:
    if op.name != "llvm.mlir.global":
        return op.name in _UNSUPPORTED
    # Mode 0 is of a variable that is not thread-local.
    return "tls_mode" in op.attributes and ir.IntegerAttr(op.attributes["tls_mode"]).value != 0
