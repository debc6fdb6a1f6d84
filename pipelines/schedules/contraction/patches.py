"""Convolutions of few channels by warpgroups: which patches and tiles, and how long they take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from ....dialects.records import dataclass
from ..configuration import Configuration, Value
from ..device import Device
from ..size import Size
from ..warpgroup_matrices import BARRIER_BYTES, PATCH_COLUMNS, PATTERN_BYTES, ROW_BYTES, ROWS
from .form import Form
from .patch import Patch, read_patch
from .warpgroup_partials import partials_of
from .warpgroups import (
    BYTES_PER_CYCLE,
    CYCLES,
    MOST_COLUMNS,
    MOST_CONSUMERS,
    WarpgroupConfiguration,
    WarpgroupPlan,
    can_split,
    reading_of,
    tail_of,
)

# The part of the tensor cores' rate that products reach; and cycles for a product's 64 rows and for
# 8 columns of it, where shared memory gives 128 bytes in one (computed).
_SHARE, _ROW_CYCLES, _COLUMN_CYCLES = 0.6, 16, 2
# The bytes of columns that reach a multiprocessor in a cycle, cycles for each result at the end of
# a tile, what a tile takes besides, tiles of a multiprocessor that gain from one another, and what
# each further block of it takes. These and the first are fitted to 13 convolutions of 3 to 64
# channels in ten kinds of tiles each, on an H200: what they choose takes 1.02 of the best one's
# time, and 1.06 at most.
_COLUMN_BYTES_PER_CYCLE, _RESULT_CYCLES, _TILE_CYCLES = 15, 0.15, 200
_AT_ONCE, _BLOCK_SHARE = 2, 0.1
_STAGES, _PATCHES = (6, 4, 3), 2
# Registers of a thread beside its sums, and those of a multiprocessor.
_OTHER_REGISTERS, _REGISTERS = 56, 1 << 16


@dataclass(frozen=True)
class PatchConfiguration(Configuration):
    """A block computes tiles of `rows` by `columns`, of which each of its `consumers` has a part.

    For a tile `patches` of the image are in shared memory, or on their way, and `stages` steps of
    128 bytes of the terms of columns. If a block `keeps` these, they are all that there are, and
    come once; consumers then have a tile each. Tiles follow one another along `group` of them down,
    then to the right. A multiprocessor has `resident` blocks.
    """

    family: ClassVar[str] = "contraction"
    candidates: ClassVar[Mapping[str, Sequence[Value]]] = {
        "rows": (64, 128, 192, 256),
        "columns": (32, 64, 96, 128, 192, 256),
        "stages": (3, 4, 6),
        "consumers": (1, 2, 3),
        "resident": (1, 2, 3),
        "patches": (1, 2, 3),
        "keeps": (False, True),
    }

    rows: int
    columns: int
    stages: int
    consumers: int = 2
    group: int = 8
    resident: int = 1
    patches: int = _PATCHES
    keeps: bool = False

    @property
    def tile(self) -> WarpgroupConfiguration:
        """What is decided alike where rows come in steps."""
        return WarpgroupConfiguration(
            self.rows,
            self.columns,
            self.stages,
            self.consumers,
            group=self.group,
            resident=self.resident,
            apart=self.keeps,
        )

    @property
    def slots(self) -> int:
        """The patches of all tiles that a block has at once."""
        return self.patches * (self.consumers if self.keeps else 1)

    @property
    def stage_bytes(self) -> int:
        return self.columns * ROW_BYTES


def read_patches(form: Form, device: Device) -> WarpgroupPlan | None:
    """Returns how warpgroups compute a form of patches; None where they cannot."""
    if not device.has_warpgroup_products or form.steps or not form.terms:
        return None
    if not form.rows or not form.columns or form.kinds is None:
        return None
    turned = replace(
        form, first=form.second, second=form.first, rows=form.columns, columns=form.rows
    )
    for each in (form, turned):
        found = _in_patches(each)
        if found is not None and any(True for _ in _configurations(found, device)):
            return found
    return None


def _in_patches(form: Form) -> WarpgroupPlan | None:
    if form.second.guards:
        return None
    patch = read_patch(form)
    if patch is None or tail_of(form, form.terms, [form.second]) != form.terms:
        return None
    columns = tail_of(form, form.columns, [form.second])
    outer = tuple(loop for loop in (*form.batch, *form.columns) if loop not in columns)
    second = reading_of(form, form.second, columns, form.terms, outer)
    if second is None or not second.is_along_terms or not can_split(form, columns):
        return None
    if not all(stride.is_known for stride in form.second.strides):
        return None
    return WarpgroupPlan(form, patch, second, form.rows, columns, form.terms, outer, ())


def _patch(plan: WarpgroupPlan) -> Patch:
    assert isinstance(plan.first, Patch)
    return plan.first


def steps_of(plan: WarpgroupPlan) -> int:
    """Returns how many steps the terms of columns have."""
    return -(-plan.extent(plan.terms).known // plan.depth)


def shared_bytes(plan: WarpgroupPlan, made: PatchConfiguration) -> int:
    """Returns what a block takes, with what may be skipped to begin at a pattern."""
    patch = _patch(plan)
    layout = patch.layout(made.rows)
    assert layout is not None
    stages = made.stages * (made.stage_bytes + 2 * BARRIER_BYTES)
    patches = (made.slots + patch.is_odd) * layout.bytes
    turns = made.consumers * BARRIER_BYTES if made.keeps else 0
    return stages + patches + (2 * made.slots + 1) * BARRIER_BYTES + turns + PATTERN_BYTES


def _may_keep(plan: WarpgroupPlan, made: PatchConfiguration) -> bool:
    return not plan.outer_of_columns and plan.extent(plan.columns).known <= made.columns


def patch_refusal(plan: WarpgroupPlan, device: Device, made: PatchConfiguration) -> str | None:
    """Why no kernel can be made of a configuration, and what can be; None where one can."""
    numbers = (made.consumers, made.group, made.resident, made.patches, made.rows, made.columns)
    if min(made.stages, *numbers) < 1:
        return "numbers are at least 1"
    if made.consumers > MOST_CONSUMERS:
        return f"'consumers' are {MOST_CONSUMERS} at most"
    if made.rows % (made.tile.together * ROWS) or made.rows > MOST_COLUMNS:
        return (
            f"'rows' are {ROWS} for each of 'consumers' that have a tile, or a multiple up to "
            f"{MOST_COLUMNS}"
        )
    if made.columns % PATCH_COLUMNS or made.columns > MOST_COLUMNS:
        return f"'columns' are a multiple of {PATCH_COLUMNS} up to {MOST_COLUMNS}"
    if _patch(plan).layout(made.rows) is None:
        return "no patch lies so that so many 'rows' read it in products of 64"
    if partials_of(plan, made.tile) is None:
        return "a tile's rows and columns have no unit of what is reduced of results"
    if made.keeps and (made.stages != steps_of(plan) or not _may_keep(plan, made)):
        return (
            f"'stages' are the {steps_of(plan)} steps of a tile where a block 'keeps' them, and "
            "'columns' all there are"
        )
    if not made.keeps and made.stages < 2:
        return "'stages' are at least 2, unless a block 'keeps' them"
    tile = made.tile
    if tile.slices * made.columns > plan.most_sums(made.consumers):
        most = plan.most_sums(made.consumers) // tile.slices
        return f"a thread has registers for {most} 'columns' of so many 'rows'"
    # The system takes as much of each block's.
    more = PATTERN_BYTES if made.resident > 1 else 0
    if (shared_bytes(plan, made) + more) * made.resident > device.shared_bytes:
        return f"'resident' blocks have {device.shared_bytes} bytes of shared memory together"
    registers = tile.slices * made.columns // 2 + _OTHER_REGISTERS
    threads = plan.threads(tile) * made.resident
    if made.resident > 1 and (plan.is_alone(tile) or registers > _REGISTERS // threads):
        return "'resident' blocks have the registers of a multiprocessor together"
    return None


def _configurations(plan: WarpgroupPlan, device: Device) -> Iterator[PatchConfiguration]:
    """Those that are tried, of which kernels can be made."""
    width = plan.extent(plan.columns).known
    tiles = -(-width // MOST_COLUMNS)
    whole = -(-width // (tiles * PATCH_COLUMNS)) * PATCH_COLUMNS
    halves = -(-width // (2 * tiles * PATCH_COLUMNS)) * PATCH_COLUMNS
    for columns in dict.fromkeys((whole, halves)):
        kept = PatchConfiguration(ROWS, columns, steps_of(plan), keeps=True)
        found = [
            replace(kept, rows=rows, consumers=consumers, resident=resident)
            for rows, consumers in ((ROWS, 3), (2 * ROWS, 2), (ROWS, 2), (ROWS, 1))
            for resident in (1, 2, 3)
        ]
        for rows, consumers in ((4 * ROWS, 2), (2 * ROWS, 2), (ROWS, 1)):
            for resident in (1, 2, 3):
                made = replace(kept, rows=rows, consumers=consumers, resident=resident, keeps=False)
                found += [replace(made, stages=stages) for stages in _STAGES]
        yield from (each for each in found if patch_refusal(plan, device, each) is None)


def result_cycles(results: Size, device: Device) -> float:
    """Returns how long a multiprocessor takes at the end of tiles with so many results in all."""
    return _RESULT_CYCLES * results.known / device.multiprocessors


def timed_patches(plan: WarpgroupPlan, device: Device) -> tuple[float, PatchConfiguration]:
    """Returns the tile of least time by a model of it, with its cycles."""
    timed = [(_cost(plan, device, made), made) for made in _configurations(plan, device)]
    return min(timed, key=lambda each: each[0])


def _cost(plan: WarpgroupPlan, device: Device, made: PatchConfiguration) -> float:
    """The cycles of the multiprocessor that has most to do."""
    patch, tile = _patch(plan), made.tile
    layout = patch.layout(made.rows)
    assert layout is not None
    groups, across = made.rows // ROWS, made.columns // 8
    product = max(across * CYCLES, _ROW_CYCLES + across * _COLUMN_CYCLES)
    products = groups * patch.pairs * product / _SHARE
    copy = layout.copied_bytes / BYTES_PER_CYCLE
    if not made.keeps:
        copy += steps_of(plan) * made.stage_bytes / _COLUMN_BYTES_PER_CYCLE
    end = _RESULT_CYCLES * made.rows * made.columns
    # Of tiles that a multiprocessor has at once one is multiplied while another is stored.
    at_once = min(made.resident * (made.consumers // tile.together), _AT_ONCE)
    each = max(products, copy, (products + end + _TILE_CYCLES) / at_once)
    columns = -(-plan.extent(plan.columns).known // made.columns)
    tiles = patch.count(made.rows) * columns * plan.extent(plan.outer).known
    rounds = tiles / device.multiprocessors
    # The last tiles leave some without any.
    rounds = max(-(-tiles // device.multiprocessors), rounds + (at_once - 1) / 2)
    begin = steps_of(plan) * made.stage_bytes / _COLUMN_BYTES_PER_CYCLE if made.keeps else 0
    return (begin + rounds * each) * (1 + _BLOCK_SHARE * (made.resident - 1))
