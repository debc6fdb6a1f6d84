"""How an operation is divided over a mesh: by the loops for which the fewest bytes are sent.

What a device computes of a product counts as the bytes that are sent in that time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import prod

from ....dialects.hir.layout import DYNAMIC
from ....dialects.hir.mesh import Mesh, Spreads
from ....dialects.hir.spread import Spread
from ....dialects.records import dataclass
from ..communication.mesh_plan import find_plan
from .loops import Loop
from .wishes import Wish

# What an open size counts as where bytes are compared.
_OPEN = 4096
# How many bytes are sent in the time of one operation of a product of elements of a type.
Meanwhile = Callable[[str], Fraction]


@dataclass(frozen=True)
class Value:
    """A buffer as its operation sees it: the whole's sizes, its elements' bytes, its spreads.

    `there` are other spreads that it is there in already. Where `users` operations take it, each is
    reckoned to need a share of what is sent.
    """

    shape: tuple[int, ...]
    bytes: int
    spreads: Spreads
    there: frozenset[Spreads] = frozenset()
    users: int = 1

    @property
    def known(self) -> tuple[int | None, ...]:
        """The sizes, None for those that are open."""
        return tuple(None if size == DYNAMIC else size for size in self.shape)


@dataclass(frozen=True)
class Choice:
    """How the operands are to be spread, and how the result then is."""

    operands: tuple[Spreads, ...]
    result: Spreads
    loops: tuple[Loop | None, ...]


def work_of(sizes: Sequence[int], element: str, meanwhile: Meanwhile) -> Fraction:
    """Returns the work of a product with loops of these sizes."""
    return meanwhile(element) * 2 * prod(_OPEN if size == DYNAMIC else size for size in sizes)


def sent(mesh: Mesh, value: Value, after: Spreads) -> Fraction:
    """Returns the bytes that a device sends to have a value spread otherwise.

    Parts of a sum that are not there yet are made of the whole.
    """
    after = tuple(
        Spread() if there.reduction is not None and here != there else there
        for here, there in zip(value.spreads, after, strict=True)
    )
    size = prod(_OPEN if size == DYNAMIC else size for size in value.shape) * value.bytes
    parts = prod(mesh.parts(value.spreads, dim) for dim in range(len(value.shape)))
    if value.spreads == after or after in value.there:
        return Fraction(0)
    plan = find_plan(mesh.shape, value.spreads, after, value.known)
    return plan.cost * size / parts / value.users


@dataclass(frozen=True)
class Problem:
    """An operation's loops and operands, and how its result would best be spread: the `wish`.

    Where that is `required`, the result must be spread so.
    `keeps` says of each axis of the mesh whether parts of sums may pass through. `work` is what all
    of it takes one device, as the bytes that are sent meanwhile. `is_total` says whether it may be
    computed of any elements: then the last devices compute what fills up their parts too.
    """

    mesh: Mesh
    loops: Sequence[Loop]
    operands: tuple[Value, ...]
    result: Value
    wish: Wish | None
    required: bool
    keeps: tuple[bool, ...]
    work: Fraction = Fraction(0)
    is_total: bool = False

    def solve(self) -> Choice:
        """Returns the cheapest choice; of equals the one that sends the fewest buffers, and of
        these the one that divides the most.
        """
        best: tuple[tuple[Fraction, int, int], Choice] | None = None
        for loops in product(*map(self._options, range(len(self.mesh.shape)))):
            choice = self._choice(loops)
            if choice is None:
                continue
            costs = self._costs(choice)
            division = self._division(loops)
            score = (sum(costs, self.work / division), sum(map(bool, costs)), -division)
            if best is None or score < best[0]:
                best = (score, choice)
        assert best is not None, "nothing need be divided"
        return best[1]

    def _options(self, axis: int) -> list[Loop | str | None]:
        """Returns what may be done along an axis: a loop divided, parts passed on, nothing."""
        wanted = self.wish.spreads[axis] if self.wish is not None else Spread()
        if self.mesh.shape[axis] == 1:
            return [None]
        found: list[Loop | str | None] = [None]
        for loop in self.loops:
            is_wanted = loop.dim is not None and wanted.axis == loop.dim
            is_there = any(
                place is not None and value.spreads[axis].axis == place
                for value, place in zip(self.operands, loop.places, strict=True)
            )
            if is_wanted or is_there:
                found.append(loop)
        if self.keeps[axis]:
            found.append("parts")
        return found

    def _choice(self, loops: Sequence[Loop | str | None]) -> Choice | None:
        operands = tuple(
            tuple(
                value.spreads[axis]
                if loop == "parts" and value.spreads[axis].reduction
                else Spread(axis=loop.places[number])
                if isinstance(loop, Loop)
                else Spread()
                for axis, loop in enumerate(loops)
            )
            for number, value in enumerate(self.operands)
        )
        result = tuple(
            Spread(reduction="sum")
            if loop == "parts"
            else Spread(loop.dim, loop.reduction)
            if isinstance(loop, Loop)
            else Spread()
            for loop in loops
        )
        if len({each.reduction for each in result} - {None}) > 1:
            return None
        if self.required and self.wish is not None and result != self.wish.spreads:
            return None
        values = [*zip(self.operands, operands, strict=True), (self.result, result)]
        for value, spreads in values:
            for dim in self.mesh.uneven(spreads, value.shape):
                if not self.is_total or not self.mesh.may_divide(spreads, dim, value.shape[dim]):
                    return None
        for loop in loops:
            # What fills up parts is no term of a sum.
            if isinstance(loop, Loop) and loop.dim is None and self._is_uneven(loop, operands):
                return None
        chosen = tuple(loop if isinstance(loop, Loop) else None for loop in loops)
        return Choice(operands, result, chosen)

    def _is_uneven(self, loop: Loop, operands: Sequence[Spreads]) -> bool:
        """Returns whether devices have different numbers of a loop's iterations."""
        return any(
            place is not None and place in self.mesh.uneven(spreads, value.shape)
            for value, spreads, place in zip(self.operands, operands, loop.places, strict=True)
        )

    def _costs(self, choice: Choice) -> list[Fraction]:
        """Returns what is sent for each operand, and for the result to be as it would best be."""
        result = Value(self.result.shape, self.result.bytes, choice.result)
        combined = tuple(Spread() if each.reduction else each for each in choice.result)
        after = self.wish.spreads if self.wish is not None and self.wish.firm else combined
        values = zip(self.operands, choice.operands, strict=True)
        return [
            sent(self.mesh, result, after),
            *(sent(self.mesh, value, spreads) for value, spreads in values),
        ]

    def _division(self, loops: Sequence[Loop | str | None]) -> int:
        """Among how many devices the operation is divided."""
        return prod(
            size
            for size, loop in zip(self.mesh.shape, loops, strict=True)
            if isinstance(loop, Loop)
        )
