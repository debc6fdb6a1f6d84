"""The blocks of one region: copies of the kernel's, with what a thread keeps over stops.

A value that a later region needs is stored to the thread's slot where it is defined. Where a region
has a value from before and may define it anew, which of the two a use means depends on the way
taken: the slot always holds the last, so each use loads it.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from ...dialects.records import dataclass
from .block_layout import STATE_END
from .device_ir import Block, Instruction
from .llvm_text import LOCAL
from .phis import phi_incoming, phi_with
from .slots import Slot
from .stops import SplitFunction, Stop
from .thread_memory import bases, load, pointer_to, store


@dataclass(frozen=True)
class Frame:
    """What a kernel's threads keep: values over stops, arrays, and by state what stops exchange."""

    places: dict[str, Slot]
    arrays: dict[str, Slot]
    slots_of: dict[int, list[Slot]]


class RegionWriter:
    """Copies blocks into one region."""

    def __init__(self, split: SplitFunction, frame: Frame, names: Sequence[str]) -> None:
        self.split = split
        self.frame = frame
        self.names = set(names)
        self.blocks = {block.name: block for block in split.function.blocks}
        self.ends: set[int] = set()
        # Values that this region has both from before and defines anew.
        self.reloaded: set[str] = set()
        self._count = 0

    def frame_pointers(self, used: Container[str]) -> list[Instruction]:
        """Where each slot of the frame that is used lies for this thread."""
        made = bases()
        for name, slot in self.frame.places.items():
            if _slot_pointer(name) in used:
                made += pointer_to(_slot_pointer(name), slot, "%hirc.frames")
        for name, slot in self.frame.arrays.items():
            if name in used:
                made += pointer_to(name, slot, "%hirc.frames")
        return made

    def result_of(self, stop: Stop) -> list[Instruction]:
        """Loads what a stop gave, and keeps it where later regions need it."""
        slots = self.frame.slots_of[stop.state][len(stop.call.operands) :]
        if not slots or stop.result is None:
            return []
        made: list[Instruction] = []
        fields: list[str] = []
        for number, slot in enumerate(slots):
            pointer = f"%hirc.result{number}"
            made += pointer_to(pointer, slot, "%hirc.exchange")
            is_whole = len(slots) == 1 and stop.result_type == slot.type
            value = stop.result if is_whole else f"%hirc.field{number}"
            made += load(value, slot.type, pointer)
            fields.append(value)
        if fields[0] != stop.result:
            whole = "poison"
            for number, (value, slot) in enumerate(zip(fields, slots, strict=True)):
                last = number == len(slots) - 1
                target = stop.result if last else f"%hirc.whole{number}"
                inserted = f"{stop.result_type} {whole}, {slot.type} {value}, {number}"
                made.append(Instruction(f"{target} = insertvalue {inserted}"))
                whole = target
        return made + self._kept(stop.result)

    def load(self, name: str, value: str) -> list[Instruction]:
        """Loads what was kept of `name` into the local `value`."""
        return load(value, self.frame.places[name].type, _slot_pointer(name))

    def _kept(self, name: str) -> list[Instruction]:
        """Stores a value that has just been defined, if a later region needs it."""
        if name not in self.frame.places:
            return []
        return store(self.frame.places[name].type, name, _slot_pointer(name), f"{name}.kept")

    def block(self, block: Block) -> Block:
        """Returns the block as it is in this region."""
        copy = Block(block.label)
        stop = self.split.stops.get(block.label)
        body = block.instructions[:-1]
        phis = [item for item in body if item.opcode == "phi"]
        for phi in phis:
            copy.instructions.append(self._phi(phi))
        for phi in phis:
            copy.instructions += self._kept(phi.result or "")
        for instruction in body[len(phis) :]:
            # Most instructions are neither.
            if self.reloaded.isdisjoint(instruction.locals):
                copy.instructions.append(instruction)
            else:
                copy.instructions += self._with_reloads(instruction)
            if instruction.result in self.frame.places:
                copy.instructions += self._kept(instruction.result)
        last = block.terminator
        if stop is not None:
            copy.instructions += self._stop(stop)
            return copy
        copy.instructions += self._phi_reloads(block)
        if last.opcode == "ret":
            last = self._end(STATE_END)
        copy.instructions += self._with_reloads(last)
        return copy

    def _end(self, state: int) -> Instruction:
        self.ends.add(state)
        return Instruction(f"ret i32 {state}")

    def _stop(self, stop: Stop) -> list[Instruction]:
        made: list[Instruction] = []
        slots = self.frame.slots_of[stop.state]
        for number, (type_text, value) in enumerate(stop.call.operands):
            if slots[number].constant:
                continue
            pointer = f"{stop.resumed.name}.operand{number}"
            made += pointer_to(pointer, slots[number], "%hirc.exchange")
            reloads, value = self._reloaded_value(value)
            made += reloads
            made += store(type_text, value, pointer, f"{pointer}.byte")
        return [*made, self._end(stop.state)]

    def _reloaded_value(self, value: str) -> tuple[list[Instruction], str]:
        loads, replaced = self._reloads(value)
        return loads, LOCAL.sub(lambda match: replaced.get(match[0], match[0]), value)

    def _reloads(self, text: str) -> tuple[list[Instruction], dict[str, str]]:
        """Loads of the values of `reloaded` that `text` uses."""
        loads: list[Instruction] = []
        replaced: dict[str, str] = {}
        for name in sorted(self.reloaded.intersection(LOCAL.findall(text))):
            self._count += 1
            replaced[name] = f"{name}.reload{self._count}"
            loads += self.load(name, replaced[name])
        return loads, replaced

    def _with_reloads(self, instruction: Instruction) -> list[Instruction]:
        if self.reloaded.isdisjoint(instruction.locals):
            return [instruction]
        result = instruction.result
        loads, replaced = self._reloads(instruction.body)
        copy = Instruction(instruction.text)
        copy.replace_locals(lambda name: name if name == result else replaced.get(name, name))
        return [*loads, copy]

    def _phi_reloads(self, block: Block) -> list[Instruction]:
        """At the end of a block, loads of what phis of its successors take from there."""
        loads: list[Instruction] = []
        for successor in dict.fromkeys(block.terminator.successors):
            for phi in self.blocks[successor].phis:
                for value, origin in phi_incoming(phi):
                    name = _phi_reload(value, block.label)
                    is_made = any(item.result == name for item in loads)
                    if origin == block.name and value in self.reloaded and not is_made:
                        loads += self.load(value, name)
        return loads

    def _phi(self, phi: Instruction) -> Instruction:
        incoming = [
            (_phi_reload(value, origin[1:]) if value in self.reloaded else value, origin)
            for value, origin in phi_incoming(phi)
            if origin in self.names and origin[1:] not in self.split.stops
        ]
        return phi_with(phi, incoming)


def _phi_reload(value: str, label: str) -> str:
    return f"{value}.from.{label}"


def _slot_pointer(name: str) -> str:
    return f"%hirc.slot.{name[1:]}"
