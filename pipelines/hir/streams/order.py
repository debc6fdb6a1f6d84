"""Which work on other streams a stream is certainly ordered after, at every place of a program.

The current stream is static, so the analysis follows the program's blocks. For every stream and
event it keeps the accesses that are not certainly before what comes next there.
"""

from __future__ import annotations

from dataclasses import field

from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...walking import defining_op, operations_where
from ..memory.owners import Owners, Root

# A stream: ("caller",), ("name", name), ("value", value) for the one a hir.stream gives by index,
# ("iteration", hir.for) for that of an iteration, ("pool", n) and ("iterations", hir.for) for any
# of those of earlier iterations. An event: ("event", value).
Stream = tuple[object, ...]
CALLER: Stream = ("caller",)

# A root's memory, and the stream of the work that uses it.
Access = tuple[Root, Stream]
Accesses = frozenset[Access]

DEFAULT_POOL = 8
_NO_WORK = frozenset(
    f"hir.{name}" for name in ("allocate", "output", "result", "alias", "argument")
) | {"memref.dim"}


def pool_of(op: ir.Operation) -> int:
    """Returns the number of streams in the pool that a hir.stream or hir.for takes its from."""
    name = "streams" if op.name == "hir.for" else "pool"
    return ir.IntegerAttr(op.attributes[name]).value if name in op.attributes else DEFAULT_POOL


@dataclass
class _State:
    """`open` has for a stream the accesses that it is not ordered after; a stream that is not there
    is ordered after its own work alone, and after what is not in `all`.
    """

    open: dict[Stream, Accesses] = field(default_factory=dict[Stream, Accesses])
    all: Accesses = frozenset()

    def of(self, stream: Stream) -> Accesses:
        found = self.open.get(stream)
        return frozenset(one for one in self.all if one[1] != stream) if found is None else found

    def access(self, root: Root, stream: Stream) -> None:
        self.open.setdefault(stream, self.of(stream))
        for other in self.open:
            if other != stream:
                self.open[other] |= {(root, stream)}
        self.all |= {(root, stream)}

    def wait(self, waiter: Stream, signaller: Stream) -> None:
        """The waiter comes after the signaller's work, and what that comes after."""
        self.open[waiter] = self.of(waiter) & self.of(signaller)

    def host_waits(self, stream: Stream) -> None:
        seen = self.of(stream)
        self.open = {other: accesses & seen for other, accesses in self.open.items()}
        self.all &= seen

    def end(self, roots: frozenset[Root]) -> None:
        """Lives that have ended are not used any more."""
        self.open = {
            on: frozenset(one for one in accesses if one[0] not in roots)
            for on, accesses in self.open.items()
        }
        self.all = frozenset(one for one in self.all if one[0] not in roots)

    def rename(self, old: Root, new: Root) -> None:
        """The memory of one life is another's from here on."""

        def renamed(accesses: Accesses) -> Accesses:
            return frozenset((new if root == old else root, on) for root, on in accesses)

        self.open = {on: renamed(accesses) for on, accesses in self.open.items()}
        self.all = renamed(self.all)

    def forget(self, stream: Stream, summary: Stream) -> None:
        """`stream` is another one from here on; its work so far was that of one in `summary`."""

        def renamed(accesses: Accesses) -> Accesses:
            return frozenset((root, summary if on == stream else on) for root, on in accesses)

        self.open = {on: renamed(accesses) for on, accesses in self.open.items() if on != stream}
        self.all = renamed(self.all)

    def copy(self) -> _State:
        return _State(dict(self.open), self.all)

    def merge(self, other: _State) -> None:
        streams = set(self.open) | set(other.open)
        self.open = {stream: self.of(stream) | other.of(stream) for stream in streams}
        self.all |= other.all


