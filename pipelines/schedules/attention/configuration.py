"""How attention is cut into tiles: the decision, as data."""

from __future__ import annotations

from dataclasses import dataclass

from ..device import Device
from ..warp_matrices import DEPTH, LANES, ROWS, padded_row

# Rows are more than that many registers' worth of sums only where a warp has one tile of them.
_WIDE_COLUMNS = 128
_ELEMENT_BYTES = 2


@dataclass(frozen=True)
class Configuration:
    """Blocks of `warps` take `row_tiles` times 16 rows a warp, and `keys` keys at a time.

    `stages` tiles of keys and values lie in shared memory: all but one of them under way. The
    queries are kept in registers where `keeps_queries`, else read from shared memory for each tile.
    """

    warps: int
    row_tiles: int
    keys: int
    stages: int
    keeps_queries: bool

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.warps * LANES

    @property
    def rows(self) -> int:
        """Rows of a block."""
        return self.warps * self.row_tiles * ROWS

    def shared_bytes(self, depth: int, columns: int) -> int:
        """Shared memory of a block, for heads of so many elements."""
        key, value = (padded_row(up(size, DEPTH) * _ELEMENT_BYTES) for size in (depth, columns))
        return self.rows * key + self.stages * self.keys * (key + value)

    def __str__(self) -> str:
        where = "registers" if self.keeps_queries else "shared memory"
        return (
            f"{self.warps} warps of {self.row_tiles * ROWS} rows, {self.keys} keys at a time in "
            f"{self.stages} stages, queries in {where}"
        )


def configure(
    rows: int | None, keys: int | None, depth: int, columns: int, device: Device
) -> Configuration | None:
    """The configuration for heads of these sizes; None where the device has no room for one.

    `rows` and `keys` are None where they are open.
    """
    wide = max(depth, columns) > _WIDE_COLUMNS
    few = rows is not None and rows <= 64
    warps = 4 if not few else max(1, -(-rows // ROWS))
    tile = 64 if keys is None or keys > 32 else up(keys, DEPTH)
    for found in (
        Configuration(warps, 1, tile, 2, not wide),
        Configuration(warps, 1, min(tile, 32), 2, not wide),
        Configuration(warps, 1, 16, 2, False),
    ):
        if found.shared_bytes(depth, columns) <= device.shared_bytes:
            return found
    return None


# Of what is read element by element little is gained by large tiles.
NARROW = Configuration(4, 1, 16, 2, keeps_queries=False)


def up(size: int, by: int) -> int:
    """The least multiple of `by` that is no less than a size."""
    return -(-size // by) * by
