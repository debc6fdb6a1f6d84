"""keep-register-limits: the assembler is told what it needs to let warps give registers away."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..walking import has_operation
from .name_device_symbols import is_kernel

_OPERATION, _LEAST_BLOCKS = "nvvm.setmaxregister", "nvvm.minctasm"


@register
@dataclass(frozen=True)
class KeepRegisterLimits(Pass):
    """Promises one block a multiprocessor, at least, of a kernel that has nvvm.setmaxregister.

    Without the promise ptxas ignores the instruction (C7508), with a warning at most. A kernel that
    says how many blocks it is for keeps what it says.

      gpu.func @k(...) kernel attributes {known_block_size = ...} { ... nvvm.setmaxregister ... }
    gets nvvm.minctasm = 1.
    """

    name: ClassVar[str] = "keep-register-limits"
    subjects: ClassVar[tuple[str, ...]] = (_OPERATION,)

    def run(self, op: ir.Operation) -> None:
        one = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 1)
        for function in [each.operation for each in op.regions[0].blocks[0]]:
            if not is_kernel(function) or _LEAST_BLOCKS in function.attributes:
                continue
            if has_operation(function, lambda inner: inner.name == _OPERATION):
                function.attributes[_LEAST_BLOCKS] = one
