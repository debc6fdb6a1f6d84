"""Sums over a window of which each result has factors of its own, as in depthwise convolutions.

A thread computes some results one below the other. It loads each element that their windows cover
once; neighbouring threads take neighbouring results, whose windows meet in the first-level cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product as each_of

from ....dialects.mlir import arith, gpu, ir, math, scf
from ...rewriting import constant
from ..conditional_load import load_if
from ..elements import address, element_bytes, load, store
from ..parameters import Parameters
from ..region import Point
from ..size import ZERO, Size, product
from .form import Factor, Form
from .indices import Indices, Numbers, add, both, i32, is_below, number, plus, times

THREADS = 256
# The results of a thread, and the places of a window, all of them products in its code.
_MOST_ROWS, MOST_TERMS = 8, 64
_MOST_PRODUCTS = 256

# What tells one element from another: how far it lies, and how far along each guarded axis.
_Steps = tuple[object, ...]


class Stencil:
    """What each thread takes of a form: `rows` results along `down`."""

    def __init__(self, form: Form) -> None:
        self.form = form
        extents = form.work.extents
        strides = form.work.outputs[0].strides
        loops = (*form.batch, *form.rows, *form.columns)
        self.loops = sorted(loops, key=lambda loop: -strides[loop].known)
        self.down = self.loops[-2] if len(self.loops) > 1 else None
        terms = form.extent(form.terms).known
        self.rows = 1
        if self.down is not None:
            while self.rows < _MOST_ROWS and 2 * self.rows * terms <= _MOST_PRODUCTS:
                self.rows *= 2
            extent = extents[self.down]
            while extent.is_known and self.rows > 1 and self.rows >= 2 * extent.known:
                self.rows //= 2


def is_stencil(form: Form) -> bool:
    """Returns whether one factor varies with all loops of the results, and the window is small."""
    terms = form.extent(form.terms)
    if (form.rows and form.columns) or form.steps or not form.terms:
        return False
    if not (form.rows or form.columns or form.batch):
        return False
    if not terms.is_known or terms.known > MOST_TERMS:
        return False
    return any(factor.guards for factor in (form.first, form.second))


class StencilKernel:
    """Emits the body: some results a thread."""

    def __init__(self, stencil: Stencil, counts: list[Size], parameters: Parameters) -> None:
        self._stencil, self._form = stencil, stencil.form
        self._counts, self.parameters = counts, parameters

    def emit(self) -> None:
        """Computes the thread's results, if there are any."""
        thread = arith.index_castui(i32(), gpu.thread_id(gpu.Dimension.x))
        self._numbers = numbers = Numbers(self._form, self.parameters, thread)
        block = arith.index_castui(i32(), gpu.block_id(gpu.Dimension.x))
        at = arith.addi(arith.muli(block, number(THREADS)), thread)
        inside = scf.IfOp(is_below(at, numbers.size(product(self._counts))))
        with ir.InsertionPoint(inside.then_block):
            indices: dict[int, ir.Value] = {}
            for loop, count in reversed(list(zip(self._stencil.loops, self._counts, strict=True))):
                at, indices[loop] = numbers.divided(at, count)
            if self._stencil.down is not None:
                own = indices[self._stencil.down]
                indices[self._stencil.down] = times(own, self._stencil.rows)
            self._compute(indices)
            scf.YieldOp([])

    def _compute(self, indices: Indices) -> None:
        form, stencil = self._form, self._stencil
        loaded = [_Elements(factor, self._numbers, indices) for factor in (form.first, form.second)]
        places = list(each_of(*(range(form.work.extents[loop].known) for loop in form.terms)))
        rows: list[ir.Value] = []
        for row in range(stencil.rows):
            total: ir.Value | None = None
            for place in places:
                steps = dict(zip(form.terms, place, strict=True))
                if stencil.down is not None:
                    steps[stencil.down] = row
                one, other = (each.at(steps) for each in loaded)
                total = self._added(total, one, other)
            assert total is not None
            rows.append(total)
        for row, total in enumerate(rows):
            self._store(row, indices, total)

    def _added(self, total: ir.Value | None, one: ir.Value, other: ir.Value) -> ir.Value:
        if isinstance(one.type, ir.FloatType):
            return arith.mulf(one, other) if total is None else math.fma(one, other, total)
        more = arith.muli(one, other)
        return more if total is None else arith.addi(total, more)

    def _store(self, row: int, indices: Indices, total: ir.Value) -> None:
        """Computes what follows, and stores it where there is such a row."""
        stencil, form = self._stencil, self._form
        own = dict(indices)
        if stencil.down is None or form.work.extents[stencil.down].is_multiple_of(stencil.rows):
            if stencil.down is not None:
                own[stencil.down] = plus(own[stencil.down], row)
            self._store_there(own, total)
            return
        own[stencil.down] = plus(own[stencil.down], row)
        holds = is_below(own[stencil.down], self._numbers.size(form.work.extents[stencil.down]))
        inside = scf.IfOp(holds)
        with ir.InsertionPoint(inside.then_block):
            self._store_there(own, total)
            scf.YieldOp([])

    def _store_there(self, indices: Indices, total: ir.Value) -> None:
        form = self._form
        operands = {operand.number: operand for operand in form.work.operands}

        def where(operand: int) -> ir.Value:
            found = operands[operand]
            place = self._numbers.place(found.offset, found.strides, indices)
            return address(self.parameters.pointer(found.buffer), found.element, place)

        def element(operand: int) -> ir.Value:
            kind = operands[operand].element
            return load(where(operand), kind, 1, element_bytes(kind))[0]

        index = ir.IndexType.get()
        point = Point(
            self._numbers.region,
            frozenset(range(len(form.work.extents))),
            element,
            lambda loop: (
                arith.index_castui(index, indices[loop]) if loop in indices else constant(index, 0)
            ),
        )
        point.known[form.sum.results[0]] = total
        values = [point.value(each) for each in self._numbers.region.yielded]
        for operand, value in zip(form.work.outputs, values, strict=True):
            kind = operand.element
            store(where(operand.number), kind, [value], element_bytes(kind))


