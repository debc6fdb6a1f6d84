"""Symbolic sizes: what is known of a size before the program runs.

A size is a polynomial with integer coefficients over *atoms*: sizes with a name, index values of
the program, and quotients, minima and maxima of other sizes. Equal polynomials are equal sizes, so
`(n + 1) * 64 // 64 - 1` is `n`. One that comes out constant is a plain int.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import field
from functools import wraps
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

from ...records import dataclass
from .errors import BuildError
from .operators import Operators, refused_by_torch

if TYPE_CHECKING:
    from .emitter import Emitter
    from .scalar import Scalar

# The greatest power of a size.
_MOST_FACTORS = 8
# A product of atoms, in the order of their serial numbers.
Monomial: TypeAlias = "tuple[Atom, ...]"


@dataclass(frozen=True, eq=False)
class Atom:
    """An indivisible part of sizes. `name` is for people; `operation` and `operands` of a compound
    one ("floordiv", "ceildiv", "min" or "max") say how it is computed.
    """

    serial: int
    name: str
    operation: str | None = None
    operands: tuple[Extent, ...] = ()


@dataclass
class Atoms:
    """The atoms of one program. Equal compound atoms are one object."""

    table: dict[Hashable, Atom] = field(default_factory=dict[Hashable, Atom])
    count: int = 0

    def fresh(self, name: str) -> Atom:
        """Returns a new atom, equal to no other."""
        self.count += 1
        return Atom(self.count, name)

    def compound(self, operation: str, x: Extent, y: Extent) -> Atom:
        """Returns the atom for an operation on two sizes."""
        if operation in ("min", "max") and str(y) < str(x):
            x, y = y, x
        key = (operation, terms_of(x), terms_of(y))
        if key not in self.table:
            self.count += 1
            name = f"{operation}({x}, {y})"
            self.table[key] = Atom(self.count, name, operation, (x, y))
        return self.table[key]


def _of_sizes(method: Callable[[Size, Extent], Extent]) -> Callable[[Size, Extent], Extent]:
    """Returns an operator of two sizes: of anything else, the other operand's class has its say."""

    @wraps(method)
    def checked(size: Size, other: Any) -> Any:
        other = _whole(other)
        return method(size, other) if _is_extent(size, other) else NotImplemented

    return checked


def _whole(value: Any) -> Any:
    """Returns a whole number of another library as an int; any other value as it is."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        return value
    return int(value)


def _is_extent(size: Size, other: Any) -> bool:
    """Returns whether two sizes are computed with; False where the other's class has its say."""
    if isinstance(other, (int, Size)) and not isinstance(other, bool):
        _require_same(size.program, other)
        return True
    if isinstance(other, Operators):
        return False
    raise BuildError(f"a size is computed with whole numbers and sizes, not {other!r}")


def _require_same(program: Emitter, *others: Extent) -> None:
    for other in others:
        if isinstance(other, Size) and other.program is not program:
            raise BuildError(
                f"the size {other} is of program {other.program.name}, this is {program.name}",
                "hand it over as an input",
            )


