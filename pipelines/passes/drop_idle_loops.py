"""drop-idle-loops: no loops along which nothing is read, reduced or written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects.mlir import ir
from ..fusion.generic import (
    COLLECTIVE,
    GENERIC,
    accesses_of,
    has_tensors_only,
    inputs_of,
    reducing_loops,
)
from ..pass_base import Pass, register
from ..walking import operations_where


@register
@dataclass(frozen=True)
class DropIdleLoops(Pass):
    """Takes the reduction loops from a linalg.generic whose reductions were folded away.

    Where such a loop has no iterations, nothing would be written.

      linalg.generic {indexing_maps = [(d0) -> (d0), (d0) -> ()], iterator_types = ["reduction"]}
          ins(%x : tensor<?xi64>) outs(%e : tensor<i64>) {
      ^bb0(%a: i64, %o: i64):
        linalg.yield %zero : i64
      }
    becomes
      linalg.generic {indexing_maps = [() -> ()], iterator_types = []} outs(%e : tensor<i64>) {
      ^bb0(%o: i64):
        linalg.yield %zero : i64
      }
    """

    name: ClassVar[str] = "drop-idle-loops"

    def run(self, op: ir.Operation) -> None:
        for found in operations_where(op, lambda inner: inner.name == GENERIC):
            if _is_idle(found):
                _rebuild(found)


def _is_idle(op: ir.Operation) -> bool:
    """Whether all reduction loops of an operation do nothing."""
    reducing = set(reducing_loops(op))
    if not reducing or not has_tensors_only(op):
        return False
    if operations_where(op, lambda inner: inner.name in COLLECTIVE):
        return False
    block = op.regions[0].blocks[0]
    accesses = accesses_of(op)
    inputs = len(inputs_of(op))
    if any(_is_used(argument) for argument in list(block.arguments)[inputs:]):
        return False
    touched = [
        each
        for number, each in enumerate(accesses)
        if number >= inputs or _is_used(block.arguments[number])
    ]
    indices = operations_where(op, lambda inner: inner.name == "linalg.index")
    return not any(reducing & set(each.loops) for each in touched) and not any(
        _dim(index) in reducing for index in indices
    )


def _rebuild(op: ir.Operation) -> None:
    reducing = set(reducing_loops(op))
    kinds = list(ir.ArrayAttr(op.attributes["iterator_types"]))
    kept = [loop for loop in range(len(kinds)) if loop not in reducing]
    places: list[ir.AffineExpr] = [
        ir.AffineDimExpr.get(kept.index(loop)) if loop in kept else ir.AffineConstantExpr.get(0)
        for loop in range(len(kinds))
    ]
    renamed = ir.AffineMap.get(len(kept), 0, places)
    block = op.regions[0].blocks[0]
    inputs = len(inputs_of(op))
    used = [
        number
        for number in range(len(op.operands))
        if number >= inputs or _is_used(block.arguments[number])
    ]
    maps = [ir.AffineMapAttr(each).value for each in ir.ArrayAttr(op.attributes["indexing_maps"])]
    attributes = {name: op.attributes[name] for name in op.attributes}
    attributes["indexing_maps"] = ir.ArrayAttr.get(
        [
            ir.AffineMapAttr.get(
                ir.AffineMap.get(
                    len(kept), 0, [result.compose(renamed) for result in maps[number].results]
                )
            )
            for number in used
        ]
    )
    attributes["iterator_types"] = ir.ArrayAttr.get([kinds[loop] for loop in kept])
    outputs = len(op.operands) - inputs
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(used) - outputs, outputs])
    with op.location, ir.InsertionPoint(op):
        new = ir.Operation.create(
            GENERIC,
            results=[result.type for result in op.results],
            operands=[op.operands[number] for number in used],
            attributes=attributes,
            regions=1,
        )
    for index in operations_where(op, lambda inner: inner.name == "linalg.index"):
        i64 = ir.IntegerType.get_signless(64)
        index.attributes["dim"] = ir.IntegerAttr.get(i64, kept.index(_dim(index)))
    for number in reversed(range(inputs)):
        if number not in used:
            block.erase_argument(number)
    block.append_to(new.regions[0])
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()


def _dim(index: ir.Operation) -> int:
    return ir.IntegerAttr(index.attributes["dim"]).value


def _is_used(value: ir.Value) -> bool:
    return next(iter(value.uses), None) is not None
