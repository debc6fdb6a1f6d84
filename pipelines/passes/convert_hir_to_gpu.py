"""convert-hir-to-gpu: host programs become functions, launches and calls of the support library."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..hir.lowering.program import lower_programs
from ..pass_base import Pass, register


@register
@dataclass(frozen=True)
class ConvertHirToGpu(Pass):
    """Turns every hir.program @NAME into a private function @hirc_body_NAME.

    It takes the inputs, for every buffer output one that was handed in (its address is null where
    none was) and the stream; it returns the outputs. `hir.inputs` and `hir.outputs` describe them.
    Sizes, strides and bytes are integers in line; views change addresses alone. Computing must have
    become launches before.

      %y = "hir.allocate"(%n) : (index) -> memref<?xf32>
    becomes
      %bytes = arith.muli %n, %c4
      %memory = llvm.call @hirc_allocate(%bytes, %device, %stream, %location)
    and a memref of it.
    """

    name: ClassVar[str] = "convert-hir-to-gpu"

    def run(self, op: ir.Operation) -> None:
        lower_programs(op)
