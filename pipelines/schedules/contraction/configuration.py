"""How a contraction is tiled: the decision, apart from the kernel that carries it out."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from ....dialects.records import dataclass
from ..device import Device
from ..elements import ACCESS_BYTES, SECTOR_BYTES, element_bytes
from ..size import ONE, ZERO, product
from ..warp_matrices import DEPTH_BYTES, capability_for_bytes
from .form import Factor, Form, read_range

# The longest row of terms in shared memory: what all its banks give at once.
ROW_BYTES = 128
# The least that is copied asynchronously (PTX ISA, "cp.async").
COPIED_BYTES = 4


@dataclass(frozen=True)
class Configuration:
    """A block of threads computes a tile of `rows` by `columns`, `terms` products deep at a time.

    A thread has `thread_rows` by `thread_columns` of it in registers; `stages` such steps are in
    shared memory. Tables of where terms lie are made for `segment` terms at once. `resident` blocks
    are to fit into a multiprocessor. A sum is made in so many `parts`, each by another block.
    If it `is_wide`, neighbours in memory are copied together where they may be. If it
    `is_of_warpgroups`, these multiply (wgmma), 64 rows each. If it `is_ranged`, a block leaves out
    places of windows that lie beyond an edge for all of its tile.
    """

    rows: int
    columns: int
    terms: int
    thread_rows: int
    thread_columns: int
    stages: int
    segment: int
    resident: int
    parts: int = 1
    is_wide: bool = False
    is_of_warpgroups: bool = False
    is_ranged: bool = False

    @property
    def threads(self) -> int:
        return (self.rows // self.thread_rows) * (self.columns // self.thread_columns)


@dataclass(frozen=True)
class _Tile:
    """A tile to choose from, and the part of the peak it reaches where there is much to do."""

    rows: int
    columns: int
    thread_rows: int
    thread_columns: int
    resident: int
    share: float


# Of f32. The shares, and those of few warps, are from a sweep over convolutions on an H200.
_TILES = (
    _Tile(128, 128, 8, 8, 2, 0.56),
    _Tile(64, 128, 8, 8, 4, 0.56),
    _Tile(64, 64, 8, 4, 4, 0.48),
    _Tile(32, 128, 8, 4, 4, 0.46),
    _Tile(32, 64, 4, 4, 6, 0.36),
    _Tile(16, 128, 8, 4, 6, 0.37),
    # Of few rows or columns, as few filters are.
    _Tile(256, 32, 8, 8, 3, 0.5),
    _Tile(32, 256, 8, 8, 3, 0.5),
    _Tile(128, 32, 8, 4, 4, 0.47),
    _Tile(64, 32, 4, 4, 6, 0.36),
    _Tile(256, 16, 8, 4, 4, 0.41),
    _Tile(16, 256, 8, 4, 4, 0.43),
    _Tile(128, 16, 8, 4, 6, 0.35),
    # Not measured: by what a step loads from and copies to shared memory.
    _Tile(256, 8, 4, 8, 4, 0.28),
    _Tile(8, 256, 8, 4, 4, 0.28),
    _Tile(256, 4, 4, 4, 4, 0.18),
    _Tile(4, 256, 4, 4, 4, 0.18),
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
# Registers of a thread that holds the sums of a step besides those of all (ptxas: 128 spill).
_PROMOTED_REGISTERS = 168
_SHARE_OF_WARPS = ((4, 0.65), (8, 0.9))
_SEGMENT = 2048
# Of f32 on ordinary cores, so many terms are added one after the other at most: errors of a sum of
# n grow with sqrt(n). 32 channels of 3x3 are a piece. What is set aside meanwhile goes through the
# second-level cache: the 64 KB each of two blocks do not stay in the first.
AT_ONCE = 288
# The terms of a step, and the steps in shared memory: 16 in 3 took 4 to 8 % less time than 8 in 4.
_TERMS, _STAGES = 16, 3
# Of matrices: of few terms a step is no longer than these, and shorter where single elements pass
# through a thread's registers.
_MATRIX_TERMS, _FETCHED_TERMS, _MATRIX_STAGES = (128, 64, 32, 16), 16, 3
_PARTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
# A part is to have so many terms: what begins and ends a block takes the time of some steps.
_LEAST_TERMS = 128
# What a thread may have of sums, of the 255 registers of 4 bytes.
_REGISTER_BYTES = 256
# Places of windows are left out where that spares a tenth of the terms: threads then read tables of
# both factors' terms.
_MOST_RANGED = 0.9
# In cycles: what a block does before and after its steps, and another kernel.
_BLOCK_CYCLES, _KERNEL_CYCLES = 3000, 5000
_PRODUCTS_PER_CYCLE, _MATRIX_PRODUCTS_PER_CYCLE = 128, 1024
_BYTES_PER_CYCLE = 2500


@dataclass(frozen=True)
class OpenSize:
    """The one loop of results that is open, and what it is taken to be where it is `most` at most.

    So the tile and the parts for a few images are those of a few, which leave most of the chip idle
    in the tiles of many. Without `most` it may be any size.
    """

    loop: int
    most: int | None
    taken: int


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
    few, many = OpenSize(loops[0], _FEW, _TAKEN_FEW), OpenSize(loops[0], None, _TAKEN_MANY)
    return [few, many]


def choose(
    form: Form, device: Device, open_size: OpenSize | None = None, *, is_wide: bool = False
) -> Configuration:
    """The tile and the number of parts that take the least time, by a model of it."""
    return timed(form, device, open_size, is_wide=is_wide)[1]


def timed(
    form: Form, device: Device, open_size: OpenSize | None = None, *, is_wide: bool = False
) -> tuple[float, Configuration]:
    """Returns the same, and its cycles."""
    best: tuple[float, Configuration] | None = None
    is_matrix = form.is_of_matrices
    terms = _matrix_terms(form, is_wide=is_wide) if is_matrix else _TERMS
    is_of_warpgroups = is_wide and is_for_warpgroups(form, device)
    tiles = _MATRIX_TILES if is_matrix else _TILES
    ranged = None if is_matrix else read_range(form)
    for tile in _WARPGROUP_TILES if is_of_warpgroups else tiles:
        share = 1.0
        if ranged is not None:
            share = ranged.share(tile.rows if ranged.own == form.rows else tile.columns)
        for parts in _PARTS if form.extent(form.terms).is_known else (1,):
            made = Configuration(
                tile.rows,
                tile.columns,
                terms,
                tile.thread_rows,
                tile.thread_columns,
                _MATRIX_STAGES if is_matrix else _STAGES,
                _SEGMENT,
                tile.resident,
                parts,
                is_wide,
                is_of_warpgroups,
                share <= _MOST_RANGED,
            )
            if form.is_promoted:
                fitting = device.registers // (_PROMOTED_REGISTERS * made.threads)
                made = replace(made, resident=min(made.resident, fitting))
            if not _fits(form, device, made):
                continue
            cycles = _cycles(form, device, tile, made, open_size, share)
            if best is None or cycles < best[0]:
                best = cycles, made
    assert best is not None, "no tile fits"
    return best


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


def _fits(form: Form, device: Device, made: Configuration) -> bool:
    """Returns whether shared memory and registers suffice, and parts have their terms."""
    size, own = element_bytes(form.total), element_bytes(form.first.element)
    # Where steps are added one by one, a thread holds the sums of a step besides those of all.
    is_whole = form.is_of_matrices and not form.is_promoted
    most = 2 * _REGISTER_BYTES if is_whole else _REGISTER_BYTES
    if made.thread_rows * made.thread_columns * size > most:
        return False
    copies = min(made.rows, made.columns) * made.terms // vector_of(own)
    if form.is_of_matrices and copies < made.threads:
        return False  # Of the widest copies each thread is to have one.
    pitches = made.rows + made.columns + 2 * ACCESS_BYTES // own
    steps = made.stages * made.terms * pitches * own
    tables = 2 * (made.segment + made.stages * made.terms) * 8
    if max(steps, made.rows * made.columns * size) + tables > device.shared_bytes:
        return False
    return made.parts == 1 or form.most_terms.known >= made.parts * _LEAST_TERMS


def _cycles(
    form: Form,
    device: Device,
    tile: _Tile,
    made: Configuration,
    open_size: OpenSize | None,
    share: float,
) -> float:
    """The time of all kernels; sizes that are open are taken to be large, but `open_size`.

    If the configuration is ranged, tiles have this `share` of the terms on average.
    """
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
    """Returns whether each `width` terms are neighbours, of which all are there or none."""
    *outer, inner = form.terms
    if factor.strides[inner] != ONE or factor.guards_along(inner):
        return False
    if form.step_of_term(inner) is not None:
        return False
    strides = [factor.strides[loop] for loop in (*own, *form.batch, *outer)]
    sizes = [form.work.extents[inner], factor.offset, *strides]
    return all(size.is_multiple_of(width) for size in sizes)


def vector_of(element_size: int) -> int:
    """Returns how many elements an access of shared memory takes."""
    return max(ACCESS_BYTES // element_size, 1)
