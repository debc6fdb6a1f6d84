"""hir-convert-compute-to-linalg: compute operations become linalg.generic on buffers."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..hir.compute_ops import COMPUTE_OPS
from ..pass_base import Pass, register
from ..walking import operations_where


@register
@dataclass(frozen=True)
class HirConvertComputeToLinalg(Pass):
    """Turns hir.set, unary, binary, ternary, reduce, matmul and linear into linalg.generic.

    Their results all have destinations by now (hir-insert-allocations). Elements are of the stored
    type within; where sizes are open, the program checks them before.

      "hir.unary"(%x, %y) {kind = "exp"} : (memref<8xf16>, memref<8xf16>) -> ()
    becomes
      linalg.generic {...} ins(%x : memref<8xf16>) outs(%y : memref<8xf16>) {
      ^bb0(%in: f16, %out: f16):
        %wide = arith.extf %in : f16 to f32
        %power = math.exp %wide : f32
        %rounded = arith.truncf %power : f32 to f16
        linalg.yield %rounded : f16
      }
    """

    name: ClassVar[str] = "hir-convert-compute-to-linalg"

    subjects: ClassVar[tuple[str, ...]] = tuple(sorted(COMPUTE_OPS))

    def run(self, op: ir.Operation) -> None:
        # Imported late: functions on tensors have no such operation.
        from ..products.all_lowerings import find_lowering

        for inner in operations_where(op, lambda found: found.name in COMPUTE_OPS):
            lower = find_lowering(inner.name)
            assert lower is not None
            with inner.location, ir.InsertionPoint(inner):
                lower(inner)
            inner.erase()
