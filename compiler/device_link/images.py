"""Device code of the inputs on its way to machine code, in processes beside this one.

The device linker makes one module of all inputs, and PTX of it, so ptxas has the whole program.
What clang's linker wrapper has ptxas make is linked afterwards: it calls functions for divisions of
64 bits, and needs up to twice the registers around them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from ..device_containers import DeviceCode
from ..direct_link import direct_command, has_failed
from ..errors import ToolchainError
from ..link import device_arguments
from ..options import Options
from ..platform_table import CUDA
from ..process import ARGUMENTS, Runner, Running, start_early
from ..ptx import ptxas_arguments, refused, show_ptxas_log
from ..toolchain import Clang, Cuda

# The linker with its arguments, and then ptxas with those in a file.
_BOTH = '"$1" "$2" --lto-emit-asm && exec "$3" --options-file "$4"'


class DeviceLink:
    """The link of the device code of several inputs, for one chip or more.

    It starts once all `inputs` have added theirs, and puts its files into `folder`. What is left of
    it at the end of the block is ended. `passes` of LLVM are run instead of the linker's own.
    """

    def __init__(
        self,
        folder: Path,
        inputs: int,
        clang: Clang,
        cuda: Cuda,
        passes: str,
        options: Options,
        runner: Runner,
    ) -> None:
        self._folder = folder
        self._awaited = inputs
        self._clang, self._cuda = clang, cuda
        self._arguments = device_arguments(options.opt_level, passes)
        self._options, self._runner = options, runner
        self._bitcode: dict[str, list[Path]] = {}
        self._waiting: list[tuple[str, Path]] = []
        self._started: list[tuple[str, Path, Running]] = []
        self._is_refused = False
        self._linker = str(clang.directory / "clang-nvlink-wrapper")
        # Loads while programs are lowered, and waits for the first chip's arguments.
        self._early: Running | None = None
        with suppress(ToolchainError):
            self._early = self._begun(0)

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
            self._waiting = [(arch, self._folder / f"{arch}.cubin") for arch in self._bitcode]
            for _ in range(len(os.sched_getaffinity(0))):
                self._start_next()

    def finish(self) -> list[DeviceCode] | None:
        """Waits for the machine code of all chips; None where clang is to link, and to say what is
        wrong. Raises ToolchainError where ptxas, told how by the options, refuses the code.
        """
        found: list[DeviceCode] = []
        while len(found) < len(self._started):
            arch, output, running = self._started[len(found)]
            done = running.finish()
            if self._is_refused or has_failed(done) or not output.is_file():
                # clang hands ptxas no arguments.
                if self._options.ptxas_arguments and output.with_suffix(".ptx").is_file():
                    raise refused(done)
                return None
            show_ptxas_log(done, self._options, self._runner)
            found.append(DeviceCode(arch, output.read_bytes()))
            self._start_next()
        # What is for one variant of a chip comes before what is for all, as clang puts it.
        found.sort(key=lambda code: code.arch[-1].isdigit())
        return None if self._is_refused else found

    def _start_next(self) -> None:
        if self._is_refused or not self._waiting:
            return
        arch, output = self._waiting.pop(0)
        ptx = output.with_suffix(".ptx")
        words = self._command(arch, ptx)
        if words is None or words[0] != self._linker:
            self._is_refused = True
            return
        number = len(self._started)
        try:
            running = self._early or self._begun(number)
        except ToolchainError:
            self._is_refused = True
            return
        self._early = None
        # The paths are relative: the file's words are not quoted.
        level = f"-O{self._options.opt_level}"
        given = ["-arch", arch, level, *ptxas_arguments(self._options), ptx.name, "-o", output.name]
        (self._folder / _words_of(number)).write_text(" ".join(given))
        running.give(words[1:])
        self._started.append((arch, output, running))

    def _begun(self, number: int) -> Running:
        """Starts what a chip's arguments are given to."""
        words = ["sh", "-c", _BOTH, "sh", self._linker, ARGUMENTS]
        words += [str(self._cuda.ptxas), _words_of(number)]
        return start_early(words, self._folder)

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


def _words_of(number: int) -> str:
    """The file with the words for ptxas."""
    return f"ptxas.{number}"
