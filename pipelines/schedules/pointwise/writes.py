"""Elements that a region writes at computed places: hir.scatter, as stores or atomic operations.

%row = arith.index_cast %place : i64 to index
%column = linalg.index 1 : index
%r = "hir.scatter"(%there, %value, %row, %column) {kind = "addf"}
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ..alternatives import Conditions
from ..elements import ACCESS_BYTES, address, element_bytes, store
from ..parameters import Parameters
from ..region import Point, Region
from ..size import ONE, Size
from ..work import Layout, Work, has_layout, has_plain_elements, row_strides
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
# From here on several floats are added by one instruction (PTX ISA, "red").
_VECTOR_CAPABILITY = 90
_WORD_BYTES = 4


@dataclass(frozen=True)
class Write:
    """An element that is written at `places` of a buffer, or combined by `kind` with what is there.

    `is_row` says that neighbouring iterations of the innermost loop write neighbouring elements;
    `is_assumed` that the last stride is only assumed to be 1.
    """

    value: ir.Value
    buffer: ir.Value
    element: ir.Type
    places: tuple[ir.Value, ...]
    strides: tuple[Size, ...]
    kind: str | None
    is_row: bool
    is_assumed: bool
    has_vectors: bool

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
            self._write(self._address(point, parameters), [value], element_bytes(self.element))

    def _address(self, point: Point, parameters: Parameters) -> ir.Value:
        steps = [point.value(place) for place in self.places]
        index = parameters.place(Size(0), zip(steps, self.strides, strict=True))
        return address(parameters.pointer(self.buffer), self.element, index)

    def _write(self, where: ir.Value, values: Sequence[ir.Value], alignment: int) -> None:
        if self.kind is None:
            store(where, self.element, values, alignment)
            return
        piece = ACCESS_BYTES // element_bytes(self.element) if self.has_vectors else 1
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
    is_narrow = element_bytes(element) < _WORD_BYTES
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
    adds_floats = combines == "addf" and isinstance(element, ir.F32Type)
    return Write(
        value,
        buffer,
        element,
        tuple(places),
        tuple(strides),
        combines,
        is_row,
        is_assumed,
        adds_floats and capability >= _VECTOR_CAPABILITY,
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


def _add_floats(where: ir.Value, values: Sequence[ir.Value]) -> None:
    """Adds to several neighbouring floats by PTX: LLVM's operation takes one."""
    numbers = ", ".join(f"${number}" for number in range(1, 1 + len(values)))
    ir.Operation.create(
        "llvm.inline_asm",
        operands=[where, *values],
        attributes={
            "asm_string": ir.StringAttr.get(
                f"red.relaxed.gpu.global.add.v{len(values)}.f32 [$0], {{{numbers}}};"
            ),
            "constraints": ir.StringAttr.get(",".join(["l"] + ["f"] * len(values))),
            "has_side_effects": ir.UnitAttr.get(),
        },
    )


def written_loops(work: Work) -> frozenset[int]:
    """The loops along which rows are written."""
    loops: Sequence[int] = range(len(work.extents))
    return frozenset(
        loop for loop in loops for op in work.scatters if is_index(op.operands[-1], loop)
    )
