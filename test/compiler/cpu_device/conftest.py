"""One process runs the tests that link the whole runtime, which it compiles once."""

from __future__ import annotations

import pytest

_FILES = ("test_engine", "test_runtime")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.stem in _FILES and item.path.parents[1].name == "cpu_device":
            item.add_marker(pytest.mark.xdist_group("runtime"))
