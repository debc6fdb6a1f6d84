"""Threads that work on one row together, and reductions across them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ....dialects.mlir import arith, gpu, ir, memref, scf
from ....dialects.records import dataclass
from ...i32 import i32_constant
from ...lane_reduction import WARP_LANES, shuffle
from ...rewriting import index_constant
from .collectives import State, States, as_states, flat

_SHARED = 3
_CLUSTER = 7
# Clusters of so many blocks begin without a fence.
_RELAXED_BLOCKS = 8


@dataclass(frozen=True)
class TeamShape:
    """`lanes` of a warp, or with all of a warp's lanes whole blocks: `blocks` of one cluster.

    `threads` is how many a block has, `rows` how many teams. One that `is_open` is as large as the
    launch says: of lanes, a block has so many in x, and teams in y; else it has so many threads,
    and a cluster so many blocks. The numbers are then the most, and `rows` the least.
    """

    lanes: int
    threads: int
    blocks: int = 1
    rows: int = 1
    is_open: bool = False


class Team:
    """The team of the thread that executes the kernel. To be made at the kernel's beginning.

    `place` is the thread's place in its team, `size` the team's threads, `row` the team's number.
    Where a block has several it is the sum of `first_row`, the block's first one, and
    `row_of_block`.
    """

    first_row: ir.Value
    row_of_block: ir.Value

    def __init__(self, shape: TeamShape, *, is_tall: bool = False) -> None:
        self._shape = shape
        self._thread = gpu.thread_id(gpu.Dimension.x)
        self._reductions = 0
        self._has_met = False
        block = gpu.block_id(gpu.Dimension.x)
        if is_tall:
            above = arith.muli(gpu.block_id(gpu.Dimension.y), gpu.grid_dim(gpu.Dimension.x))
            block = arith.addi(above, block)
        self._blocks: ir.Value | None = None
        self._rank: ir.Value | None = None
        if shape.rows > 1:
            self._share_block(block)
            return
        threads = index_constant(shape.threads)
        if shape.is_open:
            threads = gpu.block_dim(gpu.Dimension.x)
        self.place, self.size, self.row = self._thread, threads, block
        if shape.blocks > 1:
            blocks = index_constant(shape.blocks)
            self._rank, self.row = arith.remui(block, blocks), arith.divui(block, blocks)
            if shape.is_open:
                # A division by a number that is not known would keep the first loads waiting.
                x = gpu.Dimension.x
                blocks = gpu.cluster_dim_blocks(x)
                self._rank, self.row = gpu.cluster_block_id(x), gpu.cluster_id(x)
            self.place = arith.addi(arith.muli(self._rank, threads), self._thread)
            self.size = arith.muli(threads, blocks)
            self._blocks = blocks
            self._arrive()

    def _share_block(self, block: ir.Value) -> None:
        """Takes a row of those of a block."""
        if self._shape.is_open:
            rows, self.size = gpu.block_dim(gpu.Dimension.y), gpu.block_dim(gpu.Dimension.x)
            self.place, own = self._thread, gpu.thread_id(gpu.Dimension.y)
        else:
            rows, self.size = index_constant(self._shape.rows), index_constant(self._shape.lanes)
            self.place = arith.remui(self._thread, self.size)
            own = arith.divui(self._thread, self.size)
        self.first_row, self.row_of_block = arith.muli(block, rows), own
        self.row = arith.addi(self.first_row, own)

    def _arrive(self) -> None:
        """Says to the other blocks of a cluster that this one has begun.

        There is nothing yet that they would have to see. The fence of the other form helps smaller
        clusters, whose loads then begin together (H200: softmax of 65536 f32 with it 4029 GB/s,
        without 3496), and hinders these (RMS norm of 131072: 3560, 3734).
        """
        assert self._blocks is not None
        plain, relaxed = "nvvm.cluster.arrive", "nvvm.cluster.arrive.relaxed"
        if not self._shape.is_open:
            _operation(relaxed if self._shape.blocks >= _RELAXED_BLOCKS else plain)
            return
        several = scf.IfOp(self._is_of_several(self._blocks))
        with ir.InsertionPoint(several.then_block):
            most = index_constant(_RELAXED_BLOCKS)
            are_many = arith.cmpi(arith.CmpIPredicate.uge, self._blocks, most)
            branch = scf.IfOp(are_many, has_else=True)
            assert branch.else_block is not None
            for block, name in ((branch.then_block, relaxed), (branch.else_block, plain)):
                with ir.InsertionPoint(block):
                    _operation(name)
                    scf.YieldOp([])
            scf.YieldOp([])

    @staticmethod
    def _is_of_several(blocks: ir.Value) -> ir.Value:
        return arith.cmpi(arith.CmpIPredicate.ugt, blocks, index_constant(1))

    @property
    def first(self) -> ir.Value:
        """The place of the block's first thread."""
        if self._rank is None:
            return index_constant(0)
        return arith.muli(self._rank, self.block_size)

    @property
    def block_size(self) -> ir.Value:
        """The threads of a block that are the team's."""
        if self._shape.is_open:
            return gpu.block_dim(gpu.Dimension.x)
        return index_constant(self._shape.threads)

    @property
    def is_first(self) -> ir.Value:
        """Whether this is the first thread of its team."""
        return arith.cmpi(arith.CmpIPredicate.eq, self.place, index_constant(0))

    def reduce(self, collectives: Sequence[States], states: Sequence[State]) -> list[State]:
        """The states of all threads combined, which every thread gets.

        All threads of the block must come here.
        """
        return self.reduce_blocks(collectives, self.reduce_block(collectives, states))

    def reduce_block(self, collectives: Sequence[States], states: Sequence[State]) -> list[State]:
        """The same of the threads of a block."""
        return self.reduce_warps(collectives, self.reduce_warp(collectives, states))

    def reduce_warp(self, collectives: Sequence[States], states: Sequence[State]) -> list[State]:
        """The same of those threads of a warp that are the team's."""
        shape = self._shape
        if shape.is_open and shape.rows > 1:
            return self._across_open_lanes(collectives, states)
        return [
            _across_lanes(each, state, shape.lanes)
            for each, state in zip(collectives, states, strict=True)
        ]

    def reduce_warps(self, collectives: Sequence[States], found: list[State]) -> list[State]:
        """The states of a block's warps combined."""
        if self._shape.rows == 1 and self._shape.threads != WARP_LANES:
            return self._across_warps(collectives, found)
        return found

    def reduce_blocks(self, collectives: Sequence[States], found: list[State]) -> list[State]:
        """The states of a cluster's blocks combined."""
        if self._blocks is None:
            return found
        if not self._shape.is_open:
            return self._across_blocks(collectives, found, self._blocks)
        are_several = self._is_of_several(self._blocks)
        across = partial(self._across_blocks, blocks=self._blocks)
        return _where(are_several, collectives, found, across)

    @property
    def is_open(self) -> bool:
        """Whether the launch says how large it is."""
        return self._shape.is_open

    def where_several(
        self, values: Sequence[ir.Value], emit: Callable[[], list[ir.Value]]
    ) -> list[ir.Value]:
        """What `emit` gives in place of values where several blocks share the row."""
        if self._blocks is None:
            return list(values)
        return _chosen(self._is_of_several(self._blocks), values, emit)

    @property
    def are_several_blocks(self) -> ir.Value:
        """Whether several blocks share the row."""
        if self._blocks is None:
            return arith.constant(ir.IntegerType.get_signless(1), 0)
        return self._is_of_several(self._blocks)

    def _across_open_lanes(
        self, collectives: Sequence[States], states: Sequence[State]
    ) -> list[State]:
        """In a loop over distances, as many as there are powers of two below the lanes."""
        i32 = ir.IntegerType.get_signless(32)
        one = i32_constant(1)
        half = arith.shrui(arith.index_cast(i32, self.size), one)
        start = [half, *flat(states)]
        kinds = [value.type for value in start]
        loop = scf.WhileOp(kinds, start)
        here = [ir.Location.current] * len(kinds)
        before = loop.before.blocks.append(*kinds, arg_locs=here)
        with ir.InsertionPoint(before):
            is_left = arith.cmpi(arith.CmpIPredicate.ne, before.arguments[0], i32_constant(0))
            scf.ConditionOp(is_left, list(before.arguments))
        after = loop.after.blocks.append(*kinds, arg_locs=here)
        with ir.InsertionPoint(after):
            distance, *values = list(after.arguments)
            found = [
                _from_lane(each, state, distance)
                for each, state in zip(collectives, as_states(collectives, values), strict=True)
            ]
            scf.YieldOp([arith.shrui(distance, one), *flat(found)])
        return as_states(collectives, list(loop.results)[1:])

    def _across_warps(self, collectives: Sequence[States], states: Sequence[State]) -> list[State]:
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
        most = self._shape.threads // WARP_LANES
        warps = index_constant(most)
        if self._shape.is_open:
            warps = arith.divui(gpu.block_dim(gpu.Dimension.x), lanes)
        return self._gathered(collectives, slots, lane, warps, most)

    def _gathered(
        self,
        collectives: Sequence[States],
        slots: Sequence[Sequence[ir.Value]],
        lane: ir.Value,
        filled: ir.Value,
        count: int,
    ) -> list[State]:
        """Returns what `filled` slots hold, combined; there are `count` at most."""
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
        self, collectives: Sequence[States], states: Sequence[State], blocks: ir.Value
    ) -> list[State]:
        """Each block writes its states to all `blocks` of the cluster."""
        assert self._rank is not None
        if not self._has_met:
            # The others have begun, so that their shared memory is there.
            self._has_met = True
            _operation("nvvm.cluster.wait")
        slots = [self._slots(each) for each in collectives]
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

    def _slots(self, collective: States) -> list[ir.Value]:
        """Shared memory that no other reduction of the kernel uses, a slot a warp."""
        self._reductions += 1
        return [
            _shared(f"row_slots_{self._reductions}_{number}_{kind}", kind)
            for number, kind in enumerate(collective.types)
        ]


def _where(
    condition: ir.Value,
    collectives: Sequence[States],
    states: list[State],
    across: Callable[[Sequence[States], Sequence[State]], list[State]],
) -> list[State]:
    """The states combined `across` more threads where a condition holds for the block."""
    found = _chosen(condition, flat(states), lambda: flat(across(collectives, states)))
    return as_states(collectives, found)


def _chosen(
    condition: ir.Value, values: Sequence[ir.Value], emit: Callable[[], list[ir.Value]]
) -> list[ir.Value]:
    """What `emit` gives where a condition holds for the block, else the values."""
    branch = scf.IfOp(condition, [value.type for value in values], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        scf.YieldOp(emit())
    assert branch.else_block is not None
    with ir.InsertionPoint(branch.else_block):
        scf.YieldOp(list(values))
    return list(branch.results)


def _across_lanes(collective: States, state: State, lanes: int) -> State:
    distance = lanes // 2
    while distance:
        state = _from_lane(collective, state, i32_constant(distance))
        distance //= 2
    return state


def _from_lane(collective: States, state: State, distance: ir.Value) -> State:
    """The state combined with that of the lane at a distance."""
    return collective.combine(state, tuple(shuffle("xor", value, distance) for value in state))


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
