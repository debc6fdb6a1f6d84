"""Loops that wait for another thread: each turn must let other threads run.

A thread of a GPU that spins on a lock or a flag does not keep others from running. Here threads of
a block take turns, so such a loop gets a stop that yields. A loop waits where what ends it depends
on a value of memory that others may change: an atomic or volatile load, an exchange, an atomic
update. A compare-and-exchange of what the loop has read before is no waiting: one of the threads
always gets on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .device_ir import Block, Function, Instruction
from .llvm_text import LOCAL, split_commas

_OBSERVES = re.compile(
    r"^(?:load (?:atomic|volatile)|atomicrmw|cmpxchg|call .*@llvm\.nvvm\.atomic\.)"
)
_YIELD = "call void @llvm.nvvm.nanosleep(i32 0)"


def yield_in_spin_loops(function: Function) -> None:
    """Inserts a stop at the end of each turn of a loop that waits for other threads."""
    blocks = {block.name: block for block in function.blocks}
    for latch, header in _back_edges(blocks):
        body = _natural_loop(blocks, latch, header)
        if _waits(blocks, body):
            block = blocks[latch]
            debug = f", !dbg !{block.terminator.debug}" if block.terminator.debug else ""
            block.instructions.insert(-1, Instruction(_YIELD + debug))


def _back_edges(blocks: dict[str, Block]) -> list[tuple[str, str]]:
    """Edges to a block that is being visited in depth-first order."""
    edges: list[tuple[str, str]] = []
    first = next(iter(blocks))
    visiting, done = {first}, set[str]()
    stack = [(first, iter(blocks[first].terminator.successors))]
    while stack:
        name, successors = stack[-1]
        for successor in successors:
            if successor in visiting:
                edges.append((name, successor))
            elif successor not in done:
                visiting.add(successor)
                stack.append((successor, iter(blocks[successor].terminator.successors)))
                break
        else:
            stack.pop()
            visiting.discard(name)
            done.add(name)
    return edges


def _natural_loop(blocks: dict[str, Block], latch: str, header: str) -> set[str]:
    """The blocks from which the latch is reached without passing the header."""
    before: dict[str, list[str]] = {name: [] for name in blocks}
    for name, block in blocks.items():
        for successor in block.terminator.successors:
            before[successor].append(name)
    body, waiting = {header, latch}, [latch]
    while waiting:
        name = waiting.pop()
        for previous in before[name] if name != header else ():
            if previous not in body:
                body.add(previous)
                waiting.append(previous)
    return body


def _waits(blocks: dict[str, Block], body: set[str]) -> bool:
    definitions = {
        item.result: item for name in body for item in blocks[name].instructions if item.result
    }
    for name in body:
        terminator = blocks[name].terminator
        if all(successor in body for successor in terminator.successors):
            continue
        condition = LOCAL.findall(terminator.body.partition("label")[0])
        for item in _slice(condition, definitions):
            if _OBSERVES.match(item.body) and not _is_lock_free(item, definitions):
                return True
    return False


def _slice(names: Iterable[str], definitions: dict[str, Instruction]) -> list[Instruction]:
    """What the values are computed from inside the loop."""
    found: dict[str, Instruction] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in definitions and name not in found:
            found[name] = definitions[name]
            waiting += LOCAL.findall(definitions[name].body)
    return list(found.values())


def _is_lock_free(item: Instruction, definitions: dict[str, Instruction]) -> bool:
    """Whether it is a compare-and-exchange whose expectation the loop itself has read."""
    if item.opcode != "cmpxchg":
        return False
    expected = LOCAL.findall(split_commas(item.body)[1])
    return any(name in definitions for name in expected)
