"""Factors that a kernel of their own computes, for a product that then reads them from memory.

Tiles would compute them again for each tile of many rows: they do for few.
"""

from __future__ import annotations

from collections.abc import Callable

from ....dialects.mlir import ir
from ...generics import Mapped, map_of
from ..scratch import free_scratch
from .form import Form
from .part import Part, allocate, input_count

# Attributes that every operation has of its own.
_OWN = ("indexing_maps", "iterator_types", "operandSegmentSizes")


def is_separable(form: Form) -> bool:
    """Returns whether all sizes of factors that the region makes are known."""
    return all(
        factor.makes is None or all(form.work.extents[loop].is_known for loop in factor.varies)
        for factor in (form.first, form.second)
    )


def launch_apart(form: Form, schedule: Callable[[ir.Operation], None]) -> None:
    """Emits operations that compute the factors, and one that multiplies them; schedules each."""
    work, count = form.work, len(form.work.extents)
    made: dict[ir.Value, Mapped] = {}
    emitted: list[ir.Operation] = []
    for factor, own in ((form.first, form.rows), (form.second, form.columns)):
        if factor.makes is None:
            continue
        order = (*form.batch, *own, *form.terms)
        loops = [loop for loop in order if loop in factor.varies]
        loops += sorted(factor.varies - {*loops})
        buffer = allocate([work.extents[loop] for loop in loops], factor.element, work.open)
        part = Part(work, {loop: at for at, loop in enumerate(loops)}, len(loops), ())
        packed = buffer, ir.AffineMap.get_identity(len(loops))
        emitted.append(part.emit_to(factor.makes, packed))
        made[factor.makes] = buffer, map_of(count, loops)
    kept = [name for name in work.op.attributes if name not in _OWN]
    product = Part(work, {loop: loop for loop in range(count)}, count, work.collective, kept)
    outputs = range(len(work.op.operands) - input_count(work))
    emitted.append(product.emit(outputs, made))
    for op in emitted:
        schedule(op)
    free_scratch(buffer for buffer, _ in made.values())
