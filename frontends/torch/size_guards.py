"""Conditions on open sizes in a model's own code, which an exported program fixes.

    if rows * columns > 100: ...            # one branch
    torch.zeros(int(rows * columns * 0.3))  # one number

torch keeps these conditions beside the program. The limits of a size are in sizes.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import sympy
from torch.export import ExportedProgram
from torch.export.exported_program import (
    _get_shape_env,  # pyright: ignore[reportPrivateUsage, reportUnknownVariableType]
)
from torch.utils._sympy import functions

from ...compiler.errors import Position
from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from .user_errors import is_the_users

_FUNCTIONS: Any = functions
_RELATIONS: dict[Any, tuple[arith.CmpIPredicate, arith.CmpFPredicate]] = {
    sympy.Eq: (arith.CmpIPredicate.eq, arith.CmpFPredicate.OEQ),
    sympy.Ne: (arith.CmpIPredicate.ne, arith.CmpFPredicate.UNE),
    sympy.Lt: (arith.CmpIPredicate.slt, arith.CmpFPredicate.OLT),
    sympy.Le: (arith.CmpIPredicate.sle, arith.CmpFPredicate.OLE),
    sympy.Gt: (arith.CmpIPredicate.sgt, arith.CmpFPredicate.OGT),
    sympy.Ge: (arith.CmpIPredicate.sge, arith.CmpFPredicate.OGE),
}
_MODS = (_FUNCTIONS.Mod, _FUNCTIONS.PythonMod)


@dataclass(frozen=True)
class SizeGuard:
    """A condition on symbols of sizes that held at export, and the line that asked for it."""

    condition: Any
    place: Position | None


def size_guards(program: ExportedProgram) -> list[SizeGuard]:
    """Returns the conditions of the model's code that are no limits of a size, and all that fix a
    number made of sizes.

    Other conditions, which torch's code asks for, seldom concern results.
    """
    environment: Any = _get_shape_env(program.graph_module)
    found: dict[Any, SizeGuard] = {}
    for guard in () if environment is None else environment.guards:
        condition, frame = guard.expr, guard.sloc.framework_loc
        file = getattr(frame, "filename", "")
        is_asked = is_the_users(file)
        if _is_limit(condition) or not (is_asked or _makes_number(condition)):
            continue
        place = Position(file, frame.lineno, 1) if is_asked else None
        found.setdefault(condition, SizeGuard(condition, place))
    return [*found.values()]


def _is_limit(condition: Any) -> bool:
    """Returns whether a condition limits a single size; torch has that in the size's range."""
    return not isinstance(condition, sympy.Ne) and (
        len(condition.free_symbols) == 1 and all(each.is_Atom for each in condition.args)
    )


def _makes_number(condition: Any) -> bool:
    """Returns whether a condition says that an expression of sizes equals a number."""
    return (
        isinstance(condition, sympy.Eq)
        and any(each.is_number for each in condition.args)
        and not any(isinstance(each, _MODS) for each in condition.args)
    )


def holds(guard: SizeGuard, size_of: Callable[[Any], ir.Value]) -> ir.Value:
    """Emits whether a guard holds, for which `is_known` is true."""
    return _truth(guard.condition, size_of)


def is_known(guard: SizeGuard, symbols: set[Any]) -> bool:
    """Returns whether `holds` can emit a guard when it has the sizes of these symbols."""

    def known(each: Any) -> bool:
        if isinstance(each, sympy.Symbol):
            return each in symbols
        return isinstance(each, _KNOWN) and all(map(known, each.args))

    return known(guard.condition)


def _truth(condition: Any, size_of: Callable[[Any], ir.Value]) -> ir.Value:
    if isinstance(condition, sympy.Not):
        truth = ir.IntegerType.get_signless(1)
        yes = arith.constant(truth, ir.IntegerAttr.get(truth, -1))
        return arith.xori(_truth(condition.args[0], size_of), yes)
    if isinstance(condition, (sympy.And, sympy.Or)):
        combine = arith.andi if isinstance(condition, sympy.And) else arith.ori
        return reduce(combine, [_truth(each, size_of) for each in condition.args])
    integers, floats = _RELATIONS[type(condition)]
    one, other = (_number(each, size_of) for each in condition.args)
    if _is_whole(one) and _is_whole(other):
        return arith.cmpi(integers, one, other)
    return arith.cmpf(floats, _as_float(one), _as_float(other))


