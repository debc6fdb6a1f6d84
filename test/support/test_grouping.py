"""Tests that share what a fixture of their file makes run in one process."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="module")
def shared() -> int:
    return 1


def test_a_sharing_test_is_grouped(shared: int, request: pytest.FixtureRequest) -> None:
    marker = request.node.get_closest_marker("xdist_group")
    assert (shared, marker.args) == (1, ("support/test_grouping",))
    # pytest-xdist goes by the name.
    is_alone = "PYTEST_XDIST_WORKER" not in os.environ
    assert is_alone or request.node.nodeid.endswith("@support/test_grouping")


def test_any_other_is_not(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("xdist_group") is None
