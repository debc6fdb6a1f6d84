"""hir-expand-stream-loops: loops over streams become serial loops with explicit streams."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..hir.loops import begin_loop
from ..hir.streams.ops import (
    current_stream,
    pool_stream,
    record,
    set_stream,
    wait_event,
    wait_stream,
)
from ..pass_base import Pass, register
from ..rewriting import index_constant
from ..walking import operations_where


@register
@dataclass(frozen=True)
class HirExpandStreamLoops(Pass):
    """Puts each iteration of a loop with `streams` on its own stream of a pool.

      "hir.for"(%zero, %n, %one) ({
      ^bb0(%i: index):
        ...
      }) {streams = 4 : i64} : (index, index, index) -> ()
    becomes
      %here = "hir.current_stream"() : () -> !hir.stream_t
      %entry = "hir.record"(%here) : (!hir.stream_t) -> !hir.event_t
      "hir.for"(%zero, %n, %one) ({
      ^bb0(%i: index):
        %mine = "hir.stream"(%i) {pool = 4 : i64} : (index) -> !hir.stream_t
        "hir.wait_event"(%entry, %mine) : (!hir.event_t, !hir.stream_t) -> ()
        "hir.set_stream"(%mine) : (!hir.stream_t) -> ()
        ...
      }) : (index, index, index) -> ()
      "hir.for"(%zero, %used, %one) ({
      ^bb0(%number: index):
        %each = "hir.stream"(%number) {pool = 4 : i64} : (index) -> !hir.stream_t
        "hir.wait_stream"(%here, %each) : (!hir.stream_t, !hir.stream_t) -> ()
      }) : (index, index, index) -> ()
    where %used is the number of iterations, at most 4.

    Iterations wait for one event from before the loop, and are joined after it, so none waits for
    another but those that share its stream. A pool is the program's, so a loop within a loop uses
    streams of the outer one's other iterations too: its iterations then also wait for what those
    have put there before, which is more than needed, and never a cycle, since a wait is always for
    work that was put into a stream earlier.
    """

    name: ClassVar[str] = "hir-expand-stream-loops"

    def run(self, op: ir.Operation) -> None:
        for loop in operations_where(op, _has_streams):
            with loop.location:
                _expand(loop)


def _has_streams(op: ir.Operation) -> bool:
    return op.name == "hir.for" and "streams" in op.attributes


def _expand(loop: ir.Operation) -> None:
    pool = ir.IntegerAttr(loop.attributes["streams"]).value
    start, stop, step = loop.operands
    with ir.InsertionPoint(loop):
        here = current_stream()
        entry = record(here)
    body = loop.regions[0].blocks[0]
    with ir.InsertionPoint.at_block_begin(body):
        mine = pool_stream(_iteration(body.arguments[0], start, step), pool)
        wait_event(entry, mine)
        set_stream(mine)
    del loop.attributes["streams"]
    with ir.InsertionPoint.after(loop):
        used = arith.minsi(_iterations(start, stop, step), index_constant(pool))
        join = begin_loop(index_constant(0), used, index_constant(1))
    block = join.regions[0].blocks[0]
    with ir.InsertionPoint(block):
        wait_stream(here, pool_stream(block.arguments[0], pool))


def _iteration(index: ir.Value, start: ir.Value, step: ir.Value) -> ir.Value:
    """Returns the number of an iteration, counted from 0."""
    distance = index if _is_constant(start, 0) else arith.subi(index, start)
    return distance if _is_constant(step, 1) else arith.divsi(distance, step)


def _iterations(start: ir.Value, stop: ir.Value, step: ir.Value) -> ir.Value:
    """Returns how many iterations a loop has: below 1 for none."""
    distance = stop if _is_constant(start, 0) else arith.subi(stop, start)
    return distance if _is_constant(step, 1) else arith.ceildivsi(distance, step)


def _is_constant(value: ir.Value, number: int) -> bool:
    owner = value.owner
    if not isinstance(owner, ir.Operation | ir.OpView) or owner.operation.name != "arith.constant":
        return False
    return ir.IntegerAttr(owner.operation.attributes["value"]).value == number
