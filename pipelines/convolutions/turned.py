"""Weights that a transposed convolution reads from a copy, turned round."""

from __future__ import annotations

from collections.abc import Mapping

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.access import linear_terms
from ..hir.memory.effects import effects_of
from ..hir.memory.owners import Owners
from ..schedules.contraction.form import Coordinate, linear_of
from ..schedules.region_operations import is_outside
from ..schedules.work import Work, read_work
from ..walking import made_by


@dataclass(frozen=True)
class Turned:
    """A copy: which dim of it each dim of its `source` is, None for one of size 1 that is none, and
    whether its elements are there from the last to the first.
    """

    op: ir.Operation
    buffer: ir.Value
    source: ir.Value
    dims: tuple[int | None, ...]
    is_turned: tuple[bool, ...]


def find_turned(buffer: ir.Value, reader: ir.Operation, owners: Owners) -> Turned | None:
    """Returns the copy that a buffer holds where `reader`, in the same block, reads it.

    None where another operation writes it, or its source before the reader reads.
    """
    writers = [
        use.owner.operation
        for use in buffer.uses
        if use.owner.operation != reader and buffer in effects_of(use.owner.operation).writes
    ]
    if len(writers) != 1 or made_by(buffer, "hir.allocate") is None:
        return None
    (op,) = writers
    if op.name != "linalg.generic" or op.block != reader.block:
        return None
    with op.location, ir.InsertionPoint(op):
        work = read_work(op)
    found = None if work is None else _read(work)
    if found is None or not op.is_before_in_block(reader):
        return None
    return found if _is_unchanged(found, reader, owners) else None


def _read(work: Work) -> Turned | None:
    """Returns what a linalg.generic copies, where the place along each dim is that of a loop."""
    if work.collectives or work.scatters or len(work.outputs) != 1:
        return None
    end = list(work.block)[-1].operation
    (value,) = end.operands
    source = _source(work, value)
    if source is None:
        return None
    buffer, places = source
    axes = _axes(work)
    loops = [loop for loop, _ in places if loop is not None]
    if axes is None or sorted(axes) != sorted(loops):
        return None
    shape = ir.MemRefType(buffer.type).shape
    for size, (loop, constant) in zip(shape, places, strict=True):
        if constant not in (None, size - 1):
            return None
        if size != 1 if loop is None else not work.extents[loop].is_known:
            return None
    return Turned(
        work.op,
        work.outputs[0].buffer,
        buffer,
        tuple(None if loop is None else axes[loop] for loop, _ in places),
        tuple(constant is not None for _, constant in places),
    )


# The loop along a dim, None where there is none, and the place that it goes back from.
_Along = tuple[int | None, int | None]


def _source(work: Work, value: ir.Value) -> tuple[ir.Value, list[_Along]] | None:
    """Returns what is read, and how each of its dims is gone along."""
    load = made_by(value, "memref.load")
    if load is not None:
        buffer, *indices = load.operands
        found = [linear_of(work, index) for index in indices]
        if not is_outside(work, buffer):
            return None
    else:
        number = next(
            (n for n, argument in enumerate(work.block.arguments) if argument == value), None
        )
        if number is None or number not in [each.number for each in work.inputs]:
            return None
        buffer = work.op.operands[number]
        maps = ir.ArrayAttr(work.op.attributes["indexing_maps"])
        found = [linear_terms(each) for each in ir.AffineMapAttr(maps[number]).value.results]
    places = [None if each is None else _place(Coordinate(*each, 1)) for each in found]
    known = [each for each in places if each is not None]
    return (buffer, known) if len(known) == len(places) else None


def _place(coordinate: Coordinate) -> _Along | None:
    if not coordinate.factors and coordinate.constant == 0:
        return None, None
    if len(coordinate.factors) != 1:
        return None
    ((loop, factor),) = coordinate.factors.items()
    if (coordinate.constant, factor) == (0, 1):
        return loop, None
    return (loop, coordinate.constant) if factor == -1 else None


def _axes(work: Work) -> Mapping[int, int] | None:
    """Returns the dim of the output that each loop is, where others have one element."""
    maps = ir.ArrayAttr(work.op.attributes["indexing_maps"])
    results = ir.AffineMapAttr(maps[work.outputs[0].number]).value.results
    shape = ir.MemRefType(work.outputs[0].buffer.type).shape
    axes: dict[int, int] = {}
    for axis, terms in enumerate(map(linear_terms, results)):
        loop, end = (None, -1) if terms is None else _place(Coordinate(*terms, 1)) or (None, -1)
        if end is not None or loop in axes or (loop is None and shape[axis] != 1):
            return None
        if loop is not None:
            axes[loop] = axis
    return axes if len(axes) == len(work.extents) else None


def _is_unchanged(turned: Turned, reader: ir.Operation, owners: Owners) -> bool:
    """Returns whether nothing between the copy and its reader may write the source."""
    between = False
    for view in reader.block:
        op = view.operation
        if op == reader:
            return True
        if between and _may_write(op, turned.source, owners):
            return False
        between = between or op == turned.op
    return False


def _may_write(op: ir.Operation, buffer: ir.Value, owners: Owners) -> bool:
    """Returns whether an operation, or one within it, may write elements of a buffer."""
    if len(op.regions) and not op.name.startswith("linalg."):
        return True
    return owners.may_share(buffer, effects_of(op).writes)
