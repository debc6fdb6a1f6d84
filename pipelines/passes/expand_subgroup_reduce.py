"""Lowers gpu.subgroup_reduce to warp shuffles, or to the chip's warp reduction."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..i32 import i32_constant
from ..lane_reduction import (
    WARP_LANES,
    bit_width,
    fills_every_warp,
    lanes_in_warp,
    named_reduction,
    reduce_by_exchange,
    reduce_into_first,
    reduction_kind,
    shuffle,
    thread_position,
)
from ..pass_base import Pass, fail, register
from ..rewriting import element_type, rewrite_each

_REDUX_KINDS = {
    "add": "add",
    "minui": "umin",
    "minsi": "min",
    "maxui": "umax",
    "maxsi": "max",
    "and": "and",
    "or": "or",
    "xor": "xor",
}


@register
@dataclass(frozen=True)
class ExpandSubgroupReduce(Pass):
    """Expands gpu.subgroup_reduce: every kind, clusters, vectors, and short last warps.

    When the block size is known to fill every warp, lanes exchange their values pairwise:

        %sum = gpu.subgroup_reduce add %x cluster(size = 2) : (f32) -> f32

    becomes

        %other, %valid = gpu.shuffle xor %x, %c1, %c32 : f32
        %sum = arith.addf %x, %other : f32

    Otherwise the first lane of the cluster gathers the values of those lanes that exist, and
    the others read its result. All lanes of the warp have to execute the op, with the `uniform`
    flag or without it.

    With `redux`, which chips from sm_80 on can take, integers of up to 32 bits are reduced over
    the whole warp by nvvm.redux.sync. `warp_lanes` are the lanes of a warp, or wavefront.
    """

    name: ClassVar[str] = "expand-subgroup-reduce"
    subjects: ClassVar[tuple[str, ...]] = ("gpu.subgroup_reduce",)

    redux: bool = False
    warp_lanes: int = WARP_LANES

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(
            op, {"gpu.subgroup_reduce": lambda reduce_op: [self._expand(reduce_op)]}
        )

    def _expand(self, op: ir.Operation) -> ir.Value:
        value, kind = op.operands[0], reduction_kind(op)
        assert kind is not None
        size = _attribute(op, "cluster_size", self.warp_lanes)
        stride = _attribute(op, "cluster_stride", 1)
        if size * stride > self.warp_lanes:
            fail(
                op,
                f"a cluster of {size} lanes, {stride} apart, does not fit in a warp of "
                f"{self.warp_lanes} lanes",
            )
        if self.redux and size == WARP_LANES and _fits_redux(kind, value.type):
            return _redux(value, kind)
        reduction = named_reduction(kind, element_type(value.type))
        if fills_every_warp(op, self.warp_lanes):
            return reduce_by_exchange(value, reduction, size, stride, self.warp_lanes)
        position = thread_position(op, self.warp_lanes)
        result = reduce_into_first(
            value,
            reduction,
            position.lane,
            size,
            stride=stride,
            lanes=lanes_in_warp(position),
            warp_lanes=self.warp_lanes,
        )
        # The cluster's first lane: the lane number without the bits that count within it.
        first = arith.andi(position.lane, i32_constant(~((size - 1) * stride)))
        return shuffle("idx", result, first, self.warp_lanes)


def _attribute(op: ir.Operation, name: str, default: int) -> int:
    return ir.IntegerAttr(op.attributes[name]).value if name in op.attributes else default


def _fits_redux(kind: str, value_type: ir.Type) -> bool:
    return (
        kind in _REDUX_KINDS and isinstance(value_type, ir.IntegerType) and value_type.width <= 32
    )


def _redux(value: ir.Value, kind: str) -> ir.Value:
    """Returns the warp's reduction by one instruction; lanes that do not exist take
    no part in it.
    """
    i32 = ir.IntegerType.get_signless(32)
    narrow = bit_width(value.type) < 32
    signed = kind in ("minsi", "maxsi")
    wide = (arith.extsi if signed else arith.extui)(i32, value) if narrow else value
    result = ir.Operation.create(
        "nvvm.redux.sync",
        results=[i32],
        operands=[wide, i32_constant(-1)],
        attributes={"kind": ir.Attribute.parse(f"#nvvm<reduction_kind {_REDUX_KINDS[kind]}>")},
    ).results[0]
    return arith.trunci(value.type, result) if narrow else result
