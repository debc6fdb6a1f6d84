"""How a contraction is tiled: the decision, apart from the kernel that carries it out."""

from __future__ import annotations

from dataclasses import dataclass

from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..size import ONE, ZERO, product
from .form import Factor, Form


@dataclass(frozen=True)
class Configuration:
    """A block of threads computes a tile of `rows` by `columns`, `terms` products deep at a time.

    A thread has `thread_rows` by `thread_columns` of it in registers; `stages` such steps are in
    shared memory. Tables of where terms lie are made for `segment` terms at once. `resident` blocks
    are to fit into a multiprocessor. A sum is made in so many `parts`, each by another block.
    If it `is_wide`, neighbours in memory are copied together where they may be.
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
    _Tile(16, 128, 4, 4, 6, 0.36),
)
_SHARE_OF_WARPS = ((4, 0.65), (8, 0.9))
_SEGMENT = 2048
# The terms of a step, and the steps in shared memory: 16 in 3 took 4 to 8 % less time than 8 in 4.
_TERMS, _STAGES = 16, 3
_PARTS = (1, 2, 3, 4, 6, 8, 12, 16)
# A part is to have so many terms: what begins and ends a block takes the time of some steps.
_LEAST_TERMS = 128
# What a thread may have of sums, of the 255 registers of 4 bytes.
_REGISTER_BYTES = 256
# In cycles: what a block does before and after its steps, and another kernel.
_BLOCK_CYCLES, _KERNEL_CYCLES = 3000, 5000
_PRODUCTS_PER_CYCLE = 128
_BYTES_PER_CYCLE = 2500


def choose(form: Form, device: Device, *, is_wide: bool = False) -> Configuration:
    """The tile and the number of parts that take the least time, by a model of it."""
    best: tuple[float, Configuration] | None = None
    for tile in _TILES:
        for parts in _PARTS if form.extent(form.terms).is_known else (1,):
            made = Configuration(
                tile.rows,
                tile.columns,
                _TERMS,
                tile.thread_rows,
                tile.thread_columns,
                _STAGES,
                _SEGMENT,
                tile.resident,
                parts,
                is_wide,
            )
            if not _fits(form, device, made):
                continue
            cycles = _cycles(form, device, tile, parts)
            if best is None or cycles < best[0]:
                best = cycles, made
    assert best is not None, "no tile fits"
    return best[1]


def _fits(form: Form, device: Device, made: Configuration) -> bool:
    """Whether a block has the shared memory and a thread the registers; parts have their terms."""
    size = element_bytes(form.total)
    if made.thread_rows * made.thread_columns * size > _REGISTER_BYTES:
        return False
    pitches = made.rows + made.columns + 2 * ACCESS_BYTES // size
    steps = made.stages * made.terms * pitches * size
    tables = 2 * (made.segment + made.stages * made.terms) * 8
    if max(steps, made.rows * made.columns * size) + tables > device.shared_bytes:
        return False
    terms = form.extent(form.terms)
    return made.parts == 1 or terms.known >= made.parts * _LEAST_TERMS


def _cycles(form: Form, device: Device, tile: _Tile, parts: int) -> float:
    """The time of all kernels; sizes that are open are taken to be large."""
    rows, columns = _known(form, form.rows, 256), _known(form, form.columns, 1 << 16)
    terms = _known(form, form.terms, 512)
    batch = _known(form, form.batch, 1)
    for step in form.steps.values():
        terms = -(-terms // step.every)
        batch *= step.by
    tiles = -(-rows // tile.rows) * -(-columns // tile.columns) * batch
    blocks = tiles * parts
    each = -(-blocks // device.multiprocessors)
    threads = (tile.rows // tile.thread_rows) * (tile.columns // tile.thread_columns)
    warps = min(each, tile.resident) * threads // 32
    share = tile.share * next((part for most, part in _SHARE_OF_WARPS if warps <= most), 1.0)
    own = -(-terms // (parts * _TERMS)) * _TERMS * tile.rows * tile.columns
    cycles = each * own / (_PRODUCTS_PER_CYCLE * share)
    cycles += -(-each // tile.resident) * _BLOCK_CYCLES
    if parts > 1:
        bytes_ = 2 * blocks * tile.rows * tile.columns * element_bytes(form.total)
        cycles += _KERNEL_CYCLES + bytes_ / _BYTES_PER_CYCLE
    return cycles


def _known(form: Form, loops: tuple[int, ...], otherwise: int) -> int:
    extent = product([form.count(loop) for loop in loops])
    return extent.known if extent.is_known else otherwise


def is_along_terms(form: Form, factor: Factor, own: tuple[int, ...]) -> bool:
    """Whether neighbours in a factor's memory are terms, rather than rows or columns."""
    strides = [factor.strides[loop] for loop in own if factor.strides[loop] != ZERO]
    if any(stride.is_known and stride.known == 1 for stride in strides):
        return False
    return any(
        factor.strides[loop].is_known and factor.strides[loop].known == 1 for loop in form.terms
    )


def width_of(form: Form, factor: Factor, own: tuple[int, ...]) -> int:
    """How many neighbouring rows of a factor are neighbours in memory, up to what a copy takes.

    That is so if the buffer begins at a multiple of as many elements.
    """
    if factor.guards or form.steps or is_along_terms(form, factor, own):
        return 1
    if factor.element != form.total:
        return 1
    run = ONE
    rest = list(own)
    while rest and factor.strides[rest[-1]] == run:
        run = run * form.work.extents[rest.pop()]
    width = vector_of(element_bytes(factor.element))
    others = [*rest, *form.batch, *form.terms]
    sizes = [run, factor.offset, *(factor.strides[loop] for loop in others)]
    return width if all(size.is_multiple_of(width) for size in sizes) else 1


def vector_of(element_size: int) -> int:
    """How many elements an access of shared memory takes."""
    return max(ACCESS_BYTES // element_size, 1)
