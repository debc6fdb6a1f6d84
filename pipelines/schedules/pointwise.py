"""The pointwise schedule: every iteration gives elements of the outputs by itself.

The loops are made into as few as the operands allow. A thread takes several vectors of neighbouring
elements, a block apart from one another so that the block's accesses lie side by side, and loads
all of them before it uses the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...dialects.mlir import arith, gpu, ir, scf
from ..rewriting import index_constant
from .alternatives import Alternative, Conditions
from .device import Device
from .elements import ACCESS_BYTES, address, element_bytes, load, store
from .kernels import Kernels
from .launch import emit_launch, operation_name
from .parameters import Parameters
from .region import Point, Region
from .size import ONE, ZERO, Size
from .space import Loop, collapsed, in_memory_order, total
from .work import Operand, Work

THREADS = 256
# Bytes that a thread has under way of one operand.
_BYTES_IN_FLIGHT = 64
# Vectors are counted in 32 bits, which divide faster than 64.
_MOST_VECTORS = 2**31 - 1


@dataclass(frozen=True)
class _Plan:
    """Vectors of `width` elements along the innermost of `loops`, `unroll` of them a thread."""

    work: Work
    loops: tuple[Loop, ...]
    width: int
    unroll: int

    @property
    def inner(self) -> Loop:
        return self.loops[-1]

    @property
    def is_flat(self) -> bool:
        """Whether there is one loop, whose last few elements make no whole vector."""
        return len(self.loops) == 1

    def stride(self, operand: Operand, loop: Loop) -> Size:
        return loop.stride_of(self.work, operand.number)


def alternatives(work: Work, kernels: Kernels, device: Device) -> list[Alternative] | None:
    """Wide and narrow accesses, or None for an operation that is not pointwise."""
    del device
    if work.collectives or not work.outputs:
        return None
    loops = tuple(collapsed(work, in_memory_order(work, work.parallel)))
    if not loops:
        return None
    inner = loops[-1]
    near = [stride for stride in inner.strides if stride not in (ZERO, ONE)]
    found: list[Alternative] = []
    sizes = [element_bytes(operand.element) for operand in work.operands]
    width = ACCESS_BYTES // min(sizes)
    unroll = max(1, _BYTES_IN_FLIGHT // (width * max(sizes)))
    if not near and width > 1:
        found.append(_alternative(_Plan(work, loops, width, unroll), kernels))
    found.append(_alternative(_Plan(work, loops, 1, 8), kernels))
    return found


def _alternative(plan: _Plan, kernels: Kernels) -> Alternative:
    def conditions(found: Conditions) -> None:
        found.require(plan.work.layouts_hold())
        vectors = total(plan.loops)
        if plan.width > 1:
            for operand in plan.work.operands:
                if plan.stride(operand, plan.inner) == ZERO:
                    continue
                size = element_bytes(operand.element)
                found.require_aligned(operand, min(plan.width * size, ACCESS_BYTES))
                for loop in plan.loops[:-1]:
                    found.require_multiple(plan.stride(operand, loop), plan.width)
            if not plan.is_flat:
                found.require_multiple(plan.inner.extent, plan.width)
        if vectors.is_known:
            vectors = Size(vectors.known // plan.width)
            found.require_at_most(vectors, _MOST_VECTORS)
        else:
            found.require_at_most(vectors, _MOST_VECTORS * plan.width)

    return conditions, lambda: _launch(plan, kernels)


def _launch(plan: _Plan, kernels: Kernels) -> None:
    work = plan.work
    made: list[Parameters] = []

    def emit(entry: ir.Block) -> None:
        parameters = Parameters(entry, work.open)
        made.append(parameters)
        _Body(plan, parameters).emit()

    kernel = kernels.build(operation_name(work.op), THREADS, emit, work.op.location)
    elements = work.open.value(total(plan.loops))
    a_block = index_constant(THREADS * plan.width * plan.unroll)
    emit_launch(kernel, arith.ceildivui(elements, a_block), THREADS, made[0].arguments())


class _Body:
    """Emits one kernel's body."""

    def __init__(self, plan: _Plan, parameters: Parameters) -> None:
        self._plan = plan
        self._parameters = parameters
        self._region = Region(plan.work, parameters)
        self._everywhere = frozenset(part for loop in plan.loops for part in loop.parts)
        self._fixed = Point(
            self._region, frozenset(), self._load_fixed, lambda _: index_constant(0)
        )
        for value in self._region.yielded:
            self._fixed.prepare(value, self._everywhere)

    def emit(self) -> None:
        """Whole blocks do without any check; the last one checks each vector, and each element
        that is left where there is one loop.
        """
        plan = self._plan
        elements = self._parameters.size(total(plan.loops))
        vectors = self._in_vectors(elements)
        threads = index_constant(THREADS)
        in_block = index_constant(THREADS * plan.unroll)
        first = arith.muli(gpu.block_id(gpu.Dimension.x), in_block)
        thread = gpu.thread_id(gpu.Dimension.x)
        is_whole = arith.cmpi(arith.CmpIPredicate.ule, arith.addi(first, in_block), vectors)
        own = arith.addi(first, thread)
        choice = scf.IfOp(is_whole, has_else=True)
        with ir.InsertionPoint(choice.then_block):
            numbers = [
                arith.addi(own, index_constant(number * THREADS)) for number in range(plan.unroll)
            ]
            self._vectors(numbers, plan.width)
            scf.YieldOp([])
        assert choice.else_block is not None
        with ir.InsertionPoint(choice.else_block):
            rest = scf.ForOp(own, vectors, threads)
            with ir.InsertionPoint(rest.body):
                self._vectors([rest.induction_variable], plan.width)
                scf.YieldOp([])
            if plan.is_flat and plan.width > 1:
                done = arith.muli(vectors, index_constant(plan.width))
                left = scf.ForOp(arith.addi(done, thread), elements, threads)
                with ir.InsertionPoint(left.body):
                    self._vectors([left.induction_variable], 1)
                    scf.YieldOp([])
            scf.YieldOp([])

    def _in_vectors(self, number: ir.Value) -> ir.Value:
        width = self._plan.width
        return number if width == 1 else arith.divui(number, index_constant(width))

    def _vectors(self, numbers: Sequence[ir.Value], width: int) -> None:
        """Computes the vectors of these numbers; all loads come first."""
        work = self._plan.work
        places = [self._places(number, width) for number in numbers]
        loaded = [
            {
                operand.number: self._load(operand, place, width)
                for operand in work.inputs
                if next(iter(work.block.arguments[operand.number].uses), None) is not None
            }
            for place in places
        ]
        for place, values in zip(places, loaded, strict=True):
            results = [self._results(place, values, element) for element in range(width)]
            for number, operand in enumerate(work.outputs):
                elements = [result[number] for result in results]
                where = self._address(operand, place)
                store(where, operand.element, elements, self._alignment(operand, width))

    def _results(
        self, place: Sequence[ir.Value], values: dict[int, list[ir.Value]], element: int
    ) -> list[ir.Value]:
        """What the outputs take at one element of a vector."""

        def pick(number: int) -> ir.Value:
            found = values[number]
            return found[element] if len(found) > 1 else found[0]

        def index(number: int) -> ir.Value:
            return self._index(number, place, element)

        point = Point(self._region, self._everywhere, pick, index, self._fixed)
        return [point.value(value) for value in self._region.yielded]

    def _load(self, operand: Operand, place: Sequence[ir.Value], width: int) -> list[ir.Value]:
        if self._plan.stride(operand, self._plan.inner) == ZERO:
            width = 1
        where = self._address(operand, place)
        return load(where, operand.element, width, self._alignment(operand, width))

    def _load_fixed(self, number: int) -> ir.Value:
        """An element that no loop moves."""
        operand = next(each for each in self._plan.work.operands if each.number == number)
        return load(self._address(operand, []), operand.element, 1, 1)[0]

    def _alignment(self, operand: Operand, width: int) -> int:
        return min(ACCESS_BYTES, width * element_bytes(operand.element))

    def _places(self, number: ir.Value, width: int) -> list[ir.Value]:
        """The index in each loop of the first element of a vector."""
        loops = self._plan.loops
        places: list[ir.Value] = []
        rest = number
        for loop in reversed(loops[1:]):
            extent = self._parameters.size(loop.extent)
            if loop is self._plan.inner:
                extent = self._in_vectors(extent)
            places.insert(0, _narrow(arith.remui, rest, extent))
            rest = _narrow(arith.divui, rest, extent)
        places.insert(0, rest)
        if width > 1:
            places[-1] = arith.muli(places[-1], index_constant(width))
        return places

    def _address(self, operand: Operand, place: Sequence[ir.Value]) -> ir.Value:
        index = self._parameters.size(operand.offset)
        for loop, at in zip(self._plan.loops, place, strict=False):
            stride = self._plan.stride(operand, loop)
            if stride != ZERO:
                index = arith.addi(index, arith.muli(at, self._parameters.size(stride)))
        return address(self._parameters.pointer(operand.buffer), operand.element, index)

    def _index(self, number: int, place: Sequence[ir.Value], element: int) -> ir.Value:
        """The index of one of the operation's own loops."""
        for loop, at in zip(self._plan.loops, place, strict=True):
            if number not in loop.parts:
                continue
            if loop is self._plan.inner and element:
                at = arith.addi(at, index_constant(element))
            for part in reversed(loop.parts):
                extent = self._parameters.size(self._plan.work.extents[part])
                if part == number:
                    return at if part == loop.parts[0] else arith.remui(at, extent)
                at = arith.divui(at, extent)
        return index_constant(0)


def _narrow(
    operation: Callable[[ir.Value, ir.Value], ir.Value], number: ir.Value, by: ir.Value
) -> ir.Value:
    """A division in 32 bits, of numbers that fit."""
    i32, index = ir.IntegerType.get_signless(32), ir.IndexType.get()
    left, right = arith.index_castui(i32, number), arith.index_castui(i32, by)
    return arith.index_castui(index, operation(left, right))
