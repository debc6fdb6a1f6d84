"""Elements that a region writes at computed places: hir.scatter, as stores or atomic operations.

%row = arith.index_cast %place : i64 to index
%column = linalg.index 1 : index
%r = "hir.scatter"(%there, %value, %row, %column) {kind = "addf"}
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, ir, scf
from ....dialects.records import dataclass
from ...rewriting import constant, index_constant
from ..alternatives import Conditions
from ..elements import ACCESS_BYTES, address, element_bytes, store
from ..parameters import Parameters
from ..ptx import instruct
from ..region import Point, Region
from ..size import ONE, Size
from ..work import Layout, Work, has_layout, has_plain_elements, row_strides, sizes_of
from .gathers import is_index

# llvm.atomicrmw's numbers of what it does.
_ATOMICS = {
    "addf": 11,
    "addi": 1,
    "andi": 3,
    "ori": 5,
    "xori": 6,
    "maxsi": 7,
    "minsi": 8,
    "maxui": 9,
    "minui": 10,
}
# llvm::AtomicOrdering.
_MONOTONIC = 2
# From here on several floats are added to by one instruction (PTX ISA, "red").
_VECTOR_CAPABILITY = 90
_WORD_BYTES = 4


@dataclass(frozen=True)
class Write:
    """An element that is written at `places` of a buffer, or combined by `kind` with what is there.

    `is_row` says that neighbouring iterations of the innermost loop write neighbouring elements;
    `is_assumed` that the last stride is only assumed to be 1. `row` are the elements along the last
    dim, where floats lie that one instruction adds to several of.
    """

    value: ir.Value
    buffer: ir.Value
    element: ir.Type
    places: tuple[ir.Value, ...]
    strides: tuple[Size, ...]
    kind: str | None
    is_row: bool
    is_assumed: bool
    row: Size | None

    def require(self, found: Conditions, width: int) -> None:
        """Adds what `width` neighbouring elements need to be written together."""
        if self.is_assumed:
            for holds in has_layout(self.buffer, Layout.ROWS):
                found.require(holds)
        if self.is_row and width > 1:
            found.require_aligned_buffer(self.buffer, self.element, self._bytes(width))
            for stride in self.strides[:-1]:
                found.require_multiple(stride, width)

    def write(self, points: Sequence[Point], parameters: Parameters, *, is_row: bool) -> None:
        """Writes the elements of neighbouring iterations, which may be those of one row."""
        values = [point.value(self.value) for point in points]
        if self.is_row and is_row:
            self._write(self._address(points[0], parameters), values, self._bytes(len(points)))
            return
        for point, value in zip(points, values, strict=True):
            where = self._address(point, parameters)
            if self.row is not None and element_bytes(self.element) < _WORD_BYTES:
                size = parameters.size(self.row)
                _add_half(where, value, point.value(self.places[-1]), size)
            else:
                self._write(where, [value], element_bytes(self.element))

    def _address(self, point: Point, parameters: Parameters) -> ir.Value:
        steps = [point.value(place) for place in self.places]
        index = parameters.place(Size(0), zip(steps, self.strides, strict=True))
        return address(parameters.pointer(self.buffer), self.element, index)

    def _write(self, where: ir.Value, values: Sequence[ir.Value], alignment: int) -> None:
        if self.kind is None:
            store(where, self.element, values, alignment)
            return
        piece = 1 if self.row is None else ACCESS_BYTES // element_bytes(self.element)
        while len(values) % piece:
            piece //= 2
        for first in range(0, len(values), piece):
            at = where
            if first:
                by = arith.constant(ir.IntegerType.get_signless(64), first)
                at = address(where, self.element, by)
            if piece == 1:
                _combine(at, values[first], _ATOMICS[self.kind])
            else:
                _add_floats(at, values[first : first + piece])

    def _bytes(self, width: int) -> int:
        return min(width * element_bytes(self.element), ACCESS_BYTES)


def find_writes(work: Work, loop: int | None) -> list[Write] | None:
    """Returns what the region writes, with the innermost loop, if that is one of the operation's
    own.

    None for what no one instruction does. Emits index arithmetic on the host.
    """
    region = Region(work)
    found = [_write(op, region, loop) for op in work.scatters]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else None


def _write(op: ir.Operation, region: Region, loop: int | None) -> Write | None:
    work = region.work
    there, value, *places = op.operands
    buffer = work.op.operands[ir.BlockArgument(there).arg_number]
    kind = ir.MemRefType(buffer.type)
    combines = ir.StringAttr(op.attributes["kind"]).value if "kind" in op.attributes else None
    element = kind.element_type
    if not has_plain_elements(element) or not places:
        return None
    is_half = isinstance(element, ir.F16Type | ir.BF16Type) and combines == "addf"
    is_narrow = element_bytes(element) < _WORD_BYTES and not is_half
    if combines is not None and (combines not in _ATOMICS or is_narrow):
        return None
    # Of places anywhere a whole buffer is no better than one of rows.
    layout = Layout.ANY if work.layout is Layout.ANY else Layout.ROWS
    strides, is_assumed = row_strides(buffer, work.open, layout)
    is_row = (
        loop is not None
        and strides[-1] == ONE
        and is_index(places[-1], loop)
        and not any(loop in region.varies(each) for each in places[:-1])
    )
    capability = 0 if work.device is None else work.device.capability
    adds_floats = combines == "addf" and (is_half or isinstance(element, ir.F32Type))
    row: Size | None = None
    if adds_floats and strides[-1] == ONE and capability >= _VECTOR_CAPABILITY:
        row = sizes_of(buffer, work.open)[-1]
    return Write(
        value,
        buffer,
        element,
        tuple(places),
        tuple(strides),
        combines,
        is_row,
        is_assumed,
        row,
    )


def _combine(where: ir.Value, value: ir.Value, operation: int) -> None:
    i64 = ir.IntegerType.get_signless(64)
    ir.Operation.create(
        "llvm.atomicrmw",
        results=[value.type],
        operands=[where, value],
        attributes={
            "bin_op": ir.IntegerAttr.get(i64, operation),
            "ordering": ir.IntegerAttr.get(i64, _MONOTONIC),
            "syncscope": ir.StringAttr.get("device"),
        },
    )


def _add_half(where: ir.Value, value: ir.Value, place: ir.Value, size: ir.Value) -> None:
    """Adds to a float of 16 bits, at a place of a row, together with its neighbour in a word.

    For one alone there is no instruction, but a loop. The neighbour is added -0, which no float
    changes by; where it is not one of the row's, the loop it is.
    """
    predicate, i64 = arith.CmpIPredicate, ir.IntegerType.get_signless(64)
    bits = ir.Operation.create("llvm.ptrtoint", results=[i64], operands=[where]).results[0]
    upper = arith.andi(bits, arith.constant(i64, 2))
    is_upper = arith.cmpi(predicate.ne, upper, arith.constant(i64, 0))
    one, none = index_constant(1), constant(value.type, -0.0)
    other = arith.select(is_upper, arith.subi(place, one), arith.addi(place, one))
    choice = scf.IfOp(arith.cmpi(predicate.ult, other, size), has_else=True)
    with ir.InsertionPoint(choice.then_block):
        back = arith.select(is_upper, arith.constant(i64, -1), arith.constant(i64, 0))
        pair = [arith.select(is_upper, none, value), arith.select(is_upper, value, none)]
        _add_floats(address(where, value.type, back), pair)
        scf.YieldOp([])
    assert choice.else_block is not None
    with ir.InsertionPoint(choice.else_block):
        _combine(where, value, _ATOMICS["addf"])
        scf.YieldOp([])


def _add_floats(where: ir.Value, values: Sequence[ir.Value]) -> None:
    """Adds to several neighbouring floats by PTX: LLVM's operation takes one."""
    numbers = ", ".join(f"${number}" for number in range(1, 1 + len(values)))
    kind = values[0].type
    flush, register = ("", "f") if isinstance(kind, ir.F32Type) else (".noftz", "h")
    if register == "h":
        i16 = ir.IntegerType.get_signless(16)
        values = [arith.bitcast(i16, value) for value in values]
    instruct(
        f"red.relaxed.gpu.global.add{flush}.v{len(values)}.{kind} [$0], {{{numbers}}};",
        [where, *values],
        ",".join(["l"] + [register] * len(values)),
    )


def written_loops(work: Work) -> frozenset[int]:
    """The loops along which rows are written."""
    loops: Sequence[int] = range(len(work.extents))
    return frozenset(
        loop for loop in loops for op in work.scatters if is_index(op.operands[-1], loop)
    )
