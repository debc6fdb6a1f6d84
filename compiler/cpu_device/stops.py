"""Stops: the places of a kernel where a thread waits for others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from ...dialects.records import dataclass
from .device_ir import Block, Function, Instruction
from .llvm_text import element_types
from .phis import phi_incoming, phi_with


@dataclass(frozen=True)
class StopCall:
    """What is done at a stop, in the terms of runtime/device_abi.h.

    `operands` are types and values; `performer` is the C function, empty where the engine itself
    knows what to do.
    """

    kind: int
    operation: str
    operands: tuple[tuple[str, str], ...]
    performer: str = ""
    parameters: tuple[int, ...] = ()


@dataclass(frozen=True)
class Stop:
    """A stop of one kernel. Threads go on from it in state `state`, at `resumed`."""

    state: int
    call: StopCall
    result: str | None
    result_type: str
    debug: int | None
    resumed: Block

    @property
    def result_fields(self) -> list[str]:
        """The types of the result, taken apart where it is a struct."""
        if self.result is None or self.result_type == "void":
            return []
        if self.result_type.startswith("{"):
            return element_types(self.result_type)
        return [self.result_type]


@dataclass
class SplitFunction:
    """A function whose blocks end at each stop; `stops` are by the label of the block they end."""

    function: Function
    stops: dict[str, Stop] = field(default_factory=dict[str, Stop])

    @property
    def resumed(self) -> list[Block]:
        """The blocks that the states begin with."""
        return [self.function.blocks[0], *(stop.resumed for stop in self.stops.values())]

    def edges(self, block: Block) -> Sequence[str]:
        """The labels control goes on to, through a stop too."""
        if stop := self.stops.get(block.label):
            return [stop.resumed.name]
        return block.terminator.successors


# What a stop does, the type of its result, or None for an instruction that is no stop.
Classify = Callable[[Instruction], tuple[StopCall, str] | None]


def split_at_stops(function: Function, classify: Classify) -> SplitFunction:
    """Ends a block after every stop, with the stop as its last instruction."""
    split = SplitFunction(function)
    blocks: list[Block] = []
    last_part: dict[str, str] = {}
    for block in function.blocks:
        part = Block(block.label)
        for instruction in block.instructions:
            part.instructions.append(instruction)
            found = classify(instruction)
            if found is None:
                continue
            call, result_type = found
            state = len(split.stops) + 1
            rest = Block(f"{block.label}.after{state}")
            split.stops[part.label] = Stop(
                state, call, instruction.result, result_type, instruction.debug, rest
            )
            blocks.append(part)
            part = rest
        blocks.append(part)
        last_part[block.name] = part.name
    for block in blocks:
        for phi in block.phis:
            _rename_incoming(phi, last_part)
    function.blocks = blocks
    return split


def _rename_incoming(phi: Instruction, names: dict[str, str]) -> None:
    """A phi's predecessors, where a block has become several."""
    incoming = [(value, names.get(origin, origin)) for value, origin in phi_incoming(phi)]
    phi.text = phi_with(phi, incoming).text
