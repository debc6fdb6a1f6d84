"""Teams: several runs of one program, one for each device, in threads that exchange values.

Each communication is an exchange: every device of its team puts in what it has, and all get what
all put in. What comes of that, the operation computes by itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import InputError
from . import fault

# Who gives something under it, and which thing it is.
_Key = tuple[tuple[int, ...], Hashable]


class _Stopped(Exception):
    """Another device failed: what it said is what is reported."""


@dataclass
class Exchanges:
    """What the devices of a run exchange. `size` is how many there are."""

    size: int
    # Who runs has it; waiting for the others hands it over.
    turn: threading.Condition = field(default_factory=threading.Condition)
    _given: dict[_Key, dict[int, Any]] = field(default_factory=dict[_Key, dict[int, Any]])
    # Where each device is that waits, or its end.
    _waits: dict[int, tuple[str, _Key]] = field(default_factory=dict[int, tuple[str, _Key]])
    _ended: set[int] = field(default_factory=set[int])
    _failure: str | None = None

    def exchange(self, rank: int, key: _Key, value: Any, where: str) -> list[Any]:
        """Puts in a value; what all of the team put in, in its order.

        Raises InputError where the devices wait for one another in vain.
        """
        with self.turn:
            self.give(rank, key, value)
            return self.collect(rank, key, where)

    def give(self, rank: int, key: _Key, value: Any) -> None:
        """Puts in a value, and does not wait for the others."""
        with self.turn:
            self._given.setdefault(key, {})[rank] = value
            self.turn.notify_all()

    def collect(self, rank: int, key: _Key, where: str) -> list[Any]:
        """Returns what all of the key's team put in, in its order; waits for that as `exchange`."""
        team, _ = key
        with self.turn:
            given = self._given.setdefault(key, {})
            self._waits[rank] = (where, key)
            self.turn.notify_all()
            while len(given) < len(team):
                self._check()
                self.turn.wait()
            del self._waits[rank]
            return [given[device] for device in team]

    def end(self, rank: int) -> None:
        """The device has come to its end."""
        with self.turn:
            self._ended.add(rank)
            self.turn.notify_all()

    def fail(self, what: str) -> None:
        """The others go on no longer."""
        with self.turn:
            self._failure = self._failure or what
            self.turn.notify_all()

    def _check(self) -> None:
        """Nobody is left who could give what those that wait are waiting for."""
        if self._failure is not None:
            raise _Stopped
        waiting = {
            rank: (where, [each for each in key[0] if each not in self._given[key]])
            for rank, (where, key) in self._waits.items()
            if len(self._given[key]) < len(key[0])
        }
        if len(waiting) + len(self._ended) < self.size:
            return
        lines = [
            f"device {rank} waits at {where} for {', '.join(map(str, missing))}"
            for rank, (where, missing) in sorted(waiting.items())
        ]
        lines += [f"device {rank} has ended" for rank in sorted(self._ended)]
        raise InputError(
            "the devices of the team wait for one another: " + "; ".join(lines), stage=fault.STAGE
        )


@dataclass
class Place:
    """The place of one run among those of a team."""

    rank: int
    exchanges: Exchanges
    _numbers: dict[tuple[int, ...], int] = field(default_factory=dict[tuple[int, ...], int])

    def exchange(self, team: Sequence[int], value: Any, where: str) -> list[Any]:
        """Returns the next exchange of that team."""
        members = tuple(team)
        number = self._numbers.get(members, 0)
        self._numbers[members] = number + 1
        return self.exchanges.exchange(self.rank, (members, number), value, where)


def run_team(exchanges: Exchanges, runs: Sequence[Callable[[], Any]]) -> list[Any]:
    """Returns what the runs of a team give, each in a thread; one goes on while the others wait.

    Raises the error of the first that fails.
    """
    results: dict[int, Any] = {}
    errors: list[BaseException] = []

    def work(rank: int) -> None:
        with exchanges.turn:
            try:
                results[rank] = runs[rank]()
            except _Stopped:
                pass
            except BaseException as error:  # noqa: BLE001 - the caller gets it
                errors.append(error)
                exchanges.fail(str(error))
            exchanges.end(rank)

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(len(runs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [results[rank] for rank in range(len(runs))]
