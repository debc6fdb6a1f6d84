"""What is decided of a kernel of small windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ....dialects.records import dataclass
from ..configuration import Configuration, Value
from ..work import Layout


@dataclass(frozen=True)
class WindowConfiguration(Configuration):
    """A thread has `width` results along the last loop, in `rows` along the one before.

    `layout` is what is assumed of buffers whose types leave all strides open, `threads` a block's.
    """

    family: ClassVar[str] = "windows"
    candidates: ClassVar[Mapping[str, Sequence[Value]]] = {
        "width": (1, 2, 4, 8),
        "rows": (1, 2, 4, 8),
        "threads": (64, 128, 256, 512),
    }

    width: int
    rows: int
    threads: int
    layout: Layout = Layout.PACKED
