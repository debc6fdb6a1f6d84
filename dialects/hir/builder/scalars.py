"""Scalars of a program's builder: constants, conversions, arithmetic on the host."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from ...mlir import ir
from ..element_types import ELEMENT_TYPES
from ..kinds import BINARY, TERNARY, UNARY
from .element_names import scalar_type
from .errors import BuildError
from .scalar import Scalar, ScalarLike
from .scalar_math import convert_scalar, scalar_operation
from .sizes import Extent, Size, divide, extreme
from .values import Values, is_whole

# By the number of operands.
_KINDS = {1: UNARY, 2: BINARY, 3: TERNARY}


class Scalars(Values):
    """Computes with scalars and sizes."""

    def constant(self, value: int | float, type: str) -> Scalar | int:
        """Returns a scalar of that value. One of type index is the number itself, a size."""
        if scalar_type(type) == "index":
            if not is_whole(value):
                raise BuildError(f"an index is a whole number, not {value!r}")
            return int(value)
        number = self.number_value(value, ELEMENT_TYPES[type])
        return Scalar(self._program(), number, self.scope)

    def ceildiv(self, x: Extent, y: Extent) -> Extent:
        """Returns the least whole number not below `x / y`, of sizes."""
        return divide(self, "ceildiv", x, y)

    def cast_scalar(self, scalar: Scalar, to: str) -> Scalar | Size:
        """Returns a scalar as another type."""
        value = self.own(scalar, "the scalar")
        converted = convert_scalar(self, value, self.type(scalar_type(to)))
        return self.new_scalar(converted, "the scalar")

    def cast_size(self, size: Extent, to: str) -> Scalar:
        if scalar_type(to) == "index":
            raise BuildError("a size is an index already", "leave the cast out")
        value = convert_scalar(self, self.extent_value(size), self.type(to))
        return Scalar(self._program(), value, self.scope)

    def compare_sizes(self, kind: str, x: Extent, y: Extent) -> Scalar:
        operands = [self.extent_value(x), self.extent_value(y)]
        return Scalar(self._program(), scalar_operation(self, kind, operands), self.scope)

    def compute_scalar(self, kind: str, *operands: ScalarLike) -> Any:
        """Returns the kind of scalars: of sizes a size (or what is known of it), else a scalar."""
        self.require_operands(kind, len(operands))
        chosen = operands[1:] if kind == "where" else operands
        types = {operand.type for operand in chosen if isinstance(operand, Scalar)}
        if not types and not any(isinstance(operand, float) for operand in chosen):
            if kind == "where":
                return self._choose_size(operands)
            return self._compute_size(kind, operands)
        sizes = [operand for operand in chosen if isinstance(operand, Size)]
        if len(types) != 1 or sizes:
            named = [*sorted(types), *(["index"] if sizes else [])]
            raise BuildError(
                f"{kind} takes scalars of one type, not {' and '.join(named) or 'numbers alone'}",
                'x.cast("f32") converts; a number is made a scalar by p.constant',
            )
        element = ELEMENT_TYPES[types.pop()]
        values = [self.operand_value(operand, element) for operand in chosen]
        if kind == "where":
            values.insert(0, self.condition_value(operands[0]))
        return Scalar(self._program(), scalar_operation(self, kind, values), self.scope)

    def require_operands(self, kind: str, count: int) -> None:
        """Refuses an elementwise kind that is not there, or takes another number of operands."""
        taken = next((number for number, kinds in _KINDS.items() if kind in kinds), None)
        if taken is None:
            known = ", ".join(name for kinds in _KINDS.values() for name in kinds)
            raise BuildError(f"an elementwise kind is one of {known}, not {kind!r}")
        if count != taken:
            operands = "1 operand" if taken == 1 else f"{taken} operands"
            raise BuildError(f"{kind} takes {operands}, not {count}")

    def condition_value(self, condition: object) -> ir.Value:
        """Returns the i1 value of a condition: a comparison of scalars, or a bool known already."""
        if isinstance(condition, bool):
            return self.constant_value(self.type("i1"), int(condition))
        if isinstance(condition, Scalar) and condition.type == "i1":
            return self.own(condition, "the condition")
        what = condition.type if isinstance(condition, Scalar) else repr(condition)
        raise BuildError(f"a condition is an i1 scalar, not {what}", "compare it: p.branch(n > 4)")

    def _choose_size(self, operands: tuple[ScalarLike, ...]) -> Size:
        condition, *chosen = operands
        values = [self.condition_value(condition), *map(self.extent_value, map(_extent, chosen))]
        value = scalar_operation(self, "where", values)
        return self.new_size("the chosen size", self.scope, lambda: value)

    def _remainder(self, x: Extent, y: Extent) -> Extent:
        return x - divide(self, "floordiv", x, y) * y

    def _clamp_size(self, x: Extent, low: Extent, high: Extent) -> Extent:
        return extreme(self, "min", extreme(self, "max", x, low), high)

    def _compute_size(self, kind: str, operands: tuple[ScalarLike, ...]) -> Any:
        compute: dict[str, Callable[..., Any]] = {
            "neg": operator.neg,
            "add": operator.add,
            "sub": operator.sub,
            "mul": operator.mul,
            "div": _quotient,
            "floordiv": partial(divide, self, "floordiv"),
            "mod": self._remainder,
            "min": partial(extreme, self, "min"),
            "max": partial(extreme, self, "max"),
            "clamp": self._clamp_size,
            "eq": operator.eq,
            "ne": operator.ne,
            "lt": operator.lt,
            "le": operator.le,
            "gt": operator.gt,
            "ge": operator.ge,
        }
        if kind not in compute:
            raise BuildError(
                f"{kind} is not computed of sizes", 'make it a scalar first: n.cast("f32")'
            )
        return compute[kind](*map(_extent, operands))


def _quotient(x: Extent, y: Extent) -> Extent:
    raise BuildError(
        f"{x} / {y} of sizes is not a whole number",
        "write // (rounded down) or p.ceildiv (rounded up)",
    )


def _extent(operand: object) -> Extent:
    if isinstance(operand, (int, Size)) and not isinstance(operand, bool):
        return operand
    raise BuildError(f"a size is a whole number, not {operand!r}")
