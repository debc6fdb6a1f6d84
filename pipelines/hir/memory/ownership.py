"""The rules of ownership: following every life of memory along the paths of a program.

Errors are emitted at the operation that breaks a rule, and say where the other one is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from ....dialects.hir.program_inputs import input_name
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...locations import location_text
from ...walking import operations_where
from .effects import effects_of
from .owners import Owners, Root, Roots, memory_kind, outputs_of

_ALLOCATIONS = ("hir.allocate", "hir.reuse", "memref.alloc")
_FREES = ("hir.deallocate", "memref.dealloc")


@dataclass
class _State:
    """What has happened on the paths so far.

    `ended` has the operation that ended a life, on one path at least, and `surely` the lives that
    ended on every path. `written` are the lives that something may have written.
    """

    ended: dict[Root, ir.Operation] = field(default_factory=dict[Root, ir.Operation])
    surely: set[Root] = field(default_factory=set[Root])
    written: set[Root] = field(default_factory=set[Root])

    def copy(self) -> _State:
        return _State(dict(self.ended), set(self.surely), set(self.written))

    def merge(self, other: _State) -> None:
        self.ended = {**other.ended, **self.ended}
        self.surely &= other.surely
        self.written |= other.written


class Ownership:
    """Checks one program; `is_kept` is false afterwards where a rule is broken."""

    def __init__(self, program: ir.Operation) -> None:
        self.is_kept = True
        self._owners = Owners(program)
        self._outputs = {root for roots in self._owners.outputs() for root in roots}
        self._loops: list[ir.Operation] = []
        self._reported: set[tuple[Root, str]] = set()
        self._at_fault: set[Root] = set()
        self._block(self._owners.block, _State(), set(self._outputs))
        self._check_outputs()

    def _error(self, op: ir.Operation, root: Root, rule: str, message: str) -> None:
        """One error for a rule and a life; what follows from it would be said again and again."""
        self.is_kept = False
        if (root, rule) not in self._reported:
            self._reported.add((root, rule))
            op.location.emit_error(message)

    # Blocks

    def _block(self, block: ir.Block, state: _State, given_out: set[Root]) -> None:
        """Follows a block; a life that begins in it ends in it, or is given out."""
        mine: list[Root] = []
        for view in block:
            op = view.operation
            self._step(op, state)
            for root in self._owners.made_by(op):
                mine.append(root)
                state.ended.pop(root, None)
                state.surely.discard(root)
                state.written.discard(root)
                if self._is_written_at_first(op, root, state):
                    state.written.add(root)
        for root in mine:
            if root in given_out or root in state.surely or root in self._at_fault:
                continue
            what, end = _name(root), state.ended.get(root)
            if end is None:
                message = f"{what} leaks: it is neither freed nor given out"
            else:
                message = f"{what} leaks on one path: it is freed at {_at(end)} alone"
            self._error(
                root.maker,
                root,
                "leak",
                f"{message}; hir.deallocate frees it (hir-insert-deallocations adds that after the "
                "last use)",
            )

    def _is_written_at_first(self, op: ir.Operation, root: Root, state: _State) -> bool:
        if op.name == "hir.if":
            return any(
                inner in state.written
                for region in op.regions
                for inner, outer in self._owners.given_out(op, region).items()
                if outer == root
            )
        if op.name not in _ALLOCATIONS or "zero_init" in op.attributes:
            return True
        return 0 in ir.MemRefType(op.results[0].type).shape

    def _step(self, op: ir.Operation, state: _State) -> None:
        if op.name in _FREES:
            self._end(op, op.operands[0], state)
            return
        if op.name == "hir.alias":
            return
        self._use(op, op.operands, state)
        if op.name not in ("hir.for", "hir.if"):
            for inner in operations_where(op, lambda one: one != op):
                self._use(inner, inner.operands, state)
        effects = effects_of(op)
        for value in effects.reads:
            self._read(op, value, state)
        for value in effects.writes:
            state.written.update(self._owners.roots(value))
        if op.name == "hir.reuse":
            self._end(op, op.operands[0], state)
        elif op.name == "hir.if":
            self._branches(op, state)
        elif op.name == "hir.for":
            self._loop(op, state)

    def _branches(self, op: ir.Operation, state: _State) -> None:
        other = state.copy()
        for region, branch in zip(op.regions, (state, other), strict=True):
            self._block(region.blocks[0], branch, set(self._owners.given_out(op, region)))
        state.merge(other)
        then, otherwise = (outputs_of(region.blocks[0]) for region in op.regions)
        first, second = (self._owners.given_out(op, region) for region in op.regions)
        for here, there in zip(then, otherwise, strict=True):
            fresh = [
                {given[root] for root in self._owners.roots(output.operands[0]) if root in given}
                for output, given in ((here, first), (there, second))
            ]
            if fresh[0] != fresh[1]:
                self._at_fault |= fresh[0] | fresh[1]
                given, outside = (here, there) if fresh[0] else (there, here)
                message = (
                    "this branch gives a fresh buffer, which is then the hir.if's to free, where "
                    f"the other, at {_at(outside)}, gives one from outside: copy that one with "
                    "hir.set, or write to it here"
                )
                if fresh[0] and fresh[1]:
                    message = (
                        "the outputs of the branches share their memory in different ways: the "
                        f"other one is at {_at(outside)}"
                    )
                self._error(given, next(iter(fresh[0] | fresh[1])), "branch", message)
                continue
            kinds = {
                kind
                for output in (here, there)
                for root in self._owners.roots(output.operands[0])
                if (kind := memory_kind(root)) is not None
            }
            if fresh[0] and len(kinds) > 1:
                self._error(
                    there,
                    next(iter(fresh[0])),
                    "kind",
                    f"the branches give memory of different kinds, {' and '.join(sorted(kinds))}, "
                    f"which are freed in different ways; the other output is at {_at(here)}",
                )

    def _loop(self, op: ir.Operation, state: _State) -> None:
        """What an iteration may have written, the next one finds."""
        before = state.copy()
        for inner in operations_where(op, lambda one: one != op):
            for value in effects_of(inner).writes:
                state.written.update(self._owners.roots(value))
        self._loops.append(op)
        self._block(op.regions[0].blocks[0], state, set())
        self._loops.pop()
        state.merge(before)

    # Operations

    def _use(self, op: ir.Operation, values: Iterable[ir.Value], state: _State) -> None:
        for value in values:
            for root in self._owners.roots(value):
                end = state.ended.get(root)
                if end is None:
                    continue
                taken = end.name == "hir.reuse"
                path = "" if root in state.surely else " on one path"
                self._error(
                    op,
                    root,
                    "use",
                    f"{op.name} uses {_name(root)}, "
                    + (f"whose memory is reused{path}" if taken else f"which is freed{path}")
                    + f" at {_at(end)}: end its life after its last use",
                )

    def _read(self, op: ir.Operation, value: ir.Value, state: _State) -> None:
        for root in self._owners.roots(value):
            if root.is_input or root in state.written or root in state.ended:
                continue
            if op.name == "hir.output" and op.parent == self._owners.program:
                message = f"this output is {_name(root)}, to which nothing was written"
            elif op.name == "hir.output":
                continue
            else:
                message = f"{op.name} reads {_name(root)}, to which nothing was written before"
            self._error(
                op, root, "unwritten", f"{message}: write it first, or allocate it with zero_init"
            )

    def _end(self, op: ir.Operation, value: ir.Value, state: _State) -> None:
        roots = self._owners.roots(value)
        reason = self._why_not(op, roots)
        for root in roots:
            if reason is not None:
                # That it leaks then is no mistake of its own.
                self._at_fault.add(root)
                continue
            end = state.ended.get(root)
            if end is not None and op.name != "hir.reuse":
                path = "" if root in state.surely else " on one path"
                again = "is reused" if end.name == "hir.reuse" else "is freed"
                self._error(
                    op,
                    root,
                    "free",
                    f"{_name(root)} is freed twice: its memory {again}{path} at {_at(end)} already",
                )
            state.ended[root] = op
            state.surely.add(root)
        if reason is not None:
            self._error(op, next(iter(roots)), "end", reason)

    def _why_not(self, op: ir.Operation, roots: Roots) -> str | None:
        """Why an operation may not end lives; None where it may."""
        does = f"{op.name} {'takes over' if op.name == 'hir.reuse' else 'frees'}"
        if len(roots) > 1:
            places = sorted({_name(root) for root in roots})
            return f"{does} one of several buffers ({', '.join(places)}): free each by itself"
        for root in roots:
            if root.is_input:
                return f"{does} {_name(root)}: its memory is the caller's"
            if root in self._outputs:
                return (
                    f"{does} {_name(root)}, and it is an output of the program: its memory is the "
                    "caller's in the end"
                )
            if self._loops and not _is_made_since(root, op, self._loops[-1]):
                return (
                    f"{does} {_name(root)} in every iteration of the hir.for at "
                    f"{_at(self._loops[-1])}, and it is made before it: free it after the loop"
                )
        return None

    def _check_outputs(self) -> None:
        for number, roots in enumerate(self._owners.outputs()):
            owned = [root for root in roots if not root.is_input]
            if owned and len(roots) > 1:
                places = sorted({_name(root) for root in roots})
                self._error(
                    outputs_of(self._owners.block)[number],
                    owned[0],
                    "output",
                    f"this output is one of several buffers ({', '.join(places)}), and the others "
                    "leak: copy with hir.set in each branch, or write both to one buffer",
                )


def _is_made_since(root: Root, op: ir.Operation, loop: ir.Operation) -> bool:
    """Returns whether a life begins in the iteration of the loop in which `op` stands."""
    here: ir.Operation | None = op
    while here is not None and here != loop:
        if here.block == root.maker.block:
            return True
        here = here.parent
    return False


def _at(op: ir.Operation) -> str:
    return location_text(op.location)


def _name(root: Root) -> str:
    if isinstance(root.value, ir.BlockArgument):
        program = root.maker
        number = root.value.arg_number
        if "inputs" in program.attributes:
            return f"input '{input_name(program, number)}'"
        return f"input {number}"
    if root.index is not None:
        return f"value {root.index} of the {root.maker.name} at {_at(root.maker)}"
    return f"the buffer made at {_at(root.maker)}"
