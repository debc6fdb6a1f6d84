"""One process for several devices: each has a copy of the library, and a thread that calls it."""

from __future__ import annotations

import os
import sys
import uuid
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any

from .errors import InputError
from .loader_artifact import Artifact
from .loader_checks import file_path
from .loader_communicator import use_rank

_Outputs = Sequence[Any] | None


def load_team(
    path: str | os.PathLike[str],
    devices: Sequence[int],
    *,
    weights: str | os.PathLike[str] | Mapping[str, Any] | None = None,
) -> Team:
    """Loads a library whose programs communicate, for several devices of this process.

    Rank r of its programs is device `devices[r]`: a GPU, or as many on the CPU device. `weights` is
    as for `hirc.load`. Raises InputError where the library cannot be loaded, does not communicate,
    or a GPU is given twice.
    """
    return Team(path, devices, weights)


class Team:
    """A library on several devices of one process; each of its programs is an attribute.

    `team.main((x0, w0), (x1, w1))` calls a program on each device, with the inputs of each: a
    sequence, or a dictionary by name. Returns what it gives on each, in a list. `out=` has what is
    `out` of each. A call runs in the devices' current streams of torch and does not wait for them.

    A team made from a torch model is called like its programs. `members` are the libraries of the
    devices, for their weights and states.

    Raises what a device's call raises. Where one has failed or was refused, the others hear of it,
    and the team communicates no more.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        devices: Sequence[int],
        weights: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    ) -> None:
        file = file_path(path, "path")
        given: tuple[Any, ...] = tuple(devices)
        if not given or not all(isinstance(each, int) for each in given):
            raise InputError(f"the devices of a team are their numbers, not {devices!r}")
        self.devices: tuple[int, ...] = given
        name = uuid.uuid4().hex
        self.members = tuple(
            Artifact(file, weights, copy=f"{name} {rank}") for rank in range(len(self.devices))
        )
        loaded = self.members[0].loaded
        if not hasattr(loaded, "hirc_use_communicator"):
            raise InputError(f"{path} has no program that communicates")
        self._is_for_cpu = loaded.is_for_cpu
        if not self._is_for_cpu and len(set(self.devices)) < len(self.devices):
            raise InputError(f"a GPU has one place in a team: {list(self.devices)}")
        for rank, member in enumerate(self.members):
            use_rank(member.loaded, rank, len(self.devices), f"unix:hirc-{name}")
        pools = [ThreadPoolExecutor(1, f"hirc-{device}") for device in self.devices]
        if not self._is_for_cpu:
            for member, device, pool in zip(self.members, self.devices, pools, strict=True):
                pool.submit(_use_device, member, device).result()
        self._pools = pools
        weakref.finalize(self, _end, pools)

    def __call__(self, *inputs: Any, out: _Outputs = None) -> list[Any]:
        """Calls the only program, or the model, on each device."""
        return self._run([member.__call__ for member in self.members], inputs, out)

    def __getattr__(self, name: str) -> Callable[..., list[Any]]:
        if name.startswith("_") or "members" not in self.__dict__:
            raise AttributeError(name)
        return self._program([getattr(member, name) for member in self.members])

    def __getitem__(self, name: str) -> Callable[..., list[Any]]:
        """Returns the program of this name, which need not be an identifier. Raises KeyError."""
        return self._program([member[name] for member in self.members])

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.members[0].programs]

    def __repr__(self) -> str:
        return f"<team of {self.members[0].path} on devices {', '.join(map(str, self.devices))}>"

    def _program(self, programs: Sequence[Callable[..., Any]]) -> Callable[..., list[Any]]:
        def call(*inputs: Any, out: _Outputs = None) -> list[Any]:
            return self._run(programs, inputs, out)

        return call

    def _run(
        self, programs: Sequence[Callable[..., Any]], inputs: Sequence[Any], out: _Outputs
    ) -> list[Any]:
        count = len(self.devices)
        for what, given in (("inputs", inputs), ("out=", out)):
            if given is not None and len(given) != count:
                raise InputError(
                    f"a team of {count} devices takes {what} of each, {count} in all, not "
                    f"{len(given)}"
                )
        outputs = [None] * count if out is None else out
        calls = [
            partial(_call, program, given, output, self._stream(device))
            for program, given, output, device in zip(
                programs, inputs, outputs, self.devices, strict=True
            )
        ]
        futures = [pool.submit(call) for pool, call in zip(self._pools, calls, strict=True)]
        self._await(futures)
        return [each.result() for each in futures]

    def _await(self, futures: Sequence[Future[Any]]) -> None:
        """Waits for all; raises what failed first, of which the others hear."""
        done, going = wait(futures, return_when=FIRST_EXCEPTION)
        failed = [rank for rank, each in enumerate(futures) if each in done and each.exception()]
        if not failed:
            return
        first = failed[0]
        error = futures[first].exception()
        assert error is not None
        if going:
            text = f"the call of rank {first} was refused: {error}"
            self.members[first].loaded.hirc_give_up_communicator(text.encode()[:400])
        wait(futures)
        raise error

    def _stream(self, device: int) -> Any:
        torch = None if self._is_for_cpu else sys.modules.get("torch")
        return None if torch is None else torch.cuda.current_stream(device)


def _call(program: Callable[..., Any], inputs: Any, out: Any, stream: Any) -> Any:
    options = {} if stream is None else {"stream": stream}
    if isinstance(inputs, Mapping):
        return program(**inputs, out=out, **options)
    if not isinstance(inputs, tuple | list):
        raise InputError(f"the inputs of a device are a tuple or a dictionary, not {type(inputs)}")
    return program(*inputs, out=out, **options)


def _use_device(member: Artifact, device: int) -> None:
    """Makes a device the thread's."""
    member.loaded.check(member.loaded.hirc_use_device(device))
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.cuda.set_device(device)


def _end(pools: Sequence[ThreadPoolExecutor]) -> None:
    for pool in pools:
        pool.shutdown(wait=False)
