"""What a region makes of its sums, as an operation on the result that a library wrote them to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...dialects.mlir import arith, ir
from ..generics import emit_generic
from ..hir.memory.owners import Owners
from ..schedules.contraction.form import Form
from ..schedules.region_operations import cloned
from ..walking import operations_where

# What a region may do besides the sum.
_COMPUTES = ("arith.", "math.", "linalg.index", "linalg.yield", "scf.if", "scf.yield")
_COLLECTIVE = "hir.reduce_loops"


def can_finish(form: Form, owners: Owners) -> bool:
    """Returns whether what follows the sum is of loops of results alone, does nothing but compute,
    and reads nothing that the sums may be written over.
    """
    work = form.work
    inner = operations_where(work.op, lambda op: op != work.op)
    if not all(
        op.name.startswith(_COMPUTES) or op.name in ("memref.load", _COLLECTIVE) for op in inner
    ):
        return False
    if len(form.region.yielded) != 1 or len(work.outputs) != 1:
        return False
    following = _following(form)
    return not owners.may_share(work.outputs[0].buffer, _buffers_read(form, following)) and all(
        not form.region.varies(value) & set(work.collective)
        for op in following
        for value in op.operands
    )


def emit_finish(form: Form) -> None:
    """Emits an operation that makes the results of sums that are in their place, rounded to the
    results' type; none where the sums are what is asked for.
    """
    work, sums = form.work, form.sum.results[0]
    (output,) = work.outputs
    (yielded,) = form.region.yielded
    if yielded == sums or _is_rounding(yielded, sums):
        return
    following = _following(form)
    inputs = _inputs(form, following)
    loops = {loop: number for number, loop in enumerate(work.parallel)}
    maps = [_renamed(work.op, number, loops) for number in (*inputs, output.number)]
    buffers = [work.op.operands[number] for number in (*inputs, output.number)]

    def body(arguments: Sequence[ir.Value]) -> Sequence[ir.Value]:
        total = arguments[len(inputs)]
        known: dict[ir.Value, ir.Value] = {
            work.block.arguments[number]: argument
            for number, argument in zip(inputs, arguments, strict=False)
        }
        known[sums] = total if total.type == sums.type else arith.extf(sums.type, total)
        for op in following:
            copy = cloned(op, known)
            for index in operations_where(copy, lambda inner: inner.name == "linalg.index"):
                _rename(index, loops)
            known |= dict(zip(op.results, copy.results, strict=True))
        return [known.get(yielded, yielded)]

    # The sums are read where results are written.
    given = list(zip(buffers, maps, strict=True))
    emit_generic(len(loops), (), given, given[-1:], body)


def _inputs(form: Form, following: Sequence[ir.Operation]) -> list[int]:
    """Returns the numbers of the operands whose elements what follows the sum takes."""
    values = (*form.region.yielded, *(value for op in following for value in op.operands))
    found = {
        ir.BlockArgument(value).arg_number
        for value in values
        if form.region.argument_number(value) is not None
    }
    return sorted(found)


def _buffers_read(form: Form, following: Sequence[ir.Operation]) -> list[ir.Value]:
    loads = [
        load
        for op in following
        for load in (op, *operations_where(op, lambda _: True))
        if load.name == "memref.load"
    ]
    operands = form.work.op.operands
    given = [operands[number] for number in _inputs(form, following)]
    return [*given, *(load.operands[0] for load in loads)]


def _is_rounding(value: ir.Value, sums: ir.Value) -> bool:
    owner = value.owner
    return (
        not isinstance(owner, ir.Block)
        and owner.operation.name == "arith.truncf"
        and owner.operation.operands[0] == sums
    )


def _following(form: Form) -> list[ir.Operation]:
    """Returns the operations that what is yielded needs besides the sum, in their order."""
    needed = set[ir.Value](form.region.yielded)
    found: list[ir.Operation] = []
    for view in reversed(list(form.work.block)):
        op = view.operation
        if op == form.sum or not any(result in needed for result in op.results):
            continue
        found.insert(0, op)
        needed |= set(form.region.needs(op.results[0]))
    return found


def _renamed(op: ir.Operation, number: int, loops: Mapping[int, int]) -> ir.AffineMap:
    """Returns the map of an operand in the loops of results alone."""
    map_ = ir.AffineMapAttr(ir.ArrayAttr(op.attributes["indexing_maps"])[number]).value
    names = [
        ir.AffineExpr.get_dim(loops[loop]) if loop in loops else ir.AffineExpr.get_constant(0)
        for loop in range(map_.n_dims)
    ]
    new = ir.AffineMap.get(len(loops), 0, names)
    return ir.AffineMap.get(len(loops), 0, [each.compose(new) for each in map_.results])


def _rename(index: ir.Operation, loops: Mapping[int, int]) -> None:
    loop = ir.IntegerAttr(index.attributes["dim"]).value
    index.attributes["dim"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), loops[loop])
