"""write-returned-shapes: what is returned in another shape is written into memory of that shape."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.generic import GENERIC, has_tensors_only
from ..fusion.reshaped_results import write_into_returned
from ..pass_base import Pass, register
from ..walking import operations_where


@register
@dataclass(frozen=True)
class WriteReturnedShapes(Pass):
    """Gives operations whose results are reshaped and returned a view of such memory to write to.

    Callers can then hand the memory in, and no program returns a part of other memory. Takes what
    fuse-tensor-operations makes no part of an operation: convolutions, products, attention.

      %e = tensor.empty() : tensor<4x8x8x128xbf16>
      %y = linalg.generic {...} outs(%e) {...}
      %r = tensor.collapse_shape %y [[0], [1, 2], [3]] ... into tensor<4x64x128xbf16>
      return %r
    becomes
      %f = tensor.empty() : tensor<4x64x128xbf16>
      %e = tensor.expand_shape %f [[0], [1, 2], [3]] ... into tensor<4x8x8x128xbf16>
      %y = linalg.generic {...} outs(%e) {...}
      %r = tensor.collapse_shape %y [[0], [1, 2], [3]] ... into tensor<4x64x128xbf16>
      return %r
    """

    name: ClassVar[str] = "write-returned-shapes"

    def run(self, op: ir.Operation) -> None:
        for found in operations_where(op, _is_generic):
            write_into_returned(found)


def _is_generic(op: ir.Operation) -> bool:
    return op.name == GENERIC and has_tensors_only(op)
