"""Steps, buffers and what flows between them: plain data, which JSON can say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..hir.memory.formula import Atom, Formula
from ..locations import file_position
from ..walking import operations_where

# A number, or a tree of ["size", place in GraphProgram.sizes], ["+", ...], ["*", ...], ["max", ...]
# and ["ceildiv", a, b].
Number = int | list[Any]

_NO_WORK = ("arith.constant", "index.constant", "llvm.mlir.constant", "linalg.index")
_ENDS = (".yield", ".return", ".terminator", ".condition")


@dataclass
class Kernel:
    """A kernel that a step may launch, and how many threads its blocks have where that is known."""

    name: str
    threads: list[int] | None = None


@dataclass
class Step:
    """One thing that the host does, in the order of the program.

    `parent` is the loop or branch that it is in (-1: none), and `part` which block of it. `reads`
    and `writes` are buffers, `after` the steps that wrote what it reads. `work` is what the program
    says there: a place, and the operations of it. `held` has the bytes of the program's buffers
    while it runs, and `scratch` those of its kernels' own memory; the greatest counts.
    """

    kind: str
    name: str
    place: str
    stream: str = ""
    parent: int = -1
    part: str = ""
    reads: list[int] = field(default_factory=list[int])
    writes: list[int] = field(default_factory=list[int])
    after: list[int] = field(default_factory=list[int])
    work: list[tuple[str, list[str]]] = field(default_factory=list[tuple[str, list[str]]])
    kernels: list[Kernel] = field(default_factory=list[Kernel])
    held: list[Number] = field(default_factory=list[Number])
    scratch: list[Number] = field(default_factory=list[Number])
    notes: list[str] = field(default_factory=list[str])


@dataclass
class Buffer:
    """Memory from step `begin` to step `end`, both included; `bytes` are None where not known.

    `kind` is input, weight, global, output or buffer.
    """

    kind: str
    name: str
    type: str
    bytes: Number | None
    begin: int
    end: int | None = None
    place: str = ""
    note: str = ""


@dataclass
class GraphProgram:
    """A program: its steps as they stand in it, those within another after that one."""

    name: str
    steps: list[Step] = field(default_factory=list[Step])
    buffers: list[Buffer] = field(default_factory=list[Buffer])
    sizes: list[str] = field(default_factory=list[str])

    def number(self, formula: Formula) -> Number:
        """Returns a formula as a tree; sizes of one text are one."""
        terms: list[Number] = []
        for factors, coefficient in sorted(formula.terms, key=str):
            parts: list[Number] = [self._atom(atom) for atom in factors]
            terms.append(["*", coefficient, *parts] if parts else coefficient)
        if len(terms) > 1:
            return ["+", *terms]
        return terms[0] if terms else 0

    def _atom(self, atom: Atom) -> Number:
        match atom.key:
            case ("max", frozenset(parts)):
                return ["max", *(self.number(part) for part in sorted(parts, key=str))]
            case ("ceildiv", Formula() as a, Formula() as b):
                return ["ceildiv", self.number(a), self.number(b)]
            case _:
                if atom.text not in self.sizes:
                    self.sizes.append(atom.text)
                return ["size", self.sizes.index(atom.text)]

    def connect(self, partial: Sequence[set[int]]) -> None:
        """Finds `after`; of each step, `partial` are the buffers that it writes a part of."""
        within: dict[int, dict[str, list[int]]] = {}
        for number, step in enumerate(self.steps):
            within.setdefault(step.parent, {}).setdefault(step.part, []).append(number)
        after = [set[int]() for _ in self.steps]

        def follow(numbers: Iterable[int], writers: _Writers) -> _Writers:
            for number in numbers:
                step = self.steps[number]
                for buffer in {*step.reads, *partial[number]}:
                    after[number] |= writers.get(buffer, frozenset())
                for buffer in step.writes:
                    kept = writers.get(buffer, frozenset()) if buffer in partial[number] else ()
                    writers[buffer] = frozenset({number, *kept})
                parts = within.get(number, {})
                if step.kind == "loop":
                    # Its second iteration reads what the first wrote.
                    for _ in range(2):
                        writers = _either(writers, follow(parts.get("body", []), dict(writers)))
                elif parts:
                    ends = [follow(part, dict(writers)) for part in parts.values()]
                    writers = _either(*ends, *([writers] if len(parts) == 1 else []))
            return writers

        follow(within.get(-1, {}).get("", []), {})
        for step, found in zip(self.steps, after, strict=True):
            step.after = sorted(found)


_Writers = dict[int, frozenset[int]]


def _either(*ways: _Writers) -> _Writers:
    buffers = {buffer for way in ways for buffer in way}
    none = frozenset[int]()
    return {buffer: none.union(*(way.get(buffer, none) for way in ways)) for buffer in buffers}


def place_of(location: ir.Location) -> str:
    """`file:line`, or nothing."""
    position = file_position(location)
    return f"{position[0]}:{position[1]}" if position else ""


def work_of(op: ir.Operation) -> list[tuple[str, list[str]]]:
    """Returns the operations within one, by the places that they come from, in order; equal ones
    once.
    """
    places: dict[str, Counter[str]] = {}
    for inner in operations_where(op, lambda one: one != op):
        if inner.name not in _NO_WORK and not inner.name.endswith(_ENDS):
            kind = inner.attributes.get("kind")
            name = f"{inner.name} {kind.value}" if isinstance(kind, ir.StringAttr) else inner.name
            place = place_of(inner.location) or place_of(op.location)
            places.setdefault(place, Counter())[name] += 1
    return [
        (place, [f"{times} {name}" if times > 1 else name for name, times in found.items()])
        for place, found in places.items()
    ]
