"""flatten-complex-constants: complex constants in memory are told as their parts."""

from __future__ import annotations

import math
import re
from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register

# Its bytes, or its elements in brackets, or the one that all are.
_DENSE = re.compile(r'(?P<bytes>dense<"\w+">) : |dense<(?P<elements>.*)> : ', re.DOTALL)
_BRACKETS = str.maketrans("", "", "[]()")


@register
@dataclass(frozen=True)
class FlattenComplexConstants(Pass):
    """Gives each llvm.mlir.global of complex numbers a value of their parts: MLIR translates these
    to LLVM IR. Whoever takes its address finds the same bytes.

      llvm.mlir.global constant @c(dense<[(1.0,2.0), (3.0,4.0)]> : tensor<2xcomplex<f32>>)
          : !llvm.array<2 x struct<(f32, f32)>>
    becomes
      llvm.mlir.global constant @c(dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>)
          : !llvm.array<4 x f32>
    """

    name: ClassVar[str] = "flatten-complex-constants"
    subjects: ClassVar[tuple[str, ...]] = ("llvm.mlir.global",)

    def run(self, op: ir.Operation) -> bool:
        constants = [
            child.operation for child in op.regions[0].blocks[0] if _is_complex(child.operation)
        ]
        for constant in constants:
            _flatten(constant)
        return bool(constants)


def _is_complex(op: ir.Operation) -> bool:
    if op.name != "llvm.mlir.global" or "value" not in op.attributes:
        return False
    kind = op.attributes["value"].type
    return isinstance(kind, ir.ShapedType) and isinstance(kind.element_type, ir.ComplexType)


def _flatten(op: ir.Operation) -> None:
    value = op.attributes["value"]
    kind = ir.ShapedType(value.type)
    part = ir.ComplexType(kind.element_type).element_type
    count = 2 * math.prod(kind.shape)
    # The bindings have no class for the value.
    dense = _DENSE.match(str(value))
    if dense is None or count == 0:
        return
    text = dense["bytes"]
    if text is None:
        parts = dense["elements"].translate(_BRACKETS).split(",")
        text = f"dense<[{','.join(parts * (count // len(parts)))}]>"
    op.attributes["value"] = ir.Attribute.parse(f"{text} : tensor<{count}x{part}>")
    array = ir.Type.parse(f"!llvm.array<{count} x {part}>")
    op.attributes["global_type"] = ir.TypeAttr.get(array)
