"""Parts of long scans: several blocks share one where few of them would leave the device idle.

A first kernel merges each part's elements, the second scans each part from what the parts before it
have in all (reduce, then scan). It reads its inputs twice, the second time from the last part on,
which the cache still has. A single pass that looks back at its neighbours' states would read them
once, but merges what it finds there by then: the sums of floats would differ from run to run.
"""

from __future__ import annotations

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...rewriting import index_constant
from ..alternatives import Conditions
from ..device import Device
from ..size import OpenNumbers, Size

# As many blocks for each that has a whole scan make up for reading twice.
_MOST_SHARE = 4


@dataclass(frozen=True)
class Parts:
    """`count` parts of each scan, of `chunks` each, the last one with what is left.

    Several have `blocks` in all at most.
    """

    count: Size
    chunks: Size
    blocks: Size


@dataclass(frozen=True)
class Extent:
    """What parts are made of: `blocks` that have whole scans, of `length` in chunks of `chunk`."""

    blocks: Size
    length: Size
    chunk: int
    at_once: int

    @property
    def is_known(self) -> bool:
        """Whether it is known how many parts there are."""
        return self.blocks.is_known and self.length.is_known

    def require_long(self, found: Conditions, device: Device) -> None:
        """The scans are few and long enough for parts to be faster."""
        least = device.tables.scan.split_chunks * self.chunk
        found.require_at_least(self.length, least)
        found.require_at_most(self.blocks, self.at_once // _MOST_SHARE)


def extent_of(blocks: Size, length: Size, chunk: int, threads: int, device: Device) -> Extent:
    """The extent where a multiprocessor holds as many blocks as it has threads for."""
    at_once = device.multiprocessors * (device.threads // threads)
    return Extent(blocks, length, chunk, at_once)


def parts_of(extent: Extent, open_: OpenNumbers, device: Device) -> Parts:
    """As many parts as the device has room for at once, of scans that are worth them.

    Emits arithmetic of the host.
    """
    at_once = extent.at_once
    if extent.is_known:
        chunks = max(-(-extent.length.known // extent.chunk), 1)
        blocks = max(extent.blocks.known, 1)
        each = -(-chunks // min(max(at_once // blocks, 1), chunks))
        count = -(-chunks // each)
        return Parts(Size(count), Size(each), Size(count * blocks))
    one = index_constant(1)
    blocks = arith.maxui(open_.value(extent.blocks), one)
    length = open_.value(extent.length)
    chunks = arith.maxui(arith.ceildivui(length, index_constant(extent.chunk)), one)
    most = arith.maxui(arith.divui(index_constant(at_once), blocks), one)
    found = Conditions(open_)
    extent.require_long(found, device)
    if found.value is not None:
        most = arith.select(found.value, most, one)
    each = arith.ceildivui(chunks, arith.minui(most, chunks))
    count = arith.ceildivui(chunks, each)
    return Parts(open_.size_of(count), open_.size_of(each), Size(at_once))


def chunks_of(part: ir.Value, each: ir.Value, chunks: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The first chunk of a part in a kernel, and the one after its last, of `chunks` in all."""
    first = arith.muli(part, each)
    return first, arith.minui(arith.addi(first, each), chunks)
