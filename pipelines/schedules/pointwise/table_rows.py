"""Rows that a region loads of a buffer from outside, from any column on."""

from __future__ import annotations

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ..alternatives import Conditions
from ..elements import address
from ..parameters import Parameters
from ..region import Point, Region
from ..size import ONE, Size
from ..work import Layout, has_layout, has_plain_elements, row_strides


@dataclass(frozen=True)
class TableRow:
    """The row of `buffer` at `indices`, which do not vary along it; `strides` are those dims'.

    `is_assumed` says that the last dim's stride is only assumed to be 1.
    """

    buffer: ir.Value
    element: ir.Type
    indices: tuple[ir.Value, ...]
    strides: tuple[Size, ...]
    is_assumed: bool

    def require(self, found: Conditions, width: int, alignment: int) -> None:
        """Adds what it takes that all rows begin at such an address, and a multiple of `width`."""
        if self.is_assumed:
            for holds in has_layout(self.buffer, Layout.ROWS):
                found.require(holds)
        found.require_aligned_buffer(self.buffer, self.element, alignment)
        for stride in self.strides:
            found.require_multiple(stride, width)

    def address(self, point: Point, parameters: Parameters, column: ir.Value) -> ir.Value:
        """The address of the element in a column; `point` gives the row."""
        index = column
        for value, stride in zip(self.indices, self.strides, strict=True):
            step = arith.muli(point.value(value), parameters.size(stride))
            index = arith.addi(index, step)
        return address(parameters.pointer(self.buffer), self.element, index)


def read_row(load: ir.Operation, region: Region, loop: int) -> TableRow | None:
    """The row a memref.load takes an element of, if its last index alone varies with a loop."""
    buffer, *indices = load.operands
    kind = ir.MemRefType(buffer.type)
    if not indices or not region.is_outside(buffer) or not has_plain_elements(kind.element_type):
        return None
    if any(loop in region.varies(each) for each in indices[:-1]):
        return None
    strides, is_assumed = row_strides(buffer, region.work.open)
    if strides[-1] != ONE:
        return None
    rows = tuple(strides[:-1])
    return TableRow(buffer, kind.element_type, tuple(indices[:-1]), rows, is_assumed)
