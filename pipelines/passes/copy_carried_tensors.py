"""copy-carried-tensors: loops whose tensors cannot be updated in place copy what they compute."""

from __future__ import annotations

from typing import Any, ClassVar

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import arith, cf, ir, passmanager
from ...dialects.records import dataclass
from ..fusion.generic import GENERIC, inputs_of, outs_of
from ..pass_base import Pass, register
from ..rewriting import copied
from ..tensors import dim_of
from ..walking import is_used, operations_where
from .select_host_programs import MARK

BUFFERIZE = (
    "one-shot-bufferize{bufferize-function-boundaries=true "
    "function-boundary-type-conversion=identity-layout-map}"
)
_COPY = "bufferization.materialize_in_destination"
# What writes to its second operand.
_WRITES = ("tensor.insert", "tensor.insert_slice")
# What makes a tensor of its own: nothing that the loop carries is in its memory.
_FRESH = ("tensor.empty", "bufferization.alloc_tensor")
_VIEWS = ("tensor.cast", "tensor.collapse_shape", "tensor.expand_shape")


@register
@dataclass(frozen=True)
class CopyCarriedTensors(Pass):
    """Lets an scf.for carry any tensors, where bufferization finds one not updated in place.

    Each tensor that the loop's body yields is then copied to where the carried one is, at the end
    of the body; first to a place of its own, unless it is in one. A tensor that the body makes by
    writing to the carried one is left, where bufferization takes the rest so. Tensors that a
    branch of the loop gives are copied as well: one that may be the carried tensor or another would
    tie the two together. Operations whose results are written where another tensor was, which they
    do not read, write to one of their own instead.

      scf.yield %q, %p : tensor<?xf32>, tensor<?xf32>
    becomes
      %r = bufferization.alloc_tensor() copy(%q) : tensor<?xf32>
      %s = bufferization.alloc_tensor() copy(%p) : tensor<?xf32>
      %t = bufferization.materialize_in_destination %r in %p : ...
      %u = bufferization.materialize_in_destination %s in %q : ...
      scf.yield %t, %u : tensor<?xf32>, tensor<?xf32>
    """

    name: ClassVar[str] = "copy-carried-tensors"

    def run(self, op: ir.Operation) -> None:
        loops = [
            loop
            for function in operations_where(op, lambda inner: MARK in inner.attributes)
            for loop in operations_where(function, _carries_tensors)
        ]
        if not loops or _is_bufferized(op):
            return
        for work in operations_where(op, lambda inner: inner.name == GENERIC):
            _write_fresh(work)
        for loop in loops:
            for choice in operations_where(loop, _chooses_tensors):
                _own_choices(choice)
        left = [_copy(loop) for loop in loops]
        if any(left) and not _is_bufferized(op):
            for loop in loops:
                _copy(loop, all_of_them=True)


def _carries_tensors(op: ir.Operation) -> bool:
    return op.name == "scf.for" and any(
        isinstance(result.type, ir.RankedTensorType) for result in op.results
    )


def _chooses_tensors(op: ir.Operation) -> bool:
    return op.name == "scf.if" and any(
        isinstance(result.type, ir.RankedTensorType) for result in op.results
    )


def _is_bufferized(module: ir.Operation) -> bool:
    """Returns whether bufferization takes the module as it is. What it says
    otherwise is dropped.
    """
    copy = module.clone()
    manager = passmanager.PassManager.parse(f"builtin.module({BUFFERIZE})", module.context)
    handler: Any = module.context.attach_diagnostic_handler(_drop)
    try:
        manager.run(copy)
    except ir.MLIRError:
        return False
    finally:
        handler.detach()
    return True


def _drop(diagnostic: ir.Diagnostic) -> bool:
    del diagnostic
    return True


