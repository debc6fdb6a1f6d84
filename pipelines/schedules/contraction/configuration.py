"""How a contraction is tiled: the decision, apart from the kernel that carries it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from math import ceil
from typing import ClassVar

from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...generics import instructions_of
from ..configuration import Configuration, Value
from ..device import Device
from ..elements import ACCESS_BYTES, SECTOR_BYTES, element_bytes
from ..size import ONE, ZERO, product
from ..warp_matrices import DEPTH_BYTES, capability_for_bytes
from .form import Factor, Form, Range, read_range
from .units import When, reads_of, unit_of

# The longest row of terms in shared memory: what all its banks give at once.
ROW_BYTES = 128
# The threads of a block that adds parts of sums.
PARTS_THREADS = 256
# The least that is copied asynchronously (PTX ISA, "cp.async").
COPIED_BYTES = 4


@dataclass(frozen=True)
class TileConfiguration(Configuration):
    """A block of threads computes a tile of `rows` by `columns`, of which each thread has
    `thread_rows` by `thread_columns` in registers.

    `stages` steps of terms are in shared memory, or on their way. `resident` blocks are to fit into
    a multiprocessor. A sum is made in so many `parts`, each by another block.
    """

    family: ClassVar[str] = "contraction"
    candidates: ClassVar[Mapping[str, Sequence[Value]]] = {
        "rows": (4, 8, 16, 24, 32, 48, 64, 80, 96, 128, 256),
        "columns": (4, 8, 16, 24, 32, 48, 64, 80, 96, 128, 256),
        "parts": (1, 2, 4, 8),
    }

    rows: int
    columns: int
    thread_rows: int
    thread_columns: int
    stages: int
    resident: int
    parts: int = 1

    @property
    def threads(self) -> int:
        return (self.rows // self.thread_rows) * (self.columns // self.thread_columns)


@dataclass(frozen=True)
class Tiling(TileConfiguration):
    """The same with what follows from the form: a step has so many `terms`.

    Tables of where terms lie are made for `segment` terms at once.
    If it `is_wide`, neighbours in memory are copied together where they may be. If it
    `is_of_warpgroups`, these multiply (wgmma), 64 rows each. If it `is_ranged`, a block leaves out
    places of windows that lie beyond an edge for all of its tile.
    """

    terms: int = 0
    segment: int = 0
    is_wide: bool = False
    is_of_warpgroups: bool = False
    is_ranged: bool = False

    @property
    def decision(self) -> TileConfiguration:
        """What of it is decided, rather than follows."""
        own = [getattr(self, field.name) for field in fields(TileConfiguration)]
        return TileConfiguration(*own)


@dataclass(frozen=True)
class _Tile:
    """A tile to choose from, and the part of the peak it reaches where there is much to do."""

    rows: int
    columns: int
    thread_rows: int
    thread_columns: int
    resident: int
    share: float

    def decision(self, stages: int, parts: int) -> TileConfiguration:
        """Returns the configuration of this tile."""
        sizes = (self.rows, self.columns, self.thread_rows, self.thread_columns)
        return TileConfiguration(*sizes, stages, self.resident, parts)

    def is_of(self, made: TileConfiguration) -> bool:
        """Whether a configuration is of this tile."""
        return (self.rows, self.columns, self.thread_rows, self.thread_columns) == (
            *(made.rows, made.columns),
            *(made.thread_rows, made.thread_columns),
        )


# The neighbouring columns that lanes reduce: a warp's, or the threads of one among those that have
# a tile's columns.
_UNITS = (32, 16, 8)
# Of f32. The shares, and those of few warps, are from a sweep over convolutions on an H200: of 26,
# the tiles that are chosen took 1.02 of the best one's time.
_TILES = (
    _Tile(128, 128, 8, 8, 2, 0.56),
    _Tile(64, 128, 8, 8, 4, 0.54),
    _Tile(64, 64, 8, 4, 4, 0.47),
    _Tile(32, 128, 8, 4, 4, 0.47),
    _Tile(32, 64, 4, 4, 6, 0.36),
    _Tile(16, 128, 8, 4, 6, 0.37),
    # Of counts between powers of two, as filters often are.
    _Tile(96, 128, 12, 8, 3, 0.585),
    _Tile(128, 96, 8, 12, 3, 0.53),
    _Tile(80, 128, 20, 4, 3, 0.53),
    _Tile(128, 80, 4, 20, 3, 0.5),
    _Tile(48, 256, 12, 8, 3, 0.545),
    _Tile(256, 48, 8, 12, 3, 0.495),
    _Tile(24, 256, 12, 8, 4, 0.53),
    _Tile(256, 24, 8, 12, 4, 0.52),
    # Of few rows or columns, as few filters are.
    _Tile(256, 32, 8, 8, 3, 0.5),
    _Tile(32, 256, 8, 8, 3, 0.5),
    _Tile(128, 32, 8, 4, 4, 0.47),
    _Tile(64, 32, 4, 4, 6, 0.36),
    _Tile(256, 16, 8, 4, 4, 0.41),
    _Tile(16, 256, 8, 4, 4, 0.43),
    _Tile(128, 16, 8, 4, 6, 0.35),
    # Not measured: by what a step loads from and copies to shared memory.
    _Tile(256, 8, 4, 8, 4, 0.315),
    _Tile(8, 256, 8, 4, 4, 0.315),
    _Tile(256, 4, 4, 4, 4, 0.2),
    _Tile(4, 256, 4, 4, 4, 0.2),
)
# Of matrices. What a tile reaches grows with how many warps are resident, and then with its size.
_MATRIX_TILES = (
    _Tile(128, 256, 8, 16, 1, 0.46),
    _Tile(256, 128, 8, 16, 1, 0.46),
    _Tile(128, 128, 8, 16, 2, 0.51),
    _Tile(64, 128, 8, 8, 3, 0.6),
    _Tile(128, 64, 8, 8, 3, 0.6),
    _Tile(64, 64, 4, 8, 4, 0.45),
    _Tile(32, 128, 4, 8, 4, 0.4),
    _Tile(128, 32, 4, 8, 4, 0.4),
    _Tile(32, 64, 4, 4, 4, 0.3),
    _Tile(64, 32, 4, 4, 4, 0.3),
)
# Of warpgroups, which have a step of terms as long as a row of shared memory.
_WARPGROUP_TILES = (
    _Tile(128, 256, 8, 16, 1, 1.1),
    _Tile(128, 128, 8, 8, 2, 1.1),
    _Tile(64, 256, 8, 16, 2, 1.1),
    _Tile(64, 128, 8, 8, 4, 1.0),
    _Tile(64, 64, 8, 4, 4, 0.6),
)
# The same where threads compute a factor: many warps, and tiles of all rows where these are few.
# The share is of what most reach.
_COMPUTED_WARPGROUP_TILES = (
    _Tile(64, 64, 8, 4, 3, 1.0),
    _Tile(64, 64, 8, 4, 2, 1.0),
    _Tile(64, 128, 8, 4, 2, 1.0),
    _Tile(128, 64, 8, 4, 2, 1.0),
    _Tile(128, 128, 8, 8, 1, 1.0),
    _Tile(128, 128, 8, 8, 2, 1.0),
    _Tile(256, 64, 8, 4, 1, 1.0),
    _Tile(256, 128, 8, 8, 1, 1.25),
)
# Few rows, which warps multiply.
_COMPUTED_WARP_TILES = (_Tile(32, 64, 4, 4, 4, 1.0),)
# Registers of a thread that holds the sums of a step besides those of all (ptxas: 128 spill).
_PROMOTED_REGISTERS = 168
_SHARE_OF_WARPS = ((4, 0.6), (8, 0.8))
_SEGMENT = 2048
# Of f32 on ordinary cores, so many terms are added one after the other at most: errors of a sum of
# n grow with sqrt(n). 32 channels of 3x3 are a piece. What is set aside meanwhile goes through the
# second-level cache: the 64 KB each of two blocks do not stay in the first.
AT_ONCE = 288
# The terms of a step, and the steps in shared memory: 16 in 3 took 4 to 8 % less time than 8 in 4.
_TERMS, _STAGES, _LEAST_STAGES = 16, 3, 3
# Of matrices: of few terms a step is no longer than these, and shorter where single elements pass
# through a thread's registers.
_MATRIX_TERMS, _FETCHED_TERMS, _MATRIX_STAGES = (128, 64, 32, 16), 16, 3
_PARTS = (*range(1, 17), 20, 24, 28, 32, 40, 48, 64)
# Of matrices: few blocks of many parts were slower than the model has it.
_MATRIX_PARTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
# A part is to have so many terms: what begins and ends a block takes the time of some steps.
_LEAST_TERMS = 128
# What a thread may have of sums, of the 255 registers of 4 bytes; of matrices, where these are all
# that it has.
_REGISTER_BYTES, _MATRIX_REGISTER_BYTES = 384, 512
# Places of windows are left out where that spares a tenth of the terms: threads then read tables of
# both factors' terms.
_MOST_RANGED = 0.9
# In cycles: what a block does before and after its steps, and another kernel.
_BLOCK_CYCLES, _KERNEL_CYCLES = 3000, 5000
_PRODUCTS_PER_CYCLE, _MATRIX_PRODUCTS_PER_CYCLE = 128, 1024
_BYTES_PER_CYCLE = 2500
# Of computed factors: the steps in shared memory.
_COMPUTED_STAGES = (8, 7, 6, 5, 4, 3)
# Instructions of an element beside its conversion, and of a thread in a step. The parts that are
# done of those that could begin, and of the tensor cores' rate; bytes from the second-level cache
# in a cycle. In cycles: an instruction of a thread after the one before, what a block does before
# and after its steps, and a kernel that adds parts, of so many bytes in a cycle. They are fitted to
# 117 times on an H200, which differ by 9 % (standard deviation): five kinds of factors, 16 to 256
# rows, 4096 terms, 4096 and 11008 columns.
_MORE_INSTRUCTIONS, _STEP_INSTRUCTIONS, _ISSUED, _COMPUTED_SHARE = 2, 61, 0.45, 0.55
_CACHE_BYTES_PER_CYCLE, _SUM_BYTES_PER_CYCLE = 30, 5600
_SERIAL_CYCLES, _COMPUTED_BLOCK_CYCLES, _COMPUTED_KERNEL_CYCLES = 2.4, 6900, 2700


@dataclass(frozen=True)
class OpenSize:
    """The one loop of results that is open, and what it is taken to be where it is `most` at most.

    So the tile and the parts for a few images are those of a few, which leave most of the chip idle
    in the tiles of many. Without `most` it may be any size.
    """

    loop: int
    most: int | None
    taken: int


# The rows of tiles of computed factors, of which an open number has one.
_COMPUTED_ROWS = (64, 128, 256)
# Where an open batch is small, and what it is then and otherwise: in the middle of 1 to 8 by
# factors, and a batch that fills an H200 with most layers' tiles. No sweep of them is on record.
_FEW, _TAKEN_FEW, _TAKEN_MANY = 8, 3, 32


def open_sizes(form: Form) -> list[OpenSize]:
    """The classes of a form's one open loop, those of few first; none where it has none, or more.

    Where rows or columns are of other open sizes too, or the sums' terms are, no class is known.
    """
    loops = [loop for loop, extent in enumerate(form.work.extents) if not extent.is_known]
    if len(loops) != 1 or loops[0] in form.terms or len(form.work.extents[loops[0]].open) != 1:
        return []
    if form.is_computed:
        # Of more, kernels of their own compute factors.
        return [OpenSize(loops[0], most, most) for most in _COMPUTED_ROWS]
    few, many = OpenSize(loops[0], _FEW, _TAKEN_FEW), OpenSize(loops[0], None, _TAKEN_MANY)
    return [few, many]


@dataclass(frozen=True)
class TileSpace:
    """What the tilings of a form have in common, and the tiles to choose from."""

    form: Form
    device: Device
    tiles: Sequence[_Tile]
    terms: int
    stages: int
    is_wide: bool
    is_of_warpgroups: bool
    ranged: Range | None

    @classmethod
    def of(cls, form: Form, device: Device, *, is_wide: bool) -> TileSpace:
        is_matrix = form.is_of_matrices
        is_of_warpgroups = is_wide and is_for_warpgroups(form, device)
        tiles = _MATRIX_TILES if is_matrix else _TILES
        if is_of_warpgroups:
            tiles = _WARPGROUP_TILES
            if form.is_computed:
                tiles = (*_COMPUTED_WARPGROUP_TILES, *_COMPUTED_WARP_TILES)
        return cls(
            form,
            device,
            tiles,
            _matrix_terms(form, is_wide=is_wide) if is_matrix else _TERMS,
            _MATRIX_STAGES if is_matrix else _STAGES,
            is_wide,
            is_of_warpgroups,
            None if is_matrix else read_range(form),
        )

    def choose(self, open_size: OpenSize | None = None) -> Tiling:
        """Returns the tile and the number of parts that take the least time, by a model of it."""
        return self.timed(open_size)[1]

    def timed(self, open_size: OpenSize | None = None) -> tuple[float, Tiling]:
        """Returns the same, and its cycles."""
        best: tuple[float, Tiling] | None = None
        form, device = self.form, self.device
        all_parts = _MATRIX_PARTS if form.is_of_matrices else _PARTS
        if not form.extent(form.terms).is_known:
            all_parts = (1,)
        for tile in self.tiles:
            share, least = self.share(tile), self.tiling(tile.decision(self.stages, 1))
            for parts in all_parts:
                made = replace(least, parts=parts)
                if form.is_promoted:
                    fitting = device.registers // (_PROMOTED_REGISTERS * made.threads)
                    made = replace(made, resident=min(made.resident, fitting))
                if form.is_computed:
                    made = _with_stages(form, device, made)
                if not self._reduces(made) or not _fits(form, device, made):
                    continue
                cycles = _cycles(form, device, tile, made, open_size, share)
                if best is None or cycles < best[0]:
                    best = cycles, made
        assert best is not None, "no tile fits"
        return best

    def _reduces(self, made: TileConfiguration) -> bool:
        """Returns whether lanes have what statistics reduce of a tile, if there are any."""
        return not self.form.work.statistics or bool(lane_units(made))

    def changed(self, made: TileConfiguration, values: Mapping[str, Value]) -> TileConfiguration:
        """Returns the same but for these fields. What a thread has, and how many blocks fit into a
        multiprocessor, are those of the tile, unless asked for.
        """
        found = made.with_values(values)
        for tile in self.tiles:
            if (tile.rows, tile.columns) == (found.rows, found.columns) and not tile.is_of(made):
                return replace(tile.decision(found.stages, found.parts), **values)  # pyright: ignore[reportArgumentType]
        return found

    def share(self, tile: TileConfiguration | _Tile) -> float:
        """Returns the share of the terms that blocks have which leave some out."""
        if self.ranged is None:
            return 1.0
        side = tile.rows if self.ranged.own == self.form.rows else tile.columns
        if side not in self._shares:
            self._shares[side] = self.ranged.share(side)
        return self._shares[side]

    @cached_property
    def _shares(self) -> dict[int, float]:
        """Those that are known, by the rows or columns of tiles: each goes through all of these."""
        return {}

    def tiling(self, made: TileConfiguration) -> Tiling:
        """Returns a decision with what follows from the form."""
        is_of_warps = any(tile.is_of(made) for tile in _COMPUTED_WARP_TILES)
        return Tiling(
            *(getattr(made, field.name) for field in fields(TileConfiguration)),
            terms=self.terms,
            segment=_SEGMENT,
            is_wide=self.is_wide,
            is_of_warpgroups=self.is_of_warpgroups and not is_of_warps,
            is_ranged=self.share(made) <= _MOST_RANGED,
        )

    def refusal(self, made: TileConfiguration) -> str | None:
        """Why no kernel can be made of a configuration, and what can be; None where one can."""
        if not any(tile.is_of(made) for tile in self.tiles):
            return f"a tile, and what of it a thread has, are one of {', '.join(self._names)}"
        if not self._reduces(made):
            return (
                f"with reductions of results 'columns' are a power of two from {_UNITS[-1]} up to "
                f"its {made.threads} threads, or to {PARTS_THREADS} where there are 'parts'"
            )
        threads = self.device.threads
        if made.stages < _LEAST_STAGES:
            return f"'stages' are at least {_LEAST_STAGES}"
        if made.resident < 1 or made.resident * made.threads > threads:
            return f"'resident' blocks have {threads} threads together, of {made.threads} each"
        if made.parts < 1:
            return "'parts' are at least 1"
        if made.parts > 1 and not self.form.extent(self.form.terms).is_known:
            return "'parts' are of sums of a known length"
        if not _fits(self.form, self.device, self.tiling(made)):
            return (
                f"'stages' fit into {self.device.shared_bytes} bytes of shared memory, a thread's "
                f"results into its registers, and each of 'parts' has {_LEAST_TERMS} terms"
            )
        return None

    @cached_property
    def _names(self) -> Sequence[str]:
        return list(
            dict.fromkeys(
                f"{tile.rows}x{tile.columns} by {tile.thread_rows}x{tile.thread_columns}"
                for tile in self.tiles
            )
        )


def lane_units(made: TileConfiguration) -> Sequence[int]:
    """Returns how many columns of a row lanes reduce together, most first; none where they cannot.

    Threads beside one another have all columns of a tile: its own, or those of the kernel that adds
    parts.
    """
    threads = PARTS_THREADS if made.parts > 1 else made.threads
    if made.columns > threads or made.columns != power_of_two_from(made.columns):
        return ()
    return [each for each in _UNITS if each <= made.columns]


def takes_bytes(form: Form, device: Device) -> bool:
    """Returns whether warps multiply elements of 8 bits: both factors' terms lie together."""
    sides = ((form.first, form.rows), (form.second, form.columns))
    return (
        device.capability >= capability_for_bytes(form.first.element)
        and _known(form, form.terms, DEPTH_BYTES) >= DEPTH_BYTES
        and all(run_of(form, *side).is_of_terms for side in sides)
    )


