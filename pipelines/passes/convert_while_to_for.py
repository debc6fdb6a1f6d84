"""convert-while-to-for: loops of functions on tensors that end when a condition says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects import hir
from ...dialects.mlir import arith, ir, scf
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import constant, index_constant
from ..walking import operations_where
from .select_host_programs import MARK

# A loop has that many iterations where no condition ends it.
_MOST = (1 << 63) - 1


@register
@dataclass(frozen=True)
class ConvertWhileToFor(Pass):
    """Makes each scf.while a scf.for that a hir.stop_loop ends: the condition is computed first.

    Takes the functions that carry the unit attribute `hir.program` (see select-host-programs).

      %e = scf.while (%p = %x) : (tensor<f32>) -> tensor<f32> {
        %c = ... %p
        scf.condition(%c) %p : tensor<f32>
      } do {
      ^bb0(%q: tensor<f32>):
        %s = ... %q
        scf.yield %s : tensor<f32>
      }
    becomes
      %c = ... %x
      %count = arith.select %c, %most, %c0 : index
      %e = scf.for %i = %c0 to %count step %c1 iter_args(%q = %x) -> (tensor<f32>) {
        %s = ... %q
        %d = ... %s
        %is_last = arith.xori %d, %true : i1
        "hir.stop_loop"(%is_last) : (i1) -> ()
        scf.yield %s : tensor<f32>
      }
    """

    name: ClassVar[str] = "convert-while-to-for"

    def run(self, op: ir.Operation) -> None:
        for function in operations_where(op, lambda inner: MARK in inner.attributes):
            # An outer loop comes before those in it, and its condition, of which it makes two.
            while loops := operations_where(function, _is_of_host):
                _convert(loops[0])


def _is_of_host(op: ir.Operation) -> bool:
    """Returns whether it is a scf.while that is in no linalg operation."""
    if op.name != "scf.while":
        return False
    parent = op.parent
    while parent is not None:
        if parent.name.startswith(("linalg.", "gpu.")):
            return False
        parent = parent.parent
    return True


def _convert(loop: ir.Operation) -> None:
    truth = ir.IntegerType.get_signless(1)
    again = loop.clone(ir.InsertionPoint(loop))
    with loop.location, ir.InsertionPoint(loop):
        goes_on, begin = _taken(again.regions[0].blocks[0], list(loop.operands), loop)
        count = arith.select(goes_on, index_constant(_MOST), index_constant(0))
        made = scf.ForOp(index_constant(0), count, index_constant(1), begin)
        with ir.InsertionPoint(made.body):
            end = scf.YieldOp([])
        carried = list(made.inner_iter_args)
        values = _moved(loop.regions[1].blocks[0], carried, end.operation)
        goes_on, values = _taken(loop.regions[0].blocks[0], values, end.operation)
        with ir.InsertionPoint(end):
            hir.StopLoopOp(arith.xori(goes_on, constant(truth, 1)))
            scf.YieldOp(values)
        end.operation.erase()
    for old, new in zip(loop.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    loop.erase()
    again.erase()


def _taken(
    block: ir.Block, given: Sequence[ir.Value], place: ir.Operation
) -> tuple[ir.Value, list[ir.Value]]:
    """Moves a condition's operations. Returns the condition and what goes on with it."""
    goes_on, *values = _moved(block, given, place)
    return goes_on, values


def _moved(block: ir.Block, given: Sequence[ir.Value], place: ir.Operation) -> list[ir.Value]:
    """Moves a block's operations before a place. Returns what its end has."""
    for argument, value in zip(block.arguments, given, strict=True):
        argument.replace_all_uses_with(value)
    *body, end = [view.operation for view in block]
    for op in body:
        op.move_before(place)
    return list(end.operands)
