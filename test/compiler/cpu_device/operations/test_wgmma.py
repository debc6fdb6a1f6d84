"""wgmma from shared memory and registers, all swizzles, against numpy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from numpy.typing import NDArray

from hirc.compiler.cpu_device.operations import operation

from .fragments import BITS, Matrix, encode, pack, place_a, place_c, random_matrix, unpack
from .shared_memory import aligned, swizzled_chunk
from .warp import Array, perform

_SHARED_BYTES = 128 * 1024
_MODES = {0: 0, 128: 1, 64: 2, 32: 3}
_START = 4096


def _place(
    shared: NDArray[np.uint8], start: int, matrix: Matrix, type_: str, width: int, transposed: bool
) -> int:
    """Puts outer x k into shared memory, and returns its descriptor.

    Swizzled, a panel has rows of `width` bytes: for each outer index (k innermost), or, transposed,
    for each k with a panel for every width's worth of outer indices. Without a swizzle there are
    core matrices of 8 x 16 bytes, those along k first.
    """
    size = BITS[type_] // 8
    rows, columns = matrix.T.shape if transposed else matrix.shape
    values = matrix.T if transposed else matrix
    per_row = (width or 16) // size
    # Rows of 8 form a group; a panel is all the rows of one width.
    panel = rows * (width or 16)
    for row in range(rows):
        for column in range(columns):
            inside = column % per_row * size
            at = column // per_row * panel + row * (width or 16)
            at += swizzled_chunk(row, inside // 16, width) * 16 + inside % 16
            bits = encode(type_, float(values[row, column]))
            shared[start + at : start + at + size] = [bits >> 8 * i & 255 for i in range(size)]
    group = 8 * (width or 16)
    if transposed:
        leading, stride = (panel, group) if width else (group, panel)
    else:
        leading, stride = panel, group
    address = (shared.ctypes.data + start) & 0x3FFFF
    return address >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | _MODES[width] << 62


_CASES = [
    ("f16", "f16", "f32", 16, width, ta, tb)
    for width in _MODES
    for ta, tb in ((0, 0), (1, 0), (0, 1), (1, 1))
] + [
    ("bf16", "bf16", "f32", 16, 128, 0, 1),
    ("f16", "f16", "f16", 16, 64, 0, 0),
    ("tf32", "tf32", "f32", 8, 32, 0, 0),
    ("e4m3", "e5m2", "f32", 32, 128, 0, 0),
    ("s8", "u8", "s32", 32, 64, 0, 0),
]


# In registers a has no layout to transpose.
@pytest.mark.parametrize(
    ("a", "b", "d", "k", "width", "ta", "tb", "registers"),
    [
        (*case, registers)
        for case in _CASES
        for registers in (False, True)
        if not registers or not case[5]
    ],
)
def test_wgmma(
    library: ctypes.CDLL,
    a: str,
    b: str,
    d: str,
    k: int,
    width: int,
    ta: int,
    tb: int,
    registers: bool,
) -> None:
    n, warp, sign = 64, 2, -1 if d == "f32" else 1
    source = "registers" if registers else "descriptor"
    found = operation(f"hirc.ptx.wgmma.n{n}.{d}.{a}.{b}.{source}.{sign}.1.{ta}.{tb}")
    assert found is not None
    rng = np.random.default_rng(6)
    left, right = random_matrix(rng, a, (64, k)), random_matrix(rng, b, (k, n))
    start = random_matrix(rng, d, (64, n))
    shared = aligned(_SHARED_BYTES, 1024)
    rows = slice(16 * warp, 16 * warp + 16)
    word = np.dtype(np.uint32)
    before = pack(start[rows], d, _wide_c)
    operands: list[Array] = [*before]
    if registers:
        operands += pack(left[rows], a, place_a(a, 16))
    else:
        descriptor = _place(shared, _START, left, a, width, bool(ta))
        operands.append(np.full(32, descriptor, np.uint64))
    descriptor = _place(shared, 16 * _START, np.ascontiguousarray(right.T), b, width, bool(tb))
    operands += [np.full(32, descriptor, np.uint64), np.ones(32, np.uint8)]
    for scale in (1, 0):
        operands[-1][:] = scale
        done = perform(
            library,
            found.function,
            operands,
            [word] * len(before),
            found.parameters,
            warp=warp,
            shared=shared.ctypes.data,
        )
        expected = scale * start[rows] + sign * (left @ right)[rows]
        given = unpack(done.results, d, (16, n), _wide_c)
        np.testing.assert_array_equal(given, expected)


def _wide_c(lane: int, i: int) -> tuple[int, int]:
    """d of wgmma: the 16 x 8 tile of mma, again and again along n."""
    row, column = place_c(16)(lane, i)
    return row, column + i // 4 * 8
