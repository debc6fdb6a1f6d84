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
from .phis import phi_incoming

_OBSERVES = re.compile(
    r"^(?:load (?:atomic|volatile)|atomicrmw|cmpxchg|call .*@llvm\.nvvm\.atomic\.)"
)
_YIELD = "call void @llvm.nvvm.nanosleep(i32 0)"


def yield_in_spin_loops(function: Function) -> None:
    """Inserts a stop at the end of each turn of a loop that waits for other threads."""
    for block in waiting_latches(function):
        debug = f", !dbg !{block.terminator.debug}" if block.terminator.debug else ""
        block.instructions.insert(-1, Instruction(_YIELD + debug))


def waiting_latches(function: Function) -> list[Block]:
    """The blocks at the ends of the loops that wait for other threads."""
    blocks = {block.name: block for block in function.blocks}
    latches = [
        latch
        for latch, header in _back_edges(blocks)
        if _Loop(function, blocks, _natural_loop(blocks, latch, header)).waits()
    ]
    return [blocks[latch] for latch in dict.fromkeys(latches)]


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


class _Loop:
    """The blocks of a loop, and what its exits depend on."""

    def __init__(self, function: Function, blocks: dict[str, Block], body: set[str]) -> None:
        self._body = body
        self._terminators = [blocks[name].terminator for name in body]
        self._items = [item for name in body for item in blocks[name].instructions]
        self._definitions = {item.result: item for item in self._items if item.result}
        self._variables = {
            item.result for item in function.instructions() if item.opcode == "alloca"
        }

    def waits(self) -> bool:
        """Whether an exit depends on memory that other threads may write to."""
        exits = [
            item
            for item in self._terminators
            if any(to not in self._body for to in item.successors)
        ]
        return any(
            _OBSERVES.match(item.body) and not self._is_lock_free(item)
            for item in self._slice(name for exit in exits for name in _condition(exit))
        )

    def _slice(self, names: Iterable[str]) -> list[Instruction]:
        """What the values are computed from inside the loop."""
        found: dict[str, Instruction] = {}
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in self._definitions or name in found:
                continue
            found[name] = item = self._definitions[name]
            waiting += item.locals
            stores = self._stores_to(item)
            if stores or self._is_merge(item):
                # Which of the values it is depends on the way that the thread has taken.
                waiting += [name for way in self._terminators for name in _condition(way)]
                waiting += [name for store in stores for name in store.locals]
        return list(found.values())

    def _is_merge(self, item: Instruction) -> bool:
        if item.opcode != "phi":
            return False
        return sum(origin in self._body for _, origin in phi_incoming(item)) > 1

    def _stores_to(self, item: Instruction) -> list[Instruction]:
        """What the loop stores to the thread's own variable that an instruction loads."""
        pointer = item.locals[-1:] if item.opcode == "load" else ()
        if not self._variables.issuperset(pointer):
            return []
        return [
            store
            for store in self._items
            if store.opcode == "store" and store.locals[-1:] == pointer
        ]

    def _is_lock_free(self, item: Instruction) -> bool:
        """Whether it is a compare-and-exchange whose expectation the loop itself has read."""
        if item.opcode != "cmpxchg":
            return False
        expected = LOCAL.findall(split_commas(item.body)[1])
        return any(name in self._definitions for name in expected)


def _condition(terminator: Instruction) -> list[str]:
    return LOCAL.findall(terminator.body.partition("label")[0])
