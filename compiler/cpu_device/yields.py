"""Where a thread must let others run: in each turn of a loop that waits for one of them.

A thread of a GPU that spins on a lock or a flag does not keep others from running. Here threads of
a block take turns, so such a loop gets a stop that yields. A loop waits where what ends it depends
on a value of memory that others may change: an atomic or volatile load, an exchange, an atomic
update; or on nothing that the loop itself changes. A compare-and-exchange of what the loop has read
before is no waiting: one of the threads always gets on.

Such a loop, and any other with a stop that waits for memory, also tells the engine what it has seen
in a turn: everything that decides whether it ends. Where that is the same in every turn of all
threads, none of them will ever get on (runtime/quiet.c).

A thread that has made an mbarrier yields too: where each thread of a block makes the same one and
no barrier follows, all have made it on a GPU before the first can use it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import count

from .device_ir import Block, Function, Instruction
from .llvm_text import LOCAL, split_commas
from .phis import phi_incoming
from .result_types import result_type

_OBSERVES = re.compile(
    r"^(?:load (?:atomic|volatile)|atomicrmw|cmpxchg|call .*@llvm\.nvvm\.atomic\.)"
)
_MAKES_MBARRIER = re.compile(r"call .*@llvm\.nvvm\.mbarrier\.init\b")
_INPUTS = ("phi", "load", "atomicrmw", "cmpxchg", "call")
_YIELD = "call void @hirc.nvvm.yield()"
_EVENT = "call void @hirc.nvvm.event()"
_BITS = {"half": "i16", "bfloat": "i16", "float": "i32", "double": "i64"}


def yield_in_spin_loops(function: Function, is_idle: Callable[[Instruction], bool]) -> None:
    """Inserts a stop at the end of each turn of a loop that waits for other threads.

    `is_idle` tells the stops that are there already and wait for memory.
    """
    loops = _loops(function)
    waiting = [loop for loop in loops if loop.waits()]
    seen: set[int] = set()
    for loop in loops:
        if loop in waiting or any(is_idle(item) for item in loop.items):
            seen.update(id(item) for item in loop.inputs())
    for latch in dict.fromkeys(loop.latch.label for loop in waiting):
        block = next(block for block in function.blocks if block.label == latch)
        block.instructions.insert(-1, Instruction(_YIELD + _debug(block.terminator)))
    if seen:
        _observe(function, seen)


def yield_after_mbarrier_inits(function: Function) -> None:
    """Inserts a stop after the last of a block's operations that make mbarriers.

    One for all: who makes several must not fall behind who uses the first already.
    """
    for block in function.blocks:
        makers = [
            place
            for place, item in enumerate(block.instructions)
            if _MAKES_MBARRIER.search(item.text)
        ]
        if makers:
            item = block.instructions[makers[-1]]
            block.instructions.insert(makers[-1] + 1, Instruction(_YIELD + _debug(item)))


def _observe(function: Function, seen: set[int]) -> None:
    """Passes the results of these instructions to the engine."""
    numbers = count()
    for block in function.blocks:
        made: list[Instruction] = []
        after_phis: list[Instruction] = []
        for item in block.instructions:
            if item.opcode != "phi":
                made += after_phis
                after_phis = []
            made.append(item)
            if id(item) in seen:
                observed = _observations(item, numbers)
                (after_phis if item.opcode == "phi" else made).extend(observed)
        block.instructions = made


def _observations(item: Instruction, numbers: Iterator[int]) -> Iterator[Instruction]:
    type_text, value = result_type(item), item.result
    debug = _debug(item)
    name = f"%hirc.seen{next(numbers)}"
    while type_text.startswith("{") and type_text.strip("{ }"):
        # Of a compare-and-exchange, what was there.
        first = f"{name}.first{next(numbers)}"
        yield Instruction(f"{first} = extractvalue {type_text} {value}, 0")
        type_text, value = split_commas(type_text[1:-1])[0].strip(), first
    if type_text in _BITS:
        yield Instruction(f"{name}.bits = bitcast {type_text} {value} to {_BITS[type_text]}")
        type_text, value = _BITS[type_text], f"{name}.bits"
    if type_text.startswith("ptr"):
        yield Instruction(f"{name} = ptrtoint {type_text} {value} to i64")
    elif type_text == "i64":
        name = value or name
    elif (width := re.fullmatch(r"i(\d+)", type_text)) is not None:
        cast = "zext" if int(width[1]) < 64 else "trunc"
        yield Instruction(f"{name} = {cast} {type_text} {value} to i64")
    else:
        # Vectors and aggregates: nothing can be said.
        yield Instruction(_EVENT + debug)
        return
    yield Instruction(f"call void @hirc.nvvm.observe(i64 {name}){debug}")


def _debug(item: Instruction) -> str:
    return f", !dbg !{item.debug}" if item.debug is not None else ""


def waiting_latches(function: Function) -> list[Block]:
    """The blocks at the ends of the loops that wait for other threads."""
    return [loop.latch for loop in _loops(function) if loop.waits()]


def _loops(function: Function) -> list[_Loop]:
    blocks = {block.name: block for block in function.blocks}
    bodies = {edge: _natural_loop(blocks, *edge) for edge in _back_edges(blocks)}
    return [
        _Loop(
            function,
            blocks,
            latch,
            header,
            body,
            set().union(*(other for (_, to), other in bodies.items() if to in body - {header})),
        )
        for (latch, header), body in bodies.items()
    ]


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
    """Returns the blocks from which the latch is reached without passing the header."""
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
    """The blocks of a loop, and what its exits depend on. `inner` are blocks of loops inside it."""

    def __init__(
        self,
        function: Function,
        blocks: dict[str, Block],
        latch: str,
        header: str,
        body: set[str],
        inner: set[str],
    ) -> None:
        self.latch = blocks[latch]
        self._phis = blocks[header].phis
        self._body = body
        self._inner = inner
        self._blocks = blocks
        self._header = header
        self._terminators = [blocks[name].terminator for name in body]
        self.items = [
            item for block in function.blocks if block.name in body for item in block.instructions
        ]
        self._definitions = {item.result: item for item in self.items if item.result}
        self._variables = {
            item.result for item in function.instructions() if item.opcode == "alloca"
        }

    def waits(self) -> bool:
        """Returns whether an exit depends on memory that other threads may write to,
        or on nothing.
        """
        deciding = self._deciding()
        return self._changes_nothing(deciding) or any(
            _OBSERVES.match(item.body) and not self._is_lock_free(item) for item in deciding
        )

    def inputs(self) -> list[Instruction]:
        """Returns what decides whether the loop ends; of an endless loop, what it carries."""
        deciding = [*self._phis, *self.items]
        if self._exits():
            ways = (*self._exits(), *self._before_exits())
            deciding = self._slice(name for way in ways for name in _condition(way))
        return [item for item in deciding if item.opcode in _INPUTS and item.result]

    def _exits(self) -> list[Instruction]:
        return [item for item in self._terminators if self._leaves(item)]

    def _leaves(self, terminator: Instruction) -> bool:
        return any(to not in self._body for to in terminator.successors)

    def _before_exits(self) -> list[Instruction]:
        """Returns what decides whether a turn gets to an exit, where some turns do not.

        Such are those of a loop that LLVM has made one with a loop inside it.
        """
        exits = {name for name in self._body if self._leaves(self._blocks[name].terminator)}
        passing = {self.latch.name} - exits
        waiting = list(passing)
        before = {
            name: [each for each in self._body if name in self._blocks[each].terminator.successors]
            for name in self._body
        }
        while waiting:
            name = waiting.pop()
            for previous in before[name] if name != self._header else ():
                if previous not in passing | exits:
                    passing.add(previous)
                    waiting.append(previous)
        if self._header not in passing:
            return []
        return [self._blocks[name].terminator for name in passing - self._inner]

    def _deciding(self) -> list[Instruction]:
        return self._slice(name for exit in self._exits() for name in _condition(exit))

    def _changes_nothing(self, deciding: list[Instruction]) -> bool:
        """Returns whether the loop has no end, or one that nothing in the loop brings nearer."""
        if not self._exits():
            return True
        reads = [item for item in deciding if item.opcode == "load"]
        return (
            bool(reads)
            and not any(item.opcode in ("phi", "call") for item in deciding)
            and not any(item.opcode in ("store", "call", "atomicrmw") for item in self.items)
        )

    def _slice(self, names: Iterable[str]) -> list[Instruction]:
        """Returns what the values are computed from inside the loop."""
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
        """Returns what the loop stores to the thread's own variable that an instruction loads."""
        pointer = item.locals[-1:] if item.opcode == "load" else ()
        if not self._variables.issuperset(pointer):
            return []
        return [
            store
            for store in self.items
            if store.opcode == "store" and store.locals[-1:] == pointer
        ]

    def _is_lock_free(self, item: Instruction) -> bool:
        """Returns whether it is a compare-and-exchange whose expectation the loop
        itself has read.
        """
        if item.opcode != "cmpxchg":
            return False
        expected = LOCAL.findall(split_commas(item.body)[1])
        sources = self._slice(expected)
        return bool(sources) and not any(
            # What unoptimised code sets anew in each turn.
            not LOCAL.search(split_commas(store.body)[0])
            for source in sources
            for store in self._stores_to(source)
        )


def _condition(terminator: Instruction) -> list[str]:
    return LOCAL.findall(terminator.body.partition("label")[0])
