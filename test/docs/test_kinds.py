"""docs/host-ir-kinds.md says what the tables of kinds say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from hirc.dialects.hir import kinds
from hirc.dialects.hir.element_rules import takes_for
from hirc.dialects.hir.kinds import Kind

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "host-ir-kinds.md").read_text()
TABLES = {
    "hir.unary": kinds.UNARY,
    "hir.binary": kinds.BINARY,
    "hir.ternary": kinds.TERNARY,
    "hir.reduce": kinds.REDUCE,
}


def section(title: str) -> str:
    """The text under a heading."""
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("title", TABLES)
def test_the_page_has_every_kind(title: str) -> None:
    table: Mapping[str, Kind] = TABLES[title]
    rows = [line for line in section(title).splitlines() if line.startswith("| `")]
    assert rows == [
        f"| `{name}` | {takes_for(kind)} | {kind.gives} | {kind.meaning} |"
        for name, kind in table.items()
    ]


def test_the_page_has_every_communication() -> None:
    named = tuple(re.findall(r"`([\w-]+)`", section("hir.communicate")))
    assert named == kinds.COMMUNICATION + kinds.COMMUNICATED_REDUCTION
