"""What is decided of a kernel that multiplies tiles by constant matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ....dialects.records import dataclass
from ..configuration import Configuration, Value
from ..work import Layout


@dataclass(frozen=True)
class TransformConfiguration(Configuration):
    """A thread has a tile. `width` neighbours of its results are one access.

    `layout` is what is assumed of buffers whose types leave all strides open, `threads` a block's.
    """

    family: ClassVar[str] = "transforms"
    candidates: ClassVar[Mapping[str, Sequence[Value]]] = {
        "width": (1, 2, 4),
        "threads": (64, 128, 256),
    }

    width: int
    threads: int
    layout: Layout = Layout.PACKED
