"""Loads in a region that read rows: the last index is a loop's own, the others do not vary with it.

%row = arith.index_cast %token : i64 to index
%column = linalg.index 1 : index
%element = memref.load %table[%row, %column]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects.mlir import arith, ir
from ..alternatives import Conditions
from ..elements import ACCESS_BYTES, address, element_bytes, load
from ..parameters import Parameters
from ..region import Point, Region
from ..size import ONE, Size
from ..work import Layout, Work, has_layout, has_plain_elements, row_strides


@dataclass(frozen=True)
class Gather:
    """A memref.load of the region along `loop`, one of the operation's own.

    `indices` are those of the other dims and `strides` theirs. `is_assumed` says that the last
    dim's stride is only assumed to be 1.
    """

    op: ir.Operation
    buffer: ir.Value
    element: ir.Type
    indices: tuple[ir.Value, ...]
    strides: tuple[Size, ...]
    is_assumed: bool

    @property
    def result(self) -> ir.Value:
        return self.op.results[0]

    def require(self, found: Conditions, width: int) -> None:
        """Adds what `width` neighbouring elements of a row need to be one access."""
        if self.is_assumed:
            for holds in has_layout(self.buffer, Layout.ROWS):
                found.require(holds)
        found.require_aligned_buffer(self.buffer, self.element, self._bytes(width))
        for stride in self.strides:
            found.require_multiple(stride, width)

    def load(
        self, point: Point, parameters: Parameters, column: ir.Value, width: int
    ) -> list[ir.Value]:
        """The elements of a row from a column on; `point` gives the row."""
        index = column
        for value, stride in zip(self.indices, self.strides, strict=True):
            step = arith.muli(point.value(value), parameters.size(stride))
            index = arith.addi(index, step)
        where = address(parameters.pointer(self.buffer), self.element, index)
        return load(where, self.element, width, self._bytes(width))

    def _bytes(self, width: int) -> int:
        return min(width * element_bytes(self.element), ACCESS_BYTES)


def find_gathers(work: Work, loop: int) -> list[Gather]:
    """The loads of rows along a loop; emits index arithmetic on the host."""
    region = Region(work)
    loads = [inner.operation for inner in work.block if inner.operation.name == "memref.load"]
    return [found for op in loads if (found := _gather(op, region, loop)) is not None]


def _gather(op: ir.Operation, region: Region, loop: int) -> Gather | None:
    buffer, *indices = op.operands
    kind = ir.MemRefType(buffer.type)
    if not indices or not region.is_outside(buffer) or not has_plain_elements(kind.element_type):
        return None
    if not _is_index(indices[-1], loop):
        return None
    if any(loop in region.varies(each) for each in indices[:-1]):
        return None
    strides, is_assumed = row_strides(buffer, region.work.open)
    if strides[-1] != ONE:
        return None
    rows = tuple(strides[:-1])
    return Gather(op, buffer, kind.element_type, tuple(indices[:-1]), rows, is_assumed)


def _is_index(value: ir.Value, loop: int) -> bool:
    owner = value.owner
    return (
        not isinstance(owner, ir.Block)
        and owner.operation.name == "linalg.index"
        and ir.IntegerAttr(owner.operation.attributes["dim"]).value == loop
    )


def indexed_loops(work: Work) -> frozenset[int]:
    """The loops along which some load of the region reads rows."""
    loops: Sequence[int] = range(len(work.extents))
    return frozenset(
        loop
        for loop in loops
        for inner in work.block
        if inner.operation.name == "memref.load"
        and len(inner.operation.operands) > 1
        and _is_index(inner.operation.operands[-1], loop)
    )
