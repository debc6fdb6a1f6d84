"""Whether one linalg.generic can do what a group does."""

from __future__ import annotations

from .group import Group

# Pointers and sizes of more operands do not fit a thread's registers beside its elements.
MAX_OPERANDS = 12


def obstacle(group: Group) -> str | None:
    """Why a group cannot be one operation, or None where it can."""
    return (
        _different_reductions(group)
        or _repeated_reduction(group)
        or _partial_output(group)
        or _missing_extent(group)
        or _captured_result(group)
        or _too_many_operands(group)
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
    given = {loop for each in (*group.inputs, *group.outputs) for loop in each.loops}
    if len(given) < len(group.extents):
        return "no operand that is left has the extent of a loop"
    return None


def _captured_result(group: Group) -> str | None:
    captured = {value for node in group.nodes for value in node.captured}
    if captured & set(group.writes):
        return "its elements are read at places that are computed"
    return None


def _too_many_operands(group: Group) -> str | None:
    count = len(group.inputs) + len(group.outputs)
    if count > MAX_OPERANDS:
        return f"a kernel of {count} operands, of which it takes at most {MAX_OPERANDS}"
    return None


def _parallel(group: Group) -> set[int]:
    return set(range(len(group.extents))) - group.reduced - group.scanned
