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
from ..warp_matrices import DEPTH, LANES, ROWS, padded_row
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
_PLAIN_BYTES = 4
# Where so few rows see the keys, these are split over blocks: as many as keep the device busy, and
# at least so many tiles of keys each.
FEW_ROWS = ROWS
_BLOCKS_AT_ONCE = 4
_MOST_PARTS = 64
_LEAST_TILES = 2
# A block that few others run beside takes half of the time for a tile that it takes where the
# multiprocessors are full, and as long as one tile takes to begin: of an H200's 1 to 24 parts, in
# us, 64 heads of 8192 keys took 158, 91, 78, 75 (4 parts), 76 (6), 83 (8), 81 (9), 76 (12); 256 of
# 4096 keys 135, 160, 137, 138, 136 (6), 136 (8).
_ALONE = 0.5


@dataclass(frozen=True)
class AttentionConfiguration(Configuration):
    """Blocks of `warps` take `row_tiles` times 16 rows a warp, and `keys` keys at a time.

    `key_warps` of them have the same rows, and each a share of those keys.
    `stages` tiles of keys and values lie in shared memory: all but one of them under way. The
    queries are kept in registers where `keeps_queries`, else read from shared memory for each tile.
    Keys are split into `parts`, a block each, which a second kernel combines if there are several;
    into fewer where open sizes turn out to need fewer.
    With `warpgroups` so many of these multiply, of 64 rows each. `layout` is what is assumed of
    buffers: of rows, heads lie packed, and are read 16 bytes at a time.
    """

    family: ClassVar[str] = "attention"
    candidates: ClassVar[Mapping[str, Sequence[Value]]] = {
        "warps": (1, 2, 4, 8),
        "key_warps": (1, 2, 4),
        "keys": (16, 32, 64, 128),
        "stages": (2, 3),
        "parts": (1, 2, 4, 8),
    }

    warps: int
    row_tiles: int
    keys: int
    stages: int
    keeps_queries: bool
    parts: int = 1
    warpgroups: int = 0
    key_warps: int = 1
    layout: Layout = Layout.ROWS

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.warps * LANES

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

    def shared_bytes(self, heads: Heads) -> int:
        """Shared memory of a block."""
        bytes_ = heads.element_bytes
        if self.warpgroups:
            chunk = warpgroup_matrices.ROW_BYTES
            key, value = (up(size * bytes_, chunk) for size in (heads.depth, heads.columns))
            tiles = self.rows * key + self.stages * self.keys * (key + value)
            return tiles + 2 * warpgroup_matrices.PATTERN_BYTES
        key, value = (padded_row(up(size, DEPTH) * bytes_) for size in (heads.depth, heads.columns))
        weights = padded_row(self.warp_keys * bytes_) if bytes_ == _PLAIN_BYTES else 0
        return (
            self.rows * key
            + self.warps * self.warp_rows * weights
            + self.stages * self.keys * (key + value)
        )


@dataclass(frozen=True)
class Heads:
    """Sizes of attention: so many heads, of rows and keys; None where one is open."""

    count: int | None
    rows: int | None
    keys: int | None
    depth: int
    columns: int
    element_bytes: int


