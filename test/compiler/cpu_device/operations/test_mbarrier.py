"""Phases of mbarrier objects."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hirc.compiler.cpu_device.operations import operation

from .warp import perform

_EVENTS = st.lists(st.sampled_from(["arrive", "expect", "complete", "drop"]), max_size=40)


class Barrier:
    """An object in memory, and calls on it by C functions."""

    def __init__(self, library: ctypes.CDLL, count: int) -> None:
        self.library = library
        self.object = ctypes.c_uint64()
        library.hirc_mbarrier_init(ctypes.byref(self.object), count)

    def call(self, name: str, number: int) -> int:
        """Calls hirc_mbarrier_<name>."""
        function = getattr(self.library, f"hirc_mbarrier_{name}")
        function.restype = ctypes.c_uint64
        return function(ctypes.byref(self.object), ctypes.c_uint32(number))

    def poll(self, what: str, phase: int) -> tuple[bool, int]:
        """One poll: whether the thread goes on, and the answer."""
        found = operation(f"llvm.nvvm.mbarrier.{what}.scope.cta.space.cta")
        assert found is not None
        type_ = np.uint32 if "parity" in what else np.uint64
        operands = [
            np.full(32, ctypes.addressof(self.object), np.uint64),
            np.full(32, phase, type_),
        ]
        done = perform(
            self.library, found.function, operands, [np.dtype(np.uint8)], found.parameters, lanes=4
        )
        return done.done, int(done.results[0][2])

    def completed(self, parity: int) -> bool:
        """Whether the phase of this parity has completed."""
        return self.answer("test.wait.parity", parity)

    def answer(self, what: str, phase: int) -> bool:
        """Polls until the thread goes on."""
        while True:
            done, complete = self.poll(what, phase)
            if done:
                return bool(complete)


def test_phases_alternate(library: ctypes.CDLL) -> None:
    barrier = Barrier(library, 3)
    assert not barrier.completed(0)
    assert barrier.completed(1)
    for _ in range(2):
        barrier.call("arrive", 1)
    assert not barrier.completed(0)
    state = barrier.call("arrive", 1)
    assert barrier.completed(0)
    assert not barrier.completed(1)
    assert library.hirc_mbarrier_pending_count(ctypes.c_uint64(state)) == 1
    assert barrier.poll("test.wait", state) == (True, 1)
    state = barrier.call("arrive", 2)
    assert not barrier.answer("test.wait", state)


def test_bytes_hold_the_phase(library: ctypes.CDLL) -> None:
    barrier = Barrier(library, 1)
    barrier.call("complete_tx", 512)  # a copy may be done before it is expected
    barrier.call("arrive_expect_tx", 1024)
    assert not barrier.completed(0)
    barrier.call("complete_tx", 512)
    assert barrier.completed(0)


def test_waiting_ends_at_last(library: ctypes.CDLL) -> None:
    barrier = Barrier(library, 1)
    answers = [barrier.poll("try.wait.parity", 0) for _ in range(64)]
    assert [done for done, _ in answers] == [False] * 63 + [True]
    assert answers[-1][1] == 0


def test_loop_waits_for_the_phase_alone(library: ctypes.CDLL) -> None:
    found = operation("hirc.ptx.mbarrier.wait.parity")
    assert found is not None
    barrier = Barrier(library, 1)
    address = np.full(32, ctypes.addressof(barrier.object), np.uint64)
    operands = [address, np.zeros(32, np.uint32)]

    def polled() -> bool:
        return perform(library, found.function, operands, [], found.parameters, lanes=1 << 31).done

    assert not any(polled() for _ in range(200))
    barrier.call("arrive", 1)
    assert polled()


@pytest.mark.parametrize("count", [1, 2, 5])
@given(events=_EVENTS)
def test_against_a_model(library: ctypes.CDLL, count: int, events: list[str]) -> None:
    barrier = Barrier(library, count)
    pending, expected, size, phase = count, count, 0, 0
    for event in events:
        match event:
            case "arrive":
                barrier.call("arrive", 1)
                pending -= 1
            case "drop":
                if expected < 2:
                    continue
                barrier.call("arrive_drop", 1)
                pending, expected = pending - 1, expected - 1
            case "expect":
                barrier.call("expect_tx", 64)
                size += 64
            case _:
                barrier.call("complete_tx", 64)
                size -= 64
        if pending == 0 and size == 0:
            pending, phase = expected, phase + 1
        if pending == 0:  # no more arrivals may come in this phase
            barrier.call("complete_tx", size & 0xFFFFFFFF)
            size, pending, phase = 0, expected, phase + 1
        assert barrier.completed(phase % 2) is False
        assert barrier.completed((phase + 1) % 2) is True
