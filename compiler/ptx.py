"""PTX and cubins: LLVM's NVPTX code generator, and ptxas."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .errors import ToolchainError, UnsupportedError
from .llvm_ir import LlvmModule
from .options import Options
from .process import Runner
from .target import Target
from .toolchain import Cuda


def emit_ptx(module: LlvmModule) -> str:
    """The module's PTX.

    LLVM's code generator ends the process when it meets what the chip lacks, so it runs in a
    child of this one. Raises UnsupportedError with what it said.
    """
    with tempfile.TemporaryFile() as result, tempfile.TemporaryFile() as messages:
        child = os.fork()
        if child == 0:
            _generate(module, result.fileno(), messages.fileno())
        _, status = os.waitpid(child, 0)
        result.seek(0)
        messages.seek(0)
        text = result.read().decode()
        said = messages.read().decode(errors="replace").strip()
    if os.waitstatus_to_exitcode(status) != 0:
        lines = [line for line in said.splitlines() if "LLVM ERROR" in line] or said.splitlines()
        raise UnsupportedError(
            f"LLVM cannot generate code for this chip: {lines[0] if lines else 'no message'}",
            stage="device-code",
            hint="another --offload-arch may have the instruction (wgmma needs sm_90a)",
        )
    return text


def _generate(module: LlvmModule, result: int, messages: int) -> None:
    status = 1
    try:
        os.dup2(messages, 2)
        data = module.assembly().encode()
        while data:
            data = data[os.write(result, data) :]
        status = 0
    finally:
        os._exit(status)


def assemble(
    ptx: str,
    target: Target,
    options: Options,
    cuda: Cuda,
    runner: Runner,
    *,
    relocatable: bool = False,
) -> bytes:
    """A cubin, `relocatable` for a device link. Raises ToolchainError with ptxas's message."""
    with tempfile.TemporaryDirectory(prefix="hirc-") as folder:
        source, output = Path(folder) / "device.ptx", Path(folder) / "device.cubin"
        source.write_text(ptx)
        level = f"-O{options.opt_level}"
        extra = ["-lineinfo"] if options.debug else []
        extra += ["-c"] if relocatable else []
        command = [cuda.ptxas, f"-arch={target.arch}", level, *extra, source, "-o", output]
        done = runner.run(command)
        if done.status != 0:
            raise ToolchainError(
                f"ptxas refuses the device code: {done.errors.strip().splitlines()[0]}",
                stage="device-code",
                hint="--emit=ptx shows what it was given",
            )
        return output.read_bytes() if output.is_file() else b""
