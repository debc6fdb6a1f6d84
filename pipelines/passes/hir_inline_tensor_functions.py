"""hir-inline-tensor-functions: what hir-form-tensor-functions moved comes back, fused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects import hir
from ...dialects.hir.layout import buffer_type
from ...dialects.hir.region_arguments import arguments_of, destination_of
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..body_names import INLINED
from ..hir.memory.owners import callee_of, outputs_of, result_index
from ..pass_base import Pass, register
from ..walking import defining_op, operations_where


@register
@dataclass(frozen=True)
class HirInlineTensorFunctions(Pass):
    """Puts the operations of programs that are marked so in the place of their calls.

    Made for what becomes of the functions that hir-form-tensor-functions makes: each is called at
    one place, and neither loops nor branches. What it gives is fresh memory, each value its own:
    where it is not, as fusion may make two equal results one, it is copied.
    """

    name: ClassVar[str] = "hir-inline-tensor-functions"
    subjects: ClassVar[tuple[str, ...]] = ("hir.call",)

    def run(self, op: ir.Operation) -> None:
        for call in operations_where(op, lambda inner: inner.name == "hir.call"):
            callee = callee_of(call)
            if callee is not None and INLINED in callee.attributes:
                _inline(call, callee)


def _inline(call: ir.Operation, callee: ir.Operation) -> None:
    body = callee.regions[0].blocks[0]
    arguments = arguments_of(call.regions[0])
    inputs = [each.operands[0] for each in arguments if destination_of(each) is None]
    given = {destination_of(each): each.operands[0] for each in arguments}
    for argument, value in zip(body.arguments, inputs, strict=True):
        if argument.type != value.type and not _takes_any_strides(argument):
            value = _copied(call, value)
        argument.replace_all_uses_with(value)
    results = [output.operands[0] for output in outputs_of(body)]
    owned = [_is_own(results, number, body) for number in range(len(results))]
    for op in list(body.operations):
        if op.operation.name == "hir.output":
            op.operation.erase()
        else:
            op.operation.move_before(call)
    for number, is_own in enumerate(owned):
        if number in given:
            _write_to(call, results[number], given[number], is_own=is_own)
        elif not is_own:
            results[number] = _copied(call, results[number])
    for taken in [use.owner.operation for use in call.results[0].uses]:
        taken.results[0].replace_all_uses_with(results[result_index(taken)])
        taken.erase()
    call.erase()
    callee.erase()


def _write_to(call: ir.Operation, value: ir.Value, destination: ir.Value, *, is_own: bool) -> None:
    """Puts what a body gives into a buffer that is handed in, by a copy where it must."""
    maker = defining_op(value)
    if is_own and maker is not None and _takes_any_strides(value):
        value.replace_all_uses_with(destination)
        maker.erase()
        return
    with ir.InsertionPoint(call), call.location:
        ir.Operation.create(hir.SetOp.OPERATION_NAME, operands=[value, destination])


def _takes_any_strides(argument: ir.Value) -> bool:
    """Returns whether nothing but the loops of linalg operations depends on where elements lie."""
    return all(
        use.owner.operation.name.startswith("linalg.")
        or use.owner.operation.name in ("memref.dim", "hir.set")
        for use in argument.uses
    )


def _is_own(values: Sequence[ir.Value], number: int, body: ir.Block) -> bool:
    """Returns whether one of the values that a body gives is allocated in it, and is
    no other one.
    """
    value = values[number]
    maker = defining_op(value)
    return (
        maker is not None
        and maker.name == "hir.allocate"
        and maker.block == body
        and value not in values[:number]
    )


def _copied(call: ir.Operation, value: ir.Value) -> ir.Value:
    """Copies a buffer to a packed one before the call."""
    kind = ir.MemRefType(value.type)
    packed = buffer_type(kind.shape, kind.element_type)
    with ir.InsertionPoint(call), call.location:
        return ir.Operation.create(
            hir.SetOp.OPERATION_NAME, results=[packed], operands=[value]
        ).results[0]
