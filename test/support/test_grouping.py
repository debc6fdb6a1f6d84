"""Tests that share what a fixture of their file makes run in one process."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def shared() -> int:
    return 1


def test_a_sharing_test_is_grouped(shared: int, request: pytest.FixtureRequest) -> None:
    marker = request.node.get_closest_marker("xdist_group")
    assert (shared, marker.args) == (1, ("support/test_grouping",))


def test_any_other_is_not(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("xdist_group") is None
