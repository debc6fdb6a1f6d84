"""Launches, the limit of shared memory, and tensor maps."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from conftest import Library

_I64 = ctypes.c_int64


def _sizes(*values: int) -> list[ctypes.c_int64]:
    return [_I64(value) for value in values]


def _launch(library: Library, stub: int, shared: int) -> list[str]:
    arguments = [ctypes.c_void_p(stub), *_sizes(7, 6, 5, 4, 3, 2, shared), ctypes.c_void_p(0xABC)]
    return library.calls(lambda: library.loaded.hirc_launch(*arguments, _I64(8), None, b"here"))


def test_a_launch_passes_everything_on(library: Library) -> None:
    assert _launch(library, 0x1000, 0) == [
        "cudaLaunchKernel 0x1000 grid=7,6,5 block=4,3,2 args=0xabc shared=0 in -1"
    ]


def test_the_limit_of_shared_memory_is_raised_once_a_kernel_and_device(library: Library) -> None:
    # 232448 bytes are the fake device's, 1024 of them static in every kernel.
    raised = "cudaFuncSetAttribute 0x2000 8=231424"
    assert _launch(library, 0x2000, 102400)[0] == raised
    assert [line.split()[0] for line in _launch(library, 0x2000, 120000)] == ["cudaLaunchKernel"]
    assert _launch(library, 0x2010, 48 * 1024)[0] == "cudaFuncSetAttribute 0x2010 8=231424"
    library.loaded.cudaSetDevice(1)
    try:
        assert _launch(library, 0x2000, 102400)[0] == raised
    finally:
        library.loaded.cudaSetDevice(0)


def test_kernels_of_one_slot_do_not_take_each_other_s_limit(library: Library) -> None:
    for stub in (0x3000, 0x3000 + 64 * 16, 0x3000):
        assert len(_launch(library, stub, 64 * 1024)) == 2


_EX = "cudaLaunchKernelExC 0x10 grid=8"


@pytest.mark.parametrize(
    ("cluster", "kinds", "expected"),
    [
        ((2, 1, 1), 0, [f"{_EX} cluster=2,1,1 cooperative=0 overlaps=0 shared=0"]),
        ((0, 0, 0), 1, [f"{_EX} cluster=0,0,0 cooperative=1 overlaps=0 shared=0"]),
        ((0, 0, 0), 2, [f"{_EX} cluster=0,0,0 cooperative=0 overlaps=1 shared=0"]),
        (
            (4, 4, 1),
            3,
            [
                "cudaFuncSetAttribute 0x10 14=1",
                f"{_EX} cluster=4,4,1 cooperative=1 overlaps=1 shared=0",
            ],
        ),
    ],
)
def test_cluster_cooperative_and_overlapping_launches(
    library: Library, cluster: tuple[int, int, int], kinds: int, expected: list[str]
) -> None:
    head = [ctypes.c_void_p(0x10), *_sizes(8, 1, 1, 32, 1, 1, 0)]
    head += [None, _I64(0), None, *_sizes(*cluster)]
    launch = library.loaded.hirc_launch_cluster
    assert library.calls(lambda: launch(*head, kinds, b"here")) == expected


@pytest.mark.parametrize(
    ("grid", "shared", "code", "lines"),
    [
        (0, 16, 9, 2),  # CUDA refuses it
        (-1, 0, 0, 2),  # does not fit CUDA's types
        (1, 300000, 0, 2),  # more shared memory than the device has
        (1, 0, 700, 1),  # a kernel before it failed: the sizes are not to blame
    ],
)
def test_a_failed_launch_names_its_sizes(
    library: Library, grid: int, shared: int, code: int, lines: int
) -> None:
    sizes = ", ".join(f"c.c_int64({value})" for value in (grid, 1, 1, 256, 1, 1, shared))
    done = library.run(
        f"lib.fake_fail(b'cudaLaunchKernel', {code})" if code else "",
        f"lib.hirc_launch(c.c_void_p(16), {sizes}, None, c.c_int64(0), None, b'p.mlir:8:1')",
    )
    assert done.returncode == 1
    assert done.stderr.startswith("p.mlir:8:1: error: cuda")
    assert len(done.stderr.splitlines()) == lines
    if shared > 100000:
        assert "more shared memory than a block of this device has" in done.stderr
    elif lines == 2:
        assert f"the grid is {grid} x 1 x 1 blocks of 256 x 1 x 1 threads" in done.stderr


# Tensor maps.


def test_a_tensor_map_is_innermost_first_and_in_bytes(library: Library) -> None:
    room = ctypes.create_string_buffer(192)
    aligned = ctypes.addressof(room) + -ctypes.addressof(room) % 64
    tensor = np.zeros((3, 64, 128), "f2")[:, :, :64]
    calls = library.calls(
        lambda: library.loaded.hirc_tensor_map_encode(
            ctypes.c_void_p(aligned),
            _I64(3),
            library.descriptor(tensor, offset=8),
            6,
            _I64(2),
            library.integers(1, 32, 16),
            library.integers(1, 2, 1),
            *(0, 1, 2, 1),
            b"here",
        )
    )
    assert calls[-1] == (
        f"cuTensorMapEncodeTiled {tensor.ctypes.data:#x} kind=6 [64 by 0 box 16 step 1] "
        "[64 by 256 box 32 step 2] [3 by 16384 box 1 step 1] modes=0,1,2,1"
    )
    assert set(ctypes.string_at(aligned, 128)) == {0x5A}
    expected = "cudaGetDriverEntryPointByVersion cuTensorMapEncodeTiled 12000 0"
    assert calls[:-1] in ([expected], [])


@pytest.mark.parametrize(
    ("start", "sizes", "strides", "box", "swizzle", "note"),
    [
        (0x1008, (8, 64), (64, 1), (8, 64), 3, "must start at a multiple of 16 bytes, not at 0x1"),
        (0x1000, (8, 63), (63, 1), (8, 64), 3, "the stride of dimension 0 must be a multiple of"),
        (0x1000, (0, 64), (64, 1), (8, 64), 3, "the size of dimension 0 must be 1 to 2^32, not 0"),
        (0x1000, (8, 64), (64, 1), (8, 257), 0, "1 to 256 elements along dimension 1, not 257"),
        (0x1000, (8, 64), (64, 1), (8, 64), 3, "the step along dimension 0 must be 1 to 8, not 9"),
        (0x1000, (8, 64), (64, 1), (8, 4), 0, "row of the box must be a multiple of 16 bytes"),
        (0x1000, (8, 64), (64, 1), (8, 64), 2, "must fit in the swizzle's 64 bytes, not be 128"),
        (0x1000, (8, 64), (128, 2), (8, 64), 3, "innermost dimension of the tensor must be cont"),
        (0x1000, (1,) * 6, (1,) * 6, (1,) * 6, 0, "a tensor map has 1 to 5 dimensions"),
    ],
)
def test_a_refused_tensor_map_says_which_rule(
    library: Library,
    start: int,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    box: tuple[int, ...],
    swizzle: int,
    note: str,
) -> None:
    rank = len(sizes)
    steps = [9 if "step" in note else 1, *[1] * (rank - 1)]
    numbers = (start, start, 0, *sizes, *strides)
    done = library.run(
        f"descriptor = (c.c_int64 * {len(numbers)}){numbers}",
        f"box = (c.c_int64 * {rank})({', '.join(map(str, box))})",
        f"steps = (c.c_int64 * {rank})({', '.join(map(str, steps))})",
        "room = c.create_string_buffer(192)",
        "map = c.c_void_p(c.addressof(room) + -c.addressof(room) % 64)",
        "lib.fake_fail(b'cuTensorMapEncodeTiled', 1)",
        f"lib.hirc_tensor_map_encode(map, c.c_int64({rank}), descriptor, 6, c.c_int64(2), box, "
        f"steps, 0, {swizzle}, 0, 0, b'p.mlir:2:2')",
    )
    first, second = done.stderr.splitlines()
    assert done.returncode == 1
    assert first.startswith("p.mlir:2:2: error: cuTensorMapEncodeTiled failed: ")
    assert note in second


def test_a_driver_without_tensor_maps_is_named(library: Library) -> None:
    done = library.run(
        "c.c_int.in_dll(lib, 'fake_has_tensor_maps').value = 0",
        "numbers = (c.c_int64 * 5)(4096, 4096, 0, 64, 1)",
        "lib.hirc_tensor_map_encode(None, c.c_int64(1), numbers, 6, c.c_int64(2), numbers, "
        "numbers, 0, 0, 0, 0, b'p.mlir:2:2')",
    )
    assert "cuTensorMapEncodeTiled failed" in done.stderr
    assert "needs an NVIDIA driver" in done.stderr
