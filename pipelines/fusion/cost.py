"""Whether one operation for a group is cheaper than several.

Fusing saves the writes and reads of what lies between operations, and second reads of the same
tensor. It costs where work is repeated, where memory is read against its order, and where scans
wait for one another's results, or for those of reductions: no kernel shares such work.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.mlir import ir
from .access import Access
from .group import Group


def objection(group: Group) -> str | None:
    """Why a group should not be one operation, or None where it should."""
    return _repeated_work(group) or _against_the_order(group) or _waiting_scans(group)


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


def _waiting_scans(group: Group) -> str | None:
    """A scan stands beside others that need none of its results, and beside no reduction."""
    if not group.scanned:
        return None
    collective = [node for node in group.nodes if node.collective]
    if len(collective) > 1 and any(node.reduced for node in collective):
        return "a scan and a reduction"
    scanned: set[ir.Value] = set()
    for node in group.nodes:
        is_after = any(read.value in scanned for read in node.reads)
        if is_after and node.scanned:
            return "a scan of what another scan gives"
        if is_after or node.scanned:
            scanned |= {write.value for write in node.writes}
    return None


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
    """Returns the loops along which what a reduction goes over lies closest.

    An operand that stays the same along that loop of another, of more loops, is read once for many
    elements of that: the scales of channels beside these' pixels.
    """
    found = {each.loops for each in accesses if len(each.loops) > 1 and set(each.loops) & reduced}
    return {
        loops[-1]
        for loops in found
        if not any(set(loops) < set(other) and other[-1] not in loops for other in found)
    }
