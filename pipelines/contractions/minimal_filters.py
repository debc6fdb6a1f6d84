"""Filters computed with fewer products: Winograd's minimal filtering by the Toom-Cook algorithm.

Of a window of r elements, m neighbouring results need m + r - 1 products instead of m r:

    y = O ((F w) * (I x))

of results y, the filter w, and the elements x that the windows cover; * is element by element. The
matrices come of polynomials that are interpolated at m + r - 2 points and at infinity (S. Winograd,
"Arithmetic Complexity of Computations", 1980; A. Lavin and S. Gray, arXiv:1509.09308).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import prod

from ...dialects.records import dataclass

# In the order in which they are taken. Small numbers and their inverses, of both signs, keep the
# matrices' elements near 1 (B. Barabasz and others, arXiv:1803.10986): 4 results of 3 elements in 2
# dims, 64 channels of normal random numbers in f32, are wrong by 1.1e-6 of their norm with 1/2 and
# -2, and by 1.8e-6 with 2 and -2.
_POINTS = tuple(map(Fraction, ("0", "1", "-1", "1/2", "-2", "2", "-1/2")))
# Results and elements of a window in all, less one: with more of them errors grow tenfold.
MOST_PRODUCTS = len(_POINTS) + 1
# 6 results of 3 elements are wrong by 3.3e-6 where 4 are by 1.1e-6, and spare a fifth
# of the products.
MOST_RESULTS = 4

Matrix = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class MinimalFilter:
    """The matrices: `outputs` is O, m by n; `filter` is F, n by r; `inputs` is I, n by n, of
    n = m + r - 1 products.
    """

    outputs: Matrix
    filter: Matrix
    inputs: Matrix


@lru_cache(maxsize=64)
def minimal_filter(results: int, window: int) -> MinimalFilter:
    """Returns the matrices for so many results at once; they need up to MOST_PRODUCTS."""
    points = _POINTS[: results + window - 2]
    others = [[other for other in points if other != point] for point in points]
    scales = [
        prod((point - other for other in each), start=Fraction(1))
        for point, each in zip(points, others, strict=True)
    ]
    return MinimalFilter(
        tuple(
            (*(point**power for point in points), Fraction(int(power == results - 1)))
            for power in range(results)
        ),
        (
            *(
                tuple(point**power / scale for power in range(window))
                for point, scale in zip(points, scales, strict=True)
            ),
            _unit(window - 1, window),
        ),
        (*((*_polynomial(each), Fraction(0)) for each in others), _polynomial(points)),
    )


def _polynomial(roots: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Returns the coefficients of the monic polynomial with these roots, the constant first."""
    found = [Fraction(1)]
    for root in roots:
        found = [
            before - root * own
            for before, own in zip([Fraction(0), *found], [*found, Fraction(0)], strict=True)
        ]
    return tuple(found)


def _unit(place: int, size: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(int(number == place)) for number in range(size))
