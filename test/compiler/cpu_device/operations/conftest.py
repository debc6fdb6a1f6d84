"""Builds the operations once, as a shared object for this process."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest

_SOURCES = Path(__file__).parents[4] / "compiler" / "cpu_device" / "runtime" / "operations"
_ENDS = """
#include "device_abi.h"
#include <stdlib.h>
_Noreturn void hirc_device_abort(struct hirc_block *block, uint32_t thread, int error) {
  (void)block, (void)thread;
  exit(error);
}
"""


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """All of runtime/operations."""
    folder = tmp_path_factory.mktemp("operations")
    ends = folder / "ends.c"
    ends.write_text(_ENDS)
    built = folder / "operations.so"
    flags = ["-std=gnu11", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{_SOURCES.parent}"]
    sources = sorted(_SOURCES.glob("*.c"))
    subprocess.run(["clang-22", *flags, "-shared", *sources, ends, "-lm", "-o", built], check=True)
    return ctypes.CDLL(str(built))
