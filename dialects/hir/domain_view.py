"""The strided view that a domain's memory is of its logical dims, found as monomials.

The dims that the steps lead to have strides that accumulate from the innermost outwards. From there
the steps are followed back: every dim of every list carries the function from its index to a place
in memory, as digits of the index in a mixed radix, each with a stride. At the logical dims each
function must be one stride.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum
from functools import lru_cache

from ..records import dataclass
from .domain_steps import Domain, DomainError, Expand, Merge, Reduce, Reorder, Shard, Split, Step
from .extents import Extent, Size
from .layout import DYNAMIC, show_sizes

_ONE = Extent(1)


@dataclass(frozen=True)
class MemoryView:
    """The number of elements of the memory, the buffer's sizes and strides.

    In the strides a size of 0 counts as 1. `is_packed`: they are those of the sizes in row-major
    order.
    """

    elements: Extent
    sizes: tuple[Extent, ...]
    strides: tuple[Extent, ...]

    @property
    def is_packed(self) -> bool:
        stride = _ONE
        for size, found in zip(reversed(self.sizes), reversed(self.strides), strict=True):
            if found != stride:
                return False
            stride *= size
        return True


class _Part(Enum):
    """Where the values of a digit lie."""

    HERE = "in this memory"
    ELSEWHERE = "spread over devices or streams"
    DROPPED = "reduced"


@dataclass(frozen=True)
class _Dim:
    """A dim of the list so far; `spread` and `expanded` ones may only be reordered."""

    extent: Extent
    spread: bool = False
    expanded: bool = False


@dataclass(frozen=True)
class _Digit:
    """A digit of an index: how many values it takes, and the stride between them."""

    extent: Extent
    stride: Extent
    part: _Part = _Part.HERE


@lru_cache(maxsize=1024)
def memory_view(domain: Domain) -> MemoryView:
    """Returns the view; DomainError where a step is wrong or there is none."""
    dims = [_Dim(_logical_extent(domain, dim)) for dim in range(len(domain.logical))]
    lists = [dims]
    for number, step in enumerate(domain.steps):
        lists.append(_apply(step, lists[-1], f"step {number} of the domain"))
    functions: list[list[_Digit]] = []
    stride = _ONE
    for dim in reversed(lists[-1]):
        part = _Part.ELSEWHERE if dim.spread else _Part.HERE
        functions.insert(0, [_Digit(dim.extent, Extent(0) if dim.expanded else stride, part)])
        if not dim.spread and not dim.expanded:
            stride *= dim.extent
    for before, step in zip(reversed(lists[:-1]), reversed(domain.steps), strict=True):
        functions = _follow_back(step, before, functions)
    sizes: list[Extent] = []
    strides: list[Extent] = []
    for number, digits in enumerate(functions):
        if all(digit.part is _Part.DROPPED for digit in digits):
            continue
        view = _logical_view(digits)
        if view is None:
            raise DomainError(
                f"the memory is no strided view of the logical sizes {show_sizes(domain.logical)}: "
                f"dim {number} lies in pieces with other dims between them"
            )
        sizes.append(view.extent)
        strides.append(view.stride)
    return MemoryView(stride, tuple(sizes), tuple(strides))


def _logical_extent(domain: Domain, dim: int) -> Extent:
    size = domain.logical[dim]
    # A size of 0 is kept by name: strides count it as 1.
    return Extent(1, (Size(dim),)) if size in (DYNAMIC, 0) else Extent(size)


def _logical_view(digits: Sequence[_Digit]) -> _Digit | None:
    here = _joined(digit for digit in digits if digit.part is _Part.HERE)
    if not here:
        return replace(next(d for d in digits if d.part is _Part.ELSEWHERE), extent=_ONE)
    return here[0] if len(here) == 1 else None


def _apply(step: Step, dims: Sequence[_Dim], where: str) -> list[_Dim]:
    """Returns the list of dims after a step."""
    if isinstance(step, Reorder):
        if sorted(step.order) != list(range(len(dims))):
            raise DomainError(
                f"{where} orders {len(dims)} dims: each of 0 to {len(dims) - 1} once, "
                f"not {list(step.order)}"
            )
        return [dims[position] for position in step.order]
    name = type(step).__name__.lower()
    position = step.position
    last = position + isinstance(step, Merge)
    if position < 0 or last >= len(dims):
        raise DomainError(
            f"{where} is a {name} at position {position}; there are {len(dims)} dims there"
        )
    if any(dim.spread or dim.expanded for dim in dims[position : last + 1]):
        raise DomainError(
            f"{where} is a {name} of a dim that is sharded or expanded, which can only be reordered"
        )
    dim = dims[position]
    match step:
        case Split(_, factor, outer):
            if factor < 1:
                raise DomainError(f"{where} splits by {factor}; a factor is at least 1")
            quotient = dim.extent.ceil_divided_by(Extent(factor))
            parts = [_Dim(quotient), _Dim(Extent(factor))]
            new = parts[::-1] if outer else parts
        case Merge():
            new = [_Dim(dim.extent * dims[last].extent)]
        case Shard():
            new = [replace(dim, spread=True)]
        case Expand():
            new = [replace(dim, expanded=True)]
        case Reduce():
            new = []
    return [*dims[:position], *new, *dims[last + 1 :]]


def _follow_back(
    step: Step, before: Sequence[_Dim], functions: list[list[_Digit]]
) -> list[list[_Digit]]:
    """Returns the functions of the dims before a step, from those of the dims after it."""
    match step:
        case Reorder(order):
            return [functions[order.index(position)] for position in range(len(order))]
        case Shard() | Expand():
            return functions
        case Reduce(position):
            dropped = _Digit(before[position].extent, Extent(0), _Part.DROPPED)
            return [*functions[:position], [dropped], *functions[position:]]
        case Split(position, factor, outer):
            extent = before[position].extent
            inner = extent.ceil_divided_by(Extent(factor)) if outer else Extent(factor)
            high, low = functions[position : position + 2]
            joined = _joined([*_exactly(low, inner, high), *high])
            return [*functions[:position], _within(joined, extent), *functions[position + 2 :]]
        case Merge(position):
            outer_extent, inner = (dim.extent for dim in before[position : position + 2])
            high, low = _parted(functions[position], inner)
            high = _within(high, outer_extent)
            return [*functions[:position], high, low, *functions[position + 1 :]]


def _joined(digits: Iterable[_Digit]) -> list[_Digit]:
    """Returns the digits, innermost first, with neighbours made one where one stride
    serves both.
    """
    result: list[_Digit] = []
    for digit in digits:
        if result and (one := _as_one(result[-1], digit)) is not None:
            result[-1] = one
        else:
            result.append(digit)
    return result


def _as_one(low: _Digit, high: _Digit) -> _Digit | None:
    if low.part is not high.part:
        return None
    if low.extent == _ONE:
        return high
    if high.extent == _ONE or low.part is not _Part.HERE or high.stride == low.stride * low.extent:
        return replace(low, extent=low.extent * high.extent)
    return None


def _within(digits: list[_Digit], extent: Extent) -> list[_Digit]:
    """Returns the digits of a dim's index as far as an index below `extent` has them."""
    if len(digits) > 1 and any(digit.part is not _Part.HERE for digit in digits):
        return digits
    reached: list[_Digit] = []
    below = _ONE
    for digit in digits:
        if reached and not (below.factors or extent.factors) and below.constant >= extent.constant:
            break
        reached.append(digit)
        below *= digit.extent
    return [replace(reached[0], extent=extent)] if len(reached) == 1 else reached


