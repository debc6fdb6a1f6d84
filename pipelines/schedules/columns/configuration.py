"""What is decided of a kernel that reduces columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import ClassVar

from ....dialects.records import dataclass
from ..configuration import Configuration, Value


class Kind(StrEnum):
    """Whether rows' vectors begin at the first column, or at each row's aligned addresses."""

    ALIGNED = "aligned"
    SKEWED = "skewed"


@dataclass(frozen=True)
class ColumnConfiguration(Configuration):
    """A block of `threads` takes `lanes` vectors of `width` columns, several threads each.

    A thread has `unroll` iterations under way. Where it is `split`, iterations are divided among as
    many blocks as fill the device. A multiprocessor's registers are to hold `resident` blocks; with
    0 the assembler decides. Of an `open` one the launch says how many lanes there are, these or, of
    few iterations, one for each thread.
    """

    family: ClassVar[str] = "columns"
    candidates: ClassVar[Mapping[str, Sequence[Value]]] = {
        "width": (1, 2, 4, 8),
        "lanes": (8, 16, 32, 64),
        "unroll": (2, 4, 8),
        "threads": (256, 512),
        "split": (False, True),
    }

    kernel: Kind
    width: int
    lanes: int
    unroll: int
    threads: int
    split: bool
    resident: int
    open: bool = False