def is_for_warpgroups(form: Form, device: Device) -> bool:
    """Returns whether warpgroups multiply: both factors' tiles lie by row, in rows of all banks."""
    terms = _matrix_terms(form, is_wide=True)
    sides = ((form.first, form.rows), (form.second, form.columns))
    return (
        device.has_warpgroup_products
        and terms * element_bytes(form.first.element) == ROW_BYTES
        and form.kinds is not None
        and all(run_of(form, *side).is_of_terms for side in sides)
    )


def _matrix_terms(form: Form, *, is_wide: bool) -> int:
    """The terms of a step of matrices: no more than there are."""
    sides = ((form.first, form.rows), (form.second, form.columns))
    if not is_wide or any(run_of(form, *side).width == 1 for side in sides):
        return _FETCHED_TERMS
    terms = _known(form, form.terms, _MATRIX_TERMS[0])
    most = ROW_BYTES // element_bytes(form.first.element)
    return next((each for each in _MATRIX_TERMS if each <= min(terms, most)), _MATRIX_TERMS[-1])


def _fits(form: Form, device: Device, made: Tiling) -> bool:
    """Returns whether shared memory and registers suffice, and parts have their terms."""
    size, own = element_bytes(form.total), element_bytes(form.first.element)
    # Where steps are added one by one, a thread holds the sums of a step besides those of all.
    is_whole = form.is_of_matrices and not form.is_promoted
    most = _MATRIX_REGISTER_BYTES if is_whole else _REGISTER_BYTES
    if made.thread_rows * made.thread_columns * size > most:
        return False
    copies = min(made.rows, made.columns) * made.terms // vector_of(own)
    if form.is_of_matrices and copies < made.threads:
        return False  # Of the widest copies each thread is to have one.
    steps = _bytes_of_all_steps(form, made)
    tables = 0 if form.is_computed else 2 * (made.segment + made.stages * made.terms) * 8
    if max(steps, made.rows * made.columns * size) + tables > device.shared_bytes:
        return False
    return made.parts == 1 or form.most_terms.known >= made.parts * _LEAST_TERMS


