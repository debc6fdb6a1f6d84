"""Builds the operations once, as a shared object for this process."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest

_SOURCES = Path(__file__).parents[4] / "compiler" / "cpu_device" / "runtime" / "operations"
# What the operations call of the engine and of the checks, which have tests of their own.
_ENDS = """
#include "alignment.h"
#include "checks/checks.h"
#include <stdlib.h>
_Noreturn void hirc_device_abort(struct hirc_block *block, uint32_t thread, int error) {
  (void)block, (void)thread;
  exit(error);
}
void hirc_need_alignment(struct hirc_block *block, uint32_t thread, const char *what,
                         const void *shared, uint32_t needed) {
  (void)block, (void)thread, (void)what;
  if ((uintptr_t)shared % needed != 0)
    exit(1);
}
void hirc_checks_access(const void *address, size_t bytes, enum hirc_check_kind kind) {
  (void)address, (void)bytes, (void)kind;
}
void hirc_checks_lane_access(const struct hirc_stop_call *call, uint32_t lane, const void *address,
                             size_t bytes, enum hirc_check_kind kind) {
  (void)call, (void)lane, (void)address, (void)bytes, (void)kind;
}
void hirc_checks_release(const void *object) { (void)object; }
void hirc_checks_acquire(struct hirc_block *block, uint32_t thread, const void *object) {
  (void)block, (void)thread, (void)object;
}
"""


@pytest.fixture(scope="package")
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
