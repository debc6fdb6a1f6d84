"""write-carried-tensors: what a loop carries on is computed where it is carried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.access import Access
from ..fusion.generic import (
    COLLECTIVE,
    GENERIC,
    accesses_of,
    has_tensors_only,
    inputs_of,
    loop_count,
    make_generic,
    reducing_loops,
)
from ..pass_base import Pass, register
from ..walking import is_used, operations_where
from .select_host_programs import MARK

_INSERT = "tensor.insert_slice"


@register
@dataclass(frozen=True)
class WriteCarriedTensors(Pass):
    """Lets a linalg.generic in an scf.for write to what the loop carries, and to slices of it.

    A result that is yielded, or inserted into a tensor, begins as the carried tensor, or as that
    slice, so that bufferization finds nothing to copy; one that goes to several places becomes as
    many results. What is elementwise alone is written to a carried tensor: its results are where
    their operands were. Assertions about a slice come before what is written to it.

      scf.for ... iter_args(%h = %start, %y = %empty) {
        %new = linalg.generic {...} ins(%x, %h) outs(%room)
        %all = tensor.insert_slice %new into %y[%t, 0] [1, 8] [1, 1]
        scf.yield %new, %all
      }
    becomes
      scf.for ... iter_args(%h = %start, %y = %empty) {
        %slice = tensor.extract_slice %y[%t, 0] [1, 8] [1, 1]
        %new:2 = linalg.generic {...} ins(%x, %h) outs(%h, %slice)
        %all = tensor.insert_slice %new#1 into %y[%t, 0] [1, 8] [1, 1]
        scf.yield %new#0, %all
      }
    """

    name: ClassVar[str] = "write-carried-tensors"

    def run(self, op: ir.Operation) -> None:
        for function in operations_where(op, lambda inner: MARK in inner.attributes):
            for loop in operations_where(function, lambda inner: inner.name == "scf.for"):
                body = _Body(loop)
                for work in body.works:
                    body.place_results(work)


class _Body:
    """The body of a loop."""

    def __init__(self, loop: ir.Operation) -> None:
        self._block = loop.regions[0].blocks[0]
        operations = [each.operation for each in self._block]
        self._checked = [op for op in operations if op.name == "cf.assert"]
        # The operations that may write elsewhere.
        self.works = [op for op in operations if op.name == GENERIC and has_tensors_only(op)]
        self._end = operations[-1]
        self._carried = list(self._block.arguments)[1:]

    def place_results(self, work: ir.Operation) -> None:
        """Gives the results of an operation the places that they go to."""
        places = [
            _Use(number, use.owner.operation, use.operand_number)
            for number, result in enumerate(work.results)
            if not is_used(_start(work, number))
            for use in result.uses
        ]
        places = [use for use in places if self._is_carried(work, use) or self._fits(work, use)]
        if places:
            self._rewrite(work, places)

    def _is_carried(self, work: ir.Operation, use: _Use) -> bool:
        """Returns whether a use yields the result, which may lie where the carried tensor does."""
        if use.owner != self._end:
            return False
        carried = self._carried[use.operand]
        if carried.type != work.results[use.result].type or not _is_elementwise(work):
            return False
        accesses = accesses_of(work)
        own = accesses[len(inputs_of(work)) + use.result]
        reads = [each for each in accesses if each.value == carried]
        return (
            own.is_whole
            and all(each.index == own.index for each in reads)
            and self._is_over(carried, work)
        )

    def _is_over(self, value: ir.Value, work: ir.Operation) -> bool:
        """Returns whether nothing uses a value, or a view of it, after an operation."""
        users = [use.owner.operation for use in value.uses]
        return all(
            user == work
            or (
                self._is_before(user, work)
                and (
                    not user.name.startswith("tensor.")
                    or all(self._is_over(result, work) for result in user.results)
                )
            )
            for user in users
        )

    def _fits(self, work: ir.Operation, use: _Use) -> bool:
        """Returns whether a use inserts the result into a tensor, at a place known before."""
        insert = use.owner
        if insert.name != _INSERT or use.operand != 0 or insert.block != self._block:
            return False
        needed = [*list(insert.operands)[1:]]
        for check in self._checks(work, insert):
            needed += check.operands
        return all(self._is_known(value, work) for value in needed)

    def _checks(self, work: ir.Operation, insert: ir.Operation) -> list[ir.Operation]:
        """The assertions between an operation and one that inserts its result."""
        return [
            op
            for op in self._checked
            if not op.is_before_in_block(work) and op.is_before_in_block(insert)
        ]

    def _is_known(self, value: ir.Value, work: ir.Operation) -> bool:
        """Returns whether a value is there before an operation."""
        if isinstance(value.owner, ir.Block):
            return True
        owner = value.owner.operation
        return owner.block != self._block or self._is_before(owner, work)

    def _is_before(self, op: ir.Operation, work: ir.Operation) -> bool:
        """Returns whether an operation, or what it lies in, comes before another of the body."""
        while op.block != self._block:
            parent = op.parent
            assert parent is not None
            op = parent.operation
        return op.is_before_in_block(work)

    def _rewrite(self, work: ir.Operation, places: Sequence[_Use]) -> None:
        """Makes an operation write to places; a result's first takes its number."""
        accesses, first = accesses_of(work), len(inputs_of(work))
        block = work.regions[0].blocks[0]
        end = list(block)[-1].operation
        outputs, yielded = accesses[first:], list(end.operands)
        placed: dict[int, _Use] = {}
        with ir.InsertionPoint(work), work.location:
            for use in places:
                written = Access(self._target(work, use), outputs[use.result].index)
                if use.result not in placed:
                    outputs[use.result] = written
                    placed[use.result] = use
                    continue
                placed[len(outputs)] = use
                outputs.append(written)
                yielded.append(yielded[use.result])
                block.add_argument(_start(work, use.result).type, work.location)
            with ir.InsertionPoint(end), end.location:
                ir.Operation.create(end.name, operands=yielded)
            end.erase()
            loops, reducing = loop_count(work), reducing_loops(work)
            made = make_generic(accesses[:first], outputs, loops, reducing, block, of=[work])
        for number, use in placed.items():
            use.owner.operands[use.operand] = made.results[number]
        for old, new in zip(work.results, list(made.results)[: len(work.results)], strict=True):
            old.replace_all_uses_with(new)
        work.erase()

    def _target(self, work: ir.Operation, use: _Use) -> ir.Value:
        """Returns what a use of the result writes to, before the operation."""
        if use.owner == self._end:
            return self._carried[use.operand]
        for check in self._checks(work, use.owner):
            check.move_before(work)
        source, *others = use.owner.operands
        attributes = {name: use.owner.attributes[name] for name in use.owner.attributes}
        segments = list(ir.DenseI32ArrayAttr(attributes["operandSegmentSizes"]))
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(segments[1:])
        return ir.Operation.create(
            "tensor.extract_slice", results=[source.type], operands=others, attributes=attributes
        ).results[0]


@dataclass(frozen=True)
class _Use:
    """A use of a result: of that number, as that operand of what it goes to."""

    result: int
    owner: ir.Operation
    operand: int


def _start(work: ir.Operation, result: int) -> ir.Value:
    """The block's argument that a result begins as."""
    return work.regions[0].blocks[0].arguments[len(inputs_of(work)) + result]


def _is_elementwise(work: ir.Operation) -> bool:
    names = {each.operation.name for each in work.regions[0].blocks[0]}
    return not reducing_loops(work) and names.isdisjoint(COLLECTIVE)
