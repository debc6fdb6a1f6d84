"""How few rows are multiplied: the decision, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import ClassVar

from ....dialects.records import dataclass
from ...lane_reduction import WARP_LANES
from ..configuration import Configuration, Value


class Along(StrEnum):
    """What neighbours in the weight's memory are."""

    TERMS = "terms"
    COLUMNS = "columns"


@dataclass(frozen=True)
class FewRowsConfiguration(Configuration):
    """A thread adds up `terms` at once of each of `rows` and `columns`; `unroll` times as many are
    under way.

    `lanes` threads share the terms of a column, and `across` of them lie side by side along
    columns; together they are a team, and a block of `threads` has one or several. If it
    `overlaps`, it is launched before the kernel before it has ended.
    """

    family: ClassVar[str] = "few_rows"
    candidates: ClassVar[Mapping[str, Sequence[Value]]] = {
        "columns": (1, 2, 4, 8),
        "terms": (1, 2, 4, 8),
        "lanes": (8, 16, 32, 64, 128, 256),
        "across": (1, 2, 4, 8, 16),
        "unroll": (1, 2, 3, 4, 6),
        "threads": (64, 128, 256),
        "overlaps": (True, False),
    }

    along: Along
    rows: int
    columns: int
    terms: int
    lanes: int
    across: int
    unroll: int
    threads: int
    overlaps: bool

    @property
    def teams(self) -> int:
        """The teams of a block."""
        return self.threads // (self.lanes * self.across)

    @property
    def slots(self) -> int:
        """Threads of a block that have columns of their own."""
        return self.teams * self.across

    @property
    def block_columns(self) -> int:
        return self.slots * self.columns

    @property
    def parts(self) -> int:
        """The warps that share the terms of a column."""
        return max(self.lanes * self.across // WARP_LANES, 1)

    @property
    def step(self) -> int:
        """The terms that a team adds up at once."""
        return self.lanes * self.terms