def configure(heads: Heads, device: Device) -> AttentionConfiguration | None:
    """The configuration for heads of these sizes; None where the device has no room for one."""
    rows, longest = heads.rows, max(heads.depth, heads.columns)
    tiles = _ROW_TILES if longest <= _MOST_IN_TWO_TILES else 1
    warps = _WARPS
    if rows is not None:
        blocks = (heads.count or 1) * -(-rows // (warps * tiles * ROWS))
        if blocks < 2 * device.multiprocessors or rows <= ROWS:
            tiles = 1
        warps = min(_WARPS, -(-rows // ROWS))
    is_plain = heads.element_bytes == _PLAIN_BYTES
    keys = _KEYS // 2 if is_plain or longest > _MOST_IN_TWO_TILES else _KEYS
    may_share = warps == 1 and not is_plain and longest <= _MOST_SHARED
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
            return replace(found, parts=_parts(heads, found, device))
    return None


# Keys at a time of warpgroups, by the longest head: a thread has registers for the sums of both.
# In TFLOP/s, as above, causal: 8x12x1024x64 225 (kernels of warps: 194), 2x8x2048x256 302 (177);
# not: 4x16x4096x128 588 (353; with three stages 560). For few keys warps take less time:
# 16x16x256x64 211 and 200.
_WARPGROUP_KEYS = ((128, 128), (192, 96), (256, 64))
_WARPGROUPS, _FEW_KEYS = 2, 256
_GROUP_WARPS = warpgroup_matrices.THREADS // LANES


def configure_warpgroups(heads: Heads, device: Device) -> AttentionConfiguration | None:
    """The configuration for warpgroups; None where the device has none, or few rows."""
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
        _WARPGROUPS * _GROUP_WARPS, 1, keys, _STAGES, keeps_queries=False, warpgroups=_WARPGROUPS
    )
    return made if made.shared_bytes(heads) <= device.shared_bytes else None


def _most_warpgroup_keys(heads: Heads) -> int | None:
    longest = max(heads.depth, heads.columns)
    return next((keys for most, keys in _WARPGROUP_KEYS if longest <= most), None)


def refusal_of(
    made: AttentionConfiguration, heads: Heads, device: Device, *, copies: bool
) -> str | None:
    """Why no kernel can be made of a configuration, and what can be; None where one can.

    `copies`: the copy engine may read queries, keys and values.
    """
    if made.layout is Layout.PACKED:
        return f"'layout' is {Layout.ROWS} or {Layout.ANY}"
    refusal = threads_refusal(made.threads, device)
    if refusal is not None:
        return refusal.replace("'threads'", f"{LANES} times 'warps'")
    if made.row_tiles not in (1, _ROW_TILES):
        return f"'row_tiles' is 1 or {_ROW_TILES}"
    if made.stages < _STAGES:
        return f"'stages' is at least {_STAGES}"
    if made.key_warps < 1 or made.warps % made.key_warps:
        return "'key_warps' divides 'warps'"
    if made.keys < 1 or made.keys % (DEPTH * made.key_warps):
        return f"'keys' is a multiple of {DEPTH} for each of 'key_warps'"
    if not 1 <= made.parts <= _MOST_PARTS:
        return f"'parts' is 1 to {_MOST_PARTS}"
    if made.parts > 1 and heads.rows is not None and heads.rows > FEW_ROWS:
        return f"keys of at most {FEW_ROWS} rows are split into 'parts'"
    if made.keeps_queries and (made.warpgroups or heads.element_bytes == _PLAIN_BYTES):
        return "'keeps_queries' is for warps that multiply elements of 16 bits"
    if made.warpgroups:
        refusal = _refusal_of_warpgroups(made, heads, device, copies=copies)
    if refusal is None and made.shared_bytes(heads) > device.shared_bytes:
        return f"a block has {device.shared_bytes} bytes of shared memory, for fewer 'keys'"
    return refusal


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
    if heads.rows is None or heads.rows > FEW_ROWS:
        return 1
    if heads.keys is None or heads.count is None:
        parts = -(-_BLOCKS_AT_ONCE * device.multiprocessors // (heads.count or 1))
        if heads.keys is not None:
            parts = min(parts, heads.keys // (made.keys * _LEAST_TILES))
        return max(1, min(parts, _MOST_PARTS))
    count, tiles = heads.count, -(-heads.keys // made.keys)
    at_once = device.multiprocessors * (device.shared_bytes // made.shared_bytes(heads))

    def time(parts: int) -> float:
        whole, rest = divmod(count * parts, at_once)
        return (tiles / parts + 1) * (whole + (max(rest / at_once, _ALONE) if rest else 0))

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


def up(size: int, by: int) -> int:
    """The least multiple of `by` that is no less than a size."""
    return -(-size // by) * by
