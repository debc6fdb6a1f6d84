"""How attention is cut into tiles: the decision, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import gcd
from typing import ClassVar

from ....dialects.mlir import arith
from ....dialects.records import dataclass
from ...rewriting import index_constant
from .. import warpgroup_matrices
from ..configuration import Configuration, Value, threads_refusal
from ..device import Device
from ..size import OpenNumbers, Size
from ..warp_matrices import COLUMNS, DEPTH, LANES, ROWS, padded_row
from ..work import Layout

# A warp has two tiles of rows, so that it reads keys and values half as often. In TFLOP/s, of bf16
# on an H200, batches by heads by rows by head: 8x12x1024x64, causal, 158 with two tiles and 156
# with one; 4x16x4096x128 337 and 289. More keys at a time (128: 214 to 297), more stages (3: 219)
# and more warps (8: 334) bring nothing.
_WARPS, _ROW_TILES, _KEYS, _STAGES = 4, 2, 64, 2
# Queries of longer heads do not fit into registers beside the sums of two tiles (258 TFLOP/s
# instead of 337); beside those of one they do (2x8x2048x256, causal: 171 instead of 153).
_MOST_KEPT = 64
# Longer heads have sums for one tile of rows, and keys for 32 at a time, so that two blocks fit.
_MOST_IN_TWO_TILES = 128
# Few rows are one warp's: with four that share a tile's keys a step ends earlier, and the next
# copies begin. Of 16-bit heads of up to 192 elements with 1 to 8 rows, 17 on an H200, the time of
# 4 to that of 1: 0.93 (0.68 to 1.02), of 2 0.98 (up to 1.45). Of 256, which then have 64 keys at a
# time, 1.21: fewer blocks fit.
_KEY_WARPS, _MOST_SHARED = 4, 192
# Elements of so many bytes are multiplied by ordinary instructions.
_PLAIN_BYTES, _WEIGHT_GAP = 4, 8
_MOST_PLAIN_TILES = 4
# Of a row, beside sums, the greatest score, and the total of the powers: of f32.
STATES, _STATE_BYTES = 2, 4
# Where all rows are few warps' for a multiprocessor, four share the keys of each tile, of f32 too:
# 32 heads of 128 rows and keys of 160 elements took 42.5 us with four warps of 16 rows, 27.0 where
# two, and 24.5 where four shared keys, 64 at a time. Longer heads leave room for one block, which
# has eight warps where there are as many blocks as multiprocessors: 256 heads of 512 rows of 192
# took 2230 us with four, 2030 with eight; 64 of 256 elements 712 and 689. (H200; lanes then had
# eight columns of two rows.)
_BUSY_WARPS, _SHARED_PLAIN_WARPS = 4, 2
# Where so few rows see the keys, these are split over blocks: as many as keep the device busy, and
# at least so many tiles of keys each. Of open sizes one tile of rows is few.
FEW_ROWS, MOST_FEW_ROWS = ROWS, 2 * ROWS
# The first chips with a copy engine (PTX ISA, "cp.async.bulk.tensor").
_ENGINE_CAPABILITY = 90
_BLOCKS_AT_ONCE = 4
_MOST_PARTS = 64
_LEAST_TILES = 2
# A block that few others run beside takes half of the time for a tile that it takes where the
# multiprocessors are full, and as long as one tile takes to begin: of an H200's 1 to 24 parts, in
# us, 64 heads of 8192 keys took 158, 91, 78, 75 (4 parts), 76 (6), 83 (8), 81 (9), 76 (12); 256 of
# 4096 keys 135, 160, 137, 138, 136 (6), 136 (8).
_ALONE = 0.5
# One that has a multiprocessor for itself anyway gains less: 32 heads of 12950 keys took 61 us in 3
# parts, 96 blocks, and 57 in 4.
_ALONE_ANYWAY = 0.8
# The copy engine takes as long for a box of 32 rows as for one of 16, about 70 ns: 256 heads of
# 4096 keys of 64 elements, which two blocks each read, took 67 us with 64 keys at a time, 16 a
# warp, and 38 with 128 (with copies by threads 53). So heads of at most 128 bytes have 128 where
# all blocks fit at once; and so have all heads where blocks seldom begin anew, having so many
# tiles: of longer ones a multiprocessor has one such block (256 heads of 512 keys of 96: 14.4 us
# with 64, 17.0 with 128; 64 of 8192 of 128: 71.6 and 69.9). Rows of fewer bytes come slower so
# (192 heads of 8192 keys of 32: 73 us, by threads 60).
_WIDE_KEYS, _WIDE_TILES = 128, 12


_GROUP_WARPS = warpgroup_matrices.THREADS // LANES
# A producer gives registers to two warpgroups, which would have 168.
REGISTERS_OF_PRODUCER, REGISTERS_OF_CONSUMERS = 24, 240


@dataclass(frozen=True)
class AttentionConfiguration(Configuration):
    """Blocks of `warps` take `row_tiles` times 16 rows a warp, and `keys` keys at a time.

    `key_warps` of them have the same rows, and each a share of those keys.
    `stages` tiles of keys and values lie in shared memory: all but one of them under way. The
    queries are kept in registers where `keeps_queries`, else read from shared memory for each tile.
    Keys are split into `parts`, a block each, which have tiles in turns, and which a second kernel
    combines if there are several; into fewer where open sizes turn out to need fewer.
    With `engine` the copy engine (TMA) brings keys and values, for each warp its own.
    With `warpgroups` so many of these multiply, of 64 rows each, and a further one has the copy
    engine bring what they multiply; they begin products one after the other if they take `turns`,
    and take so many `tiles` of their rows one after the other. `layout` is what is assumed of
    buffers: of rows, heads lie packed, and are read 16 bytes at a time.
    """

    family: ClassVar[str] = "attention"
    candidates: ClassVar[Mapping[str, Sequence[Value]]] = {
        "warps": (1, 2, 4, 8),
        "key_warps": (1, 2, 4),
        "keys": (16, 32, 64, 128),
        "stages": (2, 3),
        "parts": (1, 2, 4, 8),
        "engine": (False, True),
        "turns": (False, True),
    }

    warps: int
    row_tiles: int
    keys: int
    stages: int
    keeps_queries: bool
    parts: int = 1
    warpgroups: int = 0
    turns: bool = False
    tiles: int = 1
    key_warps: int = 1
    engine: bool = False
    layout: Layout = Layout.ROWS

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return (self.warps + (_GROUP_WARPS if self.warpgroups else 0)) * LANES

    @property
    def warp_rows(self) -> int:
        """Rows of a warp."""
        return self.row_tiles * ROWS

    @property
    def rows(self) -> int:
        """Rows of a block."""
        return self.warps // self.key_warps * self.warp_rows

    @property
    def warp_keys(self) -> int:
        """Keys of a warp at a time."""
        return self.keys // self.key_warps

    @property
    def weight_pitch(self) -> int:
        """Bytes from one row of powers of f32 to the next: four rows begin in different banks."""
        return (self.warp_keys + _WEIGHT_GAP) * _PLAIN_BYTES

    def stage_bytes(self, heads: Heads) -> int:
        """Shared memory of a stage of keys and values."""
        sizes, bytes_ = (heads.depth, heads.columns), heads.element_bytes
        if self.warpgroups or self.engine:
            return self.keys * sum(
                up(size * bytes_, warpgroup_matrices.ROW_BYTES) for size in sizes
            )
        return self.keys * sum(padded_row(up(size, DEPTH) * bytes_) for size in sizes)

    def area_bytes(self, heads: Heads) -> int:
        """Shared memory of all stages, in which warps that share rows combine what they find."""
        shares = self.key_warps * self.rows * state_bytes(heads.columns)
        return max(self.stages * self.stage_bytes(heads), shares if self.key_warps > 1 else 0)

    def shared_bytes(self, heads: Heads) -> int:
        """Shared memory of a block."""
        bytes_, tiles = heads.element_bytes, self.area_bytes(heads)
        if self.warpgroups:
            queries = self.rows * up(heads.depth * bytes_, warpgroup_matrices.ROW_BYTES)
            return queries + tiles + 2 * warpgroup_matrices.PATTERN_BYTES
        queries = self.rows * padded_row(up(heads.depth, DEPTH) * bytes_)
        if self.engine:
            barriers = 2 * self.warps * self.stages * warpgroup_matrices.BARRIER_BYTES
            return queries + tiles + barriers + warpgroup_matrices.PATTERN_BYTES
        weights = self.weight_pitch if bytes_ == _PLAIN_BYTES else 0
        return queries + tiles + self.warps * self.warp_rows * weights


@dataclass(frozen=True)
class Heads:
    """Sizes of attention: so many heads, of rows and keys; None where one is open."""

    count: int | None
    rows: int | None
    keys: int | None
    depth: int
    columns: int
    element_bytes: int


def configure(
    heads: Heads, device: Device, *, brings: bool = False
) -> AttentionConfiguration | None:
    """The configuration for heads of these sizes; None where the device has no room for one.

    `brings`: the copy engine may read keys and values.
    """
    rows, longest = heads.rows, max(heads.depth, heads.columns)
    is_plain = heads.element_bytes == _PLAIN_BYTES
    tiles = _ROW_TILES if longest <= _MOST_IN_TWO_TILES else 1
    warps = _WARPS
    if rows is not None:
        blocks = (heads.count or 1) * -(-rows // (warps * tiles * ROWS))
        if blocks < 2 * device.multiprocessors or rows <= ROWS:
            tiles = 1
        warps = min(_WARPS, -(-rows // ROWS))
        if ROWS < rows <= MOST_FEW_ROWS and not is_plain and longest <= _MOST_IN_TWO_TILES:
            warps, tiles = 1, _ROW_TILES
    keys = _KEYS // 2 if is_plain or longest > _MOST_IN_TWO_TILES else _KEYS
    may_share = warps == 1 and not is_plain and longest <= _MOST_SHARED
    if is_plain and rows is not None and rows > MOST_FEW_ROWS:
        busy = _BUSY_WARPS * device.multiprocessors
        may_share = (heads.count or busy) * -(-rows // ROWS) < busy
        if may_share:
            warps = _SHARED_PLAIN_WARPS
        elif tiles == 1 and longest > _MOST_IN_TWO_TILES and _fills(heads, 2 * warps, device):
            warps *= 2
    if may_share:
        keys = _KEYS
    if heads.keys is not None:
        keys = min(keys, up(heads.keys, DEPTH))
    for size in (keys, 2 * DEPTH, DEPTH):
        at_once = min(keys, size)
        shares = gcd(at_once // DEPTH, _KEY_WARPS) if may_share else 1
        found = AttentionConfiguration(
            warps * shares,
            tiles,
            at_once,
            _STAGES,
            keeps_queries=not is_plain and (tiles == 1 or heads.depth <= _MOST_KEPT),
            key_warps=shares,
        )
        if found.shared_bytes(heads) <= device.shared_bytes:
            if brings:
                found = _brought(found, heads, device)
            return replace(found, parts=_parts(heads, found, device))
    return None


def _fills(heads: Heads, warps: int, device: Device) -> bool:
    """Whether blocks of so many warps of one tile are as many as multiprocessors."""
    if heads.count is None or heads.rows is None:
        return False
    return heads.count * -(-heads.rows // (warps * ROWS)) >= device.multiprocessors


def _brought(found: AttentionConfiguration, heads: Heads, device: Device) -> AttentionConfiguration:
    """The same with keys and values by the copy engine, where that takes less time."""
    shortest, longest = sorted((heads.depth, heads.columns))
    line = warpgroup_matrices.ROW_BYTES // heads.element_bytes
    made = replace(found, engine=True)
    if shortest < line or _refusal_of_engine(made, heads, device, brings=True) is not None:
        return found
    wide = replace(made, keys=_WIDE_KEYS)
    room = _resident(wide, heads, device) * device.multiprocessors
    if found.keys == _KEYS and room and (heads.keys is None or heads.keys >= _WIDE_KEYS):
        fits = longest <= line and (heads.count is None or heads.count <= room)
        count, tiles = heads.count or 0, -(-(heads.keys or 0) // _WIDE_KEYS)
        if fits or count * tiles >= _WIDE_TILES * room:
            return wide
    return made if _resident(made, heads, device) else found


def _resident(made: AttentionConfiguration, heads: Heads, device: Device) -> int:
    """How many blocks a multiprocessor has at once."""
    return device.shared_bytes // made.shared_bytes(heads)


# Keys at a time of warpgroups, by the longest head: a thread has registers for the sums of both. In
# us, causal: 2x8x2048x256 90.6 with 80 and 94.5 with 64 (cuDNN 92.0; where a consumer copies 115),
# 2x24x4096x160 750.7 with 112 and 774.3 with 96 (926); not: 4x16x2048x192 314.5 with 112 and 314.9
# with 96 (379), 4x16x4096x128 806 with 128, 860 with 144 and 937 where a consumer copies. With
# three stages (8x12x1024x64, causal: 61.5, 56.2), or three warpgroups (64.8), they take longer. For
# few keys warps take less time: 8x16x128x128, causal, 9.1 and 9.9, 64x12x128x64 22.5 and 23.6; but
# 1x64x237x128 13.5 and 9.6, 4x16x200x256 22.1 and 15.9.
_WARPGROUP_KEYS = ((128, 128), (192, 112), (256, 80))
_WARPGROUPS, _FEW_KEYS = 2, 128
# Warpgroups take turns where rows see all keys of shorter heads: 8x12x1024x64 75.1 us without, 70.9
# with them, causal 56.2 and 57.8; 4x16x2048x96 197 and 192; 4x16x4096x128 806 and 852.
_MOST_IN_TURNS = 96
# A block of few keys takes as long to begin and to end as for these. With several tiles of rows it
# begins the copies of the next one before it writes the results of one. In us, with one tile, and
# with as many as take no more rounds of the chip's blocks: 16x16x256x64 21.8 and 18.2 (4), causal
# 22.9 and 19.0, 16x16x256x128, causal, 36.8 and 32.5, 32x12x197x64 28.6 and 24.5 (2), 8x12x256x96,
# causal, 14.9 and 13.8. Sums of longer heads leave no registers for it.
_MOST_TILES, _TILES_KEYS, _TILES_HEAD = 8, 256, 192


def configure_warpgroups(
    heads: Heads, device: Device, sees_all: bool
) -> AttentionConfiguration | None:
    """The configuration for warpgroups; None where the device has none, or few rows.

    `sees_all`: every row sees all keys, as far as places decide it.
    """
    if not device.has_warpgroup_products or heads.element_bytes == _PLAIN_BYTES:
        return None
    if heads.rows is not None and heads.rows < warpgroup_matrices.ROWS:
        return None
    if heads.keys is not None and heads.keys <= _FEW_KEYS:
        return None
    keys = _most_warpgroup_keys(heads)
    if keys is None:
        return None
    if heads.keys is not None:
        keys = min(keys, up(heads.keys, DEPTH))
    made = AttentionConfiguration(
        _WARPGROUPS * _GROUP_WARPS,
        1,
        keys,
        _STAGES,
        keeps_queries=False,
        warpgroups=_WARPGROUPS,
        turns=sees_all and max(heads.depth, heads.columns) <= _MOST_IN_TURNS,
    )
    made = replace(made, tiles=_tiles(heads, made, device, sees_all))
    return made if made.shared_bytes(heads) <= device.shared_bytes else None


def _tiles(heads: Heads, made: AttentionConfiguration, device: Device, sees_all: bool) -> int:
    """Returns how many tiles of rows a block takes.

    Where rows see different keys, the first rows go with the last ones: an even number.
    """
    if heads.count is None or heads.rows is None or heads.keys is None:
        return 1
    if heads.keys > _TILES_KEYS or max(heads.depth, heads.columns) > _TILES_HEAD:
        return 1
    all_ = heads.count * -(-heads.rows // made.rows)

    def rounds(tiles: int) -> int:
        blocks = -(-all_ // tiles)
        return -(-blocks // device.multiprocessors) * tiles

    choices = (each for each in range(2, _MOST_TILES + 1) if sees_all or each % 2 == 0)
    return max([1, *(each for each in choices if rounds(each) <= rounds(1))])


def _most_warpgroup_keys(heads: Heads) -> int | None:
    longest = max(heads.depth, heads.columns)
    return next((keys for most, keys in _WARPGROUP_KEYS if longest <= most), None)


def refusal_of(
    made: AttentionConfiguration, heads: Heads, device: Device, *, copies: bool, brings: bool
) -> str | None:
    """Why no kernel can be made of a configuration, and what can be; None where one can.

    `copies`: the copy engine may read queries, keys and values. `brings`: it may read the latter.
    """
    if made.layout is Layout.PACKED:
        return f"'layout' is {Layout.ROWS} or {Layout.ANY}"
    refusal = threads_refusal(made.threads, device)
    if refusal is not None:
        return refusal.replace("'threads'", f"{LANES} times 'warps'")
    most = _MOST_PLAIN_TILES if heads.element_bytes == _PLAIN_BYTES else _ROW_TILES
    if not 1 <= made.row_tiles <= most:
        return f"'row_tiles' is 1 to {most}"
    if made.stages < _STAGES:
        return f"'stages' is at least {_STAGES}"
    if made.key_warps < 1 or made.warps % made.key_warps:
        return "'key_warps' divides 'warps'"
    if made.keys < 1 or made.keys % (DEPTH * made.key_warps):
        return f"'keys' is a multiple of {DEPTH} for each of 'key_warps'"
    if not 1 <= made.parts <= _MOST_PARTS:
        return f"'parts' is 1 to {_MOST_PARTS}"
    if made.parts > 1 and heads.rows is not None and heads.rows > MOST_FEW_ROWS:
        return f"keys of at most {MOST_FEW_ROWS} rows are split into 'parts'"
    if made.keeps_queries and (made.warpgroups or heads.element_bytes == _PLAIN_BYTES):
        return "'keeps_queries' is for warps that multiply elements of 16 bits"
    if (made.turns or made.tiles > 1) and not made.warpgroups:
        return "'turns', and several 'tiles', are those of 'warpgroups'"
    if made.tiles < 1 or (made.tiles > 1 and None in (heads.count, heads.rows)):
        return "'tiles' is at least 1, and 1 where numbers of heads or rows are open"
    if made.engine:
        refusal = _refusal_of_engine(made, heads, device, brings=brings)
    if refusal is None and made.warpgroups:
        refusal = _refusal_of_warpgroups(made, heads, device, copies=copies)
    if refusal is None and made.shared_bytes(heads) > device.shared_bytes:
        return f"a block has {device.shared_bytes} bytes of shared memory, for fewer 'keys'"
    return refusal


def _refusal_of_engine(
    made: AttentionConfiguration, heads: Heads, device: Device, *, brings: bool
) -> str | None:
    is_wide = heads.element_bytes != _PLAIN_BYTES and made.layout is Layout.ROWS
    if device.capability < _ENGINE_CAPABILITY or not is_wide or not brings:
        return "'engine' is false for this chip or these operands"
    if made.warpgroups or made.warps != made.key_warps:
        return "with 'engine' all 'warps' are 'key_warps'"
    if made.warp_keys > warpgroup_matrices.MOST_IN_BOX:
        return f"with 'engine' a warp has {warpgroup_matrices.MOST_IN_BOX} 'keys' at most"
    return None


def _refusal_of_warpgroups(
    made: AttentionConfiguration, heads: Heads, device: Device, *, copies: bool
) -> str | None:
    most = _most_warpgroup_keys(heads)
    is_wide = heads.element_bytes != _PLAIN_BYTES and made.layout is Layout.ROWS
    if not device.has_warpgroup_products or not is_wide or not copies or most is None:
        return "'warpgroups' of this chip and for these operands are 0"
    if made.warpgroups != _WARPGROUPS or made.warps != _WARPGROUPS * _GROUP_WARPS:
        return f"'warpgroups' is 0, or {_WARPGROUPS} with {_WARPGROUPS * _GROUP_WARPS} 'warps'"
    if made.row_tiles != 1 or made.key_warps != 1 or made.parts != 1:
        return "'row_tiles', 'key_warps' and 'parts' of warpgroups are 1"
    return f"'keys' of warpgroups is at most {most}" if made.keys > most else None


def _parts(heads: Heads, made: AttentionConfiguration, device: Device) -> int:
    """Returns into how many parts keys are split: those with which all blocks take least."""
    if heads.rows is None or heads.rows > MOST_FEW_ROWS:
        return 1
    if heads.keys is None or heads.count is None:
        parts = -(-_BLOCKS_AT_ONCE * device.multiprocessors // (heads.count or 1))
        if heads.keys is not None:
            parts = min(parts, heads.keys // (made.keys * _LEAST_TILES))
        return max(1, min(parts, _MOST_PARTS))
    count, tiles = heads.count, -(-heads.keys // made.keys)
    resident = _resident(made, heads, device)
    at_once, alone = device.multiprocessors * resident, _ALONE if resident > 1 else _ALONE_ANYWAY

    def time(parts: int) -> float:
        whole, rest = divmod(count * parts, at_once)
        return (tiles / parts + 1) * (whole + (max(rest / at_once, alone) if rest else 0))

    most = max(1, min(_MOST_PARTS, tiles // _LEAST_TILES))
    return min(range(1, most + 1), key=time)


def parts_of(
    configuration: AttentionConfiguration,
    count: Size,
    keys: Size,
    device: Device,
    open_: OpenNumbers,
) -> Size:
    """Into how many parts keys of so many heads are split, computed on the host of open sizes."""
    most = configuration.parts
    if most == 1 or (count.is_known and keys.is_known):
        return Size(most)
    found, one = index_constant(most), index_constant(1)
    if not keys.is_known:
        least = index_constant(configuration.keys * _LEAST_TILES)
        found = arith.minui(found, arith.maxui(arith.divui(open_.value(keys), least), one))
    if not count.is_known:
        blocks = index_constant(_BLOCKS_AT_ONCE * device.multiprocessors)
        heads = arith.maxui(open_.value(count), one)
        found = arith.minui(found, arith.ceildivui(blocks, heads))
    return open_.size_of(found)


# Of what is read element by element little is gained by large tiles.
NARROW = AttentionConfiguration(4, 1, 16, 2, keeps_queries=False, layout=Layout.ANY)


def state_bytes(columns: int) -> int:
    """Bytes of what is found of a row: its sums, the greatest score, and the total, all f32."""
    return (up(columns, 2 * COLUMNS) + STATES) * _STATE_BYTES


def up(size: int, by: int) -> int:
    """The least multiple of `by` that is no less than a size."""
    return -(-size // by) * by
