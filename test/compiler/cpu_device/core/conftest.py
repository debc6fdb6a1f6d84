"""Each test of kernels runs without optimisation, with it, and with lines of the source."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.cpu_kernels import Kernels
from support.cpu_kernels import build as build_kernels

from .building import KERNELS, Build


@pytest.fixture(params=[(0, False), (2, False), (2, True)], ids=["O0", "O2", "O2-g"])
def build(request: pytest.FixtureRequest, tmp_path: Path) -> Build:
    level, debug = request.param

    def made(name: str) -> Kernels:
        source = (KERNELS / name).read_text()
        return build_kernels(source, tmp_path, opt_level=level, debug=debug)

    return made
