"""A fused region emitted as one thread's serial program: values where they are needed, once.

A scope is a place in the kernel where some loops have an index. A value goes to the outermost scope
in which the loops that it depends on have the indices at hand, so what is uniform along a loop is
computed before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from ....dialects.hir.loop_operation import kind_of, loops_of
from ....dialects.mlir import arith, ir, scf
from ....dialects.records import dataclass
from ...rewriting import constant, index_constant
from ...walking import operations_where
from ..combine import combine, combine_places, neutral
from .dependence import REDUCTIONS, SCAN, loops_in
from .fused_region import FusedRegion
from .serial_nest import Direction, Nest


@dataclass(frozen=True)
class _Group:
    """What one nest does last: operations without results, and the outputs it stores."""

    effects: list[ir.Operation] = field(default_factory=list[ir.Operation])
    outputs: list[int] = field(default_factory=list[int])


@dataclass
class Scope:
    """A block of the kernel in which loops have the indices `bound`.

    `carried` has the scans whose values so far the innermost loop around the block carries.
    """

    region: FusedRegion
    block: ir.Block
    bound: dict[int, ir.Value]
    parent: Scope | None = None
    carried: dict[ir.Operation, ir.Value] = field(default_factory=dict[ir.Operation, ir.Value])
    _known: dict[ir.Value, ir.Value] = field(default_factory=dict[ir.Value, ir.Value])
    _open: list[ir.Operation] = field(default_factory=list[ir.Operation])

    def store_outputs(self) -> None:
        """Stores every output; those with elements along the same loops in one nest."""
        dependence, iteration = self.region.dependence, self.region.iteration
        groups: dict[tuple[frozenset[int], Direction], _Group] = {}
        serial = frozenset(iteration.serial)
        for op, depends in dependence.effects.items():
            loops = serial & depends
            direction = self._direction(dependence.operands(op), loops)
            groups.setdefault((loops, direction), _Group()).effects.append(op)
        for number, value in enumerate(self.region.yielded):
            map_ = iteration.maps[iteration.inputs + number]
            loops = serial & (dependence.loops(value) | loops_in(map_))
            direction = self._direction([value], loops)
            groups.setdefault((loops, direction), _Group()).outputs.append(number)
        for (loops, direction), group in groups.items():
            self._store(group, sorted(loops), direction)

    def _store(self, group: _Group, loops: Sequence[int], direction: Direction) -> None:
        """Does what a group is for, in a nest over loops."""
        used = [value for op in group.effects for value in self.region.dependence.operands(op)]
        stored = [self.region.yielded[number] for number in group.outputs]

        def body(scope: Scope, carried: Sequence[ir.Value]) -> list[ir.Value]:
            del carried
            scope.values(used)
            for op in group.effects:
                scope._copy(op)
            for number, value in zip(group.outputs, scope.values(stored), strict=True):
                with scope._point():
                    self.region.store(number, value, scope.bound)
            return []

        self._nest(Nest(loops, direction, [*used, *stored], body), [])

    def value(self, value: ir.Value) -> ir.Value:
        """A value of the region in this scope."""
        if value in self.region.outside:
            return self.region.outside[value]
        scope = self._home(value)
        if value not in scope._known:
            scope._emit(value)
        return scope._known[value]

    def values(self, values: Sequence[ir.Value]) -> list[ir.Value]:
        """Several of them, in the region's order, so that long chains need no deep stack."""
        for op in self.region.dependence.needed(values, along=()):
            if len(op.results):
                self.value(op.results[0])
        return [self.value(value) for value in values]

    def _home(self, value: ir.Value) -> Scope:
        """The outermost scope in which a value is what it is here."""
        scope, loops = self, self.region.dependence.loops(value)
        while scope.parent is not None and all(
            scope.parent.bound.get(loop) is self.bound.get(loop) for loop in loops
        ):
            scope = scope.parent
        return scope

    def _point(self) -> ir.InsertionPoint:
        """Where code of this scope goes: before a loop that is being filled, or at the end."""
        return ir.InsertionPoint(self._open[-1]) if self._open else ir.InsertionPoint(self.block)

    def _emit(self, value: ir.Value) -> None:
        if isinstance(value.owner, ir.Block):
            with self._point():
                number = ir.BlockArgument(value).arg_number
                self._known[value] = self.region.load(number, self.bound)
            return
        op = value.owner.operation
        if op.name in REDUCTIONS:
            self._reduce(op)
        elif op.name == SCAN:
            self._known[value] = self._scan(op)
        else:
            self._copy(op)

    def _copy(self, op: ir.Operation) -> None:
        """Repeats an operation of the region, with what lies in it."""
        if op.name == "linalg.index":
            self._known[op.results[0]] = self.bound[ir.IntegerAttr(op.attributes["dim"]).value]
            return
        used = {value: self.value(value) for value in self.region.dependence.operands(op)}
        used |= self.region.outside
        copy = op.clone(self._point()).operation
        for inner in operations_where(copy, lambda _: True):
            for number, value in enumerate(inner.operands):
                if value in used:
                    inner.operands[number] = used[value]
        for index in operations_where(copy, lambda inner: inner.name == "linalg.index"):
            loop = ir.IntegerAttr(index.attributes["dim"]).value
            index.results[0].replace_all_uses_with(self.bound[loop])
            index.erase()
        self._known |= dict(zip(op.results, copy.results, strict=True))

    def _reduce(self, op: ir.Operation) -> None:
        """A nest over a reduction's loops, which serves others of the same loops as well."""
        loops = loops_of(op)
        for inner in self.region.dependence.needed([op.operands[0]]):
            depends = self.region.dependence.loops(inner.results[0])
            if inner.name in REDUCTIONS and depends <= self.bound.keys() - set(loops):
                self.value(inner.results[0])
        group = self._reduced_together(op)
        values = [each.operands[0] for each in group]
        direction = self._direction(values, frozenset(loops))
        ascending = direction in (Direction(), Direction(loops[-1]))
        with self._point():
            starts = [each for inner in group for each in _start(inner)]

        def body(scope: Scope, carried: Sequence[ir.Value]) -> list[ir.Value]:
            found: list[ir.Value] = []
            rest = list(carried)
            for inner, value in zip(group, scope.values(values), strict=True):
                so_far, rest = rest[: len(inner.results)], rest[len(inner.results) :]
                with scope._point():
                    found += scope._take(inner, so_far, value, ascending)
            return found

        results = self._nest(Nest(loops, direction, values, body), starts)
        for inner in group:
            for result in inner.results:
                self._known[result] = results.pop(0)

    def _take(
        self, op: ir.Operation, so_far: list[ir.Value], value: ir.Value, ascending: bool
    ) -> Sequence[ir.Value]:
        """Returns what a reduction has found with one more value."""
        if len(so_far) == 1:
            return [combine(kind_of(op), so_far[0], value)]
        place = index_constant(0)
        for loop in loops_of(op):
            place = arith.muli(place, self.region.extents[loop])
            place = arith.addi(place, self.bound[loop])
        number = arith.index_cast(so_far[1].type, place)
        best = so_far[0], so_far[1]
        return combine_places(kind_of(op), best, (value, number), ascending=ascending)

    def _reduced_together(self, op: ir.Operation) -> list[ir.Operation]:
        """The reductions over the same loops here, none of which needs another one's result."""
        dependence = self.region.dependence
        live = dependence.needed(self.region.yielded)
        group = [op]
        for other in live:
            if (
                other.name in REDUCTIONS
                and other not in group
                and loops_of(other) == loops_of(op)
                and dependence.loops(other.results[0]) == dependence.loops(op.results[0])
                and other.results[0] not in self._known
                and not self._depends_on_unknown(other)
            ):
                group.append(other)
        return group

    def _depends_on_unknown(self, op: ir.Operation) -> bool:
        """Returns whether an operation needs another reduction's result that is not there yet."""
        return any(
            inner.name in REDUCTIONS and inner.results[0] not in self._home(inner.results[0])._known
            for inner in self.region.dependence.needed([op.operands[0]])
        )

    def _scan(self, op: ir.Operation) -> ir.Value:
        if op in self.carried:
            so_far = self.carried[op]
            return so_far if "exclusive" in op.attributes else self._next(op)
        return self._scan_again(op)

    def _next(self, op: ir.Operation) -> ir.Value:
        """Returns what a scan that is carried takes to the next iteration."""
        if "exclusive" not in op.attributes and op.results[0] in self._known:
            return self._known[op.results[0]]
        (value,) = self.values([op.operands[0]])
        with self._point():
            return combine(kind_of(op), self.carried[op], value)

    def _scan_again(self, op: ir.Operation) -> ir.Value:
        """A scan's value from all iterations up to this one, where no loop carries it."""
        (loop,) = loops_of(op)
        with self._point():
            here, one = self.bound[loop], index_constant(1)
            if "reverse" in op.attributes:
                here = arith.subi(arith.subi(self.region.extents[loop], one), here)
            count = here if "exclusive" in op.attributes else arith.addi(here, one)
            start = neutral(kind_of(op), op.results[0].type)

        def body(scope: Scope, carried: Sequence[ir.Value]) -> list[ir.Value]:
            (value,) = scope.values([op.operands[0]])
            with scope._point():
                return [combine(kind_of(op), carried[0], value)]

        nest = Nest([loop], Direction.of(op), [op.operands[0]], body, count)
        return self._nest(nest, [start])[0]

    def _direction(self, values: Sequence[ir.Value], loops: frozenset[int]) -> Direction:
        """Returns the direction of loops that carries the first scan that values come from."""
        for op in self.region.dependence.needed(values, along=loops):
            if op.name == SCAN and loops_of(op)[0] in loops:
                return Direction.of(op)
        return Direction()

    def _nest(self, nest: Nest, starts: Sequence[ir.Value]) -> list[ir.Value]:
        """A nest of serial loops; gives what they carry from `starts` in the end."""
        if not nest.loops:
            return list(nest.body(self, starts))
        loop, is_innermost = nest.outermost, len(nest.loops) == 1
        with self._point():
            none, one = index_constant(0), index_constant(1)
            extent = self.region.extents[loop]
            scans = self._to_carry(nest) if is_innermost else []
            begun = [neutral(kind_of(scan), scan.results[0].type) for scan in scans]
            emitted = scf.ForOp(none, nest.count or extent, one, [*starts, *begun])
        self._open.append(emitted.operation)
        inner = Scope(self.region, emitted.body, dict(self.bound), self)
        with inner._point():
            index = emitted.induction_variable
            if is_innermost and nest.is_reverse:
                index = arith.subi(arith.subi(extent, one), index)
        inner.bound[loop] = index
        arguments = list(emitted.inner_iter_args)
        inner.carried = dict(zip(scans, arguments[len(starts) :], strict=True))
        ended = inner._nest(nest.within(loop), arguments[: len(starts)])
        ended += [inner._next(scan) for scan in scans]
        with inner._point():
            scf.YieldOp(ended)
        self._open.pop()
        results: list[ir.Value] = [*emitted.results]
        return results[: len(starts)]

    def _to_carry(self, nest: Nest) -> list[ir.Operation]:
        """The scans whose values so far the innermost loop can carry: all else stands still."""
        (loop,) = nest.loops
        way = Direction(loop, nest.is_reverse)
        bound = {*self.bound, loop}
        return [
            op
            for op in self.region.dependence.needed(nest.values, along=[loop])
            if op.name == SCAN
            and Direction.of(op) == way
            and self.region.dependence.loops(op.results[0]) <= bound
        ]


def _start(op: ir.Operation) -> list[ir.Value]:
    """Returns what a reduction begins with."""
    start = [neutral(kind_of(op), op.results[0].type)]
    return start + [constant(result.type, 0) for result in list(op.results)[1:]]
