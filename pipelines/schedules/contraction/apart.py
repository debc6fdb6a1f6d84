"""Factors that a kernel of their own computes, for a product that then reads them from memory.

Tiles would compute them again for each tile of many rows: they do for few.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ....dialects import hir
from ....dialects.mlir import ir
from ...fusion.access import access
from ...generics import bare_generic, map_of
from ...hir.memory.scratch_memory import SCRATCH
from ..scratch import free_scratch
from .form import Factor, Form

_OWN = ("indexing_maps", "iterator_types", "operandSegmentSizes")


def is_separable(form: Form) -> bool:
    """Returns whether all sizes of factors that the region makes are known."""
    return all(
        factor.makes is None or all(form.work.extents[loop].is_known for loop in factor.varies)
        for factor in (form.first, form.second)
    )


def launch_apart(form: Form, schedule: Callable[[ir.Operation], None]) -> None:
    """Emits operations that compute the factors, and one that multiplies them; schedules each."""
    made: dict[ir.Value, tuple[ir.Value, ir.AffineMap]] = {}
    waiting: list[ir.Operation] = []
    for factor, own in ((form.first, form.rows), (form.second, form.columns)):
        if factor.makes is None:
            continue
        order = (*form.batch, *own, *form.terms)
        loops = [loop for loop in order if loop in factor.varies]
        loops += sorted(factor.varies - {*loops})
        shape = [form.work.extents[loop].known for loop in loops]
        buffer = ir.Operation.create(
            hir.AllocateOp.OPERATION_NAME,
            results=[ir.MemRefType.get(shape, factor.element)],
            attributes={SCRATCH: ir.UnitAttr.get()},
        ).results[0]
        waiting.append(_making(form, factor, loops, buffer))
        made[factor.makes] = buffer, map_of(len(form.work.extents), loops)
    waiting.append(_multiplying(form, made))
    for op in waiting:
        schedule(op)
    free_scratch(buffer for buffer, _ in made.values())


def _making(form: Form, factor: Factor, loops: Sequence[int], buffer: ir.Value) -> ir.Operation:
    """The elementwise operation that writes a factor."""
    assert factor.makes is not None
    names = [loops.index(loop) if loop in loops else None for loop in range(len(form.work.extents))]
    maps = _maps(form)
    inputs = [
        (form.work.op.operands[number], maps[number])
        for number in _arguments(form, [factor.makes], {})
    ]
    read = [access(*each).renamed(names) for each in inputs]
    op = bare_generic(
        len(loops),
        (),
        [(each.value, each.map(len(loops))) for each in read],
        [(buffer, ir.AffineMap.get_identity(len(loops)))],
    )
    _fill(form, op, [factor.makes], {}, names)
    return op


def _multiplying(
    form: Form, made: Mapping[ir.Value, tuple[ir.Value, ir.AffineMap]]
) -> ir.Operation:
    """The operation with factors that are read from buffers."""
    work, maps = form.work, _maps(form)
    count = len(work.op.operands) - len(work.outputs)
    inputs = [
        *((work.op.operands[n], maps[n]) for n in _arguments(form, form.region.yielded, made)),
        *made.values(),
    ]
    outputs = [(work.op.operands[n], maps[n]) for n in range(count, len(work.op.operands))]
    op = bare_generic(len(work.extents), work.collective, inputs, outputs)
    for name in work.op.attributes:
        if name not in _OWN:
            op.attributes[name] = work.op.attributes[name]
    _fill(form, op, form.region.yielded, made, list(range(len(work.extents))))
    return op


def _maps(form: Form) -> list[ir.AffineMap]:
    return [
        ir.AffineMapAttr(each).value
        for each in ir.ArrayAttr(form.work.op.attributes["indexing_maps"])
    ]


def _needed(
    form: Form, ends: Sequence[ir.Value], known: Mapping[ir.Value, object]
) -> set[ir.Value]:
    """The values of the region that some take, but for what is known."""
    waiting, found = list(ends), set[ir.Value]()
    while waiting:
        value = waiting.pop()
        if value not in found and value not in known:
            found.add(value)
            waiting += form.region.needs(value)
    return found


def _arguments(form: Form, ends: Sequence[ir.Value], known: Mapping[ir.Value, object]) -> list[int]:
    """The operands' numbers whose elements these values take."""
    numbers = {form.region.argument_number(each) for each in _needed(form, ends, known)}
    return sorted(number for number in numbers if number is not None)


def _fill(
    form: Form,
    op: ir.Operation,
    ends: Sequence[ir.Value],
    known: Mapping[ir.Value, object],
    names: Sequence[int | None],
) -> None:
    """Makes a region that yields some values of the form's, its loops by other names."""
    needed = _needed(form, ends, known)
    kinds = [_element(operand.type) for operand in op.operands]
    block = op.regions[0].blocks.append(*kinds)
    arguments = _arguments(form, ends, known)
    own = [form.work.block.arguments[number] for number in arguments]
    values: dict[ir.Value, ir.Value] = dict(zip([*own, *known], block.arguments, strict=False))
    with ir.InsertionPoint(block):
        for each in form.work.block:
            inner = each.operation
            if not any(result in needed for result in inner.results):
                continue
            copy = inner.clone()
            for place, operand in enumerate(inner.operands):
                copy.operands[place] = values.get(operand, operand)
            if inner.name == "linalg.index":
                name = names[ir.IntegerAttr(inner.attributes["dim"]).value]
                i64 = ir.IntegerType.get_signless(64)
                copy.attributes["dim"] = ir.IntegerAttr.get(i64, name)
            values.update(zip(inner.results, copy.results, strict=True))
        ir.Operation.create("linalg.yield", operands=[values[end] for end in ends])


def _element(kind: ir.Type) -> ir.Type:
    return kind.element_type if isinstance(kind, ir.MemRefType) else kind
