"""clang's new offload driver: host objects with device code inside to an executable or library."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from ..dialects.records import dataclass
from .cuda_folder import with_own_fatbinary
from .direct_link import direct_command, has_failed
from .errors import HircError, InputError, Note, ToolchainError, UnsupportedError
from .options import Emit, Options
from .platform_table import CUDA
from .process import Finished, Runner
from .target import Devices, Target
from .toolchain import Clang, Cuda, Toolchain


@dataclass(frozen=True)
class LinkJob:
    """What is linked beside the user's own link inputs, and into what.

    `temporary` is where the linkers put their own files, `support` the support library. For the
    CPU device there is no device code left to link. Calls of functions that are `wrapped` go to
    functions of another name. `ptx` goes beside the machine code. `glibc` are flags that find an
    older C library. `device` are objects of the device code in `objects`, linked already, and of
    what registers it. `passes` are LLVM's that the link of device code runs, and not its own.
    """

    objects: Sequence[Path]
    output: Path
    temporary: Path | None = None
    support: Path | None = None
    devices: Devices = Devices.GPUS
    wrapped: Sequence[str] = ()
    ptx: Mapping[Target, Path] = field(default_factory=dict[Target, Path])
    glibc: Sequence[str] = ()
    device: Sequence[Path] | None = None
    passes: str = ""

    @property
    def files(self) -> list[Path]:
        """What the linker reads and writes that is of this link alone."""
        support = [] if self.support is None else [self.support]
        return [*self.objects, *(self.device or ()), self.output, *support]


def link_command(job: LinkJob, options: Options, toolchain: Toolchain) -> list[str | Path]:
    """clang's argument list. Defaults that changed between clang versions are given explicitly."""
    command: list[str | Path] = [*toolchain.clang.command]
    if job.devices != Devices.CPU and job.device is None:
        command.append("--offload-link")
    if options.emit is Emit.SHARED:
        command.append("-shared")
    command.append("-Wl,--build-id")
    command += [*job.objects, *(job.device or ()), *map(_absolute, options.link_inputs)]
    if job.support is not None:
        command.append(job.support)
    command += job.glibc
    command += ["-o", job.output]
    lld = toolchain.clang.directory / "ld.lld"
    if lld.is_file():
        command.append(f"--ld-path={lld}")
    if options.verbose:
        command.append("-v")
    if job.devices == Devices.CPU:
        return [*command, "-pthread", "-lm"]
    if job.wrapped:
        command.append("-Wl," + ",".join(f"--wrap={name}" for name in job.wrapped))
    runtime: list[str | Path] = []
    if toolchain.cuda is not None:
        runtime = [toolchain.cuda.static_runtime]
    if job.device is None:
        for argument in device_arguments(options.opt_level, job.passes):
            command += ["-Xoffload-linker", argument]
        if options.save_temps is not None:
            command += ["-Xlinker", "--save-temps"]
        if toolchain.cuda is not None:
            command += _cuda_arguments(job, toolchain.cuda, compress=options.compress)
    return [*command, *runtime, "-ldl", "-lrt", "-lpthread", "-lm"]


def device_arguments(opt_level: int, passes: str) -> list[str]:
    """Returns what the linker of device code is told of its optimisation."""
    named = [f"--lto-newpm-passes={passes}"] if passes else []
    return [f"--plugin-opt=O{opt_level}", *named]


def _cuda_arguments(job: LinkJob, cuda: Cuda, *, compress: bool) -> list[str | Path]:
    """Returns what a link for NVIDIA's GPUs is told of CUDA."""
    path = f"--cuda-path={cuda.root}"
    # The device link is a clang of its own: it would take an installed toolkit, or no CUDA at all.
    compiler = f"--device-compiler={CUDA.triple}={path}"
    arguments: list[str | Path] = [path, "--no-cuda-version-check", "-Xlinker", compiler]
    if job.ptx or compress:
        own = with_own_fatbinary(cuda, job.ptx, job.temporary, compress=compress)
        arguments += ["-Xlinker", f"--cuda-path={own}"]
    return [*arguments, "--no-cuda-include-ptx=all"]


def _absolute(link_input: str) -> str:
    """Returns a link input that does not depend on the folder clang runs in."""
    if link_input.startswith("-L"):
        return f"-L{Path(link_input[2:]).absolute()}"
    return link_input if link_input.startswith("-") else str(Path(link_input).absolute())


@dataclass
class SymbolError(InputError):
    """A symbol that is defined nowhere, or twice; the linker does not say which line uses it."""

    symbol: str = ""


def link(job: LinkJob, options: Options, toolchain: Toolchain, runner: Runner) -> None:
    """Runs clang. Raises the error its messages tell of, in hirc's terms."""
    if options.glibc is not None and job.temporary is not None:
        # Imported late: few links are for an older C library.
        from .glibc.stand_ins import older_glibc_flags

        folder = job.temporary / "glibc"
        flags = older_glibc_flags(options.glibc, folder, toolchain.clang, runner)
        job = replace(job, glibc=flags)
    if job.device is not None:
        if _links_directly(job, options, toolchain, runner):
            return
        job = replace(job, device=None)
    if _links_directly(job, options, toolchain, runner):
        return
    command = link_command(job, options, toolchain)
    done = runner.run(command, directory=options.save_temps, temporary=job.temporary)
    if options.verbose and done.errors:
        runner.log(done.errors.rstrip())
    if has_failed(done):
        raise _explained(done, options, toolchain, runner)


