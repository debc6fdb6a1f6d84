"""separate-starts: each operation on tensors writes over a start of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.access import Access
from ..fusion.generic import (
    GENERIC,
    accesses_of,
    has_tensors_only,
    inputs_of,
    loop_count,
    outs_of,
)
from ..pass_base import Pass, register
from ..rewriting import copied
from ..walking import operations_where
from .select_host_programs import MARK

_EMPTY = "tensor.empty"
_RESHAPES = ("tensor.collapse_shape", "tensor.expand_shape")


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

    Bufferization also takes an output whose old elements the region does not read for one that is
    written as a whole. Without iterations it is not written: it begins as a copy.

      %a = linalg.generic {..., iterator_types = ["reduction"]}
             ins(%x : tensor<?xf32>) outs(%c : tensor<f32>) { ... linalg.yield %in : f32 }
    becomes
      %s = bufferization.alloc_tensor() copy(%c) : tensor<f32>
      %a = linalg.generic ... outs(%s : tensor<f32>)
    """

    name: ClassVar[str] = "separate-starts"

    def run(self, op: ir.Operation) -> None:
        for function in operations_where(op, lambda inner: MARK in inner.attributes):
            seen: set[ir.Value] = set()
            for work in operations_where(function, lambda inner: inner.name.startswith("linalg.")):
                if len(work.results):
                    _separate(work, seen)
                if work.name == GENERIC and has_tensors_only(work):
                    _keep_where_idle(work)


def _separate(op: ir.Operation, seen: set[ir.Value]) -> None:
    """Gives an operation copies of the starts that others before it have."""
    first = len(op.operands) - len(outs_of(op))
    for place, out in enumerate(outs_of(op), first):
        if _is_start(out):
            if out in seen:
                with op.location, ir.InsertionPoint(op):
                    out = op.operands[place] = _repeated(out)
            seen.add(out)


def _keep_where_idle(op: ir.Operation) -> None:
    """Copies initial values that the region does not read to outputs whose loops may be empty."""
    first, accesses = len(inputs_of(op)), accesses_of(op)
    arguments = op.regions[0].blocks[0].arguments
    for place, output in enumerate(accesses[first:], first):
        loops = set(range(loop_count(op))) - set(output.loops)
        if _is_start(_unshaped(output.value)) or len([*arguments[place].uses]):
            continue
        if all(_has_iterations(loop, accesses) for loop in loops):
            continue
        with op.location, ir.InsertionPoint(op):
            op.operands[place] = copied(output.value)


def _has_iterations(loop: int, accesses: Sequence[Access]) -> bool:
    """Returns whether a loop's extent is known not to be 0."""
    return any(
        each == loop and size != DYNAMIC and size > 0
        for access in accesses
        for each, size in zip(access.index, _shape(access.value), strict=True)
    )


def _shape(value: ir.Value) -> list[int]:
    kind = value.type
    return list(ir.RankedTensorType(kind).shape) if isinstance(kind, ir.RankedTensorType) else []


def _unshaped(value: ir.Value) -> ir.Value:
    """Returns the tensor that a value is, in other shapes."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in _RESHAPES:
        value = value.owner.operation.operands[0]
    return value


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
