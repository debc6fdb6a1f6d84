"""pytest's configuration: the environment that every test and every program it runs sees."""

from __future__ import annotations

import os

from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

from support.environment import ROOT, without_toolkit


def pytest_configure() -> None:
    """Hides CUDA toolkits, before any test module is imported."""
    environment = without_toolkit(os.environ, ROOT / "build" / "pytest" / "cache")
    os.environ.clear()
    os.environ.update(environment)


# A machine that is busy is no failure, so a property has no deadline.
settings.register_profile(
    "hirc",
    deadline=None,
    database=DirectoryBasedExampleDatabase(ROOT / "build" / "hypothesis"),
)
settings.load_profile("hirc")
