"""What is decided of a kernel on rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import ClassVar

from ....dialects.records import dataclass
from ...lane_reduction import WARP_LANES
from ..configuration import Configuration, Value, is_power_of_two, threads_refusal
from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..region_operations import is_harmless
from ..work import Layout
from .space import RowSpace

# Elements of a thread in code that is not a loop.
_MOST_COPIES = 64
# The elements before whole vectors and after them are taken by a thread each.
_MOST_PEELED = 16


class Kind(StrEnum):
    """What becomes of a row: it is kept in registers, read in batches, or split between blocks."""

    KEPT = "kept"
    STREAMED = "streamed"
    SPLIT = "split"


@dataclass(frozen=True)
class RowConfiguration(Configuration):
    """A row's threads are `lanes` of a warp, a block's, or those of a cluster's `blocks`.

    `width` elements make a vector. A thread takes `vectors` at once: all that it has of a row that
    is kept, or a batch. A block has `threads`, and `rows` rows. If it is `open` a launch says how
    many of these there are, by the row's length: lanes, threads and blocks are then the most, and
    rows the least. With `peeled` the first aligned element begins vector 0, and the few elements
    before and after whole vectors are taken one by one. If `merged`, reductions of which one needs
    the other's result are done in one pass where that can be. `resident` blocks are to fit into a
    multiprocessor. A grid that is `tall` has rows in y too, so that there may be any number of
    them. Rows that are `staged` pass through shared memory. `layout` is what is assumed of buffers
    whose types leave all strides open.
    """

    family: ClassVar[str] = "rows"
    candidates: ClassVar[Mapping[str, Sequence[Value]]] = {
        "vectors": (1, 2, 4, 8),
        "threads": (64, 128, 256, 512),
        "blocks": (1, 2, 4, 8),
        "merged": (False, True),
        "resident": (1, 2, 4),
    }

    kernel: Kind
    width: int
    vectors: int
    threads: int
    lanes: int = WARP_LANES
    rows: int = 1
    blocks: int = 1
    peeled: bool = False
    open: bool = False
    merged: bool = False
    resident: int = 1
    tall: bool = False
    staged: bool = False
    layout: Layout = Layout.PACKED

    def agreements(self, values: Mapping[str, Value]) -> int:
        """As in the base class; one of another kernel is never nearer."""
        is_same = values.get("kernel", self.kernel) == self.kernel
        return super().agreements(values) + (len(self.values) if is_same else 0)

    @property
    def row_threads(self) -> int:
        """The threads that a row has."""
        return self.lanes if self.rows > 1 else self.threads * self.blocks

    @property
    def longest(self) -> int | None:
        """The most elements of a row; None for any number."""
        return self.longest_in(self.blocks)

    def longest_in(self, blocks: int) -> int | None:
        """The same of a launch with so many blocks in a cluster."""
        if self.kernel is not Kind.KEPT:
            return None
        threads = self.row_threads // self.blocks * blocks
        # Elements before or after the vectors are no vectors themselves.
        more = self.width - 1 if self.peeled else 0
        return threads * self.vectors * self.width + more


def refusal(
    space: RowSpace, made: RowConfiguration, device: Device, *, can_peel: bool
) -> str | None:
    """Why no kernel can be made of a configuration, and what can be; None where one can.

    `can_peel` says that rows may be peeled.
    """
    if not is_power_of_two(made.width) or made.width > space.widest:
        return f"'width' is a power of two up to {space.widest}"
    if made.peeled and not can_peel:
        return (
            "'peeled' is false where rows are of several loops, or no large operand lies along them"
        )
    if made.peeled and not 1 < made.width == space.widest <= _MOST_PEELED:
        return f"'width' is {space.widest} where rows are peeled"
    if made.vectors < 1 or made.width * made.vectors > _MOST_COPIES:
        return f"'vectors' is at least 1, and 'width' times 'vectors' at most {_MOST_COPIES}"
    why = threads_refusal(made.threads, device) or _shape_refusal(made, device)
    if made.staged and why is None:
        why = stage_refusal(space, made, device)
    if why is not None:
        return why
    if made.resident < 1 or made.resident * made.threads > device.threads:
        return f"'resident' times 'threads' is at most {device.threads}"
    return None


def stage_refusal(space: RowSpace, made: RowConfiguration, device: Device) -> str | None:
    """Why rows cannot pass through shared memory; None where they can."""
    if not any(each.is_output for each in space.packed) or not is_harmless(space.work):
        return (
            "'staged' is false but where rows of known length are written that follow one another, "
            "by what takes any numbers"
        )
    if made.rows == 1 or made.open or made.tall:
        return "'staged' is false where a block has one row, or rows are 'open' or 'tall'"
    sizes = [element_bytes(each.element) for each in space.packed]
    if any(made.rows * space.length.known * size % ACCESS_BYTES for size in sizes):
        return f"'rows' that are staged take a multiple of {ACCESS_BYTES} bytes"
    if made.rows * space.length.known * sum(sizes) > device.shared_bytes:
        return f"'rows' that are staged take at most {device.shared_bytes} bytes of shared memory"
    return None


def _shape_refusal(made: RowConfiguration, device: Device) -> str | None:
    """Why threads cannot share rows so."""
    if made.rows > 1:
        if made.kernel is not Kind.KEPT or made.blocks > 1 or made.peeled:
            return (
                "'rows' is 1 where 'kernel' is not kept, or there are clusters, or rows are peeled"
            )
        if not is_power_of_two(made.lanes) or made.lanes > WARP_LANES:
            return f"'lanes' is a power of two up to {WARP_LANES}"
        if made.lanes * made.rows != made.threads:
            return "'lanes' times 'rows' is 'threads' where 'rows' is more than 1"
    elif made.rows < 1 or made.lanes != WARP_LANES:
        return f"'rows' is at least 1, and 'lanes' {WARP_LANES} where it is 1"
    if not is_power_of_two(made.blocks) or made.blocks > device.cluster_blocks:
        return f"'blocks' is a power of two up to {device.cluster_blocks}"
    if made.blocks > 1 and made.kernel is not Kind.KEPT:
        return "'blocks' is 1 where 'kernel' is not kept"
    if made.open and (made.kernel is Kind.SPLIT or (made.tall and made.kernel is Kind.KEPT)):
        return "'open' is false where rows are split, or kept by a tall grid"
    if made.tall and made.kernel is Kind.SPLIT:
        return "'tall' is false where rows are split"
    return None
