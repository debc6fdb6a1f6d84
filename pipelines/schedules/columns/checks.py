"""The assertions of a region that is reduced along columns: about columns, or single iterations.

Those about iterations are checked in the first pass, and those about columns before outputs are
stored: earlier, what is loaded by a loaded index would keep the first elements waiting. Where
reductions already take what is loaded by an index, these are checked before all.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import ir
from ...walking import defining_operation
from ..region import Region
from ..region_operations import is_harmless_operation
from .space import ColumnSpace


def can_check(space: ColumnSpace, region: Region) -> bool:
    """Returns whether all of a region's assertions can be checked before what they are for."""
    return not any(
        region.needs_collective(value)
        and (is_along(space, region, op) or loads_by_index(space, region))
        for op in region.checks
        for value in op.operands
    )


def is_along(space: ColumnSpace, region: Region, check: ir.Operation) -> bool:
    """Returns whether an assertion is about single iterations."""
    along = set(space.work.collective)
    return any(region.varies(value) & along for value in check.operands)


def loads_by_index(space: ColumnSpace, region: Region) -> bool:
    """Returns whether reductions take what is loaded at computed places."""
    waiting = [each.operand for level in space.levels for each in level]
    seen: set[ir.Value] = set()
    while waiting:
        value = waiting.pop()
        needed = region.needs(value)
        if value in seen or not needed:
            continue
        seen.add(value)
        if not is_harmless_operation(defining_operation(value).name):
            return True
        waiting += needed
    return False


def checked_along(space: ColumnSpace, region: Region) -> Sequence[ir.Value]:
    """Returns what assertions about single iterations take."""
    checks = [op for op in region.checks if is_along(space, region, op)]
    return [value for op in checks for value in op.operands]
