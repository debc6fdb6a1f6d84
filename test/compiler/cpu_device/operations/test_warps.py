"""Shuffles, votes, matches and reductions against models written from the PTX ISA."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from numpy.typing import NDArray

from .warp import UNTOUCHED, perform

_U32, _U8 = np.dtype(np.uint32), np.dtype(np.uint8)
_MODES = ("up", "down", "bfly", "idx")
_SHUFFLE, _REDUX = "hirc_perform_shuffle", "hirc_perform_redux"


def _source(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The lane and predicate of shfl.sync's pseudo-code."""
    segmask, cval, b = c >> 8 & 31, c & 31, b & 31
    max_lane = (lane & segmask) | (cval & ~segmask)
    match mode:
        case "up":
            j, p = lane - b, lane - b >= max_lane
        case "down":
            j, p = lane + b, lane + b <= max_lane
        case "bfly":
            j, p = lane ^ b, (lane ^ b) <= max_lane
        case _:
            j = (lane & segmask) | (b & ~segmask)
            p = j <= max_lane
    return (j if p else lane), p


def _full(value: int) -> NDArray[np.uint32]:
    return np.full(32, value, np.uint32)


_CLAMPS = (0x1F, 0x00, 0x181F, 0x1C07, 0x1E01, 0x1000, 0x0807, 0x1F1F, 0x100F)


@pytest.mark.parametrize("mode", _MODES)
@pytest.mark.parametrize("lanes", [0xFFFFFFFF, 0x0000FFFF, 0xAAAA5555])
def test_shuffle(library: ctypes.CDLL, mode: str, lanes: int) -> None:
    values = np.arange(32, dtype=np.uint32) + 100
    for c in _CLAMPS:
        for b in range(33):
            operands = [_full(lanes), values, _full(b), _full(c)]
            parameters = (_MODES.index(mode), 1)
            done = perform(library, _SHUFFLE, operands, [_U32, _U8], parameters, lanes=lanes)
            for lane in range(32):
                if not lanes >> lane & 1:
                    assert done.results[1][lane] == UNTOUCHED
                    continue
                source, p = _source(mode, lane, b, c)
                expected = values[source] if lanes >> source & 1 else values[lane]
                assert (done.results[0][lane], done.results[1][lane]) == (expected, p), (lane, b, c)


def test_shuffle_by_lanes_own_operands(library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 1 << 32, 32, dtype=np.uint32)
    b = rng.integers(0, 32, 32, dtype=np.uint32)
    done = perform(library, _SHUFFLE, [_full(0), values, b, _full(31)], [_U32], (3, 1))
    assert (done.results[0] == values[b]).all()


def test_legacy_shuffle_has_no_mask(library: ctypes.CDLL) -> None:
    values = np.arange(32, dtype=np.uint32)
    done = perform(library, _SHUFFLE, [values, _full(1), _full(31)], [_U32], (2, 0))
    assert (done.results[0] == values ^ 1).all()


@pytest.mark.parametrize("lanes", [0xFFFFFFFF, 0xF0F0000F])
@pytest.mark.parametrize("bits", [0, 0xFFFFFFFF, 0xF0F0000F, 0x10])
def test_vote(library: ctypes.CDLL, lanes: int, bits: int) -> None:
    predicates = np.array([bits >> lane & 1 for lane in range(32)], np.uint8)
    ballot = bits & lanes
    expected = (ballot == lanes, ballot != 0, ballot in (0, lanes), ballot)
    for mode, value in enumerate(expected):
        result = _U32 if mode == 3 else _U8
        operands = [_full(lanes), predicates]
        done = perform(library, "hirc_perform_vote", operands, [result], (mode, 1), lanes=lanes)
        for lane in range(32):
            if lanes >> lane & 1:
                assert done.results[0][lane] == value


@pytest.mark.parametrize("type_", [np.uint32, np.uint64])
def test_match(library: ctypes.CDLL, type_: type) -> None:
    lanes = 0x7FFFFFF3
    values = np.array([lane % 3 + (1 << 31) for lane in range(32)], type_)
    there = [lane for lane in range(32) if lanes >> lane & 1]
    done = perform(library, "hirc_perform_match_any", [_full(lanes), values], [_U32], lanes=lanes)
    for lane in there:
        same = sum(1 << other for other in there if values[other] == values[lane])
        assert done.results[0][lane] == same
    for equal in (False, True):
        given = np.full(32, 7, type_) if equal else values
        results = perform(
            library, "hirc_perform_match_all", [_full(lanes), given], [_U32, _U8], lanes=lanes
        ).results
        assert results[0][5] == (lanes if equal else 0)
        assert results[1][5] == equal


def test_redux_of_integers(library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(2)
    values = rng.integers(0, 1 << 32, 32, dtype=np.uint32)
    signed = values.view(np.int32)
    for lanes in (0xFFFFFFFF, 0x80F00001):
        there = np.array([bool(lanes >> lane & 1) for lane in range(32)])
        expected = [
            values[there].sum(dtype=np.uint32),
            signed[there].min().view(np.uint32),
            signed[there].max().view(np.uint32),
            values[there].min(),
            values[there].max(),
            np.bitwise_and.reduce(values[there]),
            np.bitwise_or.reduce(values[there]),
            np.bitwise_xor.reduce(values[there]),
        ]
        for operation, value in enumerate(expected):
            operands = [_full(lanes), values]
            done = perform(library, _REDUX, operands, [_U32], (operation, 0, 0), lanes=lanes)
            assert (done.results[0][there] == value).all()


def test_redux_of_floats(library: ctypes.CDLL) -> None:
    values = np.linspace(-3, 2, 32, dtype=np.float32)
    values[4] = np.nan
    float_ = np.dtype(np.float32)

    def reduce(operation: int, absolute: int, nan: int) -> float:
        parameters = (operation, absolute, nan)
        return perform(library, _REDUX, [_full(0), values], [float_], parameters).results[0][9]

    assert reduce(8, 0, 0) == -3
    assert reduce(9, 0, 0) == 2
    assert reduce(9, 1, 0) == 3
    assert np.isnan(reduce(9, 0, 1))


def test_elect(library: ctypes.CDLL) -> None:
    done = perform(library, "hirc_perform_elect", [_full(0xF0)], [_U32, _U8], lanes=0xF0)
    assert (done.results[0][4:8] == 4).all()
    assert done.results[1][4:8].tolist() == [1, 0, 0, 0]
