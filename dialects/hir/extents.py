"""Sizes and strides as monomials: a constant times logical sizes that are not known yet.

Allocation domains are checked on these, and computed from them with any arithmetic: Python's
integers, or operations that are emitted.
"""

from collections.abc import Sequence
from math import gcd
from typing import Generic, Protocol, TypeVar

from ..records import dataclass

Number = TypeVar("Number")


@dataclass(frozen=True, order=True)
class Size:
    """The logical size number `dim`."""

    dim: int


@dataclass(frozen=True)
class CeilQuotient:
    """A quotient, rounded up, that is no monomial itself."""

    numerator: "Extent"
    divisor: "Extent"


Factor = Size | CeilQuotient


@dataclass(frozen=True)
class Extent:
    """`constant` times the product of `factors`, which are in a fixed order."""

    constant: int
    factors: tuple[Factor, ...] = ()

    def __mul__(self, other: "Extent") -> "Extent":
        if 0 in (self.constant, other.constant):
            return Extent(0)
        factors = sorted((*self.factors, *other.factors), key=repr)
        return Extent(self.constant * other.constant, tuple(factors))

    def divided_by(self, divisor: "Extent") -> "Extent | None":
        """Returns the quotient where it is exact for all values of the factors, else None."""
        if divisor.constant == 0 or self.constant % divisor.constant != 0:
            return None
        factors = list(self.factors)
        for factor in divisor.factors:
            if factor not in factors:
                return None
            factors.remove(factor)
        return Extent(self.constant // divisor.constant, tuple(factors))

    def ceil_divided_by(self, divisor: "Extent") -> "Extent":
        """Returns the quotient rounded up."""
        exact = self.divided_by(divisor)
        if exact is not None:
            return exact
        if not self.factors and not divisor.factors:
            return Extent(-(-self.constant // divisor.constant))
        common = gcd(self.constant, divisor.constant)
        numerator = Extent(self.constant // common, self.factors)
        divisor = Extent(divisor.constant // common, divisor.factors)
        match numerator:
            case Extent(1, (CeilQuotient(inner, inner_divisor),)):
                return inner.ceil_divided_by(inner_divisor * divisor)
            case _:
                return Extent(1, (CeilQuotient(numerator, divisor),))


class Arithmetic(Protocol[Number]):
    """What sizes are computed with."""

    def constant(self, value: int) -> Number: ...
    def multiply(self, a: Number, b: Number) -> Number: ...
    def ceil_divide(self, a: Number, b: Number) -> Number: ...
    def maximum(self, a: Number, b: Number) -> Number: ...


class Integers:
    """Arithmetic of Python's integers."""

    def constant(self, value: int) -> int:
        return value

    def multiply(self, a: int, b: int) -> int:
        return a * b

    def ceil_divide(self, a: int, b: int) -> int:
        return -(-a // b)

    def maximum(self, a: int, b: int) -> int:
        return max(a, b)


class Evaluation(Generic[Number]):
    """Computes extents from the sizes; each quotient and each product once.

    `sizes` are those of the logical dims: an int where it is static. With `at_least_one`, a size of
    0 counts as 1. What is static is computed here and reaches `arithmetic` as one constant.
    """

    def __init__(
        self,
        sizes: Sequence["int | Open[Number]"],
        arithmetic: Arithmetic[Number],
        at_least_one: bool,
    ) -> None:
        self._sizes = sizes
        self._arithmetic = arithmetic
        self._at_least_one = at_least_one
        self._factors: dict[Factor, int | Open[Number]] = {}
        self._products: dict[tuple[Factor, ...], Number] = {}

    def number(self, extent: Extent) -> Number:
        """Returns the value of an extent."""
        value = self._value(extent)
        return value.value if isinstance(value, Open) else self._arithmetic.constant(value)

    def _value(self, extent: Extent) -> "int | Open[Number]":
        constant = extent.constant
        open_factors: list[Factor] = []
        for factor in extent.factors:
            value = self._factor(factor)
            if isinstance(value, Open):
                open_factors.append(factor)
            else:
                constant *= value
        if constant == 0 or not open_factors:
            return constant
        number = self._product(tuple(open_factors))
        if constant == 1:
            return Open(number)
        return Open(self._arithmetic.multiply(number, self._arithmetic.constant(constant)))

    def _product(self, factors: tuple[Factor, ...]) -> Number:
        if factors not in self._products:
            last = self._factor(factors[-1])
            assert isinstance(last, Open)
            number = last.value
            if factors[:-1]:
                number = self._arithmetic.multiply(self._product(factors[:-1]), number)
            self._products[factors] = number
        return self._products[factors]

    def _factor(self, factor: Factor) -> "int | Open[Number]":
        if factor not in self._factors:
            self._factors[factor] = (
                self._size(factor) if isinstance(factor, Size) else self._quotient(factor)
            )
        return self._factors[factor]

    def _size(self, size: Size) -> "int | Open[Number]":
        value = self._sizes[size.dim]
        if not self._at_least_one:
            return value
        if isinstance(value, Open):
            arithmetic = self._arithmetic
            return Open(arithmetic.maximum(value.value, arithmetic.constant(1)))
        return max(value, 1)

    def _quotient(self, quotient: CeilQuotient) -> "int | Open[Number]":
        numerator, divisor = self._value(quotient.numerator), self._value(quotient.divisor)
        if isinstance(numerator, int) and numerator == 0:
            return 0
        if isinstance(numerator, int) and isinstance(divisor, int):
            return -(-numerator // divisor)
        return Open(
            self._arithmetic.ceil_divide(
                self.number(quotient.numerator), self.number(quotient.divisor)
            )
        )


@dataclass(frozen=True)
class Open(Generic[Number]):
    """A value that is known only when the program runs."""

    value: Number
