"""Splitting a kernel at its stops into regions, each of which one thread runs to its next stop.

The body of region n is a function of its own that begins where stop n lets threads go on. What a
thread must remember over a stop lies in the block's frame: such a value is stored where it is
defined, and loaded at the beginning of each region that needs it. Loop fission as for work-items
of OpenCL kernels (Jääskeläinen et al., "pocl: A performance-portable OpenCL implementation",
2015), but with the state that follows chosen while running, so that control flow need not be
proven uniform.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .block_layout import BLOCK, FIELDS, STATE_END, THREAD
from .device_ir import Block, Instruction
from .liveness import live_at_resumption, phi_incoming
from .llvm_text import LOCAL, size_and_alignment, split_commas, typed_value
from .metadata import INVARIANT
from .result_types import result_type
from .stops import SplitFunction, Stop


@dataclass(frozen=True)
class Slot:
    """One value's place for each thread: `offset` bytes per thread lie before it.

    A `constant` is the same for all and needs no place.
    """

    offset: int
    bytes: int
    type: str
    constant: str = ""


@dataclass
class SlotArea:
    """Slots one after another."""

    bytes: int = 0

    def add(self, type_text: str, align: int = 1) -> Slot:
        # A bit is kept as a byte. Threads are padded to 32, so an offset needs no alignment up
        # to that; an array of the type keeps its own.
        size = _value_bytes(type_text)
        align = max(align, size_and_alignment(type_text)[1])
        size = -(-size // align) * align
        step = max(1, align // 32)
        slot = Slot(-(-self.bytes // step) * step, size, type_text)
        self.bytes = slot.offset + size
        return slot


@dataclass
class Region:
    """The body of one state: blocks, the first of which is entered, and the states it leads to."""

    state: int
    blocks: list[Block]
    ends: list[int]


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


def exchange_slots(stops: Sequence[Stop]) -> tuple[dict[int, list[Slot]], int]:
    """Slots for what each stop takes and gives, and the bytes per thread of all.

    Threads may stand at different stops, so two stops share a slot only where it is of one size:
    then one thread's value never lies over another's.
    """
    wanted = {
        stop.state: [*map(_operand, stop.call.operands), *((item, "") for item in stop.result_fields)]
        for stop in stops
    }
    most: dict[int, int] = {}
    for values in wanted.values():
        sizes = [_value_bytes(type_text) for type_text, constant in values if not constant]
        for size in sizes:
            most[size] = max(most.get(size, 0), sizes.count(size))
    starts: dict[int, int] = {}
    total = 0
    for size in sorted(most):
        starts[size], total = total, total + size * most[size]
    slots: dict[int, list[Slot]] = {}
    for state, values in wanted.items():
        next_of = dict(starts)
        slots[state] = []
        for type_text, constant in values:
            size = _value_bytes(type_text)
            slots[state].append(Slot(next_of.get(size, 0), size, type_text, constant))
            if not constant:
                next_of[size] += size
    return slots, total


def _operand(operand: tuple[str, str]) -> tuple[str, str]:
    """An operand's type, and its value where that is a constant."""
    type_text, value = operand
    return type_text, value if not re.search("[%@]", value) and type_text[0] not in "<{[" else ""


def _value_bytes(type_text: str) -> int:
    """Bytes of a value in memory; a bit is kept as a byte."""
    return 1 if type_text == "i1" else size_and_alignment(type_text)[0]


class _Splitter:
    def __init__(self, split: SplitFunction) -> None:
        self.split = split
        self.blocks = {block.name: block for block in split.function.blocks}
        self.live = live_at_resumption(split)
        self.kept = sorted(set().union(*(self.live[stop.resumed.label] for stop in split.stops.values())))
        self.frame = SlotArea()
        self.types = self._types()
        self.arrays = self._frame_allocas()
        self.places = {name: self.frame.add(self.types[name]) for name in self.kept}
        self.slots_of, self.exchange_bytes = exchange_slots(list(split.stops.values()))

    def _types(self) -> dict[str, str]:
        kept, types = set(self.kept), dict[str, str]()
        for instruction in self.split.function.instructions():
            if instruction.result in kept:
                types[instruction.result] = result_type(instruction)
        for stop in self.split.stops.values():
            if stop.result in kept:
                types[stop.result] = stop.result_type
        return types

    def _frame_allocas(self) -> dict[str, Slot]:
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
                    type_text, align = _alloca(instruction)
                    arrays[instruction.result] = self.frame.add(type_text, align)
                else:
                    rest.append(instruction)
            block.instructions = rest
        self.kept = [name for name in self.kept if name not in arrays]
        return arrays

    def run(self) -> SplitKernel:
        regions = [self._region(0, self.split.function.blocks[0], None)]
        regions += [self._region(stop.state, stop.resumed, stop) for stop in self.split.stops.values()]
        return SplitKernel(regions, self.frame.bytes, self.exchange_bytes, self.slots_of)

    def _region(self, state: int, first: Block, stop: Stop | None) -> Region:
        names = self._reachable(first)
        defined = {item.result for name in names for item in self.blocks[name].instructions}
        defined -= {other.result for other in self.split.stops.values()}
        live = self.live[first.label] if stop is not None else set[str]()
        writer = _RegionWriter(self, names, reloaded={name for name in live if name in defined})
        entry = Block("hirc.entry")
        entry.instructions += writer.frame_pointers()
        if stop is not None:
            entry.instructions += writer.result_of(stop)
        for name in sorted(live - defined - set(self.arrays)):
            entry.instructions += writer.load(name, name)
        entry.instructions.append(Instruction(f"br label {first.name}"))
        blocks = [entry, *(writer.block(self.blocks[name]) for name in names)]
        return Region(state, blocks, sorted(writer.ends))

    def _reachable(self, first: Block) -> list[str]:
        """The blocks that a thread may run before its next stop."""
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


