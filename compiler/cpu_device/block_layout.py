"""Where generated code finds things: its context parameters, and fields of struct hirc_block.

The offsets are those of runtime/device_abi.h; a test compares them with clang's.
"""

from __future__ import annotations

# Every function of device code takes these before its own parameters: its block, and where its
# thread stands in it.
BLOCK, X, Y, Z, THREAD = "%hirc.block", "%hirc.x", "%hirc.y", "%hirc.z", "%hirc.thread"
CONTEXT = {BLOCK: "ptr", X: "i32", Y: "i32", Z: "i32", THREAD: "i32"}
CONTEXT_PARAMETERS = ", ".join(f"{type_} {name}" for name, type_ in CONTEXT.items())

FIELDS = {
    "index": 0,
    "grid": 12,
    "size": 24,
    "cluster_index": 36,
    "cluster_grid": 48,
    "index_in_cluster": 60,
    "cluster_size": 72,
    "rank_in_cluster": 84,
    "blocks_in_cluster": 88,
    "dynamic_shared_bytes": 92,
    "threads": 96,
    "padded_threads": 100,
    "shared": 104,
    "frames": 112,
    "exchange": 120,
    "next": 128,
    "grid_id": 136,
    "kernel": 144,
    "cluster": 152,
}

# Fields of struct hirc_kernel that device code reads.
KERNEL_FIELDS = {"static_shared_bytes": 44}

# Results of a region that are no state.
STATE_END = 0xFFFF
STATES_DIFFER = -1

MAX_THREADS = 1024