def _write_fresh(op: ir.Operation) -> None:
    """Gives each result of a linalg.generic, whose start it does not read, a tensor of its own."""
    first = len(inputs_of(op))
    arguments = op.regions[0].blocks[0].arguments
    for place, out in enumerate(outs_of(op), first):
        if not isinstance(out.type, ir.RankedTensorType) or is_used(arguments[place]):
            continue
        if not _is_made_by(out, _FRESH):
            with op.location, ir.InsertionPoint(op):
                sizes = [
                    dim_of(out, axis)
                    for axis, size in enumerate(ir.RankedTensorType(out.type).shape)
                    if size == DYNAMIC
                ]
                op.operands[place] = ir.Operation.create("tensor.empty", [out.type], sizes).results[
                    0
                ]


def _own_choices(choice: ir.Operation) -> None:
    """Lets both branches of an scf.if give tensors of their own."""
    for region in choice.regions:
        end = list(region.blocks[0])[-1].operation
        with end.location, ir.InsertionPoint(end):
            for place, value in enumerate(list(end.operands)):
                if isinstance(value.type, ir.RankedTensorType):
                    end.operands[place] = _in_own_memory(value)


def _copy(loop: ir.Operation, *, all_of_them: bool = False) -> bool:
    """Copies what a loop yields. Returns whether it left what is written to the carried tensor."""
    block = loop.regions[0].blocks[0]
    end = list(block)[-1].operation
    carried = list(block.arguments)[1:]
    with end.location, ir.InsertionPoint(end):
        pairs = list(enumerate(zip(end.operands, carried, strict=True)))
        moved = [
            (place, value, argument)
            for place, (value, argument) in pairs
            if value != argument
            and isinstance(value.type, ir.RankedTensorType)
            and not _is_copied(value)
        ]
        copied = [
            (place, _own(value, argument), argument)
            for place, value, argument in moved
            if all_of_them or not _is_written_to(value, argument)
        ]
        for place, value, argument in copied:
            end.operands[place] = ir.Operation.create(
                _COPY, [value.type], [value, argument]
            ).results[0]
    return len(copied) < len(moved)


def _is_copied(value: ir.Value) -> bool:
    return _is_made_by(value, (_COPY,))


def _is_written_to(value: ir.Value, argument: ir.Value) -> bool:
    """Returns whether a tensor is made by writing to another, in one step after the other."""
    while value != argument:
        if isinstance(value.owner, ir.Block):
            return False
        op = value.owner.operation
        number = ir.OpResult(value).result_number
        if op.name == "scf.if":
            ends = [list(region.blocks[0])[-1].operation for region in op.regions]
            return all(_is_written_to(end.operands[number], argument) for end in ends)
        if op.name == GENERIC:
            value = outs_of(op)[number]
        elif op.name == "scf.for":
            value = op.operands[3 + number]
        elif op.name in _WRITES:
            value = op.operands[1]
        else:
            return False
    return True


def _own(value: ir.Value, argument: ir.Value) -> ir.Value:
    """Returns what is yielded for an argument, in memory that nothing carried is in."""
    for axis, size in enumerate(ir.RankedTensorType(value.type).shape):
        if size == DYNAMIC:
            same = arith.cmpi(arith.CmpIPredicate.eq, dim_of(value, axis), dim_of(argument, axis))
            cf.AssertOp(same, f"scf.for: the size of dim {axis} of a carried tensor changes")
    return _in_own_memory(value)


def _in_own_memory(value: ir.Value) -> ir.Value:
    return value if _is_fresh(value) else copied(value)


def _is_fresh(value: ir.Value) -> bool:
    """Returns whether a tensor is a linalg operation's that is written to one of its own, or a
    copy.
    """
    while _is_made_by(value, _VIEWS):
        value = ir.OpResult(value).owner.operation.operands[0]
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != GENERIC:
        return _is_made_by(value, ("bufferization.alloc_tensor",))
    return _is_made_by(outs_of(owner.operation)[ir.OpResult(value).result_number], _FRESH)


def _is_made_by(value: ir.Value, names: tuple[str, ...]) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name in names