def _number(each: Any, size_of: Callable[[Any], ir.Value]) -> ir.Value:
    """Emits the value of an expression, an i64 or f64, as torch computes it."""
    if each.is_Integer:
        return _whole(int(each))
    if each.is_Float:
        return arith.constant(ir.F64Type.get(), float(each))
    if isinstance(each, sympy.Symbol):
        return arith.index_cast(_i64(), size_of(each))
    operands = [_number(inner, size_of) for inner in each.args]
    return next(emit for kinds, emit in _EMITTED if isinstance(each, kinds))(operands)


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)


def _whole(number: int) -> ir.Value:
    return arith.constant(_i64(), number)


def _is_whole(value: ir.Value) -> bool:
    return isinstance(value.type, ir.IntegerType)


def _as_float(value: ir.Value) -> ir.Value:
    return arith.sitofp(ir.F64Type.get(), value) if _is_whole(value) else value


def _of_both(
    whole: Callable[..., ir.Value], fraction: Callable[..., ir.Value]
) -> Callable[[list[ir.Value]], ir.Value]:
    def emit(operands: list[ir.Value]) -> ir.Value:
        if all(map(_is_whole, operands)):
            return reduce(whole, operands)
        return reduce(fraction, map(_as_float, operands))

    return emit


def _quotient(operands: list[ir.Value]) -> ir.Value:
    """Divides and rounds down. A divisor of 0 becomes 1: any result will do."""
    one, other = operands
    is_zero = arith.cmpi(arith.CmpIPredicate.eq, other, _whole(0))
    return arith.floordivsi(one, arith.select(is_zero, _whole(1), other))


def _remainder(operands: list[ir.Value]) -> ir.Value:
    one, other = operands
    return arith.subi(one, arith.muli(_quotient(operands), other))


def _truncated(value: ir.Value) -> ir.Value:
    return value if _is_whole(value) else arith.fptosi(_i64(), value)


def _rounded(predicate: arith.CmpFPredicate, more: int) -> Callable[[list[ir.Value]], ir.Value]:
    """Returns the emitter of floor or ceil: truncates, and adds `more` if `predicate` holds."""

    def emit(operands: list[ir.Value]) -> ir.Value:
        (value,) = operands
        if _is_whole(value):
            return value
        near = _truncated(value)
        is_wrong = arith.cmpf(predicate, _as_float(near), value)
        return arith.select(is_wrong, arith.addi(near, _whole(more)), near)

    return emit


_EMITTED: list[tuple[tuple[Any, ...], Callable[[list[ir.Value]], ir.Value]]] = [
    ((sympy.Add,), _of_both(arith.addi, arith.addf)),
    ((sympy.Mul,), _of_both(arith.muli, arith.mulf)),
    ((sympy.Max, _FUNCTIONS.Max), _of_both(arith.maxsi, arith.maximumf)),
    ((sympy.Min, _FUNCTIONS.Min), _of_both(arith.minsi, arith.minimumf)),
    (_MODS, _remainder),
    ((_FUNCTIONS.FloorDiv,), _quotient),
    ((_FUNCTIONS.ToFloat,), lambda one: _as_float(one[0])),
    (
        (_FUNCTIONS.IntTrueDiv, _FUNCTIONS.FloatTrueDiv),
        lambda two: arith.divf(*map(_as_float, two)),
    ),
    ((_FUNCTIONS.TruncToInt,), lambda one: _truncated(one[0])),
    ((_FUNCTIONS.FloorToInt,), _rounded(arith.CmpFPredicate.OGT, -1)),
    ((_FUNCTIONS.CeilToInt,), _rounded(arith.CmpFPredicate.OLT, 1)),
]
_KNOWN = (
    *(sympy.Not, sympy.And, sympy.Or, sympy.Integer, sympy.Float),
    *_RELATIONS,
    *(kind for kinds, _ in _EMITTED for kind in kinds),
)
