"""How a compute operation with a `stream_axis` is taken apart along it."""

from __future__ import annotations

from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...pass_base import fail
from ..compute_ops import ELEMENTWISE_OPS, inputs_of, output_of, rank_of
from ..extents import Extent, Known, extent_of
from ..operand_axes import places_of, reduced_axes


@dataclass(frozen=True)
class Part:
    """What an iteration takes of a buffer or scalar: one place of `axis`, or all without an axis.

    `keeps_axis`: the axis stays, with size 1. `repeats`: the buffer's size may be 1, which
    broadcasts.
    """

    axis: int | None = None
    keeps_axis: bool = False
    repeats: bool = False


@dataclass(frozen=True)
class StreamPlan:
    """One operation, the part that it takes of every operand, and the number of iterations.

    `fits` says of every operand whether it is known to have a place for each iteration.
    """

    op: ir.Operation
    inputs: tuple[Part, ...]
    fits: tuple[bool, ...]
    output: Part
    extent: Extent


def plan_of(op: ir.Operation, known: Known) -> StreamPlan:
    """Returns how `op` is taken apart; ends the pass where its stream_axis is impossible."""
    output = output_of(op)
    rank = rank_of(output)
    axis = ir.IntegerAttr(op.attributes["stream_axis"]).value
    assert rank is not None
    if op.name == "hir.reduce" and "keep_dims" in op.attributes and axis in reduced_axes(op):
        fail(
            op,
            f"'stream_axis' is {axis}, which hir.reduce reduces; an axis that stays is spread over "
            "streams",
        )
    keeps = op.name in ("hir.matmul", "hir.linear") and axis >= rank - 2
    repeats = op.name in ELEMENTWISE_OPS or (op.name == "hir.matmul" and not keeps)
    inputs = [
        Part() if place is None else Part(place, keeps, repeats) for place in places_of(op, axis)
    ]
    extent = extent_of(output, axis, known)
    fits = [
        part.axis is None or extent_of(value, part.axis, known) == extent
        for value, part in zip(inputs_of(op), inputs, strict=True)
    ]
    return StreamPlan(op, tuple(inputs), tuple(fits), Part(axis, keeps), extent)


def attributes_of_part(plan: StreamPlan) -> dict[str, ir.Attribute]:
    """Returns the attributes of the operation on one iteration's parts, which has a destination."""
    attributes = {entry: plan.op.attributes[entry] for entry in plan.op.attributes}
    del attributes["stream_axis"]
    if plan.op.name == "hir.reduce":
        gone = plan.inputs[0].axis
        assert gone is not None
        axes = sorted(reduced_axes(plan.op))
        attributes["axes"] = ir.DenseI64ArrayAttr.get([axis - (axis > gone) for axis in axes])
    if plan.op.name == "hir.linear":
        has_bias = len(inputs_of(plan.op)) == 3
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, 1, int(has_bias), 1])
    return attributes
