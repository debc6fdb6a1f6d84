"""The partials of statistics that the kernel of a product by warpgroups stores (see statistics.py).

They are of a warp's rows, where rows are reduced: it has some of each product of 64.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ..size import Size
from ..warp_matrices import LANES
from ..warpgroup_matrices import THREADS
from ..work import Statistic
from .patch import Patch
from .statistics import Partials, Units, are_reduced, units_of
from .window import Window

if TYPE_CHECKING:
    from .warpgroups import WarpgroupConfiguration, WarpgroupPlan

# The rows of a product that a warp has, and its columns that are stored together.
WARP_ROWS, _TOGETHER = 16, 32
# Those of a warpgroup.
WARPS = THREADS // LANES


def partials_of(plan: WarpgroupPlan, made: WarpgroupConfiguration) -> list[Partials] | None:
    """Returns what a kernel stores of statistics; None where it cannot compute them."""
    found: list[Partials] = []
    widths = range(made.columns, 0, -_TOGETHER)
    widths = [each for each in widths if made.columns % each == 0]
    for statistic in plan.form.work.statistics:
        rows = _row_units(plan, made, statistic)
        columns = units_of(plan.form.work, plan.columns, statistic, widths)
        if rows is None or columns is None or made.parts > 1:
            return None
        found.append(Partials(statistic, plan.form.work, plan.outer, rows, columns))
    return found if are_reduced(found) else None


def _row_units(
    plan: WarpgroupPlan, made: WarpgroupConfiguration, statistic: Statistic
) -> Units | None:
    """Returns the units of rows: of `size` rows of a tile, a warp has one."""
    warps = WARPS * made.together
    if not isinstance(plan.first, Window):
        # A warp has so many rows of each product.
        found = units_of(plan.form.work, plan.rows, statistic, (made.rows, WARP_ROWS))
        if found is None or found.per is None or found.size < made.rows:
            return found
        return Units(found.kept, found.per * Size(warps), found.size)
    kept = tuple(loop for loop in plan.rows if loop not in statistic.loops)
    if kept == plan.rows:
        return Units(kept)
    box = plan.first.box(made.rows)
    if kept != plan.rows[: len(kept)] or box is None:
        return None
    alone = prod(box[len(kept) :])
    if alone % WARP_ROWS or (isinstance(plan.first, Patch) and alone < made.rows):
        return None
    extents = [plan.form.work.extents[loop].known for loop in plan.rows]
    counts = [-(-extent // size) for extent, size in zip(extents, box, strict=True)]
    boxes = prod(counts[len(kept) :])
    if alone == made.rows:
        return Units(kept, Size(boxes * warps), made.rows)
    return Units(kept, Size(boxes * (alone // WARP_ROWS)), WARP_ROWS)
