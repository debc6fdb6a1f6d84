"""Division of many numbers by one: its reciprocal is computed once."""

from __future__ import annotations

from collections.abc import Callable

from ...dialects.mlir import arith, ir, math
from ...dialects.records import dataclass
from ..rewriting import constant
from ..walking import defining_op, operations_where
from .elements import disguised

# Divisors outside of this range are scaled into it: their reciprocals would overflow, or lose bits.
_RANGES = {"f32": 2.0**120, "f64": 2.0**1000}
_SCALES = {"f32": 2.0**64, "f64": 2.0**512}


@dataclass(frozen=True)
class Divisor:
    """A divisor that is known before the numbers that it divides: `value`, once it is scaled.

    Without a `scale` it is one that needs none.
    """

    value: ir.Value
    reciprocal: ir.Value
    scale: ir.Value | None = None

    @classmethod
    def of(
        cls, divisor: ir.Value, reciprocal: Callable[[ir.Value], ir.Value] | None = None
    ) -> Divisor:
        """Emits what is computed of a divisor, a f32 or f64; `reciprocal` is another way to it."""
        kind = divisor.type
        greatest, by = _RANGES[str(kind)], _SCALES[str(kind)]
        known = constant_float(divisor)
        if known is not None and 1 / greatest <= abs(known) <= greatest:
            return cls(divisor, constant(kind, 1 / known))
        one, size = constant(kind, 1.0), math.absf(divisor)
        is_small = arith.cmpf(arith.CmpFPredicate.OLT, size, constant(kind, 1 / greatest))
        is_great = arith.cmpf(arith.CmpFPredicate.OGT, size, constant(kind, greatest))
        down = arith.select(is_great, constant(kind, 1 / by), one)
        scale = arith.select(is_small, constant(kind, by), down)
        value = arith.mulf(divisor, scale)
        inverse = arith.divf(one, value) if reciprocal is None else reciprocal(value)
        return cls(value, inverse, scale)

    def disguised(self) -> Divisor:
        """The same as a divisor of which the compiler knows nothing."""
        scale = None if self.scale is None else disguised(self.scale)
        return Divisor(disguised(self.value), disguised(self.reciprocal), scale)

    def divide(self, number: ir.Value) -> ir.Value:
        """The quotient, rounded as by a division where it and what is left are normal numbers.

        (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor",
        1990.) Of an infinity no number is left, and of a zero one without its sign: the product is
        right then.
        """
        scaled = self._scaled(number)
        first = arith.mulf(scaled, self.reciprocal)
        left = math.fma(arith.negf(first), self.value, scaled)
        better = math.fma(left, self.reciprocal, first)
        is_better = arith.cmpf(arith.CmpFPredicate.ONE, better, constant(better.type, 0.0))
        return arith.select(is_better, better, first)

    def divide_roughly(self, number: ir.Value) -> ir.Value:
        """The quotient, wrong by less than two units in the last place."""
        return arith.mulf(self._scaled(number), self.reciprocal)

    def _scaled(self, number: ir.Value) -> ir.Value:
        return number if self.scale is None else arith.mulf(number, self.scale)


def divide_without_calls(block: ir.Block) -> None:
    """Replaces divisions of f32 within a block by instructions alone.

    The assembler calls a function for what is not normal; in a kernel with calls it waits for each
    product of a warpgroup. A quotient that is rounded to 16 bits is computed with fewer of them,
    and where it is by 1 + exp(x), as of a logistic function, so is the power.
    """
    for op in operations_where(block.owner.operation, lambda inner: inner.name == "arith.divf"):
        if not isinstance(op.results[0].type, ir.F32Type):
            continue
        number, by = op.operands
        is_rough = is_factor_of_rounded(op.results[0])
        # Its error of (|x| + 2) 2^-23 of the power, as an approximation, is one of 2^-16 at most.
        power = one_below(by, "math.exp") if is_rough else None
        if power is not None:
            power.attributes["fastmath"] = ir.Attribute.parse("#arith.fastmath<afn>")
        with op.location, ir.InsertionPoint(op):
            if power is not None:
                quotient = _divided_by_more_than_one(number, by)
            elif is_rough:
                quotient = Divisor.of(by, _approximate_reciprocal).divide_roughly(number)
            else:
                quotient = Divisor.of(by, _reciprocal).divide(number)
            op.results[0].replace_all_uses_with(quotient)
        op.erase()


def is_factor_of_rounded(value: ir.Value) -> bool:
    """Returns whether all that comes of a f32 value are products that are rounded to 16 bits."""
    users = [use.owner.operation for use in value.uses]
    return bool(users) and all(
        is_factor_of_rounded(user.results[0])
        if user.name == "arith.mulf"
        else is_rounding_to_few(user)
        for user in users
    )


def one_below(value: ir.Value, name: str) -> ir.Operation | None:
    """Returns the operation of a name of which a value is 1 more, and which nothing else reads."""
    total = defining_op(value)
    if total is None or total.name != "arith.addf":
        return None
    for one, other in (total.operands, reversed(list(total.operands))):
        found = defining_op(one)
        if found is not None and found.name == name and constant_float(other) == 1.0:
            return found if len(list(found.results[0].uses)) == 1 else None
    return None


def constant_float(value: ir.Value) -> float | None:
    """Returns the number that a constant float is; None of other values."""
    op = defining_op(value)
    attribute = None if op is None else op.attributes.get("value")
    return attribute.value if isinstance(attribute, ir.FloatAttr) else None


def _divided_by_more_than_one(number: ir.Value, by: ir.Value) -> ir.Value:
    """Returns a quotient by a number of 1 or more.

    Reciprocals of those from 2^126 on are no normal numbers: they are scaled.
    """
    kind = by.type
    is_great = arith.cmpf(arith.CmpFPredicate.OGT, by, constant(kind, _RANGES["f32"]))
    scale = arith.select(is_great, constant(kind, 1 / _SCALES["f32"]), constant(kind, 1.0))
    inverse = _approximate_reciprocal(arith.mulf(by, scale))
    return arith.mulf(arith.mulf(number, scale), inverse)


def _approximate_reciprocal(value: ir.Value) -> ir.Value:
    return ir.Operation.create(
        "nvvm.rcp.approx.ftz.f", results=[value.type], operands=[value]
    ).results[0]


def _reciprocal(value: ir.Value) -> ir.Value:
    """The reciprocal of a number that is scaled: what the instruction gives, and a step further."""
    first = _approximate_reciprocal(value)
    left = math.fma(arith.negf(value), first, constant(value.type, 1.0))
    better = math.fma(left, first, first)
    is_better = arith.cmpf(arith.CmpFPredicate.ONE, better, constant(value.type, 0.0))
    return arith.select(is_better, better, first)


def may_be_rough(value: ir.Value) -> bool:
    """Returns whether little is lost by an error of two units in the last place of a f32 value.

    So it is where it is rounded further, or goes into the error function, which changes relatively
    less than what it is of.
    """
    return is_rounded_further(value) or all(
        use.owner.operation.name == "math.erf" for use in value.uses
    )


def is_rounded_further(value: ir.Value) -> bool:
    """Returns whether all that uses a f32 value rounds it to 16 bits or fewer."""
    return all(is_rounding_to_few(use.owner.operation) for use in value.uses)


def is_rounding_to_few(op: ir.Operation) -> bool:
    """Returns whether an operation rounds to 16 bits or fewer."""
    return op.name == "arith.truncf" and ir.FloatType(op.results[0].type).width <= 16
