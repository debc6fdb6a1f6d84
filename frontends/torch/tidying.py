"""Undoes what torch-mlir adds to a program that torch's does not have."""

from __future__ import annotations

from ...dialects.mlir import arith, ir
from ...pipelines.locations import file_position
from ...pipelines.rewriting import constant
from ...pipelines.walking import defining_operation, is_used, operations_where

# It asserts that no element is 0 of which it takes the reciprocal, where torch's is inf.
_ZERO_ELEMENT = "unimplemented: tensor with zero element"


# Of these torch takes numbers that are no tensors in f32, where elements have 16 bits.
_ARITHMETIC = ("arith.addf", "arith.subf", "arith.mulf", "arith.divf")


def tidy(module: ir.Operation) -> None:
    """Erases the assertions that torch does not make, rounds numbers that are known, to no fewer
    bits than torch does, and divides by no 0 what nobody may ask for.
    """
    for op in operations_where(module, _is_added):
        op.erase()
    for op in operations_where(module, _may_be_unused):
        _divide_by_one(op)
    for op in operations_where(module, _rounds_constant):
        if isinstance(op.results[0].type, ir.F32Type):
            _round(op)
        elif isinstance(op.results[0].type, ir.F16Type | ir.BF16Type):
            _compute_in_f32(op)


def locate(module: ir.Operation) -> None:
    """Gives operations without a user's line that of their function, or none in particular."""
    functions = operations_where(module, lambda op: op.name == "func.func")
    for function in functions:
        inside = operations_where(function, lambda op: True)
        lines = (op.location for op in inside if file_position(op.location) is not None)
        place = next(lines, ir.Location.file("model", 0, 0, module.context))
        for op in (function, *inside):
            if file_position(op.location) is None:
                op.location = place


def _is_added(op: ir.Operation) -> bool:
    return op.name == "cf.assert" and ir.StringAttr(op.attributes["msg"]).value == _ZERO_ELEMENT


def _may_be_unused(op: ir.Operation) -> bool:
    """Returns whether an operation computes a size of a view, for the case that it was given as
    -1: which size that is, is a choice of the program.
    """
    users = [use.owner.operation.name for use in op.results[0].uses] if op.results else []
    return op.name == "arith.divsi" and bool(users) and set(users) == {"arith.select"}


def _divide_by_one(op: ir.Operation) -> None:
    divisor = op.operands[1]
    with op.location, ir.InsertionPoint(op):
        is_zero = arith.cmpi(arith.CmpIPredicate.eq, divisor, constant(divisor.type, 0))
        op.operands[1] = arith.select(is_zero, constant(divisor.type, 1), divisor)


def _rounds_constant(op: ir.Operation) -> bool:
    return (
        op.name == "arith.truncf"
        and not isinstance(op.operands[0].owner, ir.Block)
        and op.operands[0].owner.operation.name == "arith.constant"
        and isinstance(op.operands[0].type, ir.FloatType)
    )


def _round(op: ir.Operation) -> None:
    """Puts the constant of the narrower type in the place of a rounding: others then know it."""
    with op.location, ir.InsertionPoint(op):
        rounded = constant(op.results[0].type, _number(op))
    op.results[0].replace_all_uses_with(rounded)
    op.erase()


def _compute_in_f32(op: ir.Operation) -> None:
    """Lets arithmetic of 16 bits take a number in f32, and rounds what it gives."""
    f32 = ir.F32Type.get(op.context)
    for reader in dict.fromkeys(use.owner.operation for use in op.results[0].uses):
        if reader.name not in _ARITHMETIC:
            continue
        with reader.location, ir.InsertionPoint(reader):
            number = constant(f32, _number(op))
            wide = [
                number if each == op.results[0] else arith.extf(f32, each)
                for each in reader.operands
            ]
            made = ir.Operation.create(reader.name, results=[f32], operands=wide).results[0]
            rounded = arith.truncf(reader.results[0].type, made)
        reader.results[0].replace_all_uses_with(rounded)
        reader.erase()
    if not is_used(op.results[0]):
        op.erase()


def _number(rounding: ir.Operation) -> float:
    """Returns the constant that is rounded."""
    return ir.FloatAttr(defining_operation(rounding.operands[0]).attributes["value"]).value
