"""Shared memory of a cluster's blocks: addresses of other ranks, and multicast copies."""

from __future__ import annotations

import ctypes

import numpy as np

from .shared_memory import aligned
from .warp import Block


def test_ranks_and_multicast(library: ctypes.CDLL) -> None:
    memory = aligned(3 * 4096, 1024)
    # In memory the ranks do not follow one another.
    starts = [memory.ctypes.data + 4096 * place for place in (1, 2, 0)]
    blocks = [
        Block(rank_in_cluster=n, blocks_in_cluster=3, shared=at) for n, at in enumerate(starts)
    ]
    table = (ctypes.POINTER(Block) * 3)(*(ctypes.pointer(block) for block in blocks))
    for block in blocks:
        block.cluster = ctypes.addressof(table)
    first = ctypes.byref(blocks[0])
    library.hirc_map_shared_rank.restype = ctypes.c_void_p
    for own in range(3):
        for rank in range(3):
            address = ctypes.c_void_p(starts[own] + 100)
            assert library.hirc_map_shared_rank(first, 0, address, rank) == starts[rank] + 100
            assert library.hirc_shared_rank(first, 0, address) == own
    source = np.arange(1, 65, dtype=np.uint8)
    barrier = 2048
    for start in starts:
        library.hirc_mbarrier_init(ctypes.c_void_p(start + barrier), 1)
        library.hirc_mbarrier_expect_tx(ctypes.c_void_p(start + barrier), 64)
    library.hirc_copy_bulk_to_shared(
        first, 0, ctypes.c_void_p(starts[0] + 16), ctypes.c_void_p(starts[0] + barrier),
        ctypes.c_void_p(source.ctypes.data), 64, 0b110, 1,
    )  # fmt: skip
    fresh = ctypes.c_uint64()
    library.hirc_mbarrier_init(ctypes.byref(fresh), 1)
    for rank, start in enumerate(starts):
        at = start - memory.ctypes.data
        copied = bool((memory[at + 16 : at + 80] == source).all())
        assert copied == (rank > 0)
        complete = memory[at + barrier : at + barrier + 8].view(np.uint64)[0] == fresh.value
        assert complete == (rank > 0)
