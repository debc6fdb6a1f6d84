"""Whether one operation for a group is cheaper than several.

Fusing saves the writes and reads of what lies between operations, and second reads of the same
tensor. It costs where work is repeated, where memory is read against its order, and where too few
blocks would be left to fill a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...dialects.mlir import ir
from .access import Access
from .group import Group
from .sizes import Sizes

# A reduction that its own elements wait for is done by one block for each of its results: fewer
# results than this leave most of a GPU idle, unless what each reduces is small.
_MIN_RESULTS = 64
_SMALL_REDUCTION = 2**16


def objection(group: Group) -> str | None:
    """Why a group should not be one operation, or None where it should."""
    return _repeated_work(group) or _few_results(group) or _against_the_order(group)


def _repeated_work(group: Group) -> str | None:
    """Work that does not depend on a loop is done once only where the loop is a reduction's."""
    along = group.reduced | group.scanned
    for node, name in zip(group.nodes, group.names, strict=True):
        if node.expensive is None:
            continue
        missing = set(range(len(group.extents))) - along - set(name)
        if missing:
            return f"{node.expensive} would be repeated in every iteration of another loop"
    return None


def _few_results(group: Group) -> str | None:
    """Returns a second pass over what a reduction of everything has read is a kernel of its own."""
    if not group.reduced or not _has_second_pass(group):
        return None
    parallel = [loop for loop in range(len(group.extents)) if loop not in group.reduced]
    results = [Sizes.static(group.extents[loop]) for loop in parallel]
    reduced = [Sizes.static(group.extents[loop]) for loop in group.reduced]
    known = [size for size in reduced if size is not None]
    if len(known) == len(reduced) and prod(known) <= _SMALL_REDUCTION:
        return None
    if any(size is None for size in results):
        return None
    count = prod(size for size in results if size is not None)
    if count >= _MIN_RESULTS:
        return None
    return f"a second pass after a reduction with {count} result{'s' if count != 1 else ''} only"


def _has_second_pass(group: Group) -> bool:
    """Returns whether some node goes over the reduced loops and needs what was
    reduced over them.
    """
    after_reduction: set[ir.Value] = set()
    for node, name in zip(group.nodes, group.names, strict=True):
        is_after = any(read.value in after_reduction for read in node.reads)
        if is_after and set(name) & group.reduced:
            return True
        if is_after or node.reduced:
            after_reduction |= {write.value for write in node.writes}
    return False


def _against_the_order(group: Group) -> str | None:
    """A reduction reads all its large operands along the same innermost loop.

    One that does not by itself, a product of small matrices, loses nothing.
    """
    if not group.reduced or any(
        len(_innermost(node.reads, node.reduced)) > 1 for node in group.nodes
    ):
        return None
    if len(_innermost((*group.inputs, *group.outputs), group.reduced)) > 1:
        return "a reduction would read one operand against its order in memory"
    return None


def _innermost(accesses: Sequence[Access], reduced: frozenset[int]) -> set[int]:
    """Returns the loops along which what a reduction goes over lies closest."""
    return {
        each.loops[-1] for each in accesses if len(each.loops) > 1 and set(each.loops) & reduced
    }
