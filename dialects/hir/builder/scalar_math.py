"""Computing with scalars on the host: which upstream operation a kind is."""

from __future__ import annotations

from collections.abc import Sequence

from ...mlir import ir
from .emitter import Emitter
from .errors import BuildError

# Of integers and of floats; None where there is none.
_BINARY = {
    "add": ("arith.addi", "arith.addf"),
    "sub": ("arith.subi", "arith.subf"),
    "mul": ("arith.muli", "arith.mulf"),
    "div": ("arith.divsi", "arith.divf"),
    "floordiv": ("arith.floordivsi", None),
    "pow": ("math.ipowi", "math.powf"),
    "atan2": (None, "math.atan2"),
    "min": ("arith.minsi", "arith.minimumf"),
    "max": ("arith.maxsi", "arith.maximumf"),
    "and": ("arith.andi", None),
    "or": ("arith.ori", None),
    "xor": ("arith.xori", None),
}
_UNARY = {
    "neg": (None, "arith.negf"),
    "abs": ("math.absi", "math.absf"),
    "floor": (None, "math.floor"),
    "ceil": (None, "math.ceil"),
    "round": (None, "math.roundeven"),
    "trunc": (None, "math.trunc"),
    **{
        name: (None, f"math.{name}")
        for name in (
            [
                "exp",
                "exp2",
                "log",
                "log2",
                "log1p",
                "expm1",
                "sqrt",
                "rsqrt",
                "sin",
                "cos",
                "tan",
                "tanh",
                "erf",
            ]
        )
    },
}
# Numbers of arith.cmpi's signed and arith.cmpf's predicates.
_COMPARISON = {
    "eq": (0, 1),
    "ne": (1, 13),
    "lt": (2, 4),
    "le": (3, 5),
    "gt": (4, 2),
    "ge": (5, 3),
}


def scalar_operation(emitter: Emitter, kind: str, operands: Sequence[ir.Value]) -> ir.Value:
    """Writes the operation that is `kind` of these scalars, all of one type.

    Raises BuildError for kinds that are not computed on the host.
    """
    scalar = operands[-1].type
    is_float = isinstance(scalar, ir.FloatType)
    if kind in _COMPARISON:
        predicate = emitter.integer(_COMPARISON[kind][is_float])
        name = "arith.cmpf" if is_float else _cmpi(scalar, kind)
        return emitter.value(name, operands, emitter.type("i1"), {"predicate": predicate})
    if kind == "where":
        return emitter.value("arith.select", operands, scalar)
    if kind == "clamp":
        low = scalar_operation(emitter, "max", operands[:2])
        return scalar_operation(emitter, "min", [low, operands[2]])
    if kind == "fma" and is_float:
        return emitter.value("math.fma", operands, scalar)
    if kind == "mod" or (kind == "floordiv" and is_float):
        return _division(emitter, kind, operands)
    if kind == "neg" and not is_float:
        return emitter.value("arith.subi", [emitter.constant_value(scalar, 0), *operands], scalar)
    if kind == "not" and not is_float:
        every_bit = emitter.constant_value(scalar, -1)
        return emitter.value("arith.xori", [*operands, every_bit], scalar)
    name = {**_BINARY, **_UNARY}.get(kind, (None, None))[is_float]
    if name is None:
        raise BuildError(
            f"{kind} of {scalar} is not computed of scalars on the host",
            "put the scalar into a buffer: p.set(scalar, out=p.allocate((), ...))",
        )
    return emitter.value(name, operands, scalar)


def convert_scalar(emitter: Emitter, value: ir.Value, to: ir.Type) -> ir.Value:
    """`value` as another scalar type: to a float rounded, to an integer toward zero."""
    source = value.type
    if source == to:
        return value
    if isinstance(source, ir.IndexType):
        wide = emitter.value("arith.index_cast", [value], emitter.type("i64"))
        return convert_scalar(emitter, wide, to)
    if isinstance(to, ir.IndexType):
        wide = convert_scalar(emitter, value, emitter.type("i64"))
        return emitter.value("arith.index_cast", [wide], to)
    if isinstance(to, ir.IntegerType) and to.width == 1:
        zero = emitter.constant_value(source, 0)
        return scalar_operation(emitter, "ne", [value, zero])
    if isinstance(source, ir.FloatType) and isinstance(to, ir.FloatType):
        return _convert_float(emitter, value, source, to)
    if isinstance(source, ir.FloatType):
        return emitter.value("arith.fptosi", [value], to)
    is_truth = ir.IntegerType(source).width == 1
    if isinstance(to, ir.FloatType):
        return emitter.value("arith.uitofp" if is_truth else "arith.sitofp", [value], to)
    if ir.IntegerType(to).width < ir.IntegerType(source).width:
        return emitter.value("arith.trunci", [value], to)
    return emitter.value("arith.extui" if is_truth else "arith.extsi", [value], to)


def _convert_float(
    emitter: Emitter, value: ir.Value, source: ir.FloatType, to: ir.FloatType
) -> ir.Value:
    if to.width == source.width:  # f16 and bf16
        wide = emitter.value("arith.extf", [value], emitter.type("f32"))
        return emitter.value("arith.truncf", [wide], to)
    return emitter.value("arith.extf" if to.width > source.width else "arith.truncf", [value], to)


def _division(emitter: Emitter, kind: str, operands: Sequence[ir.Value]) -> ir.Value:
    """floordiv of floats, and mod: x - y * floordiv(x, y)."""
    x, y = operands
    if isinstance(x.type, ir.FloatType):
        ratio = scalar_operation(emitter, "div", operands)
        quotient = scalar_operation(emitter, "floor", [ratio])
    else:
        quotient = scalar_operation(emitter, "floordiv", operands)
    if kind == "floordiv":
        return quotient
    return scalar_operation(emitter, "sub", [x, scalar_operation(emitter, "mul", [quotient, y])])


def _cmpi(scalar: ir.Type, kind: str) -> str:
    if isinstance(scalar, ir.IntegerType) and scalar.width == 1 and kind not in ("eq", "ne"):
        raise BuildError(
            f"{kind} of i1 scalars: i1 has no order", "compare numbers, or use & | ^ ~"
        )
    return "arith.cmpi"
