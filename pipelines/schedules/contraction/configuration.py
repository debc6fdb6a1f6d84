"""How a contraction is tiled: the decision, apart from the kernel that carries it out."""

from __future__ import annotations

from dataclasses import dataclass

from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..size import ZERO
from .form import Factor, Form


@dataclass(frozen=True)
class Configuration:
    """A block of threads computes a tile of `rows` by `columns`, `terms` products deep at a time.

    A thread has `thread_rows` by `thread_columns` of it in registers; `stages` such steps are in
    shared memory. Tables of where terms lie are made for `segment` terms at once. `resident` blocks
    are to fit into a multiprocessor.
    """

    rows: int
    columns: int
    terms: int
    thread_rows: int
    thread_columns: int
    stages: int
    segment: int
    resident: int

    @property
    def threads(self) -> int:
        return (self.rows // self.thread_rows) * (self.columns // self.thread_columns)


# The tiles to choose from: rows, columns, rows and columns of a thread, blocks that are resident.
_TILES = (
    (128, 128, 8, 8, 2),
    (64, 128, 8, 8, 4),
    (64, 64, 8, 4, 4),
    (32, 128, 8, 4, 4),
    (32, 64, 4, 4, 6),
    (16, 128, 4, 4, 6),
)
_SEGMENT = 2048


def choose(form: Form, device: Device) -> Configuration:
    """The tile that wastes the least of what the device can do.

    A tile's own speed is what it multiplies for each element that it reads of shared memory; what
    lies beyond the rows and columns, and multiprocessors without a block in the last wave, are
    time lost.
    """
    size = max(element_bytes(form.first.element), element_bytes(form.second.element))
    best: tuple[float, Configuration] | None = None
    for rows, columns, thread_rows, thread_columns, resident in _TILES:
        stages = 4 if size == 4 else 3
        found = Configuration(
            rows, columns, 8, thread_rows, thread_columns, stages, _SEGMENT, resident
        )
        cost = _cost(form, device, found)
        if best is None or cost < best[0]:
            best = cost, found
    assert best is not None
    return best[1]


def _cost(form: Form, device: Device, tile: Configuration) -> float:
    """Time, in products that a multiprocessor could have computed."""
    rows = _known(form, form.rows, 256)
    columns = _known(form, form.columns, 1 << 16)
    batch = _known(form, form.batch, 1)
    blocks = -(-rows // tile.rows) * -(-columns // tile.columns) * batch
    at_once = device.multiprocessors * tile.resident
    # Blocks that share a multiprocessor share its speed.
    waves = blocks // at_once
    rest = blocks - waves * at_once
    in_turn = waves * tile.resident + -(-rest // device.multiprocessors)
    # Products for each element read of shared memory: what keeps the arithmetic busy.
    reuse = tile.thread_rows * tile.thread_columns / (tile.thread_rows + tile.thread_columns)
    return in_turn * tile.rows * tile.columns * (1 + 1.0 / reuse)


def _known(form: Form, loops: tuple[int, ...], otherwise: int) -> int:
    extent = form.extent(loops)
    return extent.known if extent.is_known else otherwise


def is_along_terms(form: Form, factor: Factor, own: tuple[int, ...]) -> bool:
    """Whether neighbours in a factor's memory are terms, rather than rows or columns."""
    strides = [factor.strides[loop] for loop in own if factor.strides[loop] != ZERO]
    if any(stride.is_known and stride.known == 1 for stride in strides):
        return False
    return any(
        factor.strides[loop].is_known and factor.strides[loop].known == 1 for loop in form.terms
    )


def vector_of(element_size: int) -> int:
    """How many elements an access of shared memory takes."""
    return max(ACCESS_BYTES // element_size, 1)