def _exactly(low: list[_Digit], extent: Extent, high: list[_Digit]) -> list[_Digit]:
    """Returns the digits of a dim with `extent` values, for `high` to stand above them."""
    if len(low) == 1 or all(digit.extent == _ONE for digit in high):
        return _within(low, extent)
    below = _ONE
    for digit in low[:-1]:
        below *= digit.extent
    top = extent.divided_by(below)
    if top is None:
        raise DomainError(
            "the memory is no strided view of the logical dims: a split that does not divide "
            "evenly leaves gaps within a dim that is split again"
        )
    return [*low[:-1], replace(low[-1], extent=top)]


def _parted(digits: list[_Digit], inner: Extent) -> tuple[list[_Digit], list[_Digit]]:
    """Returns the digits of a merged dim as those of its outer and its inner dim, of extent
    `inner`.
    """
    low: list[_Digit] = []
    high: list[_Digit] = []
    left = inner
    for number, digit in enumerate(digits):
        is_last = number == len(digits) - 1
        if left == _ONE and low:
            high.append(digit)
        elif not is_last and (rest := left.divided_by(digit.extent)) is not None:
            low.append(digit)
            left = rest
        else:
            rest = digit.extent.divided_by(left)
            if rest is None and is_last:
                rest = digit.extent.ceil_divided_by(left)
            if rest is None:
                raise DomainError(
                    "the memory is no strided view of the logical dims: a merged dim is split "
                    "across the dims that it was made of"
                )
            low.append(replace(digit, extent=left))
            high.append(replace(digit, extent=rest, stride=digit.stride * left))
            left = _ONE
    return _joined(high), _joined(low)
