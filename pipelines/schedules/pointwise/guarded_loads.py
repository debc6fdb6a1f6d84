"""Loads of rows in a region that are done where the row has such a column: of what is padded or
concatenated.

%column = linalg.index 1
%place = arith.subi %column, %low : index
%is_within = arith.cmpi ult, %place, %size : index
%element = scf.if %is_within -> f32 { yield memref.load %x[%row, %place] } else { yield %zero }
"""

from __future__ import annotations

from functools import partial
from math import prod

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...rewriting import index_constant
from ...walking import defining_operation
from ..alternatives import Conditions
from ..conditional_load import load_if
from ..elements import address, element_bytes, load
from ..parameters import Parameters
from ..region import Point, Region
from ..region_operations import conditions_in, load_in
from ..size import ZERO, Size
from ..work import Work
from .table_rows import TableRow, read_row

_BELOW = int(arith.CmpIPredicate.ult)


@dataclass(frozen=True)
class GuardedLoad:
    """A memref.load within an scf.if of the region, along `loop`, one of the operation's own.

    It is done where all of `guards` hold, which do not vary along the loop, and `tested` is below
    `bound` if there is one. `place` is the last index. Both are some way from the loop's index, the
    same along the loop: a multiple of `shifts`.
    """

    op: ir.Operation
    row: TableRow
    guards: tuple[ir.Value, ...]
    place: ir.Value
    tested: ir.Value
    shifts: tuple[Size, Size]
    bound: ir.Value | None
    bound_size: Size

    @property
    def result(self) -> ir.Value:
        return self.op.results[0]

    @property
    def otherwise(self) -> ir.Value:
        """What the element is where it is not loaded."""
        return list(self.op.regions[1].blocks[0])[-1].operation.operands[0]

    def piece(self, width: int) -> int:
        """Returns how many neighbouring elements are certainly all there or all not."""
        steps = (*self.row.strides, *self.shifts, self.bound_size)
        while any(size.is_known and size.known % width for size in steps):
            width //= 2
        return width

    def require(self, found: Conditions, piece: int) -> None:
        """Adds what pieces of so many elements need to be one access each."""
        self.row.require(found, piece, piece * element_bytes(self.row.element))
        for size in (*self.shifts, self.bound_size):
            found.require_multiple(size, piece)

    def load(
        self,
        point: Point,
        parameters: Parameters,
        column: ir.Value,
        width: int,
        piece: int,
        known: dict[ir.Value, list[ir.Value]],
        policy: ir.Value | None,
    ) -> list[ir.Value]:
        """So many elements from a column on, by accesses of `piece`; `point` gives the row.

        `known` has the elements of other guarded loads; `policy` is what becomes of them in the
        cache.
        """
        otherwise = known.get(self.otherwise) or [point.value(self.otherwise)] * width
        where = self.row.address(point, parameters, _place(self.place, point, column))
        tested = _place(self.tested, point, column)
        holds: ir.Value | None = None
        for guard in self.guards:
            value = point.value(guard)
            holds = value if holds is None else arith.andi(holds, value)
        values: list[ir.Value] = []
        element = self.row.element
        bytes_ = piece * element_bytes(element)
        for first in range(0, width, piece):
            is_there = holds
            if self.bound is not None:
                at = arith.addi(tested, index_constant(first)) if first else tested
                below = arith.cmpi(arith.CmpIPredicate.ult, at, point.value(self.bound))
                is_there = below if holds is None else arith.andi(holds, below)
            assert is_there is not None
            address_ = _element_address(where, element, first)
            read = partial(load, address_, element, piece, bytes_, policy)
            values += load_if(is_there, otherwise[first:][:piece], read)
        return values


def _place(place: ir.Value, point: Point, column: ir.Value) -> ir.Value:
    """Returns what is some way from the loop's index, at a column."""
    if _is_index(place):
        return column
    op = defining_operation(place)
    left, right = op.operands
    if op.name == "arith.subi":
        return arith.subi(column, point.value(right))
    return arith.addi(column, point.value(right if _is_index(left) else left))


def find_guarded_loads(work: Work, loop: int) -> list[GuardedLoad]:
    """The guarded loads of rows along a loop; emits index arithmetic on the host.

    They are in an order in which each comes after those that it is loaded in place of.
    """
    region = Region(work)
    found: dict[ir.Value, GuardedLoad] = {}
    for inner in work.block:
        guarded = _guarded(inner.operation, region, loop)
        if guarded is None:
            continue
        other = guarded.otherwise
        if other in found or loop not in region.varies(other):
            found[guarded.result] = guarded
    return list(found.values())


def _guarded(op: ir.Operation, region: Region, loop: int) -> GuardedLoad | None:
    found = load_in(op)
    if found is None:
        return None
    indices = list(found.operands)[1:]
    if not indices:
        return None
    place = indices[-1]
    shift = _shift(place, region, loop)
    row = None if shift is None else read_row(found, region, loop)
    if shift is None or row is None:
        return None
    guards, bound = list[ir.Value](), None
    tested, other = place, shift
    for term in conditions_in(op.operands[0]):
        if loop not in region.varies(term):
            guards.append(term)
            continue
        below = None if bound is not None else _below(term, region, loop)
        if below is None:
            return None
        tested, other, bound = below
    size = ZERO if bound is None else _size(bound, region)
    return GuardedLoad(op, row, tuple(guards), place, tested, (shift, other), bound, size)


def _shift(place: ir.Value, region: Region, loop: int) -> Size | None:
    """Returns what a place's distance from a loop's index is a multiple of; None where it has none,
    or one that varies along the loop.
    """
    if isinstance(place.owner, ir.Block) or region.is_outside(place):
        return None
    if _is_index(place):
        return ZERO if region.varies(place) == frozenset([loop]) else None
    op = defining_operation(place)
    if op.name not in ("arith.subi", "arith.addi"):
        return None
    left, right = op.operands
    if op.name == "arith.addi" and not _is_index(left):
        left, right = right, left
    if not _is_index(left) or region.varies(left) != frozenset([loop]):
        return None
    if region.is_outside(right):
        return _size(right, region)
    return None if loop in region.varies(right) else Size(_multiple(right))


def _multiple(value: ir.Value) -> int:
    """Returns what a number is certainly a multiple of, by the product that it is."""
    op = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if op is None or op.name != "arith.muli":
        return 1
    return prod(abs(each.value) for each in map(_constant, op.operands) if each is not None)


def _constant(value: ir.Value) -> ir.IntegerAttr | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    return ir.IntegerAttr(value.owner.operation.attributes["value"])


def _size(value: ir.Value, region: Region) -> Size:
    """A number of the host, without its sign."""
    constant = _constant(value)
    if constant is not None:
        return Size(abs(constant.value))
    return region.work.open.size_of(value)


def _below(term: ir.Value, region: Region, loop: int) -> tuple[ir.Value, Size, ir.Value] | None:
    """Returns what a condition tests, how far that is from the loop's index, and its bound."""
    if isinstance(term.owner, ir.Block) or term.owner.operation.name != "arith.cmpi":
        return None
    op = term.owner.operation
    if ir.IntegerAttr(op.attributes["predicate"]).value != _BELOW:
        return None
    tested, bound = op.operands
    shift = _shift(tested, region, loop)
    return None if shift is None or not region.is_outside(bound) else (tested, shift, bound)


def _is_index(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name == "linalg.index"


def _element_address(where: ir.Value, element: ir.Type, first: int) -> ir.Value:
    return address(where, element, index_constant(first)) if first else where
