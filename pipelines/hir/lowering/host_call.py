"""hir.host_call: calls a C function."""

from __future__ import annotations

from ....dialects.hir import HostCallOp
from ....dialects.hir.region_arguments import arguments_of
from ....dialects.hir.symbols import lookup
from ....dialects.mlir import arith, ir
from ...host.buffer import stack_descriptor
from ...pass_base import fail
from .registry import lowers
from .state import ProgramState
from .stored_types import is_unsigned, stored_type


@lowers("hir.host_call")
def lower_host_call(op: HostCallOp, state: ProgramState) -> None:
    """A call with C's types: a pointer for a buffer, int for what is narrower."""
    emit = state.emit
    arguments = [
        _argument(state, argument.operands[0], argument.operation)
        for argument in arguments_of(op.arguments)
    ]
    arguments.append(state.stream)
    results = [
        ir.TypeAttr(kind).value
        for kind in (ir.ArrayAttr(op.attributes["result_types"]) if _has_results(op) else [])
    ]
    result = _passed(emit.types.lowered(stored_type(results[0]))) if results else None
    name = op.callee.value
    _check_declaration(op, name, [value.type for value in arguments], result)
    value = emit.call(name, arguments, result)
    state.results[op.results_value] = (
        [] if value is None else [_narrowed(state, value, stored_type(results[0]))]
    )


def _has_results(op: HostCallOp) -> bool:
    return "result_types" in op.attributes


def _argument(state: ProgramState, value: ir.Value, argument: ir.Operation) -> ir.Value:
    if isinstance(value.type, ir.MemRefType):
        return stack_descriptor(state.emit, value)[1]
    lowered = state.emit.convert(value)
    wide = _passed(lowered.type)
    if wide == lowered.type:
        return lowered
    return arith.extui(wide, lowered) if _is_unsigned(argument) else arith.extsi(wide, lowered)


def mark_unsigned_arguments(program: ir.Operation) -> None:
    """Notes at the arguments of calls which integers have no sign; their types are to lose that."""

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "hir.argument" and is_unsigned(op.operands[0].type):
            op.attributes["unsigned"] = ir.UnitAttr.get()
        return ir.WalkResult.ADVANCE

    program.walk(visit)


def _is_unsigned(argument: ir.Operation) -> bool:
    return "unsigned" in argument.attributes


def _passed(kind: ir.Type) -> ir.Type:
    """Returns the type that C passes a scalar as: int for narrower integers."""
    if isinstance(kind, ir.IntegerType) and kind.width < 32:
        return ir.IntegerType.get_signless(32)
    return kind


def _narrowed(state: ProgramState, value: ir.Value, kind: ir.Type) -> ir.Value:
    lowered = state.emit.types.lowered(kind)
    if value.type != lowered:
        value = arith.trunci(lowered, value)
    return value if lowered == kind else state.emit.cast(value, kind)


def _check_declaration(
    op: HostCallOp, name: str, arguments: list[ir.Type], result: ir.Type | None
) -> None:
    """Fails where the module has the name already for something else."""
    found = lookup(op, [name])
    if found is None:
        return
    inputs = ", ".join(map(str, arguments))
    kind = ir.Type.parse(f"!llvm.func<{'void' if result is None else result} ({inputs})>")
    there = (
        ir.TypeAttr(found.attributes["function_type"]).value if found.name == "llvm.func" else None
    )
    if there is None:
        fail(op, f"hir.host_call of @{name}, which is a {found.name} here; leave that out")
    if there != kind:
        fail(op, f"hir.host_call of @{name} as {kind}, and elsewhere in the module as {there}")
