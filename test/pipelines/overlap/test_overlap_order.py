"""Loops of communications and products, followed stream by stream: what waits for what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest

from hirc import program as build
from hirc.dialects.mlir import ir
from hirc.pipelines.pipeline import parse_pipeline, run_steps
from support.host_ir import parsed

_STEPS = 4
Work = tuple[str, int]
Works = frozenset[Work]


@dataclass
class _Order:
    """What comes certainly before each transfer and product, counted in the order of the host.

    Communications of a device go one after another, beside its streams.
    """

    before: dict[Work, Works] = field(default_factory=dict[Work, Works])
    _streams: dict[str, Works] = field(default_factory=dict[str, Works])
    _lane: Works = frozenset()
    _current: str = "caller"
    _sets: dict[ir.Value, Works] = field(default_factory=dict[ir.Value, Works])
    _names: dict[ir.Value, str] = field(default_factory=dict[ir.Value, str])
    _numbers: dict[ir.Value, int] = field(default_factory=dict[ir.Value, int])

    def run(self, block: Iterable[ir.OpView]) -> None:
        for view in block:
            self._step(view.operation)

    def _of(self, stream: str) -> Works:
        return self._streams.get(stream, frozenset())

    def _begin(self, kind: str, before: Works) -> Works:
        work = (kind, sum(each[0] == kind for each in self.before))
        self.before[work] = before
        return before | {work}

    def _step(self, op: ir.Operation) -> None:
        operands, numbers = list(op.operands), self._numbers
        match op.name:
            case "arith.constant":
                numbers[op.results[0]] = ir.IntegerAttr(op.attributes["value"]).value
            case "arith.minsi":
                numbers[op.results[0]] = min(numbers[each] for each in operands)
            case "hir.current_stream":
                self._names[op.results[0]] = self._current
            case "hir.stream":
                pool = ir.IntegerAttr(op.attributes["pool"]).value
                self._names[op.results[0]] = f"pool {numbers[operands[0]] % pool}"
            case "hir.set_stream":
                self._current = self._names[operands[0]]
            case "hir.record":
                self._sets[op.results[0]] = self._of(self._names[operands[0]])
            case "hir.wait_event":
                stream = self._names[operands[1]]
                self._streams[stream] = self._of(stream) | self._sets[operands[0]]
            case "hir.wait_stream":
                waiter, signaller = (self._names[each] for each in operands)
                self._streams[waiter] = self._of(waiter) | self._of(signaller)
            case "hir.communicate":
                self._lane = self._begin("transfer", self._lane | self._of(self._current))
                self._sets[op.results[0]] = self._lane
            case "hir.wait":
                self._streams[self._current] = self._of(self._current) | self._sets[operands[0]]
            case "hir.linear" | "hir.unary":
                kind = "product" if op.name == "hir.linear" else "after"
                self._streams[self._current] = self._begin(kind, self._of(self._current))
            case "hir.for":
                start, stop, step = (numbers[each] for each in operands)
                current = self._current
                for index in range(start, stop, step):
                    body = op.regions[0].blocks[0]
                    numbers[body.arguments[0]] = index
                    self.run(body)
                self._current = current
            case _:
                assert not op.name.startswith("hir.") or op.name in _NO_WORK, op.name


_NO_WORK = ("hir.allocate", "hir.communicator", "hir.output", "hir.reshape", "hir.select")


def _followed(kind: str) -> _Order:
    with build("main") as p:
        team = p.communicator([0, 1])
        rows = 8 if kind == "allgather" else 16
        x, w = p.input("x", (rows, 4), "f32"), p.input("w", (4, 4), "f32")
        if kind == "allgather":
            whole = p.allocate((16, 4), "f32")
            p.communicate(kind, x, whole, team).wait()
            y = p.linear(whole, w, overlap_steps=_STEPS)
        else:
            y = p.allocate((8, 4), "f32")
            product = p.linear(x, w, overlap_steps=_STEPS)
            p.communicate(kind, product, y, team, reduction="sum").wait()
        p.output("y", y.neg())
    module = parsed(str(p))
    passes = "hir-overlap-communication,hir-expand-stream-loops"
    run_steps(module.operation, parse_pipeline(passes, module.context))
    order = _Order()
    order.run(module.body.operations[0].regions[0].blocks[0])
    return order


@pytest.mark.parametrize("kind", ["allgather", "reduce-scatter"])
def test_steps_wait_for_nothing_but_what_they_need(kind: str) -> None:
    before = _followed(kind).before
    arrives = kind == "allgather"
    for step in range(_STEPS):
        transfer, product = ("transfer", step), ("product", step)
        first, second = (transfer, product) if arrives else (product, transfer)
        assert first in before[second]
        # Neither the next transfer nor the next product waits for this step's other half.
        for other in range(_STEPS):
            if other != step:
                assert ("product", other) not in before[product]
            if other > step:
                assert ("transfer", other) not in before[product]
                assert arrives or ("product", other) not in before[transfer]
            if arrives:
                assert ("product", other) not in before[transfer]
    # What follows the loop comes after all of it.
    assert before["after", 0] == frozenset(before) - {("after", 0)}
