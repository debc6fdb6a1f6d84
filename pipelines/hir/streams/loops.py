"""Writing the loop of a group of compute operations."""

from __future__ import annotations

from dataclasses import field

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...rewriting import index_constant
from ..compute_ops import destination_of, inputs_of
from ..fresh_buffers import replace_by_allocated
from ..host_checks import check
from ..loops import begin_loop
from ..runtime_sizes import open_result_sizes, size_value
from ..view_ops import select, slice_between
from .groups import StreamGroup
from .plan import Part, StreamPlan, attributes_of_part


@dataclass(frozen=True)
class _Operand:
    """A value, the part of it that an iteration takes, and the greatest index it has there.

    The loop's own index is used where `last` is None, else the lesser of both.
    """

    value: ir.Value
    part: Part
    last: ir.Value | None = None


_View = tuple[ir.Value, int, bool, ir.Value | None]


@dataclass
class _Loop:
    """The loop being written: its index, and the views that an iteration has taken so far."""

    stop: ir.Value
    op: ir.Operation
    index: ir.Value
    views: dict[_View, ir.Value] = field(default_factory=dict[_View, ir.Value])


def write_stream_loop(group: StreamGroup, pool: int) -> None:
    """Replaces a group's operations by one hir.for over a pool of streams.

    Results are allocated where they came from; the loop stands at the last operation.
    """
    outputs = [_output(plan) for plan in group.plans]
    last = group.plans[-1].op
    with ir.InsertionPoint(last), last.location:
        axis = group.plans[-1].output.axis
        assert axis is not None
        stop = size_value(outputs[-1], axis)
        loop_op = begin_loop(index_constant(0), stop, index_constant(1), streams=pool)
    body = loop_op.regions[0].blocks[0]
    loop = _Loop(stop, loop_op, body.arguments[0])
    for plan, output in zip(group.plans, outputs, strict=True):
        with plan.op.location:
            _write(plan, output, loop, body)
    for plan in group.plans:
        plan.op.erase()


def _output(plan: StreamPlan) -> ir.Value:
    destination = destination_of(plan.op)
    if destination is not None:
        return destination
    with ir.InsertionPoint(plan.op), plan.op.location:
        return replace_by_allocated(plan.op.results[0], open_result_sizes(plan.op))


def _write(plan: StreamPlan, output: ir.Value, loop: _Loop, body: ir.Block) -> None:
    with ir.InsertionPoint(loop.op):
        operands = [_operand(plan, loop, number) for number in range(len(plan.inputs))]
    operands.append(_Operand(output, plan.output))
    with ir.InsertionPoint(body):
        views = [_view(loop, operand) for operand in operands]
        ir.Operation.create(
            plan.op.name, results=[], operands=views, attributes=attributes_of_part(plan)
        )


def _operand(plan: StreamPlan, loop: _Loop, number: int) -> _Operand:
    """Returns what an iteration takes a view of, prepared before the loop.

    Where it is not known that the operand has a place for every iteration, the program checks
    that it has, or a single one where it broadcasts.
    """
    value, part = inputs_of(plan.op)[number], plan.inputs[number]
    if part.axis is None or plan.fits[number]:
        return _Operand(value, part)
    if part.repeats and ir.MemRefType(value.type).shape[part.axis] == 1:
        return _Operand(select(value, part.axis, index_constant(0)), Part())
    one, size = index_constant(1), size_value(value, part.axis)
    if isinstance(plan.extent, int) or destination_of(plan.op) is not None:
        # An open size of a result comes from the operands', which were checked then.
        fits = arith.cmpi(arith.CmpIPredicate.eq, size, loop.stop)
        wanted = "not the result's"
        if part.repeats:
            fits = arith.ori(fits, arith.cmpi(arith.CmpIPredicate.eq, size, one))
            wanted = "neither 1 nor the result's"
        check(fits, f"{plan.op.name}: the size of dim {part.axis} of operand {number} is {wanted}")
    return _Operand(value, part, arith.subi(size, one) if part.repeats else None)


def _view(loop: _Loop, operand: _Operand) -> ir.Value:
    """Returns what an iteration takes of an operand."""
    part = operand.part
    if part.axis is None:
        return operand.value
    key = (operand.value, part.axis, part.keeps_axis, operand.last)
    if key in loop.views:
        return loop.views[key]
    index = loop.index if operand.last is None else arith.minsi(loop.index, operand.last)
    if part.keeps_axis:
        following = arith.addi(index, index_constant(1))
        view = slice_between(operand.value, part.axis, index, following)
    else:
        view = select(operand.value, part.axis, index)
    loop.views[key] = view
    return view
