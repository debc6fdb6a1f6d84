"""expand-tensor-choices: a choice of two tensors is a branch that gives one."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import rewrite_each


@register
@dataclass(frozen=True)
class ExpandTensorChoices(Pass):
    """Turns arith.select of tensors by one condition into scf.if, whose branches copy.

      %z = arith.select %c, %x, %y : tensor<4xf32>
    becomes
      %z = scf.if %c -> tensor<4xf32> {
        scf.yield %x : tensor<4xf32>
      } else {
        scf.yield %y : tensor<4xf32>
      }
    """

    name: ClassVar[str] = "expand-tensor-choices"

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(op, {"arith.select": _branch})


def _branch(op: ir.Operation) -> list[ir.Value] | None:
    condition, *choices = op.operands
    kind = op.results[0].type
    if not isinstance(kind, ir.RankedTensorType) or isinstance(condition.type, ir.ShapedType):
        return None
    made = ir.Operation.create("scf.if", [kind], [condition], regions=2)
    for value, region in zip(choices, made.regions, strict=True):
        with ir.InsertionPoint(region.blocks.append()):
            ir.Operation.create("scf.yield", operands=[value])
    return list(made.results)
