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

# The linker with its arguments, and then ptxas with its own.
_BOTH = '"$1" "$2" --lto-emit-asm && shift 2 && exec "$@"'


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
        self._waiting: list[str] = []
        self._started: list[tuple[str, Running]] = []
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
        for running in [self._early, *(running for _, running in self._started)]:
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
            self._waiting = [*self._bitcode]
            for _ in range(len(os.sched_getaffinity(0))):
                self._start_next()

    def finish(self) -> list[DeviceCode] | None:
        """Waits for the machine code of all chips; None where clang is to link, and to say what is
        wrong. Raises ToolchainError where the options have arguments for ptxas, as clang hands it
        none.
        """
        found: list[DeviceCode] = []
        while len(found) < len(self._started):
            number = len(found)
            arch, running = self._started[number]
            done, output = running.finish(), self._file(number, "cubin")
            if self._is_refused or has_failed(done) or not output.is_file():
                if self._options.ptxas_arguments and self._file(number, "ptx").is_file():
                    raise refused(done)
                return self._left_to_clang()
            show_ptxas_log(done, self._options, self._runner)
            found.append(DeviceCode(arch, output.read_bytes()))
            self._start_next()
        # What is for one variant of a chip comes before what is for all, as clang puts it.
        found.sort(key=lambda code: code.arch[-1].isdigit())
        return self._left_to_clang() if self._is_refused else found

    def _left_to_clang(self) -> None:
        if self._options.ptxas_arguments:
            raise ToolchainError(
                "the device code could not be linked with arguments for ptxas",
                stage="device-code",
                hint="with -v clang links it, and shows what fails",
            )

    def _start_next(self) -> None:
        if self._is_refused or not self._waiting:
            return
        arch, number = self._waiting.pop(0), len(self._started)
        words = self._command(arch, self._file(number, "ptx"))
        if words is None or words[0] != self._linker:
            self._is_refused = True
            return
        try:
            running = self._early or self._begun(number)
        except ToolchainError:
            self._is_refused = True
            return
        self._early = None
        self._file(number, "arch").write_text(f"-arch {arch}")
        running.give(words[1:])
        self._started.append((arch, running))

    def _begun(self, number: int) -> Running:
        """Starts what the linker's arguments are given to; the chip is told in a file."""
        ptxas = [self._cuda.ptxas, f"-O{self._options.opt_level}", *ptxas_arguments(self._options)]
        files = [self._file(number, kind) for kind in ("arch", "ptx", "cubin")]
        ptxas += ["--options-file", *files[:2], "-o", files[2]]
        words = ["sh", "-c", _BOTH, "sh", self._linker, ARGUMENTS, *map(str, ptxas)]
        return start_early(words, self._folder)

    def _file(self, number: int, kind: str) -> Path:
        """One of the files of the chip that is linked as the first, second, ..."""
        return self._folder / f"device.{number}.{kind}"

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
