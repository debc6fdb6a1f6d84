"""hir-call-matmul-library: matrix products become calls of cuBLASLt."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.tiles import TILES
from ..pass_base import Pass, register
from ..products.call import call_library
from ..products.compute import call_library_for_compute
from ..products.fills import ZeroFills
from ..products.options import KERNEL_MULTIPLICATIONS, MatmulOptions
from ..walking import operations_where


@register
@dataclass(frozen=True)
class HirCallMatmulLibrary(Pass):
    """Turns matrix products of host programs, on buffers, into hir.library_matmul.

    It takes hir.matmul, hir.linear, and linalg operations, named or generic, that sum products of
    f32, f64, f16 or bf16. Products that the types say have up to `kernel_multiplications`, or are
    otherwise faster without it, and those whose strides the library cannot take, are left; where
    sizes leave it open, a hir.if chooses. Zeros written just before are dropped; a generic may
    round its sum, add a bias and apply an activation that the library has, or one that differs from
    it for a nan alone where `ignores_nan`.

      linalg.fill ins(%zero : f32) outs(%c : memref<?x8xf32>)
      linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x8xf32>) outs(%c : memref<?x8xf32>)
    becomes
      "hir.library_matmul"(%a, %b, %c) {compute = "f32", dims = [array<i64: 0, 2>, ...]} : ...
    """

    name: ClassVar[str] = "hir-call-matmul-library"

    allow_tf32: bool = False
    ignores_nan: bool = False
    kernel_multiplications: int = KERNEL_MULTIPLICATIONS
    own: bool = False
    falls_back: bool = False

    def run(self, op: ir.Operation) -> None:
        options = MatmulOptions(
            library=not self.own,
            allow_tf32=self.allow_tf32,
            ignores_nan=self.ignores_nan,
            kernel_multiplications=self.kernel_multiplications,
            own=self.own,
            falls_back=self.falls_back,
        )
        for program in list(op.regions[0].blocks[0]):
            if program.operation.name != "hir.program":
                continue
            gone: list[ir.Operation] = []
            fills = ZeroFills(program.operation)
            for work in operations_where(program.operation, _may_be_product):
                if work.name.startswith("hir."):
                    gone += call_library_for_compute(work, options)
                else:
                    gone += call_library(work, options, fills)
            for each in gone:
                each.erase()


def _may_be_product(op: ir.Operation) -> bool:
    if op.name in ("hir.matmul", "hir.linear"):
        return True
    return (
        op.name.startswith("linalg.") and 3 <= len(op.operands) <= 5 and TILES not in op.attributes
    )
