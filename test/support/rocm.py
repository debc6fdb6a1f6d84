"""Where ROCm is, and what of it tests need."""

from __future__ import annotations

import pytest

from hirc.compiler.errors import ToolchainError
from hirc.compiler.toolchain import find_rocm


def _has_libraries() -> bool:
    try:
        find_rocm()
    except ToolchainError:
        return False
    return True


needs_libraries = pytest.mark.skipif(
    not _has_libraries(), reason="ROCm's device libraries are not installed (rocm-device-libs)"
)
