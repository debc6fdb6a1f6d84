"""PTX and cubins: LLVM's NVPTX code generator, and ptxas."""

from __future__ import annotations

from .child import in_child
from .errors import ToolchainError
from .llvm_ir import LlvmModule
from .options import Options
from .output import scratch_folder
from .process import Runner
from .target import Target
from .toolchain import Cuda


def emit_ptx(module: LlvmModule) -> str:
    """The module's PTX. Raises UnsupportedError where the chip lacks what it uses."""
    return in_child(
        lambda: module.assembly().encode(),
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
    """A cubin, `relocatable` for a device link. Raises ToolchainError with ptxas's message."""
    with scratch_folder() as folder:
        source, output = folder / "device.ptx", folder / "device.cubin"
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
