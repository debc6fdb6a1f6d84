"""What libraries, and code in the process, have to stand on two GPUs of one process.

checks.py runs these where there are two. Code in the process is of the same sources, where all of
hirc is installed.
"""

from __future__ import annotations

import importlib.util
import itertools
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

import hirc
from hirc.compiler.errors import InputError

COMPILES = importlib.util.find_spec("hirc.compiler.compile_program") is not None
_SLEEP = 100_000_000  # cycles of a GPU's clock


class TwoDevices:
    """The checks. Each is done for every way in which the programs are there."""

    def __init__(self, folder: Path, calls: int) -> None:
        self.calls = calls
        self.ways: dict[str, Any] = {
            "library": hirc.load(folder / "libtimes.so"),
            "library without graphs": hirc.load(folder / "libplain.so"),
        }
        if COMPILES:
            text = (folder / "times.mlir").read_text()
            for name, graph in (("in process", "auto"), ("in process without graphs", "never")):
                self.ways[name] = hirc.compile(text, entry="scaled", graph=graph, cache=False)

    def _agrees(self, library: Any, device: int, count: int, factor: float) -> torch.Tensor:
        """Calls a program on the current device, and compares."""
        x = torch.arange(float(count), device=f"cuda:{device}") % 7
        t, y = library.scaled(x, factor)
        assert t.device == y.device == x.device, (t.device, y.device)
        torch.testing.assert_close(t, x * factor)
        torch.testing.assert_close(y, (x * factor).sum())
        return t

    def two_devices_in_turn(self) -> str:
        """Calls on one and the other; outputs are dropped while the other is current."""
        for library in self.ways.values():
            kept: list[torch.Tensor] = []
            for turn in range(60):
                with torch.cuda.device(turn % 2):
                    count = 100 + 10 * (turn // 20)
                    kept.append(self._agrees(library, turn % 2, count, turn + 0.5))
                if len(kept) > 8:
                    del kept[:5]
        return ", ".join(self.ways)

    def two_devices_from_threads(self) -> None:
        """A thread for each device, on the default stream and then on one of its own."""
        for library, is_own in itertools.product(self.ways.values(), (False, True)):

            def run(device: int, library: Any = library, is_own: bool = is_own) -> None:
                with torch.cuda.device(device):
                    stream = torch.cuda.Stream() if is_own else torch.cuda.default_stream()
                    with torch.cuda.stream(stream):
                        for turn in range(max(self.calls // 1000, 8)):
                            self._agrees(library, device, 200 + turn % 3, device + 0.5 + turn % 5)
                    stream.synchronize()

            _both(run)

    def two_devices_follow_their_streams(self) -> None:
        """Each device's current stream has the work, after what is there."""
        for library in self.ways.values():
            streams = [torch.cuda.Stream(device) for device in range(2)]
            inputs = [torch.zeros(1 << 16, device=f"cuda:{device}") for device in range(2)]
            _wait()
            results: list[torch.Tensor] = []
            # The second turn replays graphs, which are recorded in the meantime.
            for turn in range(8):
                results.clear()
                with torch.cuda.stream(streams[0]), torch.cuda.stream(streams[1]):
                    for device in (1, 0):
                        with torch.cuda.device(device):
                            torch.cuda._sleep(_SLEEP // 4)  # pyright: ignore[reportPrivateUsage]
                            inputs[device] += 1
                            t, _ = library.scaled(inputs[device], 3.0)
                            results.append(t + device)
                for stream in streams:
                    stream.synchronize()
                for device, z in zip((1, 0), results, strict=True):
                    wanted = 3.0 * (turn + 1) + device
                    assert bool((z == wanted).all()), (turn, device, z[:4], wanted)

    def two_devices_free_in_order(self) -> None:
        """Memory of one goes while the other is current, and is not used again too early."""
        for library in self.ways.values():
            with torch.cuda.device(1):
                x = torch.ones(1 << 20, device="cuda:1")
                other = torch.full_like(x, 100.0)
                beside = torch.cuda.Stream()
                library.one(x)
                _wait()
                t = library.one(x)
                torch.cuda._sleep(_SLEEP)  # pyright: ignore[reportPrivateUsage]
                z = t + 1
            with torch.cuda.device(0):
                del t
            with torch.cuda.device(1), torch.cuda.stream(beside):
                new = [library.one(other) for _ in range(4)]
            _wait()
            assert bool((z == 0).all()), z
            assert all(bool((each == -100).all()) for each in new)

    def two_devices_in_one_call(self) -> str:
        """Tensors of two devices are refused, as are those of one that is not current."""
        said = ""
        x = [torch.ones(64, device=f"cuda:{device}") for device in range(2)]
        for library, current in itertools.product(self.ways.values(), (0, 1)):
            other = 1 - current
            wrong = f"it is on CUDA device {other}, the program runs on CUDA device {current}"
            with torch.cuda.device(current):
                for given, out in ((x[current], x[other]), (x[other], None)):
                    said = _refused(partial(library.one, given, out=out))
                    assert wrong in said, said
                self._agrees(library, current, 64, 2.0)
        assert all(bool((each == 1).all()) for each in x)
        return said

    def two_devices_keep_their_memory(self) -> str:
        """Memory of both, and the host's, stays as it is over many calls in turn."""
        grown: list[str] = []
        for name, library in self.ways.items():
            x = [torch.ones(4096, device=f"cuda:{device}") for device in range(2)]

            def some(calls: int, library: Any = library, x: list[torch.Tensor] = x) -> None:
                for turn in range(calls):
                    with torch.cuda.device(turn % 2):
                        library.scaled(x[turn % 2][: 64 + turn % 24 * 100], 2.0)

            some(min(self.calls, 20_000))
            before = _used()
            some(max(self.calls // 8, 1000))
            more = [now - then for now, then in zip(_used(), before, strict=True)]
            assert max(more) < (4 << 20), f"{name}: the devices' memory grew by {more} bytes"
            grown.append(f"{name} {more}")
        return "; ".join(grown)


def _both(run: Callable[[int], None]) -> None:
    """Runs it for both devices at once."""
    failed: list[BaseException] = []

    def work(device: int) -> None:
        try:
            run(device)
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=work, args=(device,)) for device in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def _refused(call: Callable[[], object]) -> str:
    try:
        call()
    except InputError as error:
        return str(error)
    raise AssertionError("tensors of two devices were taken")


def _wait() -> None:
    for device in range(2):
        torch.cuda.synchronize(device)


def _used() -> list[int]:
    _wait()
    found = [torch.cuda.mem_get_info(device) for device in range(2)]
    return [total - free for free, total in found]


CHECKS = [
    "two_devices_in_turn",
    "two_devices_from_threads",
    "two_devices_follow_their_streams",
    "two_devices_free_in_order",
    "two_devices_in_one_call",
    "two_devices_keep_their_memory",
]
