"""Threads that work on one row together, and reductions across them."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, gpu, ir, memref, scf
from ....dialects.records import dataclass
from ...lane_reduction import WARP_LANES, i32_constant, shuffle
from ...rewriting import index_constant
from .collectives import Collective, State

_SHARED = 3
_CLUSTER = 7
# Clusters of so many blocks begin without a fence.
_RELAXED_BLOCKS = 8


@dataclass(frozen=True)
class TeamShape:
    """`lanes` of a warp, or with all of a warp's lanes whole blocks: `blocks` of one cluster.

    `threads` is how many a block has, `rows` how many teams.
    """

    lanes: int
    threads: int
    blocks: int = 1
    rows: int = 1


class Team:
    """The team of the thread that executes the kernel. To be made at the kernel's beginning.

    `place` is the thread's place in its team, `size` the team's threads, `row` the team's number.
    """

    def __init__(self, shape: TeamShape) -> None:
        self._shape = shape
        self._thread = gpu.thread_id(gpu.Dimension.x)
        self._reductions = 0
        self._has_met = False
        block = gpu.block_id(gpu.Dimension.x)
        self._rank: ir.Value | None = None
        if shape.rows > 1:
            lanes = index_constant(shape.lanes)
            self.place = arith.remui(self._thread, lanes)
            self.size = lanes
            own = arith.divui(self._thread, lanes)
            self.row = arith.addi(arith.muli(block, index_constant(shape.rows)), own)
            return
        threads = index_constant(shape.threads)
        self.place, self.size, self.row = self._thread, threads, block
        if shape.blocks > 1:
            blocks = index_constant(shape.blocks)
            self._rank = arith.remui(block, blocks)
            self.row = arith.divui(block, blocks)
            self.place = arith.addi(arith.muli(self._rank, threads), self._thread)
            self.size = arith.muli(threads, blocks)
            # There is nothing yet that the others would have to see. The fence of the other form
            # helps smaller clusters, whose loads then begin together (H200: softmax of 65536 f32
            # with it 4029 GB/s, without 3496), and hinders these (RMS norm of 131072: 3560, 3734).
            is_large = shape.blocks >= _RELAXED_BLOCKS
            _operation("nvvm.cluster.arrive.relaxed" if is_large else "nvvm.cluster.arrive")

    @property
    def is_first(self) -> ir.Value:
        """Whether this is the first thread of its team."""
        return arith.cmpi(arith.CmpIPredicate.eq, self.place, index_constant(0))

    def reduce(self, collectives: Sequence[Collective], states: Sequence[State]) -> list[State]:
        """The states of all threads combined, which every thread gets.

        All threads of the block must come here.
        """
        lanes = self._shape.lanes
        found = [
            _across_lanes(each, state, lanes)
            for each, state in zip(collectives, states, strict=True)
        ]
        if self._shape.rows == 1 and self._shape.threads != WARP_LANES:
            found = self._across_warps(collectives, found)
        if self._shape.blocks > 1:
            found = self._across_blocks(collectives, found)
        return found

    def _across_warps(
        self, collectives: Sequence[Collective], states: Sequence[State]
    ) -> list[State]:
        lanes = index_constant(WARP_LANES)
        lane, warp = arith.remui(self._thread, lanes), arith.divui(self._thread, lanes)
        slots = [self._slots(each) for each in collectives]
        first = scf.IfOp(arith.cmpi(arith.CmpIPredicate.eq, lane, index_constant(0)))
        with ir.InsertionPoint(first.then_block):
            for state, places in zip(states, slots, strict=True):
                for value, place in zip(state, places, strict=True):
                    memref.store(value, place, [warp])
            scf.YieldOp([])
        gpu.barrier()
        warps = self._shape.threads // WARP_LANES
        return self._gathered(collectives, slots, lane, index_constant(warps), warps)

    def _gathered(
        self,
        collectives: Sequence[Collective],
        slots: Sequence[Sequence[ir.Value]],
        lane: ir.Value,
        filled: ir.Value,
        count: int,
    ) -> list[State]:
        """What `filled` slots hold, combined; there are `count` at most."""
        span = 1 << (count - 1).bit_length()
        lane = arith.remui(lane, index_constant(span))
        exists = arith.cmpi(arith.CmpIPredicate.ult, lane, filled)
        near = arith.minui(lane, arith.subi(filled, index_constant(1)))
        found: list[State] = []
        for each, places in zip(collectives, slots, strict=True):
            read = [memref.load(place, [near]) for place in places]
            state = tuple(
                arith.select(exists, value, rest)
                for value, rest in zip(read, each.neutral(), strict=True)
            )
            found.append(_across_lanes(each, state, span))
        return found

    def _across_blocks(
        self, collectives: Sequence[Collective], states: Sequence[State]
    ) -> list[State]:
        """Each block writes its states to all blocks of the cluster."""
        assert self._rank is not None
        if not self._has_met:
            # The others have begun, so that their shared memory is there.
            self._has_met = True
            _operation("nvvm.cluster.wait")
        slots = [self._slots(each) for each in collectives]
        blocks = index_constant(self._shape.blocks)
        sends = scf.IfOp(arith.cmpi(arith.CmpIPredicate.ult, self._thread, blocks))
        with ir.InsertionPoint(sends.then_block):
            i32 = ir.IntegerType.get_signless(32)
            target = arith.index_cast(i32, self._thread)
            for state, places in zip(states, slots, strict=True):
                for value, place in zip(state, places, strict=True):
                    _store_remotely(value, place, self._rank, target)
            scf.YieldOp([])
        _operation("nvvm.cluster.arrive")
        _operation("nvvm.cluster.wait")
        lane = arith.remui(self._thread, index_constant(WARP_LANES))
        return self._gathered(collectives, slots, lane, blocks, self._shape.blocks)

    def _slots(self, collective: Collective) -> list[ir.Value]:
        """Shared memory that no other reduction of the kernel uses, a slot a warp."""
        self._reductions += 1
        return [
            _shared(f"row_slots_{self._reductions}_{number}_{kind}", kind)
            for number, kind in enumerate(collective.types)
        ]


def _across_lanes(collective: Collective, state: State, lanes: int) -> State:
    distance = lanes // 2
    while distance:
        offset = i32_constant(distance)
        other = tuple(shuffle("xor", value, offset) for value in state)
        state = collective.combine(state, other)
        distance //= 2
    return state


def _shared(name: str, element: ir.Type) -> ir.Value:
    """32 elements of shared memory by that name; the kernels of a module have it in common."""
    module: ir.Operation | None = ir.InsertionPoint.current.block.owner.operation
    while module is not None and module.name != "gpu.module":
        module = module.parent
    assert module is not None
    space = ir.Attribute.parse("#gpu.address_space<workgroup>")
    kind = ir.MemRefType.get([WARP_LANES], element, memory_space=space)
    known = {
        ir.StringAttr(each.operation.attributes["sym_name"]).value
        for each in module.regions[0].blocks[0]
        if "sym_name" in each.operation.attributes
    }
    if name not in known:
        with ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
            memref.global_(name, kind, sym_visibility="private")
    return memref.get_global(kind, name)


def _store_remotely(value: ir.Value, slots: ir.Value, place: ir.Value, block: ir.Value) -> None:
    """Writes an element of the slots of another block of the cluster."""
    i64 = ir.IntegerType.get_signless(64)
    own = arith.index_cast(i64, memref.extract_aligned_pointer_as_index(slots))
    pointer = ir.Operation.create(
        "llvm.inttoptr", results=[ir.Type.parse(f"!llvm.ptr<{_SHARED}>")], operands=[own]
    ).results[0]
    theirs = ir.Operation.create(
        "nvvm.mapa",
        results=[ir.Type.parse(f"!llvm.ptr<{_CLUSTER}>")],
        operands=[pointer, block],
    ).results[0]
    where = ir.Operation.create(
        "llvm.getelementptr",
        results=[theirs.type],
        operands=[theirs, arith.index_cast(i64, place)],
        attributes={
            "elem_type": ir.TypeAttr.get(value.type),
            "rawConstantIndices": ir.DenseI32ArrayAttr.get([-(2**31)]),
        },
    ).results[0]
    ir.Operation.create("llvm.store", operands=[value, where])


def _operation(name: str) -> None:
    ir.Operation.create(name, attributes={"aligned": ir.UnitAttr.get()})
