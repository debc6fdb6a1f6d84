"""The kernel of few rows: threads add up terms in registers, then what they have is added up.

for the thread's terms, a vector of the weight for each of its columns, several under way:
sums[row, column] += x[row, term] * weight[column, term]
sums over the lanes of a warp by exchanges, over warps through shared memory
results, a thread each: what follows, and the store
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.hir.loop_operation import kind_of
from ....dialects.mlir import arith, gpu, ir, math, scf
from ...i32 import block_in_grid, is_below, thread_in_block
from ...lane_reduction import WARP_LANES, shuffle
from ...rewriting import constant
from ...walking import defining_operation
from ..combine import combine, neutral
from ..contraction.indices import Indices, Places, add, byte, number, plus, times
from ..dependents import await_previous, let_next_begin
from ..elements import ACCESS_BYTES, address, element_bytes, load, prefetch, store
from ..parameters import Parameters
from ..region import Point
from ..shared import SharedMemory
from ..size import ZERO
from ..work import Operand
from .configuration import Along, FewRowsConfiguration
from .plan import FewRows

# The row, the column and the term of a value, of those that a thread has at once; None for any.
_Key = tuple[int | None, int | None, int | None]


class FewRowsKernel:
    """Emits the body. What it takes and needs can be seen after."""

    def __init__(self, plan: FewRows, made: FewRowsConfiguration, parameters: Parameters) -> None:
        self.plan, self.made, self.parameters = plan, made, parameters
        self.shared = SharedMemory()
        self.sums = list(plan.work.collectives)

    def emit(self) -> None:
        """Sums the terms of the block's columns, computes what follows and stores it."""
        plan, made = self.plan, self.made
        self._thread = thread_in_block()
        self.places = Places(plan.work, self.parameters, self._thread)
        self._first = times(_block(), made.block_columns)
        beside = _rest(self._thread, made.across)
        lane = _rest(_shifted(self._thread, made.across), made.lanes)
        team = _shifted(self._thread, made.across * made.lanes)
        self._slot = add(times(team, made.across), beside)
        self.rows = [self._row(row) for row in range(made.rows)]
        self.columns = self._own_columns()
        start = times(lane, made.terms)
        self._await_previous(start)
        found = self._sum(start)
        areas = [self._share(op, sums) for op, sums in zip(self.sums, found, strict=True)]
        gpu.barrier()
        self._finish(areas)

    def _await_previous(self, start: ir.Value) -> None:
        """Lets the next kernel begin, and waits for the one before.

        What is first read of the weight comes nearer meanwhile, for all that it may be written yet.
        """
        device, made = self.plan.work.device, self.made
        if not made.overlaps:
            return
        let_next_begin(device)
        terms, batch = self.plan.work.extents[self.plan.terms], made.step * made.unroll
        if terms.is_known and terms.known >= batch:
            for each in range(made.unroll):
                _Terms(self, plus(start, each * made.step)).prefetch_weight()
        await_previous(device)

    # What a thread has: rows and columns beyond the last are as the last ones.

    def _row(self, row: int) -> Indices:
        plan = self.plan
        extent = plan.extent(plan.rows)
        at = number(row)
        if not extent.is_known:
            at = arith.minui(at, plus(self.places.size(extent), -1))
        return self.places.split(at, plan.rows)

    def _own_columns(self) -> list[Indices]:
        plan, made = self.plan, self.made
        end = self.places.size(plan.extent(plan.columns))
        own = add(self._first, times(self._slot, made.columns))
        if plan.along is Along.COLUMNS:
            start = self.places.split(arith.minui(own, plus(end, -made.columns)), plan.columns)
            inner = plan.columns[-1]
            return [{**start, inner: plus(start[inner], at)} for at in range(made.columns)]
        return [
            self.places.split(arith.minui(plus(own, at), plus(end, -1)), plan.columns)
            for at in range(made.columns)
        ]

    # Sums of a thread, of each collective operation row by row.

    def _sum(self, start: ir.Value) -> list[list[ir.Value]]:
        made, extent = self.made, self.plan.work.extents[self.plan.terms]
        terms, batch = self.places.size(extent), made.step * made.unroll
        each = made.rows * made.columns
        sums = [neutral(kind_of(op), op.results[0].type) for op in self.sums for _ in range(each)]
        whole = arith.subi(terms, arith.remui(terms, number(batch)))
        if extent.is_known:
            whole = number(extent.known // batch * batch)
        if not extent.is_known or extent.known >= batch:
            sums = self._looped(start, whole, batch, made.unroll, sums)
        if not extent.is_known or extent.known % batch:
            sums = self._looped(add(whole, start), terms, made.step, 1, sums)
        return [sums[at : at + each] for at in range(0, len(sums), each)]

    def _looped(
        self, start: ir.Value, end: ir.Value, step: int, count: int, sums: list[ir.Value]
    ) -> list[ir.Value]:
        loop = scf.ForOp(start, end, number(step), sums)
        with ir.InsertionPoint(loop.body):
            at = loop.induction_variable
            steps = [_Terms(self, plus(at, each * self.made.step)) for each in range(count)]
            for each in steps:
                each.load_weight()
            carried: list[ir.Value] = [*loop.inner_iter_args]
            for each in steps:
                carried = each.add(carried)
            scf.YieldOp(carried)
        return list(loop.results)

    # Sums of a team.

    def _share(self, op: ir.Operation, sums: list[ir.Value]) -> ir.Value:
        """Adds up what the lanes of a warp have, and stores it: an address for all warps' sums.

        Lanes give each other half of their sums as long as they have several.
        """
        made, kind = self.made, kind_of(op)
        total, size = op.results[0].type, element_bytes(op.results[0].type)
        padded = 1 << (len(sums) - 1).bit_length()
        sums = [*sums, *[neutral(kind, total)] * (padded - len(sums))]
        first, idle = number(0), 0
        distance = min(made.lanes * made.across, WARP_LANES) // 2
        while distance >= made.across:
            bit = arith.andi(self._thread, number(distance))
            if len(sums) == 1:
                idle += distance
                kept, given = sums, sums
            else:
                half = len(sums) // 2
                is_upper = arith.cmpi(arith.CmpIPredicate.ne, bit, number(0))
                low, high = sums[:half], sums[half:]
                kept = [arith.select(is_upper, b, a) for a, b in zip(low, high, strict=True)]
                given = [arith.select(is_upper, a, b) for a, b in zip(low, high, strict=True)]
                first = arith.select(is_upper, plus(first, half), first)
            sums = [
                combine(kind, own, shuffle("xor", other, number(distance)))
                for own, other in zip(kept, given, strict=True)
            ]
            distance //= 2
        area = self.shared.area(made.parts * padded * made.slots * size)
        part = _shifted(_rest(self._thread, made.lanes * made.across), WARP_LANES)
        at = add(times(add(times(part, padded), first), made.slots), self._slot)
        is_first = arith.cmpi(
            arith.CmpIPredicate.eq, arith.andi(self._thread, number(idle)), number(0)
        )
        writes = scf.IfOp(is_first)
        with ir.InsertionPoint(writes.then_block):
            for place, value in enumerate(sums):
                where = byte(area, times(plus(at, place * made.slots), size))
                store(where, total, [value], size)
            scf.YieldOp([])
        return area

    def _total(self, op: ir.Operation, area: ir.Value, at: ir.Value) -> ir.Value:
        """The sum of what all warps of a team have, in their order."""
        made, total = self.made, op.results[0].type
        size = element_bytes(total)
        padded = 1 << (made.rows * made.columns - 1).bit_length()
        found: ir.Value | None = None
        for part in range(made.parts):
            where = byte(area, times(plus(at, part * padded * made.slots), size))
            (each,) = load(where, total, 1, size)
            found = each if found is None else combine(kind_of(op), found, each)
        assert found is not None
        return found

    # Results.

    def _finish(self, areas: Sequence[ir.Value]) -> None:
        plan, made = self.plan, self.made
        count = made.rows * made.block_columns
        rows = self.places.size(plan.extent(plan.rows))
        columns = self.places.size(plan.extent(plan.columns))
        for first in range(0, count, made.threads):
            at = plus(self._thread, first)
            column, row = _rest(at, made.block_columns), _shifted(at, made.block_columns)
            place = add(self._first, column)
            holds = arith.andi(is_below(place, columns), is_below(row, rows))
            inside = scf.IfOp(holds)
            with ir.InsertionPoint(inside.then_block):
                value = add(times(row, made.columns), _rest(column, made.columns))
                own = add(times(value, made.slots), _shifted(column, made.columns))
                totals = [
                    self._total(op, area, own) for op, area in zip(self.sums, areas, strict=True)
                ]
                indices = {
                    **self.places.split(row, plan.rows),
                    **self.places.split(place, plan.columns),
                }
                self._store(indices, totals)
                scf.YieldOp([])

    def _store(self, indices: Indices, totals: Sequence[ir.Value]) -> None:
        """Computes what follows the sums of a row and a column, and stores it."""
        work = self.plan.work
        loaded: dict[int, ir.Value] = {}

        def element(operand: int) -> ir.Value:
            if operand not in loaded:
                (own,) = (each for each in work.operands if each.number == operand)
                where = self.where(own, indices)
                (loaded[operand],) = load(where, own.element, 1, element_bytes(own.element))
            return loaded[operand]

        point = Point(
            self.places.region,
            frozenset(range(len(work.extents))),
            element,
            lambda loop: index_of(indices, loop),
        )
        for op, total in zip(self.sums, totals, strict=True):
            point.known[op.results[0]] = total
        values = [point.value(each) for each in self.places.region.yielded]
        for operand, value in zip(work.outputs, values, strict=True):
            where = self.where(operand, indices)
            store(where, operand.element, [value], element_bytes(operand.element))

    def where(self, operand: Operand, indices: Indices) -> ir.Value:
        """The address of an operand's element."""
        place = self.places.place(operand.offset, operand.strides, indices)
        return address(self.parameters.pointer(operand.buffer), operand.element, place)


class _Terms:
    """Terms that a thread adds up at once, from one on: what is loaded and computed of them."""

    def __init__(self, kernel: FewRowsKernel, start: ir.Value) -> None:
        self._kernel, self._start = kernel, start
        self._plan, self._made = kernel.plan, kernel.made
        self._region, self._work = kernel.places.region, kernel.plan.work
        self._loaded: dict[tuple[int, _Key], list[ir.Value]] = {}
        self._points: dict[_Key, Point] = {}

    def prefetch_weight(self) -> None:
        """Lets the second-level cache read what the thread will load of the weight."""
        is_along_terms = self._plan.along is Along.TERMS
        for weight in self._plan.weights:
            for place in range(self._made.columns if is_along_terms else self._made.terms):
                key: _Key = (None, place, None) if is_along_terms else (None, None, place)
                prefetch(self._kernel.where(weight, self._indices(key)))

    def load_weight(self) -> None:
        """Begins the loads that take longest."""
        for weight in self._plan.weights:
            for column in range(self._made.columns):
                for term in range(self._made.terms):
                    self._element(weight, (0, column, term))

    def add(self, sums: list[ir.Value]) -> list[ir.Value]:
        """Adds the terms of all rows and columns to sums, in their order."""
        made, found = self._made, list[ir.Value]()
        each = made.rows * made.columns
        for number_, op in enumerate(self._kernel.sums):
            own = sums[number_ * each : (number_ + 1) * each]
            for term in range(made.terms):
                own = [
                    self._added(op, total, (*divmod(place, made.columns), term))
                    for place, total in enumerate(own)
                ]
            found += own
        return found

    def _added(self, op: ir.Operation, total: ir.Value, key: _Key) -> ir.Value:
        summand = op.operands[0]
        if self._region.argument_number(summand) is None:
            product = defining_operation(summand)
            if product.name == "arith.mulf":
                one, other = (self._value(each, key) for each in product.operands)
                return math.fma(one, other, total)
        return combine(kind_of(op), total, self._value(summand, key))

    def _value(self, value: ir.Value, key: _Key) -> ir.Value:
        """A value of the region, computed once for all rows, columns and terms that share it."""
        key = self._narrowed(self._region.varies(value), key)
        if key not in self._points:
            self._points[key] = self._point(key)
        point = self._points[key]
        if value not in point.known:
            for needed in self._region.needs(value):
                if not self._region.is_outside(needed):
                    point.known[needed] = self._value(needed, key)
        return point.value(value)

    def _narrowed(self, varying: frozenset[int], key: _Key) -> _Key:
        plan = self._plan
        row, column, term = key
        return (
            row if varying & {*plan.rows} else None,
            column if varying & {*plan.columns} else None,
            term if plan.terms in varying else None,
        )

    def _point(self, key: _Key) -> Point:
        operands = {operand.number: operand for operand in self._work.operands}
        return Point(
            self._region,
            frozenset(range(len(self._work.extents))),
            lambda operand: self._element(operands[operand], key),
            lambda loop: index_of(self._indices(key), loop),
        )

    def _indices(self, key: _Key) -> Indices:
        row, column, term = (each or 0 for each in key)
        return {
            **self._kernel.rows[row],
            **self._kernel.columns[column],
            self._plan.terms: plus(self._start, term),
        }

    def _element(self, operand: Operand, key: _Key) -> ir.Value:
        """An operand's element, which is loaded with its neighbours."""
        varying = frozenset(loop for loop, stride in enumerate(operand.strides) if stride != ZERO)
        row, column, term = self._narrowed(varying, key)
        along, count = self._plan.run(operand, self._made)
        place = 0
        if along == self._plan.terms:
            place, term = term or 0, None
        elif along is not None:
            place, column = column or 0, None
        known = (operand.number, (row, column, term))
        if known not in self._loaded:
            size = element_bytes(operand.element)
            alignment = min(count * size, ACCESS_BYTES)
            where = self._kernel.where(operand, self._indices((row, column, term)))
            self._loaded[known] = load(where, operand.element, count, alignment)
        return self._loaded[known][place]


def index_of(indices: Indices, loop: int) -> ir.Value:
    """A loop's index; a loop of one iteration has none."""
    found = indices.get(loop)
    index = ir.IndexType.get()
    return constant(index, 0) if found is None else arith.index_castui(index, found)


def _block() -> ir.Value:
    return block_in_grid()


def _rest(value: ir.Value, by: int) -> ir.Value:
    """The rest of a division by a power of two."""
    return arith.andi(value, number(by - 1))


def _shifted(value: ir.Value, by: int) -> ir.Value:
    """The quotient by a power of two."""
    return arith.shrui(value, number(by.bit_length() - 1))
