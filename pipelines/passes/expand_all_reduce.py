"""Lowers gpu.all_reduce to warp shuffles and workgroup memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from ...dialects.mlir import arith, gpu, ir, memref, scf
from ...dialects.records import dataclass
from ..i32 import as_index, i32_constant
from ..lane_reduction import (
    WARP_LANES,
    Reduction,
    ThreadPosition,
    lanes_in_warp,
    named_reduction,
    reduce_into_first,
    reduction_kind,
    region_reduction,
    shuffle,
    thread_position,
    warps_in_block,
)
from ..pass_base import Pass, fail, register
from ..rewriting import rewrite_each

# The most warps that a block has, of 1024 threads: a slot for each, and one for the result.
_WARPS = 32
_SLOTS = _WARPS + 1


@register
@dataclass(frozen=True)
class ExpandAllReduce(Pass):
    """Expands gpu.all_reduce in gpu modules: every named kind, or a body of one block.

    Each warp reduces by shuffles, its first lane writes the result to workgroup memory, the
    first warp reduces those results, and every thread reads the total. A block that is known to
    be one warp needs the shuffles alone. Values are combined in the order of the threads' linear
    index, so a body has to be associative but need not be commutative. All threads of the block
    have to execute the op, with the `uniform` flag or without it.

        %sum = gpu.all_reduce add %x {} : (f32) -> f32

    becomes

        %other, %valid = gpu.shuffle down %x, %c1, %c32 : f32
        %pair = arith.addf %x, %other : f32
        ...
        memref.store %warp_sum, %slots[%warp] : memref<33xf32, #gpu.address_space<workgroup>>
        gpu.barrier
        ...
        gpu.barrier
        %sum = memref.load %slots[%c32] : memref<33xf32, #gpu.address_space<workgroup>>

    `warp_lanes` are the lanes of a warp, or wavefront. The slots are one array a gpu module and
    element type. Reductions that follow each other may share it: between a thread's reading of a
    slot and the next writing of it lies a barrier.
    """

    name: ClassVar[str] = "expand-all-reduce"
    subjects: ClassVar[tuple[str, ...]] = ("gpu.all_reduce",)
    warp_lanes: int = WARP_LANES

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(op, {"gpu.all_reduce": partial(_expand, self.warp_lanes)})


def _expand(warp_lanes: int, op: ir.Operation) -> Sequence[ir.Value] | None:
    if _enclosing_module(op) is None:
        return None
    value = op.operands[0]
    kind = reduction_kind(op)
    if kind is not None:
        reduction = named_reduction(kind, value.type)
    else:
        if len(list(op.regions[0].blocks)) != 1:
            fail(op, "the body of 'gpu.all_reduce' must be a single block to be lowered")
        reduction = region_reduction(op.regions[0].blocks[0])
    position = thread_position(op, warp_lanes)
    lanes = lanes_in_warp(position)
    first = reduce_into_first(value, reduction, position.lane, lanes, warp_lanes=warp_lanes)
    if isinstance(position.threads, int) and position.threads <= warp_lanes:
        return [shuffle("idx", first, i32_constant(0), warp_lanes)]
    return [_across_warps(op, first, reduction, position)]


def _across_warps(
    op: ir.Operation, value: ir.Value, reduction: Reduction, position: ThreadPosition
) -> ir.Value:
    """Reduces the warps' results, which their first lanes hold, and gives all threads the total."""
    slots = _slots(op, value.type)
    total_slot = arith.constant(ir.IndexType.get(), _WARPS)
    zero = i32_constant(0)
    is_first_lane = arith.cmpi(arith.CmpIPredicate.eq, position.lane, zero)
    with _when(is_first_lane):
        memref.store(value, slots, [as_index(position.warp)])
    gpu.barrier()
    with _when(arith.cmpi(arith.CmpIPredicate.eq, position.warp, zero)):
        # Lanes beyond the warps take no part: they read a slot that somebody has written.
        warps = warps_in_block(position)
        mine = memref.load(slots, [as_index(_below(position.lane, warps))])
        total = reduce_into_first(
            mine, reduction, position.lane, warps, warp_lanes=position.warp_lanes
        )
        with _when(is_first_lane):
            memref.store(total, slots, [total_slot])
    gpu.barrier()
    return memref.load(slots, [total_slot])


def _below(lane: ir.Value, count: int | ir.Value) -> ir.Value:
    """Returns the lane, or the last one below `count`."""
    one = i32_constant(1)
    last = i32_constant(count - 1) if isinstance(count, int) else arith.subi(count, one)
    return arith.minui(lane, last)


class _when:
    """Emits what follows in the `with` block under scf.if."""

    def __init__(self, condition: ir.Value) -> None:
        self._block = scf.IfOp(condition).then_block
        self._point = ir.InsertionPoint(self._block)

    def __enter__(self) -> None:
        self._point.__enter__()

    def __exit__(self, *exception: object) -> None:
        scf.yield_([])
        self._point.__exit__(*exception)


def _slots(op: ir.Operation, element_type: ir.Type) -> ir.Value:
    """Returns the workgroup memory for reductions of `element_type`, made when first asked for."""
    module = _enclosing_module(op)
    assert module is not None
    space = ir.Attribute.parse("#gpu.address_space<workgroup>")
    slots_type = ir.MemRefType.get([_SLOTS], element_type, memory_space=space)
    name = f"all_reduce_slots_{element_type}"
    symbols = ir.SymbolTable(module)
    while name in symbols and not _is_slots(symbols[name], slots_type):
        name += "_"
    if name not in symbols:
        with ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
            memref.global_(name, slots_type, sym_visibility="private")
    return memref.get_global(slots_type, name)


def _is_slots(op: ir.Operation | ir.OpView, slots_type: ir.Type) -> bool:
    return (
        op.operation.name == "memref.global"
        and ir.TypeAttr(op.operation.attributes["type"]).value == slots_type
    )


def _enclosing_module(op: ir.Operation) -> ir.Operation | None:
    parent = op.parent
    while parent is not None and parent.name != "gpu.module":
        parent = parent.parent
    return parent
