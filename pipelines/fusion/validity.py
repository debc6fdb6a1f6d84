"""Whether one linalg.generic can do what a group does."""

from __future__ import annotations

from ...dialects.mlir import ir
from .group import Group
from .sizes import Sizes

# Pointers and sizes of more operands do not fit a thread's registers beside its elements.
MAX_OPERANDS = 12
# What a kernel is made of: beyond it, the time to compile one grows faster than what is saved by
# fusing. Each pass of dependent reductions goes over the elements, and computes them, again.
MAX_NODES = 64
MAX_OPERATIONS = 512
MAX_PASSES = 6


def too_large(one: Group, other: Group) -> str | None:
    """Why two groups are too much for one kernel, or None where they are not."""
    nodes = len(one.nodes) + len(other.nodes)
    if nodes > MAX_NODES:
        return f"a kernel of {nodes} operations, of which it takes at most {MAX_NODES}"
    operations = one.operations + other.operations
    if operations > MAX_OPERATIONS:
        return (
            f"a kernel whose body has {operations} operations, of which it takes at most "
            f"{MAX_OPERATIONS}"
        )
    return None


def obstacle(group: Group) -> str | None:
    """Why a group cannot be one operation, or None where it can."""
    return (
        _different_reductions(group)
        or _repeated_reduction(group)
        or _partial_output(group)
        or _missing_extent(group)
        or _captured_result(group)
        or _too_many_operands(group)
        or _too_many_passes(group)
    )


def _different_reductions(group: Group) -> str | None:
    reductions = {
        frozenset(name[loop] for loop in node.reduced)
        for node, name in zip(group.nodes, group.names, strict=True)
        if node.reduced
    }
    if len(reductions) > 1:
        return "reductions over different loops"
    if len(group.scanned) > 1:
        return "scans along different loops"
    if group.scanned and group.reduced - group.scanned:
        return "a scan along a loop, and a reduction over others"
    return None


def _repeated_reduction(group: Group) -> str | None:
    """Reductions and scans are never done again for each iteration of a loop they lack."""
    for node, name in zip(group.nodes, group.names, strict=True):
        if node.collective and not _parallel(group) <= set(name):
            return "a reduction would be repeated in every iteration of another loop"
    return None


def _partial_output(group: Group) -> str | None:
    along = group.reduced | group.scanned
    for output in group.outputs:
        loops = set(output.loops)
        if not _parallel(group) <= loops:
            return "a result that others need would be computed again in every iteration of a loop"
        if loops & along and not along <= loops:
            return "a result that others need goes along some of the reduced loops only"
    return None


def _missing_extent(group: Group) -> str | None:
    """An operand that is not read has known extents."""
    if any(Sizes.static(group.extents[loop]) is None for loop in group.unsized):
        return "no operand that is left has the extent of a loop"
    return None


def _captured_result(group: Group) -> str | None:
    captured = {value for node in group.nodes for value in node.captured}
    if captured & set(group.writes):
        return "its elements are read at places that are computed"
    return None


def _too_many_operands(group: Group) -> str | None:
    count = len(group.inputs) + len(group.outputs) + bool(group.unsized)
    if count > MAX_OPERANDS:
        return f"a kernel of {count} operands, of which it takes at most {MAX_OPERANDS}"
    return None


def _too_many_passes(group: Group) -> str | None:
    """Reductions each of which needs the result of the one before."""
    if sum(node.collective for node in group.nodes) <= MAX_PASSES:
        return None
    passes: dict[ir.Value, int] = {}
    most = 0
    for node in group.nodes:
        count = max((passes.get(read.value, 0) for read in node.reads), default=0)
        count += node.collective
        most = max(most, count)
        passes.update((write.value, count) for write in node.writes)
    if most > MAX_PASSES:
        return (
            f"{most} reductions that need one another's results, of which a kernel takes at most "
            f"{MAX_PASSES}"
        )
    return None


def _parallel(group: Group) -> set[int]:
    return set(range(len(group.extents))) - group.reduced - group.scanned