class _RegionWriter:
    """Copies blocks into one region."""

    def __init__(self, splitter: _Splitter, names: list[str], reloaded: set[str]) -> None:
        self.splitter = splitter
        self.names = set(names)
        self.reloaded = reloaded
        self.ends: set[int] = set()
        self._count = 0

    def frame_pointers(self) -> list[Instruction]:
        """Where each slot of the frame lies for this thread."""
        made = list(_bases())
        for name, slot in {**self.splitter.places, **self.splitter.arrays}.items():
            local = name if name in self.splitter.arrays else _slot_pointer(name)
            made += _pointer(local, slot, "%hirc.frames")
        return made

    def result_of(self, stop: Stop) -> list[Instruction]:
        """Loads what a stop gave, and keeps it where later regions need it."""
        slots = self.splitter.slots_of[stop.state][len(stop.call.operands) :]
        if not slots or stop.result is None:
            return []
        made: list[Instruction] = []
        fields: list[str] = []
        for number, slot in enumerate(slots):
            pointer = f"%hirc.result{number}"
            made += _pointer(pointer, slot, "%hirc.exchange")
            value = stop.result if len(slots) == 1 and stop.result_type == slot.type else f"%hirc.field{number}"
            made += _load(value, slot.type, pointer)
            fields.append(value)
        if fields[0] != stop.result:
            whole = "poison"
            for number, (value, slot) in enumerate(zip(fields, slots, strict=True)):
                last = number == len(slots) - 1
                target = stop.result if last else f"%hirc.whole{number}"
                made.append(
                    Instruction(
                        f"{target} = insertvalue {stop.result_type} {whole}, {slot.type} {value}, {number}"
                    )
                )
                whole = target
        return made + self._kept(stop.result)

    def load(self, name: str, value: str) -> list[Instruction]:
        return _load(value, self.splitter.types[name], _slot_pointer(name))

    def _kept(self, name: str) -> list[Instruction]:
        """Stores a value that has just been defined, if a later region needs it."""
        if name not in self.splitter.places:
            return []
        return _store(self.splitter.types[name], name, _slot_pointer(name), f"{name}.kept")

    def block(self, block: Block) -> Block:
        copy = Block(block.label)
        stop = self.splitter.split.stops.get(block.label)
        body = block.instructions[:-1]
        phis = [item for item in body if item.opcode == "phi"]
        for phi in phis:
            copy.instructions.append(self._phi(phi))
        for phi in phis:
            copy.instructions += self._kept(phi.result or "")
        for instruction in body[len(phis) :]:
            copy.instructions += self._with_reloads(instruction)
            copy.instructions += self._kept(instruction.result or "")
        last = block.terminator
        if stop is not None:
            copy.instructions += self._stop(stop, last)
            return copy
        copy.instructions += self._phi_reloads(block)
        if last.opcode == "ret":
            last = self._end(STATE_END)
        copy.instructions += self._with_reloads(last)
        return copy

    def _end(self, state: int) -> Instruction:
        self.ends.add(state)
        return Instruction(f"ret i32 {state}")

    def _stop(self, stop: Stop, instruction: Instruction) -> list[Instruction]:
        made: list[Instruction] = []
        slots = self.splitter.slots_of[stop.state]
        for number, (type_text, value) in enumerate(stop.call.operands):
            if slots[number].constant:
                continue
            pointer = f"{stop.resumed.name}.operand{number}"
            made += _pointer(pointer, slots[number], "%hirc.exchange")
            reloads, value = self._reloaded_value(value)
            made += reloads
            made += _store(type_text, value, pointer, f"{pointer}.byte")
        return [*made, self._end(stop.state)]

    def _reloaded_value(self, value: str) -> tuple[list[Instruction], str]:
        loads, replaced = self._reloads(value)
        return loads, LOCAL.sub(lambda match: replaced.get(match[0], match[0]), value)

    def _reloads(self, text: str) -> tuple[list[Instruction], dict[str, str]]:
        """Loads of what `text` uses and this region has both from before and defines anew."""
        loads: list[Instruction] = []
        replaced: dict[str, str] = {}
        for name in self.reloaded.intersection(LOCAL.findall(text)):
            self._count += 1
            replaced[name] = f"{name}.reload{self._count}"
            loads += self.load(name, replaced[name])
        return loads, replaced

    def _with_reloads(self, instruction: Instruction) -> list[Instruction]:
        result = instruction.result
        loads, replaced = self._reloads(instruction.body)
        if not replaced:
            return [Instruction(instruction.text)]
        copy = Instruction(instruction.text)
        copy.replace_locals(lambda name: name if name == result else replaced.get(name, name))
        return [*loads, copy]

    def _phi_reloads(self, block: Block) -> list[Instruction]:
        """At the end of a block, loads of what phis of its successors take from there."""
        loads: list[Instruction] = []
        for successor in dict.fromkeys(block.terminator.successors):
            for phi in self.splitter.blocks[successor].phis:
                for value, origin in phi_incoming(phi.body):
                    name = _phi_reload(value, block.label)
                    if origin == block.name and value in self.reloaded:
                        if not any(item.result == name for item in loads):
                            loads += self.load(value, name)
        return loads

    def _phi(self, phi: Instruction) -> Instruction:
        head = phi.text.partition("[")[0]
        incoming = [
            (_phi_reload(value, origin[1:]) if value in self.reloaded else value, origin)
            for value, origin in phi_incoming(phi.body)
            if origin in self.names and origin[1:] not in self.splitter.split.stops
        ]
        return Instruction(head + ", ".join(f"[ {value}, {origin} ]" for value, origin in incoming))


