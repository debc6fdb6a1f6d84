"""Copies between strided views, compared with numpy's, and page-locking."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from conftest import Library


def _copy(library: Library, dst: np.ndarray, src: np.ndarray, asynchronous: int = 1) -> None:
    library.loaded.hirc_memcpy_strided(
        ctypes.c_void_p(dst.ctypes.data),
        ctypes.c_void_p(src.ctypes.data),
        ctypes.c_int64(dst.ndim),
        library.integers(*dst.shape),
        library.strides(dst),
        library.strides(src),
        ctypes.c_int64(dst.itemsize),
        None,
        asynchronous,
        b"copy",
    )


def _memref_copy(library: Library, dst: np.ndarray, src: np.ndarray) -> None:
    ranked = [library.descriptor(view, offset=3) for view in (src, dst)]
    unranked = [library.integers(src.ndim, ctypes.addressof(each)) for each in ranked]
    library.loaded.memrefCopy(ctypes.c_int64(src.itemsize), *unranked)


def _view(base: np.ndarray, axes: list[int], steps: list[int]) -> np.ndarray:
    return base[(*(slice(None, None, step) for step in steps), ...)].transpose(axes)


@st.composite
def _copies(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, list[int], list[int]]:
    """A source view, the base of a destination, and the axes and steps of the destination."""
    rank = draw(st.integers(0, 4))
    shape = draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank))
    kind = draw(st.sampled_from(["i1", "i2", "f4", "f8", "c16"]))
    steps = st.lists(st.sampled_from([1, 1, 2, -1, -3]), min_size=rank, max_size=rank)
    views: list[tuple[list[int], list[int], np.ndarray]] = []
    for _ in range(2):
        axes, by = draw(st.permutations(range(rank))), draw(steps)
        sizes = [shape[axes.index(i)] * abs(by[i]) for i in range(rank)]
        values = np.arange(int(np.prod(sizes)), dtype="i8") * 37 % 251
        views.append((list(axes), by, values.astype(kind).reshape(sizes)))
    axes, by, base = views[0]
    src = _view(base, axes, by)
    for axis in range(rank):
        if shape[axis] > 0 and draw(st.integers(0, 4)) == 0:
            src = np.broadcast_to(src.take([0], axis), shape)
    axes, by, base = views[1]
    return src, np.asarray(-base), axes, by


@settings(max_examples=400, deadline=None)
@given(case=_copies(), by_cuda=st.booleans())
def test_copies_equal_numpy_s(
    library: Library,
    case: tuple[np.ndarray, np.ndarray, list[int], list[int]],
    by_cuda: bool,
) -> None:
    src, base, axes, steps = case
    expected = base.copy()
    _view(expected, axes, steps)[...] = src
    library.loaded.fake_reset()
    (_copy if by_cuda else _memref_copy)(library, _view(base, axes, steps), src)
    np.testing.assert_array_equal(base, expected)


_A = np.arange(8 * 6 * 4, dtype="f4").reshape(8, 6, 4)


@pytest.mark.parametrize(
    ("dst", "src", "calls"),
    [
        (_A.copy(), _A, ["cudaMemcpyAsync 768 kind=4 in -1"]),
        (_A.copy()[::-1], _A[::-1], ["cudaMemcpyAsync 768 kind=4 in -1"]),
        (_A[:, 1:, :].copy(), _A[:, 1:, :], ["cudaMemcpy2DAsync 8 x 80 kind=4 in -1"]),
        (_A[..., 1].copy(), _A[..., 1], ["cudaMemcpy2DAsync 48 x 4 kind=4 in -1"]),
        (np.zeros((6, 8, 4), "f4"), _A.transpose(1, 0, 2), ["cudaMemcpy2DAsync 8 x 16 "] * 6),
        (_A.transpose(2, 0, 1).copy().transpose(1, 2, 0), _A, ["cudaMemcpy2DAsync 48 x 4 "] * 4),
        (_A.copy(), _A[::-1], ["cudaMemcpyAsync 96 kind=4 in -1"] * 8),
        (np.zeros(9, "f4"), np.broadcast_to(_A[0, 0, 0], 9), [f"{n}" for n in (4, 4, 8, 16, 4)]),
        (_A[:0].copy(), _A[:0], []),
        (np.zeros((), "f8"), np.ones((), "f8"), ["cudaMemcpyAsync 8 "]),
    ],
)
def test_copies_take_few_calls(
    library: Library, dst: np.ndarray, src: np.ndarray, calls: list[str]
) -> None:
    made = library.calls(lambda: _copy(library, dst, src))
    assert len(made) == len(calls)
    assert all(call in line for call, line in zip(calls, made, strict=True))
    np.testing.assert_array_equal(dst, src)


def test_only_synchronous_copies_wait(library: Library) -> None:
    made = library.calls(lambda: _copy(library, _A.copy(), _A, asynchronous=0))
    assert made[-1] == "cudaStreamSynchronize -1"


@pytest.mark.parametrize("steps", [(1, 1), (2, -1), (-1, -2)])
def test_registering_covers_the_view_exactly(library: Library, steps: tuple[int, int]) -> None:
    view = np.zeros((4, 6), "f4")[:: steps[0], :: steps[1]]
    low, high = np.lib.array_utils.byte_bounds(view)
    arguments = (ctypes.c_int64(2), library.descriptor(view, offset=5), ctypes.c_int64(4), b"here")
    made = library.calls(lambda: library.loaded.hirc_host_register(*arguments))
    assert made == [f"cudaHostRegister {low:#x} {high - low} flags=0"]
    made = library.calls(lambda: library.loaded.hirc_host_unregister(*arguments))
    assert made == [f"cudaHostUnregister {low:#x}"]
    empty = (ctypes.c_int64(2), library.descriptor(view[:0]), ctypes.c_int64(4), b"here")
    assert not library.calls(lambda: library.loaded.hirc_host_register(*empty))
