"""Splitting a kernel at its stops into regions, each of which one thread runs to its next stop.

The body of region n is a function of its own that begins where stop n lets threads go on. What a
thread must remember over a stop lies in the block's frame: such a value is stored where it is
defined, and loaded at the beginning of each region that needs it. Loop fission as for work-items
of OpenCL kernels (Jääskeläinen et al., "pocl: A performance-portable OpenCL implementation",
2015), but with the state that follows chosen while running, so that control flow need not be
proven uniform.
"""

from __future__ import annotations

from ...dialects.records import dataclass
from .device_ir import Block, Instruction, locals_of
from .kernel_stack import alloca
from .liveness import live_at_resumption
from .region_writer import Frame, RegionWriter
from .result_types import result_type
from .slots import Slot, SlotArea, exchange_slots
from .stops import SplitFunction, Stop


@dataclass
class Region:
    """The body of one state: blocks, the first of which is entered, and the states it leads to.

    `locals` are the names in the blocks.
    """

    state: int
    blocks: list[Block]
    ends: list[int]
    locals: set[str]


@dataclass
class SplitKernel:
    """A kernel's regions and what its blocks must hold for them."""

    regions: list[Region]
    frame_bytes: int
    exchange_bytes: int
    slots_of: dict[int, list[Slot]]


def split_kernel(split: SplitFunction) -> SplitKernel:
    """Makes a region of every state."""
    return _Splitter(split).run()


class _Splitter:
    def __init__(self, split: SplitFunction) -> None:
        self.split = split
        self.blocks = {block.name: block for block in split.function.blocks}
        self.live = live_at_resumption(split)
        area = SlotArea()
        arrays = self._frame_allocas(area)
        places = {name: area.add(type_text) for name, type_text in self._kept(arrays).items()}
        slots_of, self.exchange_bytes = exchange_slots(list(split.stops.values()))
        self.frame = Frame(places, arrays, slots_of)
        self.frame_bytes = area.bytes

    def _kept(self, arrays: dict[str, Slot]) -> dict[str, str]:
        """Returns the values that are kept over stops, with their types."""
        kept: set[str] = set().union(
            *(self.live[stop.resumed.label] for stop in self.split.stops.values())
        )
        types: dict[str, str] = {}
        for instruction in self.split.function.instructions():
            if instruction.result in kept:
                types[instruction.result] = result_type(instruction)
        for stop in self.split.stops.values():
            if stop.result in kept:
                types[stop.result] = stop.result_type
        return {name: types[name] for name in sorted(kept.difference(arrays))}

    def _frame_allocas(self, area: SlotArea) -> dict[str, Slot]:
        """Stack memory of a thread becomes part of the frame: it outlives a region."""
        arrays: dict[str, Slot] = {}
        if not self.split.stops:
            return arrays
        for block in self.split.function.blocks:
            rest: list[Instruction] = []
            for instruction in block.instructions:
                if "@llvm.lifetime." in instruction.text:
                    continue
                if instruction.opcode == "alloca" and instruction.result:
                    arrays[instruction.result] = area.add(*alloca(instruction))
                else:
                    rest.append(instruction)
            block.instructions = rest
        return arrays

    def run(self) -> SplitKernel:
        regions = [self._region(0, self.split.function.blocks[0], None)]
        regions += [
            self._region(stop.state, stop.resumed, stop) for stop in self.split.stops.values()
        ]
        return SplitKernel(regions, self.frame_bytes, self.exchange_bytes, self.frame.slots_of)

    def _region(self, state: int, first: Block, stop: Stop | None) -> Region:
        names = self._reachable(first)
        defined = {item.result for name in names for item in self.blocks[name].instructions}
        defined -= {other.result for other in self.split.stops.values()}
        live = self.live[first.label] if stop is not None else set[str]()
        writer = RegionWriter(self.split, self.frame, names)
        writer.reloaded = live.intersection(defined)
        entry = Block("hirc.entry")
        blocks = [writer.block(self.blocks[name]) for name in names]
        used = locals_of(blocks)
        if stop is not None:
            entry.instructions += writer.result_of(stop)
        # What only later regions use stays where it is.
        for name in sorted(used & live - defined - set(self.frame.arrays)):
            entry.instructions += writer.load(name, name)
        entry.instructions.append(Instruction(f"br label {first.name}"))
        used |= locals_of([entry])
        pointers = Block("", writer.frame_pointers(used))
        entry.instructions[:0] = pointers.instructions
        return Region(state, [entry, *blocks], sorted(writer.ends), used | locals_of([pointers]))

    def _reachable(self, first: Block) -> list[str]:
        """Returns the blocks that a thread may run before its next stop."""
        found, waiting = {first.name: None}, [first]
        while waiting:
            block = waiting.pop()
            if block.label in self.split.stops:
                continue
            for name in block.terminator.successors:
                if name not in found:
                    found[name] = None
                    waiting.append(self.blocks[name])
        return [name for name in self.blocks if name in found]