def may_do_without_clang(options: Options) -> bool:
    """Returns whether a link may run what clang would run: nobody is to see clang, and all inputs
    are hirc's own.
    """
    shows = options.verbose or options.dry_run or options.save_temps is not None
    return not (shows or options.link_inputs or options.glibc is not None)


def _links_directly(job: LinkJob, options: Options, toolchain: Toolchain, runner: Runner) -> bool:
    """Links as clang would, without clang. Returns whether that went well: clang's own messages are
    those that tell of errors.
    """
    if job.temporary is None or not may_do_without_clang(options):
        return False
    command, files = link_command(job, options, toolchain), job.files
    if any(str(job.temporary) in str(word) for word in command if word not in files):
        return False
    direct = direct_command(command, files, toolchain.clang)
    return direct is not None and not has_failed(runner.run(direct, temporary=job.temporary))


def merge_objects(objects: Sequence[Path], output: Path, clang: Clang, runner: Runner) -> None:
    """Makes one object file of several. Raises ToolchainError."""
    command: list[str | Path] = [*clang.command, "-r", "-nostdlib", *objects, "-o", output]
    lld = clang.directory / "ld.lld"
    if lld.is_file():
        command.append(f"--ld-path={lld}")
    done = runner.run(command)
    if done.status != 0:
        raise ToolchainError(
            f"clang cannot merge object files: {done.errors.strip()}", stage="link"
        )


def _explained(done: Finished, options: Options, toolchain: Toolchain, runner: Runner) -> HircError:
    text = done.errors
    undefined = re.search(r"undefined (?:symbol|reference)(?: to|:) [`']?([\w.$]+)", text)
    if undefined is not None and undefined[1] == "main":
        return SymbolError(
            f"no input defines the entry '{options.entry}' that the executable would run",
            stage="link",
            hint="name the entry with --entry, or build with --emit=shared or --emit=object",
            symbol="main",
        )
    newer = None
    if undefined is not None and options.glibc is not None:
        from .glibc.stand_ins import release_of

        newer = release_of(undefined[1], toolchain.clang, runner)
    if undefined is not None and newer is not None:
        return SymbolError(
            f"function '{undefined[1]}' came with glibc {newer}, and --glibc={options.glibc} is "
            "older",
            stage="link",
            hint=f"do without it, or give --glibc={newer}",
            symbol=undefined[1],
        )
    if undefined is not None:
        return SymbolError(
            f"function '{undefined[1]}' is called and defined nowhere",
            stage="link",
            hint="give the object, archive or library that has it (-l, -L), or define it",
            symbol=undefined[1],
        )
    device = re.search(r"(Undefined reference to|Multiple definition of) '([\w.$]+)'", text)
    if device is not None:
        is_missing = device[1].startswith("Undefined")
        return SymbolError(
            f"device function '{device[2]}' is called and defined nowhere"
            if is_missing
            else f"device symbol '{device[2]}' is defined twice",
            stage="link",
            hint="give the unit, object or archive that defines it, for the same chips"
            if is_missing
            else "make one private, or rename it",
            symbol=device[2],
        )
    duplicate = re.search(r"(?:duplicate symbol|multiple definition)(?: of|:) [`']?([\w.$]+)", text)
    if duplicate is not None:
        return SymbolError(
            f"symbol '{duplicate[1]}' is defined twice",
            stage="link",
            hint="make one of the functions private, or rename it",
            symbol=duplicate[1],
        )
    library = re.search(r"unable to find library (-l\S+)", text)
    if library is not None:
        return InputError(
            f"library '{library[1]}' is not found", stage="link", hint="-L names more folders"
        )
    select = re.search(r"Cannot select: (?:intrinsic )?(%?[\w.]+)", text)
    if select is not None:
        return UnsupportedError(
            f"the chip or LLVM's code generator cannot do {select[1]}",
            stage="link",
            hint="another --offload-arch may have it (wgmma needs sm_90a)",
            notes=_notes(text),
        )
    backend = re.search(r"(?:LLVM ERROR: |clang-nvlink-wrapper: error: )([^\n]+)", text)
    if backend is not None and "ptxas" not in backend[1]:
        return UnsupportedError(
            f"the code generator refuses the device code: {backend[1]}",
            stage="link",
            hint="--emit=device-llvm shows what it was given",
            notes=_notes(text),
        )
    ptxas = re.search(r"ptxas [^\n]*?(?:error|fatal)\s*:\s*([^\n]+)", text)
    if ptxas is not None and toolchain.cuda is not None:
        return ToolchainError(
            f"ptxas refuses the device code: {ptxas[1]}",
            stage="link",
            hint=f"ptxas is {toolchain.cuda.ptxas}; --emit=ptx shows what it was given",
            notes=_notes(text),
        )
    return ToolchainError(
        f"clang failed with status {done.status}",
        stage="link",
        hint="-v shows its commands",
        notes=_notes(text),
    )


def _notes(text: str) -> list[Note]:
    # Lines that begin with # are of a stack trace.
    lines = [line for line in text.splitlines() if re.search(r"^[^#]*(error|fatal|warning)", line)]
    return [Note(line.strip()) for line in lines[:8]]
