"""Memory of host programs: where it comes from and goes to, counting it, and zeros in it."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from conftest import Library

_DEVICE, _PINNED, _MANAGED, _SYMMETRIC = range(4)


def _allocate(library: Library, size: int, kind: int) -> ctypes.c_void_p:
    allocate = library.loaded.hirc_allocate
    allocate.restype = ctypes.c_void_p
    return ctypes.c_void_p(allocate(ctypes.c_int64(size), kind, None, b""))


@pytest.mark.parametrize(
    ("kind", "made", "freed"),
    [
        (_DEVICE, ["cudaMallocAsync 24 in -1"], ["cudaFreeAsync in -1"]),
        (_SYMMETRIC, ["cudaMallocAsync 24 in -1"], ["cudaFreeAsync in -1"]),
        (_PINNED, ["cudaMallocHost 24"], ["cudaStreamSynchronize -1", "cudaFreeHost "]),
        (_MANAGED, ["cudaMallocManaged 24 flags=1"], ["cudaStreamSynchronize -1", "cudaFree "]),
    ],
)
def test_memory_of_each_kind(
    library: Library, kind: int, made: list[str], freed: list[str]
) -> None:
    _allocate(library, 1, kind)  # the pool is prepared
    kept: list[ctypes.c_void_p] = []
    assert library.calls(lambda: kept.append(_allocate(library, 24, kind))) == made
    assert library.calls(lambda: library.loaded.hirc_free(kept[0], kind, None, b"")) == freed


def test_no_bytes_are_memory_too(library: Library) -> None:
    assert _allocate(library, 0, _DEVICE).value


def test_a_devices_pool_keeps_what_is_freed(library: Library) -> None:
    done = library.run(
        "lib.hirc_allocate.restype = lib.fake_log.restype = c.c_void_p",
        "for device in (0, 0, 1):",
        "    lib.cudaSetDevice(device); lib.hirc_allocate(c.c_int64(8), 0, None, None)",
        "print(c.string_at(lib.fake_log()).decode(), flush=True)",
        "lib.fake_fail(b'cudaMallocAsync', 2)",
        "lib.hirc_allocate(c.c_int64(8), 0, None, b'p.mlir:3:4')",
    )
    prepared = "cudaMemPoolSetAttribute 4=ffffffffffffffff"
    assert [line for line in done.stdout.splitlines() if "Pool" in line] == [
        "cudaDeviceGetDefaultMemPool 0",
        prepared,
        "cudaDeviceGetDefaultMemPool 1",
        prepared,
    ]
    assert done.stderr.startswith("p.mlir:3:4: error: cudaMallocAsync failed: ")


def _counts(library: Library) -> tuple[int, ...]:
    """The live and the peak bytes, and how many allocations and deallocations there were."""
    counts = library.integers(0, 0, 0, 0)
    library.loaded.hirc_memory_counts(counts)
    return tuple(counts)


def test_counting(library: Library) -> None:
    earlier = _allocate(library, 1000, _DEVICE)
    library.loaded.hirc_count_memory(1)
    assert _counts(library) == (0, 0, 0, 0)
    library.loaded.hirc_free(earlier, _DEVICE, None, b"")
    memory = [_allocate(library, size, _DEVICE) for size in range(1, 301)]
    total = 300 * 301 // 2
    assert _counts(library) == (total, total, 300, 0)
    for address in memory[::2]:
        library.loaded.hirc_free(address, _DEVICE, None, b"")
    live = sum(range(2, 301, 2))
    assert _counts(library) == (live, total, 300, 150)
    for address in memory[1::2]:
        library.loaded.hirc_free(address, _DEVICE, None, b"")
    assert _counts(library) == (0, total, 300, 300)
    library.loaded.hirc_count_memory(0)
    _allocate(library, 5, _DEVICE)
    assert _counts(library) == (0, total, 300, 300)


def _zero(library: Library, view: np.ndarray) -> list[str]:
    return library.calls(
        lambda: library.loaded.hirc_zero_strided(
            ctypes.c_void_p(view.ctypes.data),
            ctypes.c_int64(view.ndim),
            library.integers(*view.shape),
            library.strides(view),
            ctypes.c_int64(view.itemsize),
            None,
            b"",
        )
    )


def test_zeros_in_views(library: Library) -> None:
    whole = np.ones((4, 6, 8), np.float32)
    cases = [
        (whole[1:3], 1),
        (whole[:, 2:5, :], 1),
        (whole.transpose(2, 0, 1)[::3, ::2], 6),
        (whole[:0], 0),
        (whole[2, 3, 4:5], 1),
    ]
    for view, calls in cases:
        whole[...] = 1
        expected = whole.copy()
        places = np.zeros(whole.shape, bool)
        mask = np.lib.stride_tricks.as_strided(
            places.reshape(-1)[(view.ctypes.data - whole.ctypes.data) // 4 :]
            if view.size
            else places,
            view.shape,
            tuple(stride // 4 for stride in view.strides),
        )
        mask[...] = True
        expected[places] = 0
        assert len(_zero(library, view)) == calls
        np.testing.assert_array_equal(whole, expected)
