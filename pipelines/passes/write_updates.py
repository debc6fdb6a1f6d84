"""write-updates: results that are what an argument becomes are written to where that is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import copied
from ..tensors import cast_to, open_sizes
from ..updates import updates_of
from ..walking import operations_where
from .select_host_programs import MARK

# An attribute of an argument that is written to.
WRITTEN = "hirc.written"
# What gives a part or another shape of its first operand, in the same memory.
_VIEWS = (
    "tensor.cast",
    "tensor.collapse_shape",
    "tensor.expand_shape",
    "tensor.extract_slice",
    "tensor.reshape",
)
# The operand that bufferization may write to, of operations of one result.
_DESTINATIONS = {
    "bufferization.materialize_in_destination": 1,
    "tensor.insert": 1,
    "tensor.insert_slice": 1,
}


@register
@dataclass(frozen=True)
class WriteUpdates(Pass):
    """Writes each result that is `hirc.updates` to its argument, at the end of the function.

    Bufferization then finds what can be computed there from the start: a slice that is inserted is
    written alone, and what needs what was there before is computed first. Results that may lie in
    an argument's memory, and what one argument takes of another, are copied before.

      func.func @main(%x: tensor<1x4xf32>, %kept: tensor<8x4xf32> {hirc.state = "kept"})
          -> (tensor<8x4xf32> {hirc.updates = 1}) {
        %new = tensor.insert_slice %x into %kept[3, 0] [1, 4] [1, 1] : ...
        return %new : tensor<8x4xf32>
      }
    becomes
      func.func @main(%x: tensor<1x4xf32>,
                      %kept: tensor<8x4xf32> {hirc.state = "kept", hirc.written}) {
        %new = tensor.insert_slice %x into %kept[3, 0] [1, 4] [1, 1] : ...
        %there = bufferization.materialize_in_destination %new in %kept : ...

    Return:
      }
    """

    name: ClassVar[str] = "write-updates"

    def run(self, op: ir.Operation) -> None:
        for function in operations_where(op, lambda inner: MARK in inner.attributes):
            updates = updates_of(function)
            if updates:
                _write(function, updates)


def _write(function: ir.Operation, updates: dict[int, int]) -> None:
    block = function.regions[0].blocks[0]
    end = list(block)[-1].operation
    updated = {place: block.arguments[number] for place, number in updates.items()}
    written: list[ir.Value] = list(updated.values())
    given = list(end.operands)
    for op in operations_where(function, lambda inner: inner.name == "linalg.generic"):
        _give_own_place(op, written)
    with end.location, ir.InsertionPoint(end):
        roots: dict[ir.Value, ir.Value] = {}
        for place, target in updated.items():
            value = cast_to(given[place], target.type)
            same = roots.setdefault(_root(value), value)
            given[place] = _apart(value, target, written) if same == value else copied(value)
        for place, value in enumerate(given):
            is_new = any(value == given[other] for other in updated)
            if place not in updated and not is_new and _may_be_in(value, written):
                given[place] = copied(value)
        # A value that several arguments become is read where the first of them has it.
        there: dict[ir.Value, ir.Value] = {}
        for place, target in updated.items():
            value = given[place]
            if value != target:
                there[value] = _materialized(there.get(value, value), target)
        for place, value in enumerate(given):
            if place not in updated:
                given[place] = there.get(value, value)
        kept = [place for place in range(len(given)) if place not in updated]
        ir.Operation.create("func.return", operands=[given[place] for place in kept])
    end.erase()
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    results = [kind.results[place] for place in kept]
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(list(kind.inputs), results)
    )
    arguments = [ir.DictAttr(each) for each in ir.ArrayAttr(function.attributes["arg_attrs"])]
    for number in updates.values():
        entries = {item.name: item.attr for item in arguments[number]}
        arguments[number] = ir.DictAttr.get({**entries, WRITTEN: ir.UnitAttr.get()})
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([*arguments])
    attributes = ir.ArrayAttr(function.attributes["res_attrs"])
    function.attributes["res_attrs"] = ir.ArrayAttr.get([attributes[place] for place in kept])


def _give_own_place(op: ir.Operation, written: list[ir.Value]) -> None:
    """Lets a linalg.generic have memory of its own for what it does not read there."""
    arguments = list(op.regions[0].blocks[0].arguments)
    for place in range(len(op.operands) - len(op.results), len(op.operands)):
        begun = op.operands[place]
        if len(list(arguments[place].uses)) or not _may_be_in(begun, written):
            continue
        with op.location, ir.InsertionPoint(op):
            op.operands[place] = _empty_like(begun)


def _empty_like(value: ir.Value) -> ir.Value:
    kind = ir.RankedTensorType(value.type)
    return ir.Operation.create("tensor.empty", [kind], open_sizes(value)).results[0]


def _apart(value: ir.Value, target: ir.Value, written: list[ir.Value]) -> ir.Value:
    """Returns what a target becomes, in no other memory that is written to; computed there, if it
    can be.

    Only what an operation computes anew for itself can be elsewhere without a copy.
    """
    if value == target:
        return value
    if _root(value) in written:
        return copied(value)
    if not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        place = _initial(op, _number_of(value))
        if place is not None and _is_empty(op.operands[place]):
            op.operands[place] = target
    return value


def _root(value: ir.Value) -> ir.Value:
    """Returns the value that a value is a view of."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in _VIEWS:
        value = value.owner.operation.operands[0]
    return value


def _is_empty(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name == "tensor.empty"


def _number_of(value: ir.Value) -> int:
    assert isinstance(value, ir.OpResult)
    return value.result_number


def _initial(op: ir.Operation, number: int) -> int | None:
    """Returns the operand that a result of an operation of linalg may be written over."""
    if not op.name.startswith("linalg.") or len(op.results) > len(op.operands):
        return None
    return len(op.operands) - len(op.results) + number


def _may_be_in(value: ir.Value, written: list[ir.Value]) -> bool:
    """Returns whether a value may lie in memory that is written to."""
    waiting, seen = [value], list[ir.Value]()
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.append(value)
        if value in written:
            return True
        waiting += _sources(value)
    return False


def _sources(value: ir.Value) -> Iterable[ir.Value]:
    """Yields the values in whose memory a value may be."""
    if isinstance(value.owner, ir.Block):
        # Of a loop: where it begins, and what each iteration gives.
        return _around(value.owner.owner.operation)
    op = value.owner.operation
    if op.name in _VIEWS:
        return [op.operands[0]]
    if op.name in _DESTINATIONS:
        return [op.operands[_DESTINATIONS[op.name]]]
    if op.name == "arith.select":
        return list(op.operands)[1:]
    place = _initial(op, _number_of(value))
    if place is not None:
        return [op.operands[place]]
    if len(op.regions) or op.name == "func.call":
        return _around(op)
    return []


def _around(op: ir.Operation) -> list[ir.Value]:
    """Returns the tensors that a loop, a branch or a call is given or yields."""
    if op.name == "func.func":
        return []
    ends = [list(block)[-1].operation for region in op.regions for block in region.blocks]
    values = [value for each in (op, *ends) for value in each.operands]
    return [value for value in values if isinstance(value.type, ir.RankedTensorType)]


def _materialized(value: ir.Value, target: ir.Value) -> ir.Value:
    return ir.Operation.create(
        "bufferization.materialize_in_destination", [target.type], [value, target]
    ).results[0]
