"""hir.for, hir.stop_loop, hir.if and hir.result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.mlir import ir
from .. import fault
from ..frame import Frame
from ..registry import interprets
from ..results import Results


@interprets("hir.for")
def for_(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Returns a host loop; with `streams` each iteration has a stream, between those before and
    after.
    """
    start, stop, step = (frame.number(operand) for operand in op.operands)
    if step <= 0:
        fault.fail(op, f"the step of a loop is positive, not {step}")
    block = op.regions[0].blocks[0]
    pool = ir.IntegerAttr(op.attributes["streams"]).value if "streams" in op.attributes else None
    entry = frame.stream
    used = []
    for iteration, index in enumerate(range(start, stop, step)):
        frame.values[block.arguments[0]] = index
        if pool is not None:
            frame.stream = frame.interpreter.streams.numbered(iteration, pool)
            frame.stream.wait_for(entry)
            used.append(frame.stream)
        # What a loop's block hands out says whether the iteration is the last one.
        if any(is_last for _, (is_last,) in frame.run_block(block)):
            break
    frame.stream = entry
    for stream in used:
        entry.wait_for(stream)
    return []


@interprets("hir.if")
def if_(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Runs one branch; its outputs are the results."""
    taken = op.regions[0 if frame.value(op.operands[0]) else 1]
    if not len(taken.blocks):
        return [Results([])]
    collected = frame.run_block(taken.blocks[0])
    return [Results([values[0] for _, values in collected])]


@interprets("hir.result")
def result(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """One value of the results; memory that a call made is this program's from here on."""
    results = frame.value(op.operands[0])
    assert isinstance(results, Results)
    number = ir.IntegerAttr(op.attributes["index"]).value
    if not 0 <= number < len(results.values):
        fault.fail(op, f"there is no result {number}: the results are {len(results.values)}")
    value = results.values[number]
    results.take(value, op.results[0])
    return [value]
