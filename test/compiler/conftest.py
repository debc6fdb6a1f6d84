"""Fixtures of the compiler's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from hirc.compiler.toolchain import find_clang
from support.driver import Hirc


@pytest.fixture
def hirc(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hirc:
    return Hirc(capfd, monkeypatch)


@pytest.fixture(scope="session")
def clang() -> Path:
    return find_clang().path
