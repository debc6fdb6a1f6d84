"""Writing the loop of a communication and the products that it overlaps with."""

from __future__ import annotations

from math import prod

from ...dialects.hir.layout import buffer_type
from ...dialects.mlir import ir
from ..hir.communication.device_parts import copy
from ..hir.communication.ops import wait
from ..hir.fresh_buffers import allocate, replace_by_allocated
from ..hir.loops import begin_loop
from ..hir.memory.owners import is_before
from ..hir.view_ops import reshape, select
from ..rewriting import index_constant
from ..walking import defining_op
from .cost import Steps
from .products import PRODUCTS, multiply, result_of, rows_operand
from .search import Overlap, Rows


class _Stepped:
    """A buffer, whole or for a step: its rows in so many steps, one of which is a view."""

    def __init__(self, buffer: ir.Value, rows: Rows, steps: int) -> None:
        columns = ir.MemRefType(buffer.type).shape[-1]
        self._axis = len(rows.lead)
        self._view = reshape(buffer, rows.in_steps(steps, columns), [])

    def at(self, step: ir.Value) -> ir.Value:
        """The rows of a step."""
        return select(self._view, self._axis, step)


class _Packed:
    """A fresh buffer with the rows of each step one after another, as communications take them."""

    def __init__(self, like: ir.Value, rows: Rows, steps: int) -> None:
        declared = ir.MemRefType(like.type)
        sizes = [steps, *rows.lead, rows.number // steps, declared.shape[-1]]
        self._buffer = allocate(buffer_type(sizes, declared.element_type), [])

    def at(self, step: ir.Value) -> ir.Value:
        """The rows of a step."""
        return select(self._buffer, 0, step)


def write_overlap(overlap: Overlap, steps: Steps) -> None:
    """Replaces a communication, its wait and products by a loop over streams."""
    place = overlap.products[0] if overlap.arrives else overlap.communicate
    with ir.InsertionPoint(place), place.location:
        write = _write_arriving if overlap.arrives else _write_leaving
        write(overlap, steps)
    erase(overlap)


def erase(overlap: Overlap) -> None:
    """Erases what was replaced: a communication, its wait, products, and the buffer between."""
    gone = [overlap.wait, overlap.communicate, *overlap.products]
    if overlap.arrives:
        allocation = defining_op(overlap.communicate.operands[1])
        assert allocation is not None
        gone.append(allocation)
    elif overlap.products[0].name not in PRODUCTS:
        allocation = defining_op(result_of(overlap.products[0]))
        assert allocation is not None
        gone.append(allocation)
    for op in gone:
        op.erase()


def _write_arriving(overlap: Overlap, steps: Steps) -> None:
    """Each step receives its rows, and then multiplies them."""
    number, rows = steps.number, overlap.product_rows
    source, received = list(overlap.communicate.operands)[:2]
    given = _Stepped(as_rows(source, received), overlap.rows, number)
    # Rows that do not lie one after another are packed.
    packed = _Packed(received, overlap.rows, number) if overlap.rows.lead else None
    arrived = _Packed(received, rows, number)
    results = [_Stepped(output_of(product), rows, number) for product in overlap.products]
    step = _begin(overlap, steps)
    with ir.InsertionPoint(step.owner), overlap.communicate.location:
        sent = given.at(step)
        if packed is not None:
            copy(sent, own := packed.at(step))
            sent = own
        part = arrived.at(step)
        communicate(overlap, sent, part)
    for product, result in zip(overlap.products, results, strict=True):
        with ir.InsertionPoint(step.owner), product.location:
            multiply(product, part, result.at(step))


def _write_leaving(overlap: Overlap, steps: Steps) -> None:
    """Each step multiplies its rows, and then sends them."""
    number, rows, product = steps.number, overlap.product_rows, overlap.products[0]
    result, target = result_of(product), overlap.communicate.operands[1]
    place = rows_operand(product)
    assert place is not None
    taken = _Stepped(product.operands[place], rows, number)
    made = _Packed(result, rows, number)
    given = _Stepped(as_rows(target, result), overlap.rows, number)
    packed = _Packed(result, overlap.rows, number) if overlap.rows.lead else None
    step = _begin(overlap, steps)
    with ir.InsertionPoint(step.owner), product.location:
        rows_taken, rows_made = taken.at(step), made.at(step)
        multiply(product, rows_taken, rows_made)
    with ir.InsertionPoint(step.owner), overlap.communicate.location:
        part = given.at(step)
        received = part if packed is None else packed.at(step)
        communicate(overlap, rows_made, received)
        if packed is not None:
            copy(received, part)


def _begin(overlap: Overlap, steps: Steps) -> ir.Value:
    """Begins the loop; returns its index, the number of the step."""
    loop = begin_loop(
        index_constant(0), index_constant(steps.number), index_constant(1), streams=steps.number
    )
    loop.attributes["overlap"] = ir.StringAttr.get(f"{overlap.kind}, {steps}")
    return loop.regions[0].blocks[0].arguments[0]


def as_rows(buffer: ir.Value, like: ir.Value) -> ir.Value:
    """Returns a packed buffer as rows of as many columns as another one's."""
    shape = list(ir.MemRefType(buffer.type).shape)
    columns = ir.MemRefType(like.type).shape[-1]
    if len(shape) == 2 and shape[-1] == columns:
        return buffer
    return reshape(buffer, [prod(shape) // columns, columns], [])


def output_of(product: ir.Operation) -> ir.Value:
    """Returns the buffer in place of a product's result: the caller's, if it is an output of the
    program whose rows can be told apart whatever its strides.
    """
    if product.name not in PRODUCTS:
        result = result_of(product)
        allocation, place = defining_op(result), ir.InsertionPoint.current.ref_operation
        if allocation is not None and place is not None and not is_before(allocation, place):
            allocation.move_before(place)
        return result
    result = product.results[0]
    declared = ir.MemRefType(result.type)
    if declared.rank == 2:
        return replace_by_allocated(result, [])
    fresh = allocate(buffer_type(declared.shape, declared.element_type), [])
    result.replace_all_uses_with(fresh)
    return fresh


def communicate(overlap: Overlap, source: ir.Value, target: ir.Value) -> None:
    """Communicates as the program does, from and to other buffers, and waits."""
    op = overlap.communicate
    begun = ir.Operation.create(
        op.name,
        results=[op.results[0].type],
        operands=[source, target, op.operands[2]],
        attributes={name: op.attributes[name] for name in op.attributes},
    )
    wait(begun.results[0])
