"""The kernel of the pointwise schedule: a thread computes vectors of neighbouring elements."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, gpu, ir, scf
from ...rewriting import constant, index_constant
from ...walking import is_used
from ..cache_priority import policy_of, read_policy
from ..elements import ACCESS_BYTES, address, element_bytes, load, store
from ..index_division import divided, thread_number
from ..parameters import Parameters
from ..region import Point, Region
from ..size import ZERO, Size, product
from ..space import part_index, total
from ..work import Operand
from .configuration import Kind
from .vectors import Vectors

# The index in each loop.
_Place = list[ir.Value]


class PointwiseKernel:
    """Emits the body."""

    def __init__(self, vectors: Vectors, parameters: Parameters) -> None:
        self._vectors = vectors
        self._work = vectors.work
        self._threads = vectors.threads
        self.parameters = parameters
        self._region = Region(vectors.work, parameters)
        self._everywhere = frozenset(part for loop in vectors.loops for part in loop.parts)
        arguments = vectors.work.block.arguments
        self._read = [
            operand for operand in vectors.work.inputs if is_used(arguments[operand.number])
        ]
        self._fixed = Point(
            self._region, frozenset(), self._load_fixed, lambda _: index_constant(0)
        )
        asked = [operand for check in self._region.checks for operand in check.operands]
        written = [value for op in self._work.scatters for value in list(op.operands)[1:]]
        for value in [*self._region.yielded, *asked, *written]:
            self._fixed.prepare(value, self._everywhere)

    def emit(self) -> None:
        """A vector a thread, several of them, or several single elements."""
        if self._vectors.unroll > 1:
            self._emit_several()
        else:
            self._emit_vectors()

    def _emit_vectors(self) -> None:
        """Threads after those with a vector each take one of the elements that are left."""
        width, size = self._vectors.width, total(self._vectors.loops)
        elements = self.parameters.size(size)
        count = arith.divui(elements, index_constant(width))
        number = self._number()
        if size.is_known and size.known % (self._threads * width) == 0:
            self._compute_all([number], width)
            return
        choice = scf.IfOp(self._is_below(number, count), has_else=self._vectors.leaves_elements)
        with ir.InsertionPoint(choice.then_block):
            self._compute_all([number], width)
            scf.YieldOp([])
        if choice.else_block is None:
            return
        with ir.InsertionPoint(choice.else_block):
            at = arith.addi(number, arith.muli(count, index_constant(width - 1)))
            left = scf.IfOp(self._is_below(at, elements))
            with ir.InsertionPoint(left.then_block):
                self._compute_all([at], 1)
                scf.YieldOp([])
            scf.YieldOp([])

    def _number(self) -> ir.Value:
        """The thread's number; of several loops there are vectors for fewer than 2^31."""
        if len(self._vectors.loops) > 1:
            return arith.index_castui(ir.IndexType.get(), thread_number(self._threads))
        before = arith.muli(gpu.block_id(gpu.Dimension.x), index_constant(self._threads))
        return arith.addi(before, gpu.thread_id(gpu.Dimension.x))

    def _is_below(self, number: ir.Value, count: ir.Value) -> ir.Value:
        """Returns whether there are more; of several loops both numbers have 32 bits."""
        if len(self._vectors.loops) > 1:
            i32 = ir.IntegerType.get_signless(32)
            number, count = arith.index_castui(i32, number), arith.index_castui(i32, count)
        return arith.cmpi(arith.CmpIPredicate.ult, number, count)

    def _emit_several(self) -> None:
        """Blocks whose vectors, or elements, are all there load all of them first."""
        width, unroll = self._vectors.width, self._vectors.unroll
        size = total(self._vectors.loops)
        count = arith.divui(self.parameters.size(size), index_constant(width))
        threads, in_block = index_constant(self._threads), index_constant(self._threads * unroll)
        first = arith.muli(gpu.block_id(gpu.Dimension.x), in_block)
        own = arith.addi(first, gpu.thread_id(gpu.Dimension.x))
        if size.is_known and size.known % (self._threads * unroll * width) == 0:
            self._compute_block(own)
            return
        is_whole = arith.cmpi(arith.CmpIPredicate.ule, arith.addi(first, in_block), count)
        choice = scf.IfOp(is_whole, has_else=True)
        with ir.InsertionPoint(choice.then_block):
            self._compute_block(own)
            scf.YieldOp([])
        assert choice.else_block is not None
        with ir.InsertionPoint(choice.else_block):
            rest = scf.ForOp(own, count, threads)
            with ir.InsertionPoint(rest.body):
                self._compute_all([rest.induction_variable], width)
                scf.YieldOp([])
            scf.YieldOp([])

    def _compute_block(self, own: ir.Value) -> None:
        """Computes all that a thread takes, its first one's number given."""
        later = range(1, self._vectors.unroll)
        more = [arith.addi(own, index_constant(each * self._threads)) for each in later]
        self._compute_all([own, *more], self._vectors.width)

    def _compute_all(self, numbers: Sequence[ir.Value], width: int) -> None:
        """Computes the vectors of these numbers; all loads come first."""
        firsts = [self._first_place(number, width) for number in numbers]
        places = [self._places(first, width) for first in firsts]
        loaded = [
            {operand.number: self._load(operand, number, each) for operand in self._read}
            for number, each in zip(numbers, places, strict=True)
        ]
        outers = [self._outer(each, values) for each, values in zip(places, loaded, strict=True)]
        gathered = [self._gathered(each, outer) for each, outer in zip(places, outers, strict=True)]
        for number, each, values, outer, known in zip(
            numbers, places, loaded, outers, gathered, strict=True
        ):
            points = self._points(each, values, outer, known)
            results = [[point.value(value) for value in self._region.yielded] for point in points]
            for place, operand in enumerate(self._work.outputs):
                where = self._address(operand, number, each)
                elements = [result[place] for result in results]
                store(where, operand.element, elements, self._alignment(operand, width))
            for write in self._vectors.space.writes:
                write.write(points, self.parameters, is_row=self._has_outer(each))

    # The region.

    def _outer(self, places: list[_Place], values: dict[int, list[ir.Value]]) -> Point:
        """Returns what the elements of a vector share; checks what can be checked of it."""
        if not self._has_outer(places):
            return self._fixed
        varying = self._everywhere - self._inner
        outer = self._point(varying, places[0], values, 0, self._fixed)
        for check in self._region.checks:
            if not self._varies_within(check):
                outer.check(check)
        return outer

    def _has_outer(self, places: list[_Place]) -> bool:
        return len(places) > 1 and not self._vectors.is_crossing

    @property
    def _inner(self) -> frozenset[int]:
        return frozenset(self._vectors.inner.parts)

    def _varies_within(self, check: ir.Operation) -> bool:
        """Returns whether a check is another one for each element of a vector."""
        return any(self._region.varies(value) & self._inner for value in check.operands)

    def _gathered(self, places: list[_Place], outer: Point) -> dict[ir.Value, list[ir.Value]]:
        """Returns what the region loads itself, of each element of a vector."""
        found: dict[ir.Value, list[ir.Value]] = {}
        if not self._has_outer(places):
            return found
        column, width = places[0][-1], len(places)
        for gather in self._vectors.gathers:
            found[gather.result] = gather.load(outer, self.parameters, column, width)
        for each in self._vectors.guarded:
            piece = self._vectors.piece(each)
            bytes_ = product(self._work.extents) * Size(element_bytes(each.row.element))
            policy = policy_of(self._work, bytes_, self.parameters)
            found[each.result] = each.load(
                outer, self.parameters, column, width, piece, found, policy
            )
        return found

    def _points(
        self,
        places: list[_Place],
        values: dict[int, list[ir.Value]],
        outer: Point,
        gathered: dict[ir.Value, list[ir.Value]],
    ) -> list[Point]:
        """Each element of a vector, checked."""
        has_outer = self._has_outer(places)
        within = self._inner if has_outer else self._everywhere
        checks = [
            check for check in self._region.checks if not has_outer or self._varies_within(check)
        ]
        points: list[Point] = []
        for element, place in enumerate(places):
            point = self._point(within, place, values, element, outer)
            point.known.update({value: found[element] for value, found in gathered.items()})
            for check in checks:
                point.check(check)
            points.append(point)
        return points

    def _point(
        self,
        varying: frozenset[int],
        place: _Place,
        values: dict[int, list[ir.Value]],
        element: int,
        outer: Point,
    ) -> Point:
        def pick(number: int) -> ir.Value:
            found = values[number]
            return found[element] if len(found) > 1 else found[0]

        def index(number: int) -> ir.Value:
            for loop, at in zip(self._vectors.loops, place, strict=True):
                if number in loop.parts:
                    return part_index(self._work, loop, at, number, self.parameters)
            return index_constant(0)

        return Point(self._region, varying, pick, index, outer)

    # Elements in memory.

    def _load(self, operand: Operand, number: ir.Value, places: list[_Place]) -> list[ir.Value]:
        """An operand's elements of a vector, or the one that all of it have."""
        vectors, width = self._vectors, len(places)
        if width > 1 and not vectors.is_neighbouring(operand):
            is_same = vectors.inner.stride_of(self._work, operand.number) == ZERO
            if vectors.is_crossing or not is_same:
                each = [self._load(operand, number, [place]) for place in places]
                return [elements[0] for elements in each]
            width = 1
        where = self._address(operand, number, places)
        policy = read_policy(self._work, operand, self.parameters) if width > 1 else None
        return load(where, operand.element, width, self._alignment(operand, width), policy)

    def _load_fixed(self, number: int) -> ir.Value:
        """An element that no loop moves."""
        operand = next(each for each in self._work.operands if each.number == number)
        where = self.parameters.pointer(operand.buffer)
        index = self.parameters.size(operand.offset)
        return load(address(where, operand.element, index), operand.element, 1, 1)[0]

    def _alignment(self, operand: Operand, width: int) -> int:
        return min(ACCESS_BYTES, width * element_bytes(operand.element))

    def _address(self, operand: Operand, number: ir.Value, places: list[_Place]) -> ir.Value:
        """Where the first element of a vector lies."""
        vectors = self._vectors
        if vectors.is_crossing and vectors.is_neighbouring(operand):
            steps = [(number, Size(len(places)))]
        else:
            strides = [loop.stride_of(self._work, operand.number) for loop in vectors.loops]
            steps = list(zip(places[0], strides, strict=True))
        index = self.parameters.place(operand.offset, steps)
        return address(self.parameters.pointer(operand.buffer), operand.element, index)

    # Places.

    def _first_place(self, number: ir.Value, width: int) -> _Place:
        """The index in each loop of the first element of a vector."""
        loops, is_rows = self._vectors.loops, self._vectors.kind is Kind.ROWS
        rest = number if is_rows or width == 1 else arith.muli(number, index_constant(width))
        place: _Place = []
        for loop in reversed(loops[1:]):
            pieces = width if is_rows and loop is self._vectors.inner else 1
            rest, within = divided(rest, loop.extent, pieces, self.parameters)
            place.insert(0, within)
        place.insert(0, rest)
        if is_rows:
            place[-1] = arith.muli(place[-1], index_constant(width))
        return place

    def _places(self, first: _Place, width: int) -> list[_Place]:
        """The index in each loop of each element of a vector."""
        places = [first]
        for element in range(1, width):
            if self._vectors.is_crossing:
                places.append(self._next(places[-1]))
            else:
                places.append([*first[:-1], arith.addi(first[-1], index_constant(element))])
        return places

    def _next(self, place: _Place) -> _Place:
        """The next iteration; indices of several loops are below 2^32."""
        i32, index = ir.IntegerType.get_signless(32), ir.IndexType.get()
        one, zero = constant(i32, 1), constant(i32, 0)
        *outer, at = (arith.index_castui(i32, each) for each in place)
        loops = list(self._vectors.loops)
        found: list[ir.Value] = []
        moved = arith.addi(at, one)
        while outer:
            extent = arith.index_castui(i32, self.parameters.size(loops.pop().extent))
            is_past = arith.cmpi(arith.CmpIPredicate.eq, moved, extent)
            found.insert(0, arith.select(is_past, zero, moved))
            at = outer.pop()
            moved = arith.select(is_past, arith.addi(at, one), at)
        return [arith.index_castui(index, each) for each in (moved, *found)]
