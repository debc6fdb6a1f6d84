"""hir-form-tensor-functions: stretches of compute operations become functions on tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from ...dialects import hir
from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..body_names import INLINED
from ..hir.compute.all_lowerings import find_lowering
from ..hir.compute_ops import destination_of, inputs_of, output_of
from ..hir.extents import Known
from ..hir.memory.owners import Owners
from ..hir.operand_axes import operand_axes
from ..hir.runtime_sizes import size_value
from ..hir.stretches import Stretch, stretches_in
from ..pass_base import Pass, register
from ..symbols import fresh_name, symbols_of
from ..walking import defining_op, operations_where

# So many operations are worth a function: fewer have nothing to be fused with.
_LEAST = 2


@register
@dataclass(frozen=True)
class HirFormTensorFunctions(Pass):
    """Moves stretches of compute operations to functions on tensors, where they are fused.

    A stretch is of elementwise operations and reductions in one block of a program, between which
    nothing is written, launched or put into another order. None but the last has a destination,
    and that is memory which none reads. What stands in its place is a hir.call, which
    hir-inline-tensor-functions replaces by the function's body.

      %a = "hir.binary"(%x, %y) {kind = "add"} : (memref<8xf32>, memref<8xf32>) -> memref<8xf32>
      %b = "hir.unary"(%a) {kind = "exp"} : (memref<8xf32>) -> memref<8xf32>
    becomes
      %called = "hir.call"() ({
        "hir.argument"(%x) : (memref<8xf32>) -> ()
        "hir.argument"(%y) : (memref<8xf32>) -> ()
      }) {callee = @main_tensors} : () -> !hir.results_t
      %b = "hir.result"(%called) {index = 0 : i64} : (!hir.results_t) -> memref<8xf32>
    and
      func.func @main_tensors(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {...}
    """

    name: ClassVar[str] = "hir-form-tensor-functions"
    subjects: ClassVar[tuple[str, ...]] = ("hir.program",)

    def run(self, op: ir.Operation) -> None:
        taken = symbols_of(op)
        for program in operations_where(op, lambda inner: inner.name == "hir.program"):
            owners, known = Owners(program), Known()
            found = [
                stretch
                for block in _blocks_of(program)
                for stretch in stretches_in(block, owners, known)
            ]
            for stretch in found:
                if len(stretch.members) >= _LEAST:
                    _move(program, stretch, taken)


def _blocks_of(program: ir.Operation) -> list[ir.Block]:
    """Returns the blocks of a program, of its loops and of its branches, outer ones first."""
    holders = operations_where(
        program, lambda inner: inner.name in ("hir.program", "hir.for", "hir.if")
    )
    return [block for holder in holders for region in holder.regions for block in region.blocks]


def _move(program: ir.Operation, stretch: Stretch, taken: set[str]) -> None:
    """Makes a function of a stretch, and calls it where its last operation was.

    `taken` are the names of the module's symbols, of which it becomes one.
    """
    members, here = stretch.members, set(stretch.members)
    operands = list(_operands(members))
    results = [op.results[0] for op in members if _is_used_elsewhere(op, here)]
    destination = destination_of(members[-1])
    # What nothing uses is left where it is.
    if not results and destination is None:
        return
    name = ir.StringAttr(program.attributes["sym_name"]).value
    symbol = fresh_name(f"{name}_tensors", taken.__contains__)
    taken.add(symbol)
    with ir.InsertionPoint(program), members[0].location:
        given = [*results, *([destination] if destination is not None else [])]
        _make_function(symbol, members, operands, given)
    last = members[-1]
    with ir.InsertionPoint(last), last.location:
        values = _call(symbol, operands, [result.type for result in results], destination)
    place = last
    for op in stretch.after:
        op.move_after(place)
        place = op
    for result, value in zip(results, values, strict=True):
        result.replace_all_uses_with(value)
    for op in reversed(members):
        op.erase()


def _operands(members: Sequence[ir.Operation]) -> Iterator[ir.Value]:
    """Yields what a stretch takes from outside, once each: constants are the function's own."""
    made = {output_of(op) for op in members}
    seen = set[ir.Value]()
    for operand in (operand for op in members for operand in inputs_of(op)):
        if operand not in made and operand not in seen and not _is_constant(operand):
            seen.add(operand)
            yield operand


def _is_used_elsewhere(op: ir.Operation, members: set[ir.Operation]) -> bool:
    return any(use.owner.operation not in members for result in op.results for use in result.uses)


def _is_constant(value: ir.Value) -> bool:
    op = defining_op(value)
    return op is not None and op.name == "arith.constant"


def _make_function(
    symbol: str,
    members: Sequence[ir.Operation],
    operands: Sequence[ir.Value],
    results: Sequence[ir.Value],
) -> None:
    types = [_on_tensors(value.type) for value in operands]
    given = [_on_tensors(value.type) for value in results]
    attributes: dict[str, ir.Attribute] = {
        "sym_name": ir.StringAttr.get(symbol),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, given)),
        INLINED: ir.UnitAttr.get(),
    }
    function = ir.Operation.create("func.func", attributes=attributes, regions=1)
    block = function.regions[0].blocks.append(
        *types, arg_locs=[value.location for value in operands]
    )
    values: dict[ir.Value, ir.Value] = dict(zip(operands, block.arguments, strict=True))
    with ir.InsertionPoint(block):
        for op in members:
            with op.location:
                values[output_of(op)] = _compute(op, values)
        ir.Operation.create("func.return", operands=[values[result] for result in results])


