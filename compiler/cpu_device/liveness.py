"""Which values a thread needs after each stop."""

from __future__ import annotations

from .device_ir import Block
from .llvm_text import LOCAL
from .phis import phi_incoming
from .stops import SplitFunction


def live_at_resumption(split: SplitFunction) -> dict[str, set[str]]:
    """For each block that a state begins with, the values defined before it and used after it.

    The classic backward data flow; a phi uses its values at the end of the blocks they come from.
    """
    blocks = {block.name: block for block in split.function.blocks}
    defined = {name: _defined(block, split) for name, block in blocks.items()}
    everything: set[str] = set().union(*defined.values())
    used: dict[str, set[str]] = {name: set() for name in blocks}
    at_end: dict[str, set[str]] = {name: set() for name in blocks}
    for name, block in blocks.items():
        for value, origin in _phi_uses(block):
            at_end[origin] |= everything.intersection(LOCAL.findall(value))
        used[name] = _used_before_defined(block, split, everything)
    live_in: dict[str, set[str]] = {name: set() for name in blocks}
    changed = True
    while changed:
        changed = False
        for name in reversed(blocks):
            live = set(at_end[name])
            for successor in split.edges(blocks[name]):
                live |= live_in[successor]
            live = used[name] | (live - defined[name])
            if live != live_in[name]:
                live_in[name] = live
                changed = True
    return {block.label: live_in[block.name] for block in split.resumed}


def _phi_uses(block: Block) -> list[tuple[str, str]]:
    return [pair for phi in block.phis for pair in phi_incoming(phi)]


def _defined(block: Block, split: SplitFunction) -> set[str]:
    """Returns what a block defines. A stop's result is defined where threads go on."""
    names = {item.result for item in block.instructions if item.result}
    stop = split.stops.get(block.label)
    if stop is not None and stop.result:
        names.discard(stop.result)
    names |= {stop.result for stop in split.stops.values() if stop.resumed is block and stop.result}
    return names


def _used_before_defined(block: Block, split: SplitFunction, everything: set[str]) -> set[str]:
    used: set[str] = set()
    defined = {
        stop.result for stop in split.stops.values() if stop.resumed is block and stop.result
    }
    for instruction in block.instructions:
        if instruction.opcode != "phi":
            names = everything.intersection(instruction.locals)
            used |= names - defined
        if instruction.result:
            defined.add(instruction.result)
    return used
