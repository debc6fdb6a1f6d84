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
    """One executable: what it is built from and how its run must end.

    `same_as` names the program whose source and output it shares under other flags.
    """

    name: str
    arch: str = "sm_90"
    sources: tuple[str, ...] = ()
    status: int = 0
    errors: str = ""
    flags: tuple[str, ...] = ()
    same_as: str = ""

    @property
    def paths(self) -> list[Path]:
        return [FOLDER / f"{name}.mlir" for name in self.sources or (self.same_as or self.name,)]

    @property
    def expected(self) -> str:
        return (FOLDER / f"{self.same_as or self.name}.expected").read_text()

    @property
    def command(self) -> list[str]:
        """hirc's arguments but for -o."""
        return [*map(str, self.paths), f"--offload-arch={self.arch}", *self.flags]


_BAD_LAUNCHES = (
    *("no_blocks", "no_threads", "many_threads", "deep_block", "high_grid", "much_shared"),
)

PROGRAMS = (
    Program("fill_exp_sqrt"),
    Program("saxpy", sources=("saxpy_main", "saxpy_kernel")),
    Program("block_reduction"),
    Program("warp_shuffle"),
    Program("all_reduce"),
    Program("same_kernel_name"),
    Program("two_streams"),
    Program("dynamic_shared_100k"),
    Program("static_shared_100k"),
    Program("printf"),
    Program("device_ops"),
    Program(
        "failing_assert",
        status=1,
        errors=r"Assertion `the fifth thread is not welcome` failed(?s:.*)"
        r"failing_assert\.mlir:\d+:\d+: error: cudaStreamSynchronize failed: cudaErrorAssert",
    ),
    Program(
        "awaited_at_end",
        sources=("awaited_at_end_main", "awaited_at_end_launch"),
        status=1,
        errors=r"Assertion `and failed` failed(?s:.*)"
        r"awaited_at_end_main\.mlir:\d+:\d+: error: cudaDeviceSynchronize failed: cudaErrorAssert",
    ),
    Program("device_global"),
    Program("launch_limits"),
    Program(
        "launch_contradicts",
        status=-6,
        errors="the launch has another number of blocks in x: 'known_grid_size' of kernel 'show' "
        "says 2",
    ),
    *(
        Program(f"launch_{what}", status=1, errors="cudaErrorInvalidValue")
        for what in _BAD_LAUNCHES
    ),
    Program("out_of_memory", status=1, errors="cudaMallocAsync failed: cudaErrorMemoryAllocation"),
    Program("illegal_address", status=1, errors="failed: cudaErrorIllegalAddress"),
    Program("trap", status=1, errors="failed: cudaErrorLaunchFailure"),
    Program("memory"),
    Program("host_shared"),
    Program("async_regions"),
    Program("transformed"),
    Program("dialects"),
    Program("block_reduction_bare", same_as="block_reduction", flags=("--kernel-bare-pointers",)),
    Program("block_reduction_debug", same_as="block_reduction", flags=("-g", "-O0")),
    Program("device_global_two_chips", same_as="device_global", arch="sm_80,sm_90"),
    Program("fill_fast", same_as="fill_exp_sqrt", flags=("--fast-math", "--ftz", "-O3")),
    Program("wmma_f16"),
    Program("mma_sync"),
    Program("cp_async"),
    Program("mbarrier"),
    Program("cluster"),
    Program("tma_load"),
    Program("tma_tiles", arch="sm_90a"),
    Program("wgmma_128", arch="sm_90a"),
)

# With instructions of NVIDIA's alone, and those that need more shared memory than AMD's chips have.
NVIDIA_PROGRAMS = frozenset(
    {
        *("wmma_f16", "mma_sync", "cp_async", "mbarrier", "cluster"),
        *("tma_load", "tma_tiles", "wgmma_128"),
        *("dynamic_shared_100k", "static_shared_100k"),
    }
)


def without_addresses(text: str) -> str:
    """Printed memrefs with ADDRESS for where they lie."""
    return re.sub(r"base@ = 0x[0-9a-f]+", "base@ = ADDRESS", text)