class StreamOrder:
    """The current stream at every operation, and which others may still use what is freed."""

    def __init__(self, owners: Owners) -> None:
        self._owners = owners
        self._current: dict[ir.Operation, Stream] = {}
        self._streams: dict[ir.Value, Stream] = {}
        self._open_at_free: dict[ir.Operation, set[Stream]] = {}
        self._find_streams(owners.block, CALLER)
        self._run(owners.block, _State())

    def current(self, op: ir.Operation) -> Stream:
        """Returns the stream that is current where an operation of the program stands."""
        return self._current[op]

    def work_stream(self, op: ir.Operation) -> Stream:
        """Returns the stream that an operation's work goes to.

        What lies in the region of another operation, as a hir.argument or what a linalg operation
        computes an element with, is that one's work.
        """
        if op.name == "hir.launch" and len(op.operands) > 7:
            return self.stream(op.operands[7])
        if op in self._current:
            return self._current[op]
        assert op.parent is not None
        return self.work_stream(op.parent)

    def open_streams(self, deallocation: ir.Operation) -> list[Stream]:
        """Returns the streams that may still use the buffer where it is freed."""
        return sorted(self._open_at_free.get(deallocation, ()), key=str)

    def _find_streams(self, block: ir.Block, current: Stream) -> None:
        for view in block:
            op = view.operation
            self._current[op] = current
            if op.name == "hir.stream":
                named = op.attributes.get("name")
                self._streams[op.results[0]] = (
                    ("name", named.value)
                    if isinstance(named, ir.StringAttr)
                    else ("value", op.results[0])
                )
            elif op.name == "hir.current_stream":
                self._streams[op.results[0]] = current
            elif op.name == "hir.set_stream":
                current = self.stream(op.operands[0])
            elif op.name == "hir.if":
                for region in op.regions:
                    self._find_streams(region.blocks[0], current)
            elif op.name == "hir.for":
                inside = ("iteration", op) if "streams" in op.attributes else current
                self._find_streams(op.regions[0].blocks[0], inside)

    def stream(self, value: ir.Value) -> Stream:
        """Returns the stream that a value is."""
        return self._streams.get(value, ("value", value))

    def _stream_or_event(self, value: ir.Value) -> Stream:
        op = defining_op(value)
        is_event = op is not None and op.name == "hir.record"
        return ("event", value) if is_event else self.stream(value)

    def _run(self, block: ir.Block, state: _State) -> None:
        for view in block:
            self._step(view.operation, state)

    def _step(self, op: ir.Operation, state: _State) -> None:
        current = self._current[op]
        operands = list(op.operands)
        match op.name:
            case "hir.wait_stream":
                state.wait(self.stream(operands[0]), self.stream(operands[1]))
            case "hir.record":
                on = self.stream(operands[0]) if operands else current
                state.open[("event", op.results[0])] = state.of(on)
            case "hir.wait_event":
                on = self.stream(operands[1]) if len(operands) > 1 else current
                state.wait(on, ("event", operands[0]))
            case "hir.synchronize":
                state.host_waits(self._stream_or_event(operands[0]) if operands else current)
            case "hir.if":
                other = state.copy()
                for region, branch in zip(op.regions, (state, other), strict=True):
                    self._run(region.blocks[0], branch)
                    for inner, outer in self._owners.given_out(op, region).items():
                        branch.rename(inner, outer)
                state.merge(other)
            case "hir.for":
                self._loop(op, state)
            case "hir.deallocate":
                self._free(op, state)
            case "hir.reuse":
                for storage in self._owners.roots(operands[0]):
                    state.rename(storage, Root(op.results[0]))
            case name if name not in _NO_WORK:
                for user in operations_where(op, lambda _: True):
                    for _, roots in self._owners.of_operands(user):
                        for root in roots:
                            state.access(root, self.work_stream(op))
            case _:
                pass

    def _free(self, op: ir.Operation, state: _State) -> None:
        """What may still use the buffer is waited for before it is freed."""
        current, roots = self._current[op], self._owners.roots(op.operands[0])
        streams = self._open_at_free.setdefault(op, set())
        streams.update(on for root, on in state.of(current) if root in roots and on != current)
        for stream in streams:
            state.wait(current, stream)
        state.end(roots)

    def _loop(self, op: ir.Operation, state: _State) -> None:
        body, entry = op.regions[0].blocks[0], self._current[op]
        mine: Stream | None = ("iteration", op) if "streams" in op.attributes else None
        inside: list[tuple[Stream, Stream]] = [
            (("value", stream.results[0]), ("pool", pool_of(stream)))
            for stream in operations_where(op, lambda one: one.name == "hir.stream")
            if "name" not in stream.attributes
        ]
        if mine is not None:
            inside.append((mine, ("iterations", op)))
        at_entry = state.copy()
        at_end: Accesses = frozenset()
        while True:
            before = state.copy()
            if mine is not None:
                state.wait(mine, entry)
            self._run(body, state)
            if mine is not None:
                at_end = state.of(mine)
            for stream, summary in inside:
                state.forget(stream, summary)
            state.merge(before)
            if (state.open, state.all) == (before.open, before.all):
                break
        if mine is not None:
            # The stream at entry waits for every iteration's.
            state.open[entry] = at_entry.of(entry) | frozenset(
                one
                for one in state.of(entry)
                if one[1] not in (mine, ("iterations", op)) and one in at_end
            )
