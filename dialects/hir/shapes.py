"""The sizes of compute operations' results, DYNAMIC where the operands' types leave them open."""

from collections.abc import Sequence

from .layout import DYNAMIC, LayoutError, show_sizes


def broadcast_shape(shapes: Sequence[Sequence[int]]) -> list[int]:
    """Returns the sizes that operands of these sizes have together, as in torch.

    Missing leading dims count as 1, and a size of 1 repeats. An open size beside 1 stays open;
    beside any other static size it must be that one, or 1.
    """
    rank = max(map(len, shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for dim, size in enumerate(shape, rank - len(shape)):
            known = result[dim]
            if known == 1 or (known == DYNAMIC and size != 1):
                result[dim] = size
            elif size not in (1, DYNAMIC, known):
                listed = " and ".join(show_sizes(each) for each in shapes)
                raise LayoutError(f"sizes {listed} do not broadcast: {known} and {size} differ")
    return result


def reduce_shape(shape: Sequence[int], axes: Sequence[int], keep_dims: bool = False) -> list[int]:
    """Returns the sizes after a reduction over `axes`; over all where there are none."""
    if any(not 0 <= axis < len(shape) for axis in axes) or len(set(axes)) != len(axes):
        raise LayoutError(
            f"axes are different numbers from 0 to {len(shape) - 1} for an operand of sizes "
            f"{show_sizes(shape)}; they are {list(axes)}"
        )
    reduced = set(axes) or set(range(len(shape)))
    if keep_dims:
        return [1 if dim in reduced else size for dim, size in enumerate(shape)]
    return [size for dim, size in enumerate(shape) if dim not in reduced]


def matmul_shape(x: Sequence[int], y: Sequence[int]) -> list[int]:
    """Returns the sizes of (..., m, k) times (..., k, n)."""
    if len(x) < 2 or len(y) < 2:
        raise LayoutError(
            "operands are (..., m, k) and (..., k, n), of two dims or more; "
            f"they are {show_sizes(x)} and {show_sizes(y)}"
        )
    if _differ(x[-1], y[-2]):
        raise LayoutError(
            f"sizes {show_sizes(x)} and {show_sizes(y)} do not fit (..., m, k) and (..., k, n): "
            f"k is {x[-1]} and {y[-2]}"
        )
    return [*broadcast_shape([x[:-2], y[:-2]]), x[-2], y[-1]]


def linear_shape(
    x: Sequence[int], weight: Sequence[int], bias: Sequence[int] | None = None
) -> list[int]:
    """Returns the sizes of (..., k) times the transpose of (n, k), with a bias of (n)."""
    if not x or len(weight) != 2 or _differ(x[-1], weight[1]):
        raise LayoutError(
            f"operands are (..., k) and (n, k); they are {show_sizes(x)} and {show_sizes(weight)}"
        )
    if bias is not None and (len(bias) != 1 or _differ(bias[0], weight[0])):
        raise LayoutError(
            f"the bias has the weight's first size, {show_sizes(weight[:1])}, "
            f"not {show_sizes(bias)}"
        )
    return [*x[:-1], weight[0]]


def may_be_equal(a: Sequence[int], b: Sequence[int]) -> bool:
    """Returns whether two lists of sizes can be the same when the program runs."""
    return len(a) == len(b) and not any(map(_differ, a, b))


def _differ(a: int, b: int) -> bool:
    return a != b and DYNAMIC not in (a, b)
