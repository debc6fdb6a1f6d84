"""drop-idle-loops: no loops along which nothing is read, reduced or written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...dialects.hir.loop_operation import loops_of
from ...dialects.mlir import ir
from ..fusion.access import Access, is_zero, loops_in
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
from ..fusion.region import Region
from ..pass_base import Pass, register
from ..walking import operations_where


@register
@dataclass(frozen=True)
class DropIdleLoops(Pass):
    """Takes the loops of reductions that were folded away from what is left.

    Where such a loop has no iterations, nothing would be written; results that do go along it
    become an operation of their own, whose loops are parallel.

      linalg.generic {indexing_maps = [#all, (d0, d1) -> (d0), #all],
                      iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<?x?xi64>) outs(%d, %e : tensor<?xi64>, tensor<?x?xi64>) {
      ^bb0(%a: i64, %o: i64, %p: i64):
        %s = arith.addi %a, %a : i64
        linalg.yield %zero, %s : i64, i64
      }
    becomes
      linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<?x?xi64>) outs(%e : tensor<?x?xi64>) {
      ^bb0(%a: i64, %p: i64):
        %s = arith.addi %a, %a : i64
        linalg.yield %s : i64
      }
      linalg.generic {indexing_maps = [(d0) -> (d0)], iterator_types = ["parallel"]}
          outs(%d : tensor<?xi64>) {
      ^bb0(%o: i64):
        linalg.yield %zero : i64
      }
    """

    name: ClassVar[str] = "drop-idle-loops"

    def run(self, op: ir.Operation) -> None:
        for found in operations_where(op, lambda inner: inner.name == GENERIC):
            if has_tensors_only(found) and not _reduces(found) and _has_idle_loops(found):
                _split(found)


@dataclass(frozen=True)
class _Part:
    """Outputs that go along the same loops, by their numbers, and a copy that makes only them."""

    outputs: Sequence[int]
    loops: Sequence[int]
    copy: ir.Operation


def _reduces(op: ir.Operation) -> bool:
    """Whether results are more than what one iteration makes of its elements."""
    arguments = list(op.regions[0].blocks[0].arguments)[len(inputs_of(op)) :]
    collective = operations_where(op, lambda inner: inner.name in COLLECTIVE)
    return any(map(_is_used, arguments)) or any(each.name != "hir.scan_loop" for each in collective)


def _has_idle_loops(op: ir.Operation) -> bool:
    """Whether some output lacks a loop, or a loop is a reduction that nothing goes along."""
    outputs = accesses_of(op)[len(inputs_of(op)) :]
    if any(not isinstance(each, int) and not is_zero(each) for to in outputs for each in to.index):
        return False
    lacking = any(len(set(each.loops)) < loop_count(op) for each in outputs)
    return lacking or set(reducing_loops(op)) != _scanned(op)


def _split(op: ir.Operation) -> None:
    """Replaces an operation by one for each set of loops that outputs go along."""
    parts = _parts(op)
    with op.location, ir.InsertionPoint(op):
        made = [_build(part) for part in parts]
    for part, new in zip(parts, made, strict=True):
        for number, result in zip(part.outputs, new.results, strict=True):
            op.results[number].replace_all_uses_with(result)
    if parts:
        op.erase()


def _parts(op: ir.Operation) -> list[_Part]:
    """The parts of an operation, that of most loops first; none where one needs other loops too."""
    along: dict[tuple[int, ...], list[int]] = {}
    for number, output in enumerate(accesses_of(op)[len(inputs_of(op)) :]):
        along.setdefault(tuple(sorted(set(output.loops))), []).append(number)
    parts: list[_Part] = []
    for loops in sorted(along, key=lambda each: (-len(each), each)):
        copy = op.clone(ir.InsertionPoint(op))
        # What stops the program does so once.
        _keep(copy, along[loops], asserts=not parts)
        parts.append(_Part(along[loops], loops, copy))
    if all(_touched(part.copy) <= set(part.loops) for part in parts):
        return parts
    for part in parts:
        part.copy.erase()
    return []


def _keep(op: ir.Operation, outputs: Sequence[int], *, asserts: bool) -> None:
    """Takes from a region what these outputs do not need."""
    *work, end = [inner.operation for inner in op.regions[0].blocks[0]]
    with end.location, ir.InsertionPoint(end):
        ir.Operation.create("linalg.yield", operands=[end.operands[number] for number in outputs])
    end.erase()
    for inner in reversed(work):
        needed = any(map(_is_used, inner.results)) or (
            asserts and operations_where(inner, lambda each: each.name == "cf.assert")
        )
        if not needed:
            inner.erase()


def _touched(op: ir.Operation) -> set[int]:
    """The loops that what an operation reads, asks the index of and scans depends on."""
    arguments = op.regions[0].blocks[0].arguments
    read = [
        each
        for each, argument in zip(accesses_of(op), arguments, strict=True)
        if _is_used(argument)
    ]
    indices = operations_where(op, lambda inner: inner.name == "linalg.index")
    dims = {ir.IntegerAttr(index.attributes["dim"]).value for index in indices}
    indexing = {loop for each in read for place in each.index for loop in loops_in(place)}
    return _scanned(op) | dims | indexing


def _scanned(op: ir.Operation) -> set[int]:
    scans = operations_where(op, lambda inner: inner.name == "hir.scan_loop")
    return {loop for each in scans for loop in loops_of(each)}


def _build(part: _Part) -> ir.Operation:
    """A part's operation at the current insertion point; it takes its copy."""
    op = part.copy
    count = len(part.loops)
    names = [
        part.loops.index(loop) if loop in part.loops else None for loop in range(loop_count(op))
    ]
    along = [name for loop in _scanned(op) if (name := names[loop]) is not None]
    inputs = len(inputs_of(op))
    block = op.regions[0].blocks[0]
    accesses = [each.renamed(names) for each in accesses_of(op)]
    region = Region()
    arguments: list[ir.Value | None] = [
        region.input(each, count) if number < inputs and _is_used(argument) else None
        for number, (each, argument) in enumerate(zip(accesses, block.arguments, strict=True))
    ]
    yielded = region.absorb(op, arguments, names)
    outputs: list[Access] = [accesses[inputs + number] for number in part.outputs]
    region.finish(outputs, yielded)
    new = make_generic(region.inputs, outputs, count, along, region.block)
    op.erase()
    return new


def _is_used(value: ir.Value) -> bool:
    return next(iter(value.uses), None) is not None