class _Elements:
    """The elements of one factor around a thread's first place, each loaded once."""

    def __init__(self, factor: Factor, numbers: Numbers, indices: Indices) -> None:
        self._factor, self._numbers = factor, numbers
        self._first = numbers.place(factor.offset, factor.strides, indices)
        self._bases = [self._base(number_, indices) for number_ in range(len(factor.guards))]
        self._holds: dict[tuple[int, int], ir.Value] = {}
        self._known: dict[_Steps, ir.Value] = {}

    def _base(self, place: int, indices: Indices) -> ir.Value:
        guard = self._factor.guards[place]
        found = number(guard.constant)
        for loop, by in guard.factors.items():
            if loop in indices:
                found = add(found, times(indices[loop], by))
        return found

    def at(self, steps: Mapping[int, int]) -> ir.Value:
        """The element so many steps further along some loops, as what is multiplied."""
        factor, numbers = self._factor, self._numbers
        moved = [
            sum(by * steps.get(loop, 0) for loop, by in guard.factors.items())
            for guard in factor.guards
        ]
        far: dict[tuple[int, ...], int] = {}
        for loop, count in steps.items():
            stride = factor.strides[loop]
            if stride != ZERO and count:
                far[stride.open] = far.get(stride.open, 0) + count * stride.known
        key = (*sorted(far.items()), *enumerate(moved))
        if key in self._known:
            return self._known[key]
        place = self._first
        for open_, known in sorted(far.items()):
            place = add(place, numbers.size(Size(known, open_)))
        holds: ir.Value | None = None
        for guard, by in enumerate(moved):
            holds = both(holds, self._is_there(guard, by))
        pointer = numbers.parameters.pointer(factor.buffer)
        size = element_bytes(factor.element)

        def loaded() -> list[ir.Value]:
            return load(address(pointer, factor.element, place), factor.element, 1, size)

        if holds is None:
            (value,) = loaded()
        else:
            (value,) = load_if(holds, [constant(factor.element, 0)], loaded)
        if factor.extension is not None:
            kind = factor.extension.results[0].type
            value = ir.Operation.create(
                factor.extension.name, results=[kind], operands=[value]
            ).results[0]
        self._known[key] = value
        return value

    def _is_there(self, guard: int, by: int) -> ir.Value:
        key = guard, by
        if key not in self._holds:
            bound = self._numbers.size(self._factor.guards[guard].bound)
            self._holds[key] = is_below(plus(self._bases[guard], by), bound)
        return self._holds[key]
