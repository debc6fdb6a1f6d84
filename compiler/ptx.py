"""PTX and cubins: LLVM's NVPTX code generator, and ptxas."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager

from .child import Child
from .errors import ToolchainError
from .llvm_ir import LlvmModule
from .options import Options
from .output import scratch_folder
from .process import Finished, Runner
from .target import Target
from .toolchain import Cuda

# A file of line tables. Without a time and a size ptxas takes those of the file, if it is there.
_FILE = re.compile(r'^(\s*\.file\s+\d+ "[^"]*")$', re.MULTILINE)
_INPUT = "/dev/stdin"
# What ptxas -v writes of a kernel begins with the tool's name, or goes on from such a line.
_LOG_LINES = ("ptxas ", "    ")


def emit_ptx(module: LlvmModule) -> str:
    """Returns the module's PTX. Raises UnsupportedError where the chip lacks what it uses."""
    with begin_ptx(module) as child:
        return finish_ptx(child)


def begin_ptx(module: LlvmModule) -> Child:
    """Lets a child of this process generate the module's PTX, for `finish_ptx`."""
    return Child(lambda: module.assembly().encode())


def finish_ptx(child: Child) -> str:
    """Returns the PTX. Raises UnsupportedError where the chip lacks what the module uses."""
    return child.generated(
        what="code for this chip",
        stage="device-code",
        hint="another --offload-arch may have the instruction (wgmma needs sm_90a)",
    ).decode()


def assemble(
    ptx: str,
    target: Target,
    options: Options,
    cuda: Cuda,
    runner: Runner,
    *,
    relocatable: bool = False,
) -> bytes:
    """Returns a cubin, `relocatable` for a device link. Raises ToolchainError with
    ptxas's message.
    """
    with assembling(target, options, cuda, runner, relocatable=relocatable) as begin:
        return begin(ptx)()


@contextmanager
def assembling(
    target: Target, options: Options, cuda: Cuda, runner: Runner, *, relocatable: bool = False
) -> Generator[Callable[[str], Callable[[], bytes]]]:
    """Starts ptxas, and yields what gives it PTX: that returns what waits for it and returns what
    `assemble` does.

    Half of the time that it takes for a small program it needs to start.
    """
    with scratch_folder() as folder:
        output = folder / "device.cubin"
        level = f"-O{options.opt_level}"
        extra = ["-lineinfo"] if options.debug else []
        extra += ["-c"] if relocatable else []
        extra += ptxas_arguments(options)
        command = [cuda.ptxas, "-arch", target.arch, level, *extra, _INPUT, "-o", output]

        def begin(ptx: str) -> Callable[[], bytes]:
            running.feed(_FILE.sub(r"\1, 1, 1", ptx))
            return finish

        def finish() -> bytes:
            done = running.finish()
            if done.status != 0:
                raise refused(done)
            show_ptxas_log(done, options, runner)
            return output.read_bytes() if output.is_file() else b""

        if runner.dry_run:
            runner.run(command)
            yield lambda ptx: bytes
            return
        with runner.waiting(command) as running:
            yield begin


def refused(done: Finished) -> ToolchainError:
    """Returns the error that says what ptxas said."""
    said = done.errors.strip().partition("\n")[0].replace(_INPUT, "device.ptx")
    return ToolchainError(
        f"ptxas refuses the device code: {said}",
        stage="device-code",
        hint="--emit=ptx shows what it was given",
    )


def ptxas_arguments(options: Options) -> list[str]:
    """Returns what the options add to ptxas's arguments."""
    log = ["-v"] if options.ptxas_log else []
    return [*log, *options.ptxas_arguments]


def show_ptxas_log(done: Finished, options: Options, runner: Runner) -> None:
    """Logs what ptxas said, where the options ask for it: registers, memory, spills a kernel."""
    said = "\n".join(line for line in done.errors.splitlines() if line.startswith(_LOG_LINES))
    if said and ptxas_arguments(options):
        runner.log(said)


def disassemble(cubin: bytes, cuda: Cuda, runner: Runner) -> str:
    """Returns the SASS of a cubin. Raises ToolchainError where there is no nvdisasm."""
    if cuda.nvdisasm is None:
        raise ToolchainError(
            "nvdisasm, which shows SASS, is not found",
            stage="device-code",
            hint="pip install nvidia-cuda-nvdisasm, or put a CUDA toolkit's nvdisasm on the PATH; "
            "--emit=cubin makes what it reads, --emit=ptx needs nothing",
        )
    with scratch_folder() as folder:
        source = folder / "device.cubin"
        source.write_bytes(cubin)
        done = runner.run([cuda.nvdisasm, "-c", source])
    if done.status != 0:
        said = done.errors.strip().splitlines() or [f"status {done.status}"]
        raise ToolchainError(f"nvdisasm refuses the cubin: {said[0]}", stage="device-code")
    return done.output
