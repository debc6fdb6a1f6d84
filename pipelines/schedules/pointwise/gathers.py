"""Loads in a region that read rows: the last index is a loop's own, the others do not vary with it.

%row = arith.index_cast %token : i64 to index
%column = linalg.index 1 : index
%element = memref.load %table[%row, %column]
"""

from __future__ import annotations

from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ..alternatives import Conditions
from ..elements import ACCESS_BYTES, element_bytes, load
from ..parameters import Parameters
from ..region import Point, Region
from ..work import Work
from .table_rows import TableRow, read_row


@dataclass(frozen=True)
class Gather:
    """A memref.load of the region along a loop, one of the operation's own."""

    op: ir.Operation
    row: TableRow

    @property
    def result(self) -> ir.Value:
        return self.op.results[0]

    def require(self, found: Conditions, width: int) -> None:
        """Adds what `width` neighbouring elements of a row need to be one access."""
        self.row.require(found, width, self._bytes(width))

    def load(
        self, point: Point, parameters: Parameters, column: ir.Value, width: int
    ) -> list[ir.Value]:
        """The elements of a row from a column on; `point` gives the row."""
        where = self.row.address(point, parameters, column)
        return load(where, self.row.element, width, self._bytes(width))

    def _bytes(self, width: int) -> int:
        return min(width * element_bytes(self.row.element), ACCESS_BYTES)


def find_gathers(work: Work, loop: int) -> list[Gather]:
    """The loads of rows along a loop; emits index arithmetic on the host."""
    region = Region(work)
    loads = [inner.operation for inner in work.block if inner.operation.name == "memref.load"]
    return [found for op in loads if (found := _gather(op, region, loop)) is not None]


def _gather(op: ir.Operation, region: Region, loop: int) -> Gather | None:
    indices = list(op.operands)[1:]
    if not indices or not is_index(indices[-1], loop):
        return None
    row = read_row(op, region, loop)
    return None if row is None else Gather(op, row)


def is_index(value: ir.Value, loop: int) -> bool:
    """Returns whether a value of the region is the index of a loop."""
    owner = value.owner
    return (
        not isinstance(owner, ir.Block)
        and owner.operation.name == "linalg.index"
        and ir.IntegerAttr(owner.operation.attributes["dim"]).value == loop
    )


def taken_loops(work: Work) -> frozenset[int]:
    """The loops whose indices the region takes."""
    return frozenset(
        ir.IntegerAttr(inner.operation.attributes["dim"]).value
        for inner in work.block
        if inner.operation.name == "linalg.index"
    )