def _compute(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> ir.Value:
    """Emits a compute operation on tensors, the one that its lowering makes; returns the result."""
    inputs = inputs_of(op)
    for operand in inputs:
        if operand not in values:
            constant = defining_op(operand)
            assert constant is not None
            values[operand] = constant.clone().operation.results[0]
    kind = ir.RankedTensorType(_on_tensors(output_of(op).type))
    sizes = [
        size_value(*_sized_as(op, axis, values))
        for axis, size in enumerate(kind.shape)
        if size == DYNAMIC
    ]
    begun = ir.Operation.create("tensor.empty", [kind], sizes).results[0]
    given = [values[operand] for operand in inputs]
    attributes = {name: op.attributes[name] for name in op.attributes}
    # It lasts until its lowering has read it.
    form = ir.Operation.create(op.name, operands=[*given, begun], attributes=attributes)
    lower = find_lowering(op.name)
    assert lower is not None
    with ir.InsertionPoint(form):
        generic = lower(form)
    assert generic is not None
    form.erase()
    return generic.results[0]


def _sized_as(
    op: ir.Operation, axis: int, values: dict[ir.Value, ir.Value]
) -> tuple[ir.Value, int]:
    """Returns a tensor and its dim that has the size of a result's open dim."""
    operand, place = next(
        (operand, place)
        for operand, place in operand_axes(op, axis)
        if ir.MemRefType(operand.type).shape[place] != 1
    )
    return values[operand], place


def _on_tensors(kind: ir.Type) -> ir.Type:
    if not isinstance(kind, ir.MemRefType):
        return kind
    return ir.RankedTensorType.get(kind.shape, kind.element_type)


def _call(
    symbol: str,
    operands: Sequence[ir.Value],
    kinds: Sequence[ir.Type],
    destination: ir.Value | None,
) -> list[ir.Value]:
    """Emits a hir.call; `destination` is for the last value that the function gives."""
    i64 = ir.IntegerType.get_signless(64)
    call = ir.Operation.create(
        hir.CallOp.OPERATION_NAME,
        results=[hir.ResultsType.get()],
        attributes={"callee": ir.FlatSymbolRefAttr.get(symbol)},
        regions=1,
    )
    with ir.InsertionPoint(call.regions[0].blocks.append()):
        for value in operands:
            ir.Operation.create(hir.ArgumentOp.OPERATION_NAME, operands=[value])
        if destination is not None:
            ir.Operation.create(
                hir.ArgumentOp.OPERATION_NAME,
                operands=[destination],
                attributes={"destination": ir.IntegerAttr.get(i64, len(kinds))},
            )
    return [
        ir.Operation.create(
            hir.ResultOp.OPERATION_NAME,
            results=[kind],
            operands=[call.results[0]],
            attributes={"index": ir.IntegerAttr.get(i64, number)},
        ).results[0]
        for number, kind in enumerate(kinds)
    ]
