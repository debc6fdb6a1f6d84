"""separate-starts: each operation on tensors writes over a start of its own."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.generic import outs_of
from ..pass_base import Pass, register
from ..walking import operations_where
from .select_host_programs import MARK

_EMPTY = "tensor.empty"


@register
@dataclass(frozen=True)
class SeparateStarts(Pass):
    """Repeats tensor.empty, and linalg.fill of one, for each linalg operation that begins as it.

    Bufferization compares each two operations that write over one tensor, which takes quadratic
    time, and copies what was filled for all but one of them.

      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      %a = linalg.matvec ... outs(%z : tensor<4xf32>)
      %b = linalg.matvec ... outs(%z : tensor<4xf32>)
    becomes
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      %a = linalg.matvec ... outs(%z : tensor<4xf32>)
      %f = tensor.empty() : tensor<4xf32>
      %y = linalg.fill ins(%zero : f32) outs(%f : tensor<4xf32>) -> tensor<4xf32>
      %b = linalg.matvec ... outs(%y : tensor<4xf32>)
    """

    name: ClassVar[str] = "separate-starts"

    def run(self, op: ir.Operation) -> None:
        for function in operations_where(op, lambda inner: MARK in inner.attributes):
            seen: set[ir.Value] = set()
            for work in operations_where(function, lambda inner: inner.name.startswith("linalg.")):
                if len(work.results):
                    _separate(work, seen)


def _separate(op: ir.Operation, seen: set[ir.Value]) -> None:
    """Gives an operation copies of the starts that others before it have."""
    first = len(op.operands) - len(outs_of(op))
    for place, out in enumerate(outs_of(op), first):
        if _is_start(out):
            if out in seen:
                with op.location, ir.InsertionPoint(op):
                    out = op.operands[place] = _repeated(out)
            seen.add(out)


def _is_start(value: ir.Value) -> bool:
    if isinstance(value.owner, ir.Block):
        return False
    op = value.owner.operation
    if op.name == "linalg.fill":
        (value,) = outs_of(op)
        return not isinstance(value.owner, ir.Block) and value.owner.operation.name == _EMPTY
    return op.name == _EMPTY


def _repeated(value: ir.Value) -> ir.Value:
    assert not isinstance(value.owner, ir.Block)
    op = value.owner.operation
    if op.name == _EMPTY:
        return op.clone().results[0]
    (out,) = outs_of(op)
    begun = _repeated(out)
    copy = op.clone()
    copy.operands[len(op.operands) - 1] = begun
    return copy.results[0]
