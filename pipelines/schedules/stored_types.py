"""Operations on the types that elements are stored in, as kernels see them: f32 for tf32."""

from __future__ import annotations

from ...dialects.hir.element_types import ELEMENT_TYPES
from ...dialects.mlir import builtin, ir
from ..fusion.widen import widen
from ..hir.compute.elements import store
from ..hir.lowering.stored_types import stored_type
from ..rewriting import constant

_TF32 = ELEMENT_TYPES["tf32"]
_FROM_INTEGERS = ("arith.sitofp", "arith.uitofp")


def take_stored_types(op: ir.Operation) -> None:
    """Gives a linalg.generic on buffers operands of the types that are stored.

    That is one that moves elements of any type, or one that computes with tf32: it reads and
    computes f32, and rounds what the program has in tf32.
    """
    body = op.regions[0].blocks[0]
    moves = len(list(body.operations)) == 1
    if not moves and not any(_is_tf32(value) for value in _values(body)):
        return
    if not moves:
        widen(op)
    for number, value in enumerate(op.operands):
        if moves or _is_tf32(body.arguments[number]):
            _take(op, number, value)
    for inner in [each.operation for each in body]:
        _compute_in_f32(inner)


def _values(body: ir.Block) -> list[ir.Value]:
    inner = [each.operation for each in body]
    return [
        *body.arguments,
        *(value for op in inner for value in (*op.operands, *op.results)),
    ]


def _is_tf32(value: ir.Value) -> bool:
    return str(value.type) == _TF32.name


def _take(op: ir.Operation, number: int, value: ir.Value) -> None:
    kind = stored_type(value.type)
    if kind == value.type:
        return
    with op.location, ir.InsertionPoint(op):
        op.operands[number] = _as_f32(value) if _is_tf32(value) else _cast(value, kind)
    argument = op.regions[0].blocks[0].arguments[number]
    argument.set_type(stored_type(argument.type))


def _compute_in_f32(op: ir.Operation) -> None:
    """Replaces an operation of a region, whose arguments are f32 by now, where it is on tf32."""
    with op.location, ir.InsertionPoint(op):
        for number, value in enumerate(op.operands):
            if _is_tf32(value):
                op.operands[number] = _as_f32(value)
        if op.name == "arith.extf" and op.operands[0].type == op.results[0].type:
            _replace(op, op.operands[0])
        elif len(op.results) == 1 and _is_tf32(op.results[0]):
            if op.name == "arith.truncf":
                _replace(op, store(op.operands[0], _TF32))
            elif op.name == "arith.constant":
                _replace(op, _as_f32(op.results[0]))
            elif op.name in _FROM_INTEGERS:
                wide = ir.Operation.create(
                    op.name, results=[ir.F64Type.get()], operands=list(op.operands)
                )
                _replace(op, store(wide.results[0], _TF32))


def _replace(op: ir.Operation, value: ir.Value) -> None:
    op.results[0].replace_all_uses_with(value)
    op.erase()


def _as_f32(value: ir.Value) -> ir.Value:
    """A constant, or a scalar from outside of the region, as it is stored."""
    f32 = ir.F32Type.get()
    if not isinstance(value.owner, ir.Block) and value.owner.operation.name == "arith.constant":
        return constant(f32, ir.FloatAttr(value.owner.operation.attributes["value"]).value)
    return _cast(value, f32)


def _cast(value: ir.Value, kind: ir.Type) -> ir.Value:
    return builtin.UnrealizedConversionCastOp([kind], [value]).results[0]
