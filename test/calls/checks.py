"""What a library has to stand in somebody else's process. Needs torch, and of hirc its loader.

`python checks.py --device cuda --calls 1000000` in a folder with `libtimes.so`, `libplus.so` and
`libplain.so` (programs.py). Prints a line for each check; the exit status is 1 where one fails. On
two GPUs there are more (checks_two_devices.py), with code in the process where all of hirc is
there.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.resolve()
if __name__ == "__main__":
    # The loader that lies here is for machines without hirc. An editable install is found behind
    # every folder, so that hirc is looked for without this one first.
    sys.path[:] = [each for each in sys.path if Path(each).resolve() != HERE]
    with contextlib.suppress(ImportError):
        import hirc
    sys.path.append(str(HERE))

import torch  # noqa: E402

import hirc  # noqa: E402
from hirc.compiler.errors import ExecutionError, InputError  # noqa: E402

_TOO_LARGE = 1 << 46


def resident_bytes() -> int:
    """The memory of this process that is in the machine's."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Checks:
    """The checks, on one device."""

    def __init__(self, folder: Path, device: str, calls: int) -> None:
        self.folder = folder
        self.device = device
        self.calls = calls
        self.times = hirc.load(folder / "libtimes.so")

    def _used(self) -> int:
        if self.device == "cpu":
            return 0
        torch.cuda.synchronize()
        free, total = torch.cuda.mem_get_info()
        return total - free

    def _agrees(self, program: Any, count: int, factor: float) -> None:
        x = torch.arange(float(count), device=self.device) % 7
        t, y = program(x, factor)
        torch.testing.assert_close(t, x * factor)
        torch.testing.assert_close(y, (x * factor).sum())

    def memory_stays_flat(self) -> str:
        """Calls of changing sizes, outputs allocated and handed in: no memory is lost."""
        x = torch.ones(4096, device=self.device)
        out = torch.empty_like(x)

        def some(calls: int) -> None:
            for i in range(calls):
                if i & 1:
                    self.times.one(x, out=out)
                else:
                    self.times.scaled(x[: 64 + i % 4000], 2.0)
                if i % 1024 == 0:
                    self._used()

        some(min(self.calls, 20_000) // 2 + 8)
        host, device, start = resident_bytes(), self._used(), time.perf_counter()
        some(self.calls)
        seconds = time.perf_counter() - start
        host, device = resident_bytes() - host, self._used() - device
        assert host < (8 << 20), f"the host's memory grew by {host} bytes"
        assert device < (4 << 20), f"the device's memory grew by {device} bytes"
        return f"{self.calls} calls in {seconds:.1f} s; host {host:+}, device {device:+} bytes"

    def _threads(self, count: int, run: Callable[[int], None]) -> None:
        failed: list[BaseException] = []

        def work(number: int) -> None:
            try:
                run(number)
            except BaseException as error:  # noqa: BLE001
                failed.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]

    def threads_on_one_stream(self) -> None:
        """Sixteen threads at once on the default stream."""

        def run(number: int) -> None:
            for i in range(max(self.calls // 5000, 4)):
                self._agrees(self.times.scaled, 100 * number + i % 50 + 2, number + 0.5)

        self._threads(16, run)

    def threads_on_their_streams(self) -> None:
        """Sixteen threads, each on a stream of its own."""

        def run(number: int) -> None:
            with torch.cuda.stream(torch.cuda.Stream()):
                for i in range(max(self.calls // 5000, 4)):
                    self._agrees(self.times.scaled, 100 * number + i % 50 + 2, number + 0.5)
                torch.cuda.current_stream().synchronize()

        if self.device == "cuda":
            self._threads(16, run)

    def streams_are_followed(self) -> None:
        """Work goes into torch's current stream, after what is there."""
        if self.device != "cuda":
            return
        stream = torch.cuda.Stream()

        def loaded(x: torch.Tensor) -> torch.Tensor:
            return self.times.scaled(x, 3.0)[0]

        for give in (loaded, self._by_tvm_ffi(3.0)):
            x = torch.zeros(1 << 16, device="cuda")
            torch.cuda.synchronize()
            with torch.cuda.stream(stream):
                torch.cuda._sleep(200_000_000)  # pyright: ignore[reportPrivateUsage]
                x += 1
                y = give(x)
                z = y + 1
            stream.synchronize()
            assert bool((z == 4).all()), z
        x = torch.zeros(1 << 16, device="cuda")
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)  # pyright: ignore[reportPrivateUsage]
            x += 1
        t, _ = self.times.scaled(x, 3.0, stream=stream)
        stream.synchronize()
        assert bool((t == 3).all()), t

    def _by_tvm_ffi(self, factor: float) -> Callable[[Any], Any]:
        import tvm_ffi

        module = tvm_ffi.load_module(str(self.folder / "libtimes.so"))
        return lambda x: torch.from_dlpack(module["scaled"](x, factor)[0])

    def two_libraries_with_one_name(self) -> None:
        """Programs of one name in two libraries, and two copies of one library."""
        plus = hirc.load(self.folder / "libplus.so")
        x = torch.arange(40.0, device=self.device)
        for _ in range(3):
            torch.testing.assert_close(plus.scaled(x, 3.0)[0], x + 3)
            torch.testing.assert_close(self.times.scaled(x, 3.0)[0], x * 3)

    def failures_are_returned(self) -> str:
        """No memory and wrong arguments are errors, and the next call is right."""
        said = ""
        for _ in range(3):
            try:
                self.times.large(_TOO_LARGE)
            except ExecutionError as error:
                said = str(error).splitlines()[0]
            else:
                raise AssertionError("an allocation beyond the device's memory succeeded")
            self._agrees(self.times.scaled, 100, 2.5)
            try:
                self.times.one(torch.ones(4, dtype=torch.int32, device=self.device))
            except InputError:
                pass
            else:
                raise AssertionError("a tensor of the wrong type was taken")
            self._agrees(self.times.scaled, 300, 1.5)
        return said

    def _ones(self) -> str:
        """Code that defines what makes an input; a process starts faster without torch."""
        if self.device == "cpu":
            return "import numpy\nones = lambda n: numpy.ones(n, numpy.float32)\n"
        return "import torch\nones = lambda n: torch.ones(n, device='cuda')\n"

    def exit_is_clean(self) -> None:
        """A process ends with 0 and says nothing, with outputs, threads and work left."""
        code = (
            "import sys, threading; sys.path.insert(0, {folder!r})\n"
            "import hirc\n{ones}"
            "lib = hirc.load({library!r})\n"
            "kept = [lib.scaled(ones(1000), 2.0) for _ in range(20)]\n"
            "t = threading.Thread(target=lambda: kept.append(lib.one(kept[0][0])))\n"
            "t.start(); t.join()\n"
            "{more}\n"
        )
        for more in ("sys.modules['kept'] = kept", "del lib; sys.exit(0)"):
            text = code.format(
                folder=str(HERE if (HERE / "hirc").exists() else self.folder),
                library=str(self.folder / "libtimes.so"),
                ones=self._ones(),
                more=more,
            )
            done = subprocess.run(
                [sys.executable, "-c", text],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert (done.returncode, done.stderr) == (0, ""), (more, done.returncode, done.stderr)

    def forked_children_call(self) -> None:
        """A child of fork calls a library that its parent loaded, but did not call."""
        code = (
            "import os, sys; sys.path.insert(0, {folder!r})\n"
            "import hirc\n{ones}"
            "lib = hirc.load({library!r})\n"
            "child = os.fork()\n"
            "y = lib.one(ones(10))\n"
            "assert float(y.sum()) == -10\n"
            "if child:\n"
            "    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        )
        text = code.format(
            folder=str(HERE if (HERE / "hirc").exists() else self.folder),
            library=str(self.folder / "libtimes.so"),
            ones=self._ones(),
        )
        done = subprocess.run(
            [sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr


CHECKS = [
    "two_libraries_with_one_name",
    "failures_are_returned",
    "streams_are_followed",
    "threads_on_one_stream",
    "threads_on_their_streams",
    "memory_stays_flat",
    "forked_children_call",
    "exit_is_clean",
]


def main() -> int:
    """Runs the checks. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=HERE)
    parser.add_argument("checks", nargs="*")
    options = parser.parse_args()
    checks: Any = Checks(options.folder, options.device, options.calls)
    names, more = CHECKS, None
    if options.device == "cuda" and torch.cuda.device_count() > 1:
        import checks_two_devices as two  # pyright: ignore[reportMissingImports]

        names, more = [*CHECKS, *two.CHECKS], two.TwoDevices(options.folder, options.calls)
    elif options.device == "cuda":
        print("two devices: there is one", flush=True)
    wrong = 0
    for name in options.checks or names:
        try:
            check = getattr(checks if name in CHECKS else more, name)
            print(f"{name}: {check() or 'right'}", flush=True)
        except Exception:  # noqa: BLE001
            wrong += 1
            print(f"{name}: wrong", flush=True)
            traceback.print_exc(file=sys.stdout)
    return int(wrong > 0)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main())
