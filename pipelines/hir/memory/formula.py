"""Numbers of bytes as polynomials of sizes that are known when the program runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....dialects.records import dataclass

# What a factor is: anything hashable, with its text for a reader.
Factors = tuple["Atom", ...]
Terms = frozenset[tuple[Factors, int]]


@dataclass(frozen=True)
class Atom:
    """A number that is not negative and not known before: equal keys are equal numbers."""

    key: object
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Formula:
    """A sum of products of atoms, each with a coefficient that is not 0."""

    terms: Terms = frozenset()

    @staticmethod
    def of(value: int | Atom) -> Formula:
        return _formula({(value,): 1} if isinstance(value, Atom) else {(): value})

    @property
    def known(self) -> int | None:
        """The number, where no atom is in it."""
        terms = dict(self.terms)
        return terms.get((), 0) if all(not factors for factors in terms) else None

    def __add__(self, other: Formula) -> Formula:
        terms = dict(self.terms)
        for factors, coefficient in other.terms:
            terms[factors] = terms.get(factors, 0) + coefficient
        return _formula(terms)

    def __neg__(self) -> Formula:
        return _formula({factors: -coefficient for factors, coefficient in self.terms})

    def __sub__(self, other: Formula) -> Formula:
        return self + -other

    def __mul__(self, other: Formula) -> Formula:
        terms: dict[Factors, int] = {}
        for factors, coefficient in self.terms:
            for more, times in other.terms:
                product = tuple(sorted((*factors, *more), key=str))
                terms[product] = terms.get(product, 0) + coefficient * times
        return _formula(terms)

    def at_most(self, other: Formula) -> bool:
        """Returns whether it is certainly no more than `other`; atoms are not negative."""
        # Terms that both have, most of them as a rule, are no matter.
        more, fewer = dict(other.terms - self.terms), dict(self.terms - other.terms)
        return all(value <= more.get(factors, 0) for factors, value in fewer.items()) and all(
            value >= 0 for factors, value in more.items() if factors not in fewer
        )

    def __str__(self) -> str:
        """`4*n*64 + 256` with the numbers multiplied out, the largest degree first."""
        ordered = sorted(self.terms, key=lambda term: (-len(term[0]), _text(term[0])))
        parts: list[str] = []
        for factors, coefficient in ordered:
            numbers = [str(abs(coefficient))] if abs(coefficient) != 1 or not factors else []
            text = "*".join([*numbers, *map(str, factors)])
            sign = "-" if coefficient < 0 else "+"
            parts.append(f"{sign} {text}" if parts else f"{'-' * (coefficient < 0)}{text}")
        return " ".join(parts) or "0"


def maximum(formulas: Iterable[Formula], before: Iterable[Formula] = ()) -> list[Formula]:
    """Returns the formulas one of which is the greatest, without those that certainly are not.

    `before` are more, which this function returned: they are not compared with each other again.
    """
    kept = list(before)
    for formula in formulas:
        if any(formula.at_most(other) for other in kept):
            continue
        kept = [other for other in kept if not other.at_most(formula)]
        kept.append(formula)
    return kept


def one_maximum(formulas: Iterable[Formula]) -> Formula:
    """Returns the greatest as one formula: an atom of its own where that is not known."""
    kept = maximum(formulas)
    if len(kept) == 1:
        return kept[0]
    texts = sorted(map(str, kept))
    return Formula.of(Atom(("max", frozenset(kept)), f"max({', '.join(texts)})"))


def _text(factors: Factors) -> str:
    return "*".join(map(str, factors))


def _formula(terms: Mapping[Factors, int]) -> Formula:
    return Formula(frozenset((factors, value) for factors, value in terms.items() if value))


class FormulaArithmetic:
    """The arithmetic that allocation plans are computed with."""

    def constant(self, value: int) -> Formula:
        return Formula.of(value)

    def multiply(self, a: Formula, b: Formula) -> Formula:
        return a * b

    def ceil_divide(self, a: Formula, b: Formula) -> Formula:
        x, y = a.known, b.known
        if x is not None and y:
            return Formula.of(-(-x // y))
        return a if y == 1 else Formula.of(Atom(("ceildiv", a, b), f"ceildiv({a}, {b})"))

    def maximum(self, a: Formula, b: Formula) -> Formula:
        return one_maximum([a, b])