def _phi_reload(value: str, label: str) -> str:
    return f"{value}.from.{label}"


def _slot_pointer(name: str) -> str:
    return f"%hirc.slot.{name[1:]}"


def _alloca(instruction: Instruction) -> tuple[str, int]:
    """Type and alignment of a static alloca."""
    parts = split_commas(instruction.body.removeprefix("alloca "))
    type_text, align = parts[0], 1
    for part in parts[1:]:
        if part.startswith("align "):
            align = int(part.removeprefix("align "))
        elif part[0] == "i":
            count = typed_value(part)[1]
            type_text = f"[{count} x {type_text}]"
    return type_text, align


def _bases() -> list[Instruction]:
    """The frame, the exchange and the padded number of threads of this block."""
    made: list[Instruction] = []
    for name in ("frames", "exchange"):
        made.append(
            Instruction(f"%hirc.{name}.at = getelementptr i8, ptr {BLOCK}, i64 {FIELDS[name]}")
        )
        made.append(
            Instruction(f"%hirc.{name} = load ptr, ptr %hirc.{name}.at, align 8, {INVARIANT}")
        )
    made.append(
        Instruction(f"%hirc.padded.at = getelementptr i8, ptr {BLOCK}, i64 {FIELDS['padded_threads']}")
    )
    made.append(
        Instruction(f"%hirc.padded32 = load i32, ptr %hirc.padded.at, align 4, {INVARIANT}")
    )
    made.append(Instruction("%hirc.padded = zext nneg i32 %hirc.padded32 to i64"))
    made.append(Instruction(f"%hirc.thread64 = zext nneg i32 {THREAD} to i64"))
    return made


def _pointer(name: str, slot: Slot, base: str) -> list[Instruction]:
    """The address of a slot of this thread."""
    return [
        Instruction(f"{name}.before = mul nuw nsw i64 %hirc.padded, {slot.offset}"),
        Instruction(f"{name}.array = getelementptr inbounds i8, ptr {base}, i64 {name}.before"),
        Instruction(
            f"{name} = getelementptr inbounds [{slot.bytes} x i8], ptr {name}.array, i64 %hirc.thread64"
        ),
    ]


def _store(type_text: str, value: str, pointer: str, scratch: str) -> list[Instruction]:
    if type_text != "i1":
        return [Instruction(f"store {type_text} {value}, ptr {pointer}, align {_align(type_text)}")]
    return [
        Instruction(f"{scratch} = zext i1 {value} to i8"),
        Instruction(f"store i8 {scratch}, ptr {pointer}, align 1"),
    ]


def _load(value: str, type_text: str, pointer: str) -> list[Instruction]:
    if type_text != "i1":
        return [Instruction(f"{value} = load {type_text}, ptr {pointer}, align {_align(type_text)}")]
    return [
        Instruction(f"{value}.byte = load i8, ptr {pointer}, align 1"),
        Instruction(f"{value} = trunc i8 {value}.byte to i1"),
    ]


def _align(type_text: str) -> int:
    return min(size_and_alignment(type_text)[1], 32)

