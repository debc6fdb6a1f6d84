"""What is decided of a kernel that scans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import ClassVar

from ....dialects.records import dataclass
from ..configuration import Configuration, Value


class Kind(StrEnum):
    """What neighbouring elements are: of one row, accessed together or by elements, or columns."""

    ROWS = "rows"
    ELEMENTS = "elements"
    COLUMNS = "columns"


@dataclass(frozen=True)
class ScanConfiguration(Configuration):
    """A block of `threads` takes a chunk of a scan at once, and then the next.

    A thread has `vectors` of `width` elements. In a row these lie a block apart. In columns they
    are successive iterations, and `lanes` threads have neighbouring vectors: all threads, where
    each scans its own columns. Rows that are `short` have one chunk. If rows are `open`, the launch
    says how many threads one needs, up to these. With `split` a scan's chunks are divided among as
    many blocks as fill the device. Several `rows` share a block, with equal parts of a warp's
    lanes: short ones, or open ones, of which a block has these at least.
    """

    family: ClassVar[str] = "scan"
    candidates: ClassVar[Mapping[str, Sequence[Value]]] = {
        "vectors": (1, 2, 4, 8),
        "threads": (64, 128, 256, 512),
        "lanes": (1, 4, 8, 32, 256),
        "split": (False, True),
        "rows": (1, 4, 32, 128),
    }

    kernel: Kind
    width: int
    vectors: int
    threads: int
    lanes: int = 1
    short: bool = False
    open: bool = False
    split: bool = False
    rows: int = 1
