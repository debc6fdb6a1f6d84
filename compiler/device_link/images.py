"""Device code of the inputs on its way to machine code, in processes beside this one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from ..device_containers import DeviceCode
from ..direct_link import direct_command, has_failed
from ..errors import ToolchainError
from ..platform_table import CUDA
from ..process import Running, start, start_early
from ..toolchain import Clang, Cuda


class DeviceLink:
    """The link of the device code of several inputs, for one chip or more.

    It starts once all `inputs` have added theirs, and puts its files into `folder`. What is left of
    it at the end of the block is ended. `arguments` are those of the device code's linker.
    """

    def __init__(
        self, folder: Path, inputs: int, clang: Clang, cuda: Cuda, arguments: Sequence[str]
    ) -> None:
        self._folder = folder
        self._awaited = inputs
        self._clang, self._cuda, self._arguments = clang, cuda, arguments
        self._bitcode: dict[str, list[Path]] = {}
        self._waiting: list[tuple[str, Path]] = []
        self._started: list[tuple[str, Path, Running]] = []
        self._is_refused = False
        self._linker = str(clang.directory / "clang-nvlink-wrapper")
        # Loads while programs are lowered, and waits for the first chip's arguments.
        self._early: Running | None = None
        with suppress(ToolchainError):
            self._early = start_early(self._linker, folder)

    def __enter__(self) -> DeviceLink:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for running in [self._early, *(running for _, _, running in self._started)]:
            if running is not None:
                running.close()

    def add(self, images: Iterable[tuple[str, bytes]]) -> None:
        """Takes one input's bitcode, by chips."""
        for arch, bitcode in images:
            files = self._bitcode.setdefault(arch, [])
            files.append(self._folder / f"{self._awaited}.{arch}.device.o")
            files[-1].write_bytes(bitcode)
        self._awaited -= 1
        if self._awaited == 0:
            self._waiting = [(arch, self._folder / f"{arch}.img") for arch in self._bitcode]
            for _ in range(len(os.sched_getaffinity(0))):
                self._start_next()

    def finish(self) -> list[DeviceCode] | None:
        """Waits for the machine code of all chips; None where clang is to link, and to say what is
        wrong.
        """
        found: list[DeviceCode] = []
        while len(found) < len(self._started):
            arch, output, running = self._started[len(found)]
            if self._is_refused or has_failed(running.finish()) or not output.is_file():
                return None
            found.append(DeviceCode(arch, output.read_bytes()))
            self._start_next()
        # What is for one variant of a chip comes before what is for all, as clang puts it.
        found.sort(key=lambda code: code.arch[-1].isdigit())
        return None if self._is_refused else found

    def _start_next(self) -> None:
        if self._is_refused or not self._waiting:
            return
        arch, output = self._waiting.pop(0)
        words = self._command(arch, output)
        if words is None:
            self._is_refused = True
            return
        early, self._early = self._early, None
        if early is not None and words[0] == self._linker:
            early.give(words[1:])
            self._started.append((arch, output, early))
            return
        if early is not None:
            early.close()
        try:
            running = start(words, temporary=self._folder, is_group=True)
        except ToolchainError:
            self._is_refused = True
            return
        self._started.append((arch, output, running))

    def _command(self, arch: str, output: Path) -> list[str] | None:
        """Returns what clang runs for the command that its linker wrapper gives it."""
        files = [output, *self._bitcode[arch]]
        command = [
            *(self._clang.directory / "clang", "--no-default-config", "-o", output),
            *(f"--target={CUDA.triple}", f"-march={arch}", *files[1:]),
            *(word for argument in self._arguments for word in ("-Xlinker", argument)),
            f"--cuda-path={self._cuda.root}",
        ]
        return direct_command(command, files, self._clang, cuda=self._cuda)
