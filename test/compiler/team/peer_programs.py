"""Programs of memory that peers share, for tests on the CPU device and on GPUs."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hirc import program as build
from hirc.dialects.hir.builder import Program

# Rows of three, on either side of a page of the CPU device.
_LARGEST = 3000
OUTPUTS = ("ring", "everybody", "line", "read", "again")


def exchanges(size: int) -> Program:
    """Rows go round a ring by signals, parts are exchanged all with all, and read by peers.

    `shift` is how far each sends, `first` and `last` which rows of them; `times` how often.
    """
    with build("main") as p:
        team = p.communicator(list(range(size)))
        rank = p.rank(team)
        n = p.size("n")
        x = p.input("x", (n, 3), "f32")
        shift, first, last = (p.scalar(name, "index") for name in ("shift", "first", "last"))
        times = p.scalar("times", "index")
        to, source = (rank + shift) % size, (rank + size - shift) % size

        # What arrived goes on in the next step, from memory of one allocation into another's.
        ring = p.allocate((n, 3), "f32", zero_init=True)
        p.set(x, out=ring)
        with p.loop(times):
            shared = p.allocate((n, 3), "f32", memory="symmetric", team=team, zero_init=True)
            rows = shared[first:last]
            p.put(ring[first:last], rows, to, signal=True).wait()
            p.wait_signal(shared, source)
            p.set(rows + 1.0, out=ring[first:last])
        p.output("ring", ring)

        # Each puts a row to each, the last one with a signal, and to itself.
        everybody = p.allocate((size, 3), "f32", memory="symmetric", team=team)
        with p.loop(size) as peer:
            p.put(x[0], everybody[rank], peer).wait()
        p.barrier(everybody)
        p.output("everybody", everybody * 2.0)

        # Nobody puts to the first of a line, and the last one puts to nobody.
        line = p.allocate((n, 3), "f32", memory="symmetric", team=team, zero_init=True)
        following = (rank + 1) % (size + 1) - (rank + 1) // size * (size + 1)
        p.put(x, line, following, signal=True).wait()
        p.wait_signal(line, rank - 1)
        p.output("line", line + 0.0)

        # A peer's rows, after all have written them; and again after another barrier.
        mine = p.allocate((n, 3), "f32", memory="symmetric", team=team)
        p.set(x, out=mine)
        p.barrier(mine)
        read = p.allocate((n, 3), "f32", zero_init=True)
        request = p.get(mine[first:last], read[first:last], source)
        request.wait()
        p.barrier(mine)
        p.set(x * -1.0, out=mine)
        p.barrier(mine)
        again = p.allocate((n, 3), "f32")
        p.get(mine, again, to).wait()
        p.output("read", read)
        p.output("again", again)
    return p


@dataclass(frozen=True)
class Case:
    """What `exchanges` is run on: numbers by name, and each device's x."""

    numbers: dict[str, int]
    values: list[npt.NDArray[np.float32]]

    @staticmethod
    def of(seed: int, size: int) -> Case:
        """Returns a random one for so many devices."""
        chosen = random.Random(seed)
        rows = chosen.choice([1, 2, 7, chosen.randint(1, _LARGEST)])
        first, last = sorted(chosen.randint(0, rows) for _ in range(2))
        numbers = {"shift": chosen.randint(0, size - 1), "first": first, "last": last}
        numbers["times"] = chosen.randint(0, 5)
        values = [
            np.random.default_rng(seed * 8 + rank).integers(0, 100, (rows, 3)).astype(np.float32)
            for rank in range(size)
        ]
        return Case(numbers, values)


def endless() -> Program:
    """Two devices put to one another `times`; `peer` is whom they put to, `waits` how often each
    waits for a signal in the end.
    """
    with build("main") as p:
        team = p.communicator([0, 1])
        x = p.input("x", ("n",), "f32")
        times, peer, waits = (p.scalar(name, "index") for name in ("times", "peer", "waits"))
        shared = p.allocate((x.shape[0],), "f32", memory="symmetric", team=team, zero_init=True)
        with p.loop(times):
            p.put(x, shared, peer, signal=True).wait()
            p.wait_signal(shared, peer)
        with p.loop(waits):
            p.wait_signal(shared, peer)
        p.output("y", shared + 0.0)
    return p
