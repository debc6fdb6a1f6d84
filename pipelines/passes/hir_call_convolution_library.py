"""hir-call-convolution-library: convolutions become calls of cuDNN."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..convolutions.call import call_library
from ..convolutions.options import ConvolutionOptions
from ..hir.memory.owners import Owners
from ..pass_base import Pass, register
from ..schedules.device import device_of_option
from ..walking import has_operation, operations_where


@register
@dataclass(frozen=True)
class HirCallConvolutionLibrary(Pass):
    """Turns convolutions of host programs, on buffers, into hir.library_convolution.

    These are linalg.generics that sum products of f32, f16 or bf16 in f32, as form-contractions
    makes them. What they make of the sums becomes an operation on the result, except a rounding. A
    transposed convolution reads its weights as they were before they were turned round. With
    `falls_back` only those do for which the library takes less time, and a hir.if chooses where it
    is there. `transforms` lets the library multiply what is transformed.

      linalg.generic {...} ins(%w, %b : ...) outs(%y : ...) {
        memref.load %x in scf.if, mulf, hir.reduce_loops addf, addf
      }
    becomes
      "hir.library_convolution"(%x, %w, %y) {direction = "forward", ...} : ...
      linalg.generic {...} ins(%b, %y : ...) outs(%y : ...) { addf }
    """

    name: ClassVar[str] = "hir-call-convolution-library"

    chips: str = ""
    falls_back: bool = False
    transforms: bool = False

    def run(self, op: ir.Operation) -> None:
        device = device_of_option(self.chips)
        options = ConvolutionOptions(
            library=True, falls_back=self.falls_back, transforms=self.transforms
        )
        for program in list(op.regions[0].blocks[0]):
            if program.operation.name != "hir.program":
                continue
            owners = Owners(program.operation)
            for work in operations_where(program.operation, _sums):
                call_library(work, options, device, owners)


def _sums(op: ir.Operation) -> bool:
    """Returns whether it is a linalg.generic on buffers that reduces along loops."""
    return (
        op.name == "linalg.generic"
        and not len(op.results)
        and has_operation(op, lambda inner: inner.name == "hir.reduce_loops")
    )
