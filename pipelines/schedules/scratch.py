"""Memory that a schedule's kernels pass to each other, and nobody else sees."""

from __future__ import annotations

from collections.abc import Iterable

from ...dialects import hir
from ...dialects.mlir import ir
from ..hir.memory.scratch_memory import SCRATCH
from .size import OpenNumbers, Size


def allocate_scratch(elements: Size, kind: ir.Type, open_: OpenNumbers) -> ir.Value:
    """A buffer of so many elements in the device's memory.

    Where a bound is known, give that rather than an open size: what a program needs of memory is
    then known before it runs.
    """
    shape = elements.known if elements.is_known else ir.ShapedType.get_dynamic_size()
    return ir.Operation.create(
        hir.AllocateOp.OPERATION_NAME,
        results=[ir.MemRefType.get([shape], kind)],
        operands=[] if elements.is_known else [open_.value(elements)],
        attributes={SCRATCH: ir.UnitAttr.get()},
    ).results[0]


def free_scratch(buffers: Iterable[ir.Value]) -> None:
    """Frees them in the order of the current stream, after the launches so far."""
    for buffer in buffers:
        ir.Operation.create(hir.DeallocateOp.OPERATION_NAME, operands=[buffer])
