"""The programs that run on a GPU: their sources, chips, and what they must print.

A program's expected standard output is in NAME.expected, with ADDRESS where an address is printed.
Each is right by construction: its comment says what the numbers are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Program:
    """One executable: what it is built from and how its run must end."""

    name: str
    arch: str = "sm_90"
    sources: tuple[str, ...] = ()
    status: int = 0
    errors: str = ""

    @property
    def paths(self) -> list[Path]:
        return [FOLDER / f"{name}.mlir" for name in self.sources or (self.name,)]

    @property
    def expected(self) -> str:
        return (FOLDER / f"{self.name}.expected").read_text()


PROGRAMS = (
    Program("fill_exp_sqrt"),
    Program("saxpy", sources=("saxpy_main", "saxpy_kernel")),
    Program("block_reduction"),
    Program("warp_shuffle"),
    Program("same_kernel_name"),
    Program("two_streams"),
    Program("dynamic_shared_100k"),
    Program("static_shared_100k"),
    Program("printf"),
    Program(
        "failing_assert",
        status=1,
        errors=r"Assertion `the fifth thread is not welcome` failed(?s:.*)"
        r"failing_assert\.mlir:\d+:\d+: error: cudaStreamSynchronize failed: cudaErrorAssert",
    ),
    Program("device_global"),
    Program("wmma_f16"),
    Program("mma_sync"),
    Program("cp_async"),
    Program("mbarrier"),
    Program("cluster"),
    Program("tma_load"),
    Program("wgmma_128", arch="sm_90a"),
)


def without_addresses(text: str) -> str:
    """Printed memrefs with ADDRESS for where they lie."""
    return re.sub(r"base@ = 0x[0-9a-f]+", "base@ = ADDRESS", text)