class Size:
    """A size that is known when the program runs: an index value, computed with where needed.

    `+ - * // %` and `ceildiv`, `minimum`, `maximum` give further sizes. Comparisons give a bool
    where they can be decided now, and otherwise an i1 scalar.
    """

    def __init__(self, program: Emitter, terms: frozenset[tuple[Monomial, int]]) -> None:
        self.program = program
        self.terms = terms

    @_of_sizes
    def __add__(self, other: Extent) -> Extent:
        return combine(self.program, Counter(), ((self, 1), (other, 1)))

    def __radd__(self, other: int) -> Extent:
        return self + other

    @_of_sizes
    def __sub__(self, other: Extent) -> Extent:
        return combine(self.program, Counter(), ((self, 1), (other, -1)))

    def __rsub__(self, other: int) -> Extent:
        return -self + other

    def __neg__(self) -> Extent:
        return self * -1

    @_of_sizes
    def __mul__(self, other: Extent) -> Extent:
        products: Counter[Monomial] = Counter()
        for mine, times in self.terms:
            for theirs, more in terms_of(other):
                monomial = tuple(sorted(mine + theirs, key=lambda atom: atom.serial))
                products[monomial] += times * more
        return combine(self.program, products)

    def __rmul__(self, other: int) -> Extent:
        return self * other

    @_of_sizes
    def __floordiv__(self, other: Extent) -> Extent:
        return divide(self.program, "floordiv", self, other)

    @_of_sizes
    def __rfloordiv__(self, other: Extent) -> Extent:
        return divide(self.program, "floordiv", other, self)

    def ceildiv(self, other: Extent) -> Extent:
        """Returns the least whole number not below `self / other`."""
        return divide(self.program, "ceildiv", self, other)

    @_of_sizes
    def __mod__(self, other: Extent) -> Extent:
        return self - (self // other) * other

    @_of_sizes
    def __rmod__(self, other: Extent) -> Extent:
        return -(other // self) * self + other

    def __pow__(self, power: int) -> Extent:
        if isinstance(power, Operators):
            return NotImplemented
        if not isinstance(power, int) or not 0 <= power <= _MOST_FACTORS:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BuildError(
                f"a size is raised to a number from 0 to {_MOST_FACTORS}, not {power!r}"
            )
        product: Extent = 1
        for _ in range(power):
            product = self * product
        return product

    def cast(self, to: str) -> Scalar:
        """Returns the size as a scalar of a float or integer type."""
        return self.program.cast_size(self, to)

    def minimum(self, other: Extent) -> Extent:
        """Returns the lesser of two sizes."""
        return extreme(self.program, "min", self, other)

    def maximum(self, other: Extent) -> Extent:
        """Returns the greater of two sizes."""
        return extreme(self.program, "max", self, other)

    @_of_sizes
    def __truediv__(self, other: Extent) -> Extent:
        raise BuildError(
            f"{self} / {other} is not a whole number",
            "write // (rounded down) or .ceildiv(...) (rounded up)",
        )

    def __rtruediv__(self, other: int) -> Extent:
        raise BuildError(f"{other} / {self} is not a whole number", "write // (rounded down)")

    # numpy's arrays leave operators to what they are computed with.
    __array_ufunc__ = None

    @classmethod
    def __torch_function__(cls, function: Any, *_: object) -> Any:
        raise refused_by_torch(function)

    def __eq__(self, other: object) -> Any:
        return self._compare("eq", other, lambda difference: difference == 0)

    def __ne__(self, other: object) -> Any:
        return self._compare("ne", other, lambda difference: difference != 0)

    def __lt__(self, other: Extent) -> Any:
        return self._compare("lt", other, lambda difference: difference < 0)

    def __le__(self, other: Extent) -> Any:
        return self._compare("le", other, lambda difference: difference <= 0)

    def __gt__(self, other: Extent) -> Any:
        return self._compare("gt", other, lambda difference: difference > 0)

    def __ge__(self, other: Extent) -> Any:
        return self._compare("ge", other, lambda difference: difference >= 0)

    def _compare(self, kind: str, other: object, decide: Callable[[int], bool]) -> Any:
        extent: Any = _whole(other)
        if kind in ("eq", "ne") and not isinstance(extent, (int, Size)):
            return NotImplemented
        if not _is_extent(self, extent):
            return NotImplemented
        difference = self - extent
        if isinstance(difference, int):
            return decide(difference)
        return self.program.compare_sizes(kind, self, extent)

    def __hash__(self) -> int:
        return hash(self.terms)

    def __bool__(self) -> bool:
        raise BuildError(
            f"whether {self} is 0 is known only when the program runs", "write p.branch(...)"
        )

    def __index__(self) -> int:
        raise BuildError(
            f"the size {self} is known only when the program runs; a number is expected here",
            "a loop over it is p.loop(0, size)",
        )

    def __str__(self) -> str:
        text = ""
        for monomial, times in ordered(self.terms):
            factors = [atom.name for atom in monomial]
            if not factors or abs(times) != 1:
                factors.append(str(abs(times)))
            sign = (" - " if times < 0 else " + ") if text else ("-" if times < 0 else "")
            text += sign + " * ".join(factors)
        return text

    __repr__ = __str__


# The size of a dim, or an index: a number, or known when the program runs.
Extent: TypeAlias = "int | Size"


def atom_size(program: Emitter, atom: Atom) -> Size:
    """Returns the size that an atom is."""
    return Size(program, frozenset({((atom,), 1)}))


def terms_of(extent: Extent) -> frozenset[tuple[Monomial, int]]:
    """Returns the polynomial of an extent: its monomials with their coefficients,
    none of them 0.
    """
    if isinstance(extent, Size):
        return extent.terms
    return frozenset({((), int(extent))} if extent else ())


def ordered(terms: frozenset[tuple[Monomial, int]]) -> list[tuple[Monomial, int]]:
    """Returns the terms in the order in which they are written and computed; the constant comes
    last.
    """
    return sorted(terms, key=lambda term: (-len(term[0]), [atom.serial for atom in term[0]]))


def combine(
    program: Emitter, start: Counter[Monomial], parts: tuple[tuple[Extent, int], ...] = ()
) -> Extent:
    """Returns the sum of `start` and of the parts times their factors."""
    for extent, factor in parts:
        for monomial, times in terms_of(extent):
            start[monomial] += times * factor
    terms = frozenset((monomial, times) for monomial, times in start.items() if times)
    if not any(monomial for monomial, _ in terms):
        return start[()]
    return Size(program, terms)


def divide(program: Emitter, operation: str, x: Extent, y: Extent) -> Extent:
    """`floordiv` or `ceildiv` of two sizes; exact where each term of `x` has the factors of `y`."""
    _require_same(program, x, y)
    if isinstance(y, int) and y <= 0:
        raise BuildError(f"the size {x} is divided by {y}; a positive number is expected")
    if isinstance(x, int) and isinstance(y, int):
        return x // y if operation == "floordiv" else -(-x // y)
    exact = _exact_quotient(program, x, y)
    if exact is not None:
        return exact
    return atom_size(program, program.atoms.compound(operation, x, y))


def _exact_quotient(program: Emitter, x: Extent, y: Extent) -> Extent | None:
    divisor = terms_of(y)
    if len(divisor) != 1:
        return 1 if terms_of(x) == divisor else None
    ((atoms, factor),) = divisor
    quotient: Counter[Monomial] = Counter()
    for monomial, times in terms_of(x):
        left = Counter(monomial)
        left.subtract(atoms)
        if times % factor or min(left.values(), default=0) < 0:
            return None
        kept = sorted(left.elements(), key=lambda atom: atom.serial)
        quotient[tuple(kept)] += times // factor
    return combine(program, quotient)


def extreme(program: Emitter, operation: str, x: Extent, y: Extent) -> Extent:
    """`min` or `max` of two sizes."""
    _require_same(program, x, y)
    if isinstance(x, int) and isinstance(y, int):
        return min(x, y) if operation == "min" else max(x, y)
    difference = combine(program, Counter(), ((x, 1), (y, -1)))
    if isinstance(difference, int):
        return x if (difference <= 0) == (operation == "min") else y
    return atom_size(program, program.atoms.compound(operation, x, y))


def replace_atoms(program: Emitter, extent: Extent, values: Mapping[Atom, Extent]) -> Extent | None:
    """`extent` with values in place of its atoms, or None where an atom has none."""
    total: Extent = 0
    for monomial, times in ordered(terms_of(extent)):
        product: Extent = times
        for atom in monomial:
            factor = _replace_atom(program, atom, values)
            if factor is None:
                return None
            product = product * factor
        total = total + product
    return total


def _replace_atom(program: Emitter, atom: Atom, values: Mapping[Atom, Extent]) -> Extent | None:
    if atom.operation is None:
        return values.get(atom)
    x, y = (replace_atoms(program, operand, values) for operand in atom.operands)
    if x is None or y is None:
        return None
    combined = extreme if atom.operation in ("min", "max") else divide
    return combined(program, atom.operation, x, y)