def _with_stages(form: Form, device: Device, made: Tiling) -> Tiling:
    """Returns the same with as many stages as the blocks of a multiprocessor have room for."""
    for stages in _COMPUTED_STAGES:
        more = replace(made, stages=stages)
        if _fits(form, replace(device, shared_bytes=device.shared_bytes // made.resident), more):
            return more
    return replace(made, stages=_MATRIX_STAGES)


def _bytes_of_all_steps(form: Form, made: Tiling) -> int:
    first = _bytes_of_steps(form, made, form.first, form.rows, made.rows)
    return first + _bytes_of_steps(form, made, form.second, form.columns, made.columns)


def _bytes_of_steps(
    form: Form, made: Tiling, factor: Factor, own: tuple[int, ...], tile: int
) -> int:
    """Returns the shared memory of a factor's tiles: of a computed one also what it is made of."""
    size = element_bytes(factor.element)
    if not is_along_terms(form, factor, own):
        tile = power_of_two_from(tile)
    step = made.terms * (tile + ACCESS_BYTES // size) * size
    if factor.makes is None:
        return made.stages * step
    return 2 * step + made.stages * tile * made.terms * _copied_bytes(form, made, factor, own)


def _copied_bytes(form: Form, made: Tiling, factor: Factor, own: tuple[int, ...]) -> int:
    """Returns what is copied for an element of a computed factor, in bytes, rounded up."""
    unit = unit_of(form, factor, own)
    assert unit is not None, "there are units"
    reads = reads_of(form, factor, unit, is_wide=made.is_wide)
    copied = sum(read.bytes for read in reads if read.when is When.COPIED)
    return -(-copied // len(unit.elements))


def _instructions(form: Form, factor: Factor) -> int:
    """Returns how many instructions an element of a computed factor takes, about."""
    waiting, found = [factor.makes], set[ir.Value]()
    while waiting:
        value = waiting.pop()
        if value is not None and value not in found:
            found.add(value)
            waiting += form.region.needs(value)
    return instructions_of(
        each.owner.operation for each in found if not isinstance(each.owner, ir.Block)
    )


def _computed_cycles(
    form: Form, device: Device, tile: _Tile, made: Tiling, open_size: OpenSize | None
) -> float:
    """Returns the time of all kernels where threads compute a factor.

    A step takes as long as the instructions, products or bytes of a multiprocessor's blocks, or as
    a thread's instructions one after the other.
    """
    rows, columns, terms, batch = (
        _known(form, loops, otherwise, open_size)
        for loops, otherwise in (
            (form.rows, 64),
            (form.columns, 1 << 12),
            (form.terms, 512),
            (form.batch, 1),
        )
    )
    blocks = -(-rows // tile.rows) * -(-columns // tile.columns) * batch * made.parts
    resident = min(tile.resident, device.shared_bytes // _bytes_of_all_steps(form, made))
    together = min(resident, -(-blocks // device.multiprocessors))
    instructions, bytes_ = made.threads * _STEP_INSTRUCTIONS, 0.0
    sides = ((form.first, form.rows, made.rows), (form.second, form.columns, made.columns))
    for factor, own, side in sides:
        elements = side * made.terms
        if factor.makes is None:
            bytes_ += elements * element_bytes(factor.element)
            continue
        instructions += elements * (_instructions(form, factor) + _MORE_INSTRUCTIONS)
        bytes_ += elements * _copied_bytes(form, made, factor, own)
    peak = _MATRIX_PRODUCTS_PER_CYCLE * _COMPUTED_SHARE
    if made.is_of_warpgroups:
        peak *= 2 * tile.share
    busy = max(
        instructions / (_PRODUCTS_PER_CYCLE * _ISSUED),
        made.rows * made.columns * made.terms / peak,
        bytes_ / _CACHE_BYTES_PER_CYCLE,
    )
    steps = -(-terms // (made.parts * made.terms))
    waves = -(-blocks // (device.multiprocessors * resident))
    step = max(together * busy, _SERIAL_CYCLES * instructions / made.threads)
    cycles = waves * (steps * step + _COMPUTED_BLOCK_CYCLES)
    if made.parts > 1:
        sums = 2 * blocks * tile.rows * tile.columns * element_bytes(form.total)
        cycles += _COMPUTED_KERNEL_CYCLES + sums / _SUM_BYTES_PER_CYCLE
    return cycles


def _cycles(
    form: Form,
    device: Device,
    tile: _Tile,
    made: Tiling,
    open_size: OpenSize | None,
    share: float,
) -> float:
    """The time of all kernels; sizes that are open are taken to be large, but `open_size`.

    If the configuration is ranged, tiles have this `share` of the terms on average.
    """
    if form.is_computed:
        return _computed_cycles(form, device, tile, made, open_size)
    parts = made.parts
    rows, columns, terms, batch = (
        _known(form, loops, otherwise, open_size)
        for loops, otherwise in (
            (form.rows, 256),
            (form.columns, 1 << 16),
            (form.terms, 512),
            (form.batch, 1),
        )
    )
    for step in form.steps.values():
        # Of the rests others have no terms.
        terms = -(-terms // step.every)
        batch *= step.every
    tiles = -(-rows // tile.rows) * -(-columns // tile.columns) * batch
    # Parts of sums are equally long: shorter sums have fewer.
    blocks = ceil(tiles * parts * share) if made.is_ranged else tiles * parts
    each = -(-blocks // device.multiprocessors)
    threads = (tile.rows // tile.thread_rows) * (tile.columns // tile.thread_columns)
    warps = min(each, tile.resident) * threads // 32
    reached = tile.share * next((part for most, part in _SHARE_OF_WARPS if warps <= most), 1.0)
    own = -(-terms // (parts * made.terms)) * made.terms * tile.rows * tile.columns
    peak = _PRODUCTS_PER_CYCLE
    if form.is_of_matrices:
        peak = _MATRIX_PRODUCTS_PER_CYCLE * 2 // element_bytes(form.first.element)
    cycles = each * own / (peak * reached)
    cycles += -(-each // tile.resident) * _BLOCK_CYCLES
    if parts > 1:
        bytes_ = 2 * blocks * tile.rows * tile.columns * element_bytes(form.total)
        cycles += _KERNEL_CYCLES + bytes_ / _BYTES_PER_CYCLE
    return cycles


def _known(
    form: Form, loops: tuple[int, ...], otherwise: int, open_size: OpenSize | None = None
) -> int:
    extent = product([form.count(loop) for loop in loops])
    if open_size is not None and open_size.loop in loops:
        return extent.known * open_size.taken
    return extent.known if extent.is_known else otherwise


def is_along_terms(form: Form, factor: Factor, own: tuple[int, ...]) -> bool:
    """Returns whether neighbours in a factor's memory are terms, rather than rows or columns.

    Of terms in runs shorter than a sector, as the places of a window are, threads would have a few
    of many rows each: they rather have those of a few rows that lie some elements apart.
    """
    if factor.makes is not None:
        unit = unit_of(form, factor, own)
        return unit is not None and unit.is_of_terms
    strides = [factor.strides[loop] for loop in own if factor.strides[loop] != ZERO]
    if any(stride.is_known and stride.known == 1 for stride in strides):
        return False
    inner = next((loop for loop in form.terms if factor.strides[loop] == ONE), None)
    if inner is None:
        return False
    run, size = form.work.extents[inner], element_bytes(factor.element)
    is_short = run.is_known and run.known * size < SECTOR_BYTES
    is_near = any(stride.is_known and 0 < stride.known * size <= ACCESS_BYTES for stride in strides)
    return form.is_of_matrices or not (is_short and is_near)


@dataclass(frozen=True)
class Run:
    """How many elements of a factor that lie together in memory a copy takes.

    They are terms of a row if `is_of_terms`, else rows of a term.
    """

    width: int
    is_of_terms: bool = False


def run_of(form: Form, factor: Factor, own: tuple[int, ...]) -> Run:
    """The widest run, of a buffer that begins at a multiple of what an access takes."""
    most = vector_of(element_bytes(factor.element))
    if factor.makes is not None:
        return Run(most, is_along_terms(form, factor, own))
    if is_along_terms(form, factor, own):
        # Products of matrices alone take the terms of a row together.
        if form.is_of_matrices and _are_terms_together(form, factor, own, most):
            return Run(most, is_of_terms=True)
        return Run(1)
    if factor.guards or form.steps:
        return Run(1)
    run = ONE
    rest = list(own)
    while rest and factor.strides[rest[-1]] == run:
        run = run * form.work.extents[rest.pop()]
    loops = [*rest, *form.batch, *form.terms]
    sizes = [run, factor.offset, *(factor.strides[loop] for loop in loops)]
    while not all(size.is_multiple_of(most) for size in sizes):
        most //= 2
    return Run(most if most * element_bytes(factor.element) >= COPIED_BYTES else 1)


def _are_terms_together(form: Form, factor: Factor, own: tuple[int, ...], width: int) -> bool:
    """Returns whether each `width` terms are neighbours, of which all are there or none.

    Where threads compute the other factor they may be of several loops.
    """
    run, outer = ONE, list(form.terms)
    while outer and (run == ONE or (form.is_computed and not run.is_multiple_of(width))):
        inner = outer.pop()
        if factor.strides[inner] != run or factor.guards_along(inner):
            return False
        if form.step_of_term(inner) is not None:
            return False
        run = run * form.work.extents[inner]
    strides = [factor.strides[loop] for loop in (*own, *form.batch, *outer)]
    return all(size.is_multiple_of(width) for size in (run, factor.offset, *strides))


def power_of_two_from(number: int) -> int:
    """Returns the least power of two that is no less."""
    return 1 << (number - 1).bit_length()


def vector_of(element_size: int) -> int:
    """Returns how many elements an access of shared memory takes."""
    return max(ACCESS_BYTES // element_size, 1)
