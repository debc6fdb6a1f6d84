"""Which allocations may take the memory of a buffer whose life has ended."""

from __future__ import annotations

from dataclasses import field

from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...walking import defining_op, operations_where
from ..streams.order import Stream, StreamOrder
from .formula import Formula, Terms, maximum
from .owners import SHARED, Owners, Root, memory_kind
from .peak_memory import follow_memory
from .size_formulas import SizeFormulas


@dataclass(frozen=True)
class Free:
    """A hir.deallocate whose buffer's memory is there to be reused: its bytes, kind and stream."""

    op: ir.Operation
    value: ir.Value
    bytes: Formula
    kind: str
    stream: Stream


@dataclass
class BufferReuse:
    """The pairs of a free and an allocation in one program."""

    program: ir.Operation
    pairs: list[tuple[Free, ir.Operation]] = field(default_factory=list[tuple[Free, ir.Operation]])

    def __post_init__(self) -> None:
        self._owners = Owners(self.program)
        self._order = StreamOrder(self._owners)
        self._sizes = SizeFormulas()
        self._profile = follow_memory(self.program)
        self._places: dict[ir.Operation, tuple[list[ir.Operation], int]] = {}
        self._users = self._find_users()
        # By the formulas' terms, which are compared faster than the formulas.
        self._known_to_fit: dict[tuple[Terms, Terms], bool] = {}
        self._known_order: dict[tuple[Terms, Terms], bool] = {}
        self._known_sums: dict[tuple[tuple[Terms, ...], Terms], list[Formula]] = {}
        self._block(self._owners.block)

    def _find_places(self, block: ir.Block) -> None:
        ops = [view.operation for view in block]
        for place, op in enumerate(ops):
            self._places[op] = (ops, place)

    def _from(self, first: ir.Operation, last: ir.Operation) -> list[ir.Operation]:
        """Returns the operations of a block from `first` up to the one before `last`."""
        ops, place = self._places[first]
        return ops[place : self._places[last][1]]

    def _find_users(self) -> dict[Root, list[ir.Operation]]:
        users: dict[Root, list[ir.Operation]] = {}
        for op in operations_where(self.program, lambda one: True):
            for _, roots in self._owners.of_operands(op):
                for root in roots:
                    users.setdefault(root, []).append(op)
        return users

    def _block(self, block: ir.Block) -> None:
        free: list[Free] = []
        self._find_places(block)
        for view in block:
            op = view.operation
            if op.name == "hir.deallocate":
                free += self._free(op)
            elif op.name == "hir.allocate" and "output" not in op.attributes:
                chosen = self._choose(op, free)
                if chosen is not None:
                    free.remove(chosen)
                    self._take(chosen, op)
            for region in op.regions:
                if op.name in ("hir.for", "hir.if"):
                    self._block(region.blocks[0])

    def _free(self, op: ir.Operation) -> list[Free]:
        value = op.operands[0]
        maker = defining_op(value)
        kind = memory_kind(Root(value))
        if maker is None or maker.name not in ("hir.allocate", "hir.reuse") or kind is None:
            return []
        if kind == SHARED:
            return []
        return [Free(op, value, self._sizes.bytes_of(maker), kind, self._order.current(op))]

    def _choose(self, op: ir.Operation, free: list[Free]) -> Free | None:
        """Returns the smallest that certainly holds what `op` asks for, and does not raise the
        peak.

        Of equal ones the last: where it would be held for too long, so would those before it.
        """
        wanted, stream = self._sizes.bytes_of(op), self._order.current(op)
        kind = memory_kind(Root(op.results[0]))
        if not self._is_used_on(stream, op):
            return None
        best: Free | None = None
        too_long: set[Formula] = set()
        for one in reversed(free):
            held = self._profile.held[Root(one.value)]
            if one.kind != kind or one.stream != stream or held in too_long:
                continue
            is_smaller = best is None or (
                one.bytes != best.bytes and self._is_at_most(one.bytes, best.bytes)
            )
            if not is_smaller or not self._is_at_most(wanted, one.bytes):
                continue
            if self._extra(one, op) is None:
                too_long.add(held)
            else:
                best = one
        return best

    def _is_at_most(self, one: Formula, other: Formula) -> bool:
        """Formula.at_most; few pairs are asked for."""
        found = self._known_order.get((one.terms, other.terms))
        if found is None:
            found = self._known_order[one.terms, other.terms] = one.at_most(other)
        return found

    def _is_used_on(self, stream: Stream, op: ir.Operation) -> bool:
        """Returns whether all that uses the new buffer comes after this place in the stream."""
        users = self._users.get(Root(op.results[0]), [])
        return all(self._comes_after(self._order.work_stream(user), stream) for user in users)

    def _comes_after(self, stream: Stream, other: Stream) -> bool:
        """Returns whether it is the other, or that of the iterations of a loop on it."""
        match stream:
            case ("iteration", ir.Operation() as loop):
                return stream == other or self._comes_after(self._order.current(loop), other)
            case _:
                return stream == other

    def _extra(self, one: Free, op: ir.Operation) -> list[tuple[ir.Operation, Formula]] | None:
        """Returns what more is held by which operations if `op` takes the memory; None if that
        raises the peak.
        """
        held = self._profile.held[Root(one.value)]
        more = held - self._sizes.bytes_of(op)
        end = next(
            (
                user
                for user in self._users.get(Root(op.results[0]), [])
                if user.name == "hir.deallocate" and user.block == op.block
            ),
            None,
        )
        if more.known != 0 and end is None:
            return None
        extra = [(each, held) for each in self._from(one.op, op)[1:]]
        if end is not None and more.known != 0:
            extra += [(each, more) for each in self._from(op, end)]
        before: tuple[Formula, Formula] | None = None
        for each, added in extra:
            for peak in self._profile.at[each]:
                # Most operations hold what the one before them does.
                if before is not None and peak is before[0] and added is before[1]:
                    continue
                if not self._fits(peak, added):
                    return None
                before = peak, added
        return extra

    def _fits(self, peak: Formula, added: Formula) -> bool:
        """Returns whether so much more does not raise the program's peak. Few sums
        are asked for.
        """
        found = self._known_to_fit.get((peak.terms, added.terms))
        if found is None:
            raised = peak + added
            found = any(raised.at_most(most) for most in self._profile.peaks)
            self._known_to_fit[peak.terms, added.terms] = found
        return found

    def _sums(self, peaks: list[Formula], added: Formula) -> list[Formula]:
        """Returns what is held with so much more; equal ones are one list."""
        key = tuple(peak.terms for peak in peaks), added.terms
        found = self._known_sums.get(key)
        if found is None:
            found = self._known_sums[key] = maximum(peak + added for peak in peaks)
        return found

    def _take(self, one: Free, op: ir.Operation) -> None:
        extra = self._extra(one, op)
        assert extra is not None
        at = self._profile.at
        for each, added in extra:
            for inner in operations_where(each, lambda one: True):
                if inner in at:
                    at[inner] = self._sums(at[inner], added)
            around = each.parent
            while around is not None and around in at:
                at[around] = maximum(at[each], at[around])
                around = around.parent
        self._profile.held[Root(op.results[0])] = self._profile.held[Root(one.value)]
        self.pairs.append((one, op))


def reuse(free: Free, allocation: ir.Operation) -> None:
    """Makes the allocation a hir.reuse, and takes the free away."""
    attributes = {
        name: allocation.attributes[name] for name in allocation.attributes if name != "memory"
    }
    with allocation.location:
        taken = ir.Operation.create(
            "hir.reuse",
            results=[allocation.results[0].type],
            operands=[free.op.operands[0], *allocation.operands],
            attributes=attributes,
            ip=ir.InsertionPoint(allocation),
        )
    allocation.results[0].replace_all_uses_with(taken.results[0])
    allocation.erase()
    free.op.erase()
