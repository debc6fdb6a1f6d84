"""What a library has to stand in somebody else's process, on the CPU device."""

from __future__ import annotations

import pytest
from calls.checks import CHECKS, Checks
from calls.programs import build


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Checks:
    folder = tmp_path_factory.mktemp("calls")
    build(folder, "--offload-arch=cpu")
    return Checks(folder, "cpu", 2000)


@pytest.mark.parametrize("name", [name for name in CHECKS if "stream" not in name])
def test_a_check(checks: Checks, name: str) -> None:
    getattr(checks, name)()


def test_threads_share_a_stream(checks: Checks) -> None:
    checks.threads_on_one_stream()
