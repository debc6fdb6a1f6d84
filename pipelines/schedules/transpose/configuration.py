"""What is decided of a kernel that transposes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import ClassVar

from ....dialects.records import dataclass
from ..configuration import Configuration, Value
from ..work import Layout


class Kind(StrEnum):
    """Whether threads turn squares of vectors, or rows' vectors begin at aligned addresses."""

    SQUARES = "squares"
    SKEWED = "skewed"


@dataclass(frozen=True)
class TransposeConfiguration(Configuration):
    """A block of `threads` takes a tile of `row_side` by `column_side` elements.

    Of these `width` are one access. `layout` is what is assumed of buffers whose types leave all
    strides open.
    """

    family: ClassVar[str] = "transpose"
    candidates: ClassVar[Mapping[str, Sequence[Value]]] = {
        "row_side": (16, 32, 64, 128, 256),
        "column_side": (16, 32, 64, 128, 256),
        "threads": (128, 256, 512),
    }

    kernel: Kind
    width: int
    row_side: int
    column_side: int
    threads: int
    layout: Layout = Layout.PACKED
