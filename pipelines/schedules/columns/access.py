"""The elements of a vector of columns in a kernel: addresses, loads, stores, and loops' indices."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ..elements import address, load, store
from ..parameters import Parameters
from ..size import ONE, ZERO, Size
from ..space import Loop
from ..split_number import split_number
from ..work import Operand
from .plan import ColumnPlan


class ColumnAccess:
    """One vector of columns, by its number, and the collective iterations that it has.

    Iterations that are accessed together are `step` apart, the block's depth unless it is given.
    """

    def __init__(
        self,
        plan: ColumnPlan,
        parameters: Parameters,
        vector: ir.Value,
        step: int | ir.Value | None = None,
    ) -> None:
        self._plan = plan
        self._step = plan.depth if step is None else step
        self._parameters = parameters
        self._columns = self._place(vector)
        self._bases: dict[int, ir.Value] = {}
        self._fixed: dict[int, list[ir.Value]] = {}

    def begin(self, operands: Sequence[Operand]) -> None:
        """Computes the operands' addresses here, for code in nested blocks."""
        for operand in operands:
            self._base(operand)

    def load_fixed(self, operand: Operand) -> list[ir.Value]:
        """A vector's elements of an operand that collective loops do not move."""
        if operand.number not in self._fixed:
            self._fixed[operand.number] = self._load(operand, self._base(operand))
        return self._fixed[operand.number]

    def load_all(
        self, operand: Operand, numbers: Sequence[ir.Value], valid: Sequence[ir.Value | None]
    ) -> list[list[ir.Value]]:
        """A vector's elements in several iterations, each a step past the one before."""
        return [self._load(operand, where) for where in self.places(operand, numbers, valid)]

    def places(
        self, operand: Operand, numbers: Sequence[ir.Value], valid: Sequence[ir.Value | None]
    ) -> list[ir.Value]:
        """An operand's addresses in several iterations, each a step past the one before.

        Those that are not valid are the first one.
        """
        loops = self._plan.space.collective
        if len(loops) != 1:
            return [self._address(operand, self.indices(number)) for number in numbers]
        stride = self._stride(operand, loops[0])
        first = self._address(operand, [numbers[0]])
        if isinstance(self._step, int):
            step = self._parameters.size(stride * Size(self._step))
        else:
            step = arith.muli(self._parameters.size(stride), self._step)
        found, last = [first], first
        for is_there in list(valid)[1:]:
            last = address(last, operand.element, step)
            found.append(last if is_there is None else arith.select(is_there, last, first))
        return found

    def store(self, operand: Operand, where: ir.Value, values: Sequence[ir.Value]) -> None:
        """Writes a vector's elements."""
        if self._plan.is_vector(operand) or len(values) == 1:
            store(where, operand.element, values, self._plan.alignment(operand))
            return
        for element, value in enumerate(values):
            store(self._neighbour(operand, where, element), operand.element, [value], 1)

    def store_fixed(self, operand: Operand, values: Sequence[ir.Value]) -> None:
        """Writes a vector's elements of an output that collective loops do not move."""
        self.store(operand, self._base(operand), values)

    def indices(self, number: ir.Value) -> list[ir.Value]:
        """The indices of the collective loops in an iteration of this number."""
        return split_number(number, self._plan.space.collective, self._parameters)

    def index(self, number: int, iteration: ir.Value | None, element: int) -> ir.Value:
        """The index of one of the operation's own loops."""
        space = self._plan.space
        for loop, at in zip(space.parallel, self._columns, strict=True):
            if number in loop.parts:
                if loop is space.lane:
                    at = self._column(at, element)
                return self._part(loop, at, number)
        for place, loop in enumerate(space.collective):
            if number in loop.parts:
                assert iteration is not None
                return self._part(loop, self.indices(iteration)[place], number)
        return index_constant(0)

    def _column(self, first: ir.Value, element: int) -> ir.Value:
        """The index along the innermost loop of one of a vector's elements."""
        return arith.addi(first, index_constant(element)) if element else first

    def _part(self, loop: Loop, at: ir.Value, number: int) -> ir.Value:
        """The index of one of the loops that a loop is made of."""
        for part in reversed(loop.parts):
            extent = self._parameters.size(self._plan.space.work.extents[part])
            if part == number:
                return at if part == loop.parts[0] else arith.remui(at, extent)
            at = arith.divui(at, extent)
        raise KeyError(number)

    def _place(self, vector: ir.Value) -> list[ir.Value]:
        """The index in each parallel loop of a vector's first element."""
        width = self._plan.width
        loops = self._plan.space.parallel
        places = split_number(vector, loops, self._parameters, width)
        if width > 1:
            places[-1] = arith.muli(places[-1], index_constant(width))
        return places

    def _stride(self, operand: Operand, loop: Loop) -> Size:
        return loop.stride_of(self._plan.space.work, operand.number)

    def _base(self, operand: Operand) -> ir.Value:
        """The address of a vector's first element in the first iteration."""
        if operand.number not in self._bases:
            index = self._parameters.size(operand.offset)
            for loop, at in zip(self._plan.space.parallel, self._columns, strict=True):
                index = self._moved(operand, loop, at, index)
            pointer = self._parameters.pointer(operand.buffer)
            self._bases[operand.number] = address(pointer, operand.element, index)
        return self._bases[operand.number]

    def _address(self, operand: Operand, indices: Sequence[ir.Value]) -> ir.Value:
        index = index_constant(0)
        for loop, at in zip(self._plan.space.collective, indices, strict=True):
            index = self._moved(operand, loop, at, index)
        return address(self._base(operand), operand.element, index)

    def _moved(self, operand: Operand, loop: Loop, at: ir.Value, index: ir.Value) -> ir.Value:
        stride = self._stride(operand, loop)
        if stride == ZERO:
            return index
        by = at if stride == ONE else arith.muli(at, self._parameters.size(stride))
        return arith.addi(index, by)

    def _load(self, operand: Operand, where: ir.Value) -> list[ir.Value]:
        """A vector's elements; one where they are all the same."""
        plan = self._plan
        if plan.space.lane_stride(operand) == ZERO:
            return load(where, operand.element, 1, 1)
        if plan.is_vector(operand) or plan.width == 1:
            return load(where, operand.element, plan.width, plan.alignment(operand))
        return [
            load(self._neighbour(operand, where, element), operand.element, 1, 1)[0]
            for element in range(plan.width)
        ]

    def _neighbour(self, operand: Operand, where: ir.Value, element: int) -> ir.Value:
        if element == 0:
            return where
        stride = self._plan.space.lane_stride(operand) * Size(element)
        return address(where, operand.element, self._parameters.size(stride))
