"""What is decided of a kernel of pointwise operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import ClassVar

from ....dialects.records import dataclass
from ..configuration import Configuration, Value
from ..work import Layout


class Kind(StrEnum):
    """What vectors are made of: rows of the innermost loop, memory as a whole, single elements."""

    ROWS = "rows"
    FLAT = "flat"
    SINGLE = "single"


@dataclass(frozen=True)
class PointwiseConfiguration(Configuration):
    """A block of `threads` computes vectors of `width` elements, `unroll` of them a thread.

    What is loaded in places that may not be there is loaded in the widest pieces that are all there
    or not; or, without `pieces`, element by element. `layout` is what is assumed of buffers whose
    types leave all strides open.
    """

    family: ClassVar[str] = "pointwise"
    candidates: ClassVar[Mapping[str, Sequence[Value]]] = {
        "width": (1, 2, 4, 8, 16),
        "unroll": (1, 2, 4),
        "threads": (128, 256, 512),
    }

    kernel: Kind
    width: int
    unroll: int
    threads: int
    pieces: bool = True
    layout: Layout = Layout.PACKED
