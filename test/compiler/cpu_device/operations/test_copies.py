"""Asynchronous copies: boxes of tensors at odd places, by all swizzles, and plain ones."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from .shared_memory import aligned, swizzled_chunk

Bytes = NDArray[np.uint8]
Tensor = NDArray[Any]
_F32, _F16, _U8, _I32, _F64, _TF32 = 7, 6, 0, 3, 8, 11
_TYPES = {_F32: np.float32, _F16: np.float16, _U8: np.uint8, _I32: np.int32, _F64: np.float64}
_WIDTHS = (0, 32, 64, 128)


def _encode(
    library: ctypes.CDLL, tensor: Tensor, type_: int, box: list[int], **other: Any
) -> tuple[int, Bytes]:
    """cuTensorMapEncodeTiled of a tensor whose last dimension is innermost."""
    rank = tensor.ndim
    map_ = aligned(128, 64)
    sizes = (ctypes.c_uint64 * rank)(*reversed(tensor.shape))
    strides = (ctypes.c_uint64 * rank)(*reversed(tensor.strides[:-1]))
    boxes = (ctypes.c_uint32 * rank)(*reversed(box))
    steps = (ctypes.c_uint32 * rank)(*reversed(other.get("steps", [1] * rank)))
    modes = (other.get("interleave", 0), other.get("swizzle", 0), 0, other.get("fill", 0))
    at, start = ctypes.c_void_p(map_.ctypes.data), ctypes.c_void_p(tensor.ctypes.data)
    result = library.hirc_encode_tensor_map_tiled(
        at, type_, rank, start, sizes, strides, boxes, steps, *modes
    )
    return result, map_


def _tensor(shape: tuple[int, ...], type_: int) -> Tensor:
    """Numbers from 1, in rows whose stride is a multiple of 16 bytes."""
    item = np.dtype(_TYPES[type_])
    padded = -(-shape[-1] * item.itemsize // 16) * 16 // item.itemsize
    raw = aligned(int(np.prod(shape[:-1], dtype=int)) * padded * item.itemsize, 16)
    whole = raw.view(item).reshape(*shape[:-1], padded)
    whole[...] = (np.arange(whole.size) % 200 + 1).reshape(whole.shape)
    return whole[..., : shape[-1]]


def _box_of(tensor: Tensor, start: list[int], box: list[int], fill: float) -> Tensor:
    found = np.full(box, fill, tensor.dtype)
    for index in product(*(range(size) for size in box)):
        at = tuple(s + i for s, i in zip(start, index, strict=True))
        if all(0 <= place < size for place, size in zip(at, tensor.shape, strict=True)):
            found[index] = tensor[at]
    return found


def _coordinates(start: list[int]) -> list[ctypes.c_int32]:
    return [ctypes.c_int32(value) for value in [*reversed(start), 0, 0, 0, 0][:5]]


def _laid_out(box: Tensor, width: int) -> Bytes:
    """A box as it lies in shared memory."""
    rows = np.ascontiguousarray(box).view(np.uint8).reshape(-1, box.shape[-1] * box.itemsize)
    pitch = width or rows.shape[1]
    found = np.zeros((rows.shape[0], pitch), np.uint8)
    for number, row in enumerate(rows):
        for chunk in range(0, len(row), 16):
            to = swizzled_chunk(number, chunk // 16, width) * 16
            found[number, to : to + 16] = row[chunk : chunk + 16]
    return found.reshape(-1)


_SHAPES = [
    ((70,), [-5], [16]),
    ((9, 37), [2, 3], [8, 16]),
    ((9, 37), [-3, 30], [8, 16]),
    ((5, 6, 20), [3, -2, 12], [3, 4, 8]),
    ((2, 3, 4, 20), [1, 1, 2, 4], [2, 2, 3, 8]),
    ((2, 2, 3, 4, 20), [0, 1, -1, 2, 16], [1, 2, 2, 3, 8]),
]


def _bytes_of(type_: int) -> int:
    return 4 if type_ == _F32 else 2


# A row of the box may not be longer than the swizzle.
@pytest.mark.parametrize(
    ("shape", "start", "box", "width", "type_"),
    [
        (*shape, width, type_)
        for shape in _SHAPES
        for width in _WIDTHS
        for type_ in (_F32, _F16)
        if not width or shape[2][-1] * _bytes_of(type_) <= width
    ],
)
def test_tensor_load_and_store(
    library: ctypes.CDLL,
    shape: tuple[int, ...],
    start: list[int],
    box: list[int],
    width: int,
    type_: int,
) -> None:
    tensor = _tensor(shape, type_)
    for fill in (0, 1):
        result, map_ = _encode(library, tensor, type_, box, swizzle=_WIDTHS.index(width), fill=fill)
        assert result == 0
        expected = _box_of(tensor, start, box, np.nan if fill else 0)
        shared = aligned(64 * 1024, 1024)
        barrier = ctypes.c_uint64()
        library.hirc_mbarrier_init(ctypes.byref(barrier), 1)
        before = barrier.value
        library.hirc_tensor_load(
            None, 0, ctypes.c_void_p(shared.ctypes.data), ctypes.byref(barrier),
            ctypes.c_void_p(map_.ctypes.data), *_coordinates(start), len(box), 0, 0,
        )  # fmt: skip
        laid_out = _laid_out(expected, width)
        if fill:
            given = shared[: len(laid_out)].view(_TYPES[type_])
            np.testing.assert_array_equal(given, laid_out.view(_TYPES[type_]))
        else:
            np.testing.assert_array_equal(shared[: len(laid_out)], laid_out)
        assert not shared[len(laid_out) :].any()
        library.hirc_mbarrier_expect_tx(ctypes.byref(barrier), expected.nbytes)
        assert barrier.value == before
    old = tensor.copy()
    shared[: len(laid_out)] = _laid_out(np.full(box, 7, tensor.dtype), width)
    library.hirc_tensor_store(
        None, 0, ctypes.c_void_p(shared.ctypes.data), ctypes.c_void_p(map_.ctypes.data),
        *_coordinates(start), len(box),
    )  # fmt: skip
    written = _box_of(np.arange(tensor.size).reshape(shape), start, box, -1)
    inside = np.isin(np.arange(tensor.size).reshape(shape), written)
    np.testing.assert_array_equal(tensor, np.where(inside, 7, old))


def test_copies_round_to_tf32(library: ctypes.CDLL) -> None:
    tensor = _tensor((4, 8), _F32)
    words = tensor.view(np.uint32)
    given = [0x3F801000, 0x3F800FFF, 0xBF803000, 0x7F7FFFFF, 0x7F800000, 0x7F800001]
    wanted = [0x3F802000, 0x3F800000, 0xBF804000, 0x7F800000, 0x7F800000, 0x7FFFE000]
    words[0, : len(given)] = given
    shared = aligned(4 * 8 * 4, 128)
    for type_, found in ((_TF32, wanted), (_F32, given)):
        result, map_ = _encode(library, tensor, type_, [4, 8])
        assert result == 0
        barrier = ctypes.c_uint64()
        library.hirc_tensor_load(
            None, 0, ctypes.c_void_p(shared.ctypes.data), ctypes.byref(barrier),
            ctypes.c_void_p(map_.ctypes.data), *_coordinates([0, 0]), 2, 0, 0,
        )  # fmt: skip
        assert list(shared.view(np.uint32)[: len(found)]) == found


# Of a box as many elements are copied as steps begin in it, and those beyond the edges are 0. Along
# the innermost dimension the driver ignores steps.
@pytest.mark.parametrize("box", [7, 8])
@pytest.mark.parametrize("start", [1, -3, 13, -8])
@pytest.mark.parametrize("inner", [1, 4])
def test_element_strides(library: ctypes.CDLL, box: int, start: int, inner: int) -> None:
    tensor = _tensor((16, 32), _F32)
    result, map_ = _encode(library, tensor, _F32, [box, 16], steps=[2, inner])
    assert result == 0
    shared = aligned(1024, 1024)
    barrier, fresh = ctypes.c_uint64(), ctypes.c_uint64()
    for each in (barrier, fresh):
        library.hirc_mbarrier_init(ctypes.byref(each), 1)
    library.hirc_tensor_load(
        None, 0, ctypes.c_void_p(shared.ctypes.data), ctypes.byref(barrier),
        ctypes.c_void_p(map_.ctypes.data), 4, start, 0, 0, 0, 2, 0, 0,
    )  # fmt: skip
    given = shared[: 4 * 16 * 4].view(np.float32).reshape(4, 16)
    np.testing.assert_array_equal(given, _box_of(tensor, [start, 4], [8, 16], 0)[::2])
    # Its barrier is told of these bytes.
    library.hirc_mbarrier_arrive_expect_tx(ctypes.byref(barrier), given.nbytes)
    assert barrier.value == fresh.value ^ 1 << 63


@pytest.mark.parametrize("steps", [[0, 1], [9, 1]])
def test_steps_are_1_to_8(library: ctypes.CDLL, steps: list[int]) -> None:
    result, _ = _encode(library, _tensor((16, 32), _F32), _F32, [8, 16], steps=steps)
    assert result == 1


@pytest.mark.parametrize(
    ("reduction", "function"), list(enumerate([np.add, np.minimum, np.maximum]))
)
@pytest.mark.parametrize("type_", [_F32, _F16, _I32, _F64])
def test_tensor_reduce(
    library: ctypes.CDLL, reduction: int, function: Callable[..., Any], type_: int
) -> None:
    tensor = _tensor((4, 16), type_)
    result, map_ = _encode(library, tensor, type_, [4, 16])
    assert result == 0
    operand = np.full((4, 16), 20, tensor.dtype)
    expected = function(tensor, operand)
    shared = aligned(operand.nbytes, 128)
    shared[:] = operand.view(np.uint8).reshape(-1)
    library.hirc_tensor_reduce(
        None, 0, ctypes.c_void_p(shared.ctypes.data), ctypes.c_void_p(map_.ctypes.data),
        0, 0, 0, 0, 0, 2, reduction,
    )  # fmt: skip
    np.testing.assert_array_equal(tensor, expected)


def test_wrong_maps_are_refused(library: ctypes.CDLL) -> None:
    tensor = _tensor((8, 32), _F32)
    assert _encode(library, tensor, _F32, [8, 32])[0] == 0
    assert _encode(library, tensor, _F32, [8, 257])[0] == 1
    assert _encode(library, tensor, _F32, [8, 3])[0] == 1
    assert _encode(library, tensor, _F32, [8, 32], swizzle=2)[0] == 1
    assert _encode(library, tensor, _F32, [8, 32], steps=[9, 1])[0] == 1
    assert _encode(library, tensor, _F32, [8, 32], interleave=1)[0] == 1
    assert _encode(library, tensor, 13, [8, 32])[0] == 1
    assert _encode(library, tensor, _I32, [8, 32], fill=1)[0] == 1
    assert _encode(library, tensor[:, 1:], _F32, [8, 4])[0] == 1
    assert _encode(library, tensor.view(np.uint8)[:, 16:-4], _U8, [8, 16])[0] == 0


@pytest.mark.parametrize("read", [0, 5, 16, 99])
def test_copy_fills_with_zeros(library: ctypes.CDLL, read: int) -> None:
    source, to = np.arange(1, 17, dtype=np.uint8), np.full(20, 9, np.uint8)
    library.hirc_copy_async(
        ctypes.c_void_p(to.ctypes.data), ctypes.c_void_p(source.ctypes.data), 16, read
    )
    kept = min(read, 16)
    assert to.tolist() == [*range(1, kept + 1), *[0] * (16 - kept), 9, 9, 9, 9]
