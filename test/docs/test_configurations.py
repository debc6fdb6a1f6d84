"""The page of schedules has every family, and every field, of configurations."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from hirc.pipelines.schedules.attention.configuration import AttentionConfiguration
from hirc.pipelines.schedules.choose import FAMILIES
from hirc.pipelines.schedules.columns.configuration import ColumnConfiguration
from hirc.pipelines.schedules.configuration import Configuration
from hirc.pipelines.schedules.contraction.patches import PatchConfiguration
from hirc.pipelines.schedules.contraction.warpgroups import WarpgroupConfiguration
from hirc.pipelines.schedules.few_rows.configuration import FewRowsConfiguration
from hirc.pipelines.schedules.pointwise.configuration import PointwiseConfiguration
from hirc.pipelines.schedules.rows.configuration import RowConfiguration
from hirc.pipelines.schedules.scan.configuration import ScanConfiguration
from hirc.pipelines.schedules.transforms.configuration import TransformConfiguration
from hirc.pipelines.schedules.transpose.configuration import TransposeConfiguration
from hirc.pipelines.schedules.windows.configuration import WindowConfiguration
from support.environment import ROOT

_CLASSES: tuple[type[Configuration], ...] = (
    AttentionConfiguration,
    ColumnConfiguration,
    FewRowsConfiguration,
    PatchConfiguration,
    PointwiseConfiguration,
    RowConfiguration,
    ScanConfiguration,
    TransformConfiguration,
    TransposeConfiguration,
    WarpgroupConfiguration,
    WindowConfiguration,
)


def test_every_family_is_compared() -> None:
    assert {each.family for each in _CLASSES} == set(FAMILIES)


@pytest.mark.parametrize("kind", _CLASSES)
def test_the_page_has_every_field(kind: type[Configuration]) -> None:
    page = (ROOT / "docs" / "schedules.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith(f"| `{kind.family}` |"))
    names = {field.name for field in fields(kind)}  # pyright: ignore[reportArgumentType]
    assert names <= set(re.findall(r"`(\w+)`", row))
    assert set(kind.candidates) <= names
