"""AMDGPU assembly and code objects, by clang: its code generator knows the assembly in ROCm's
libraries, and it runs lld.
"""

from __future__ import annotations

from collections.abc import Sequence

from .errors import UnsupportedError
from .llvm_ir import LlvmModule
from .output import scratch_folder
from .process import Runner
from .toolchain import Clang


def assembly(module: LlvmModule, clang: Clang, runner: Runner) -> bytes:
    """Returns the module's assembly. Raises UnsupportedError where the chip lacks what it uses."""
    return _compiled(module, ["-S"], clang, runner)


def code_object(module: LlvmModule, clang: Clang, runner: Runner) -> bytes:
    """Returns a code object, a shared library in ELF that HIP's runtime loads.

    Raises UnsupportedError where the chip lacks what the module uses.
    """
    return _compiled(module, [], clang, runner)


def relocatable_object(module: LlvmModule, clang: Clang, runner: Runner) -> bytes:
    """Returns an object file, which a link for the device takes.

    Raises UnsupportedError where the chip lacks what the module uses.
    """
    return _compiled(module, ["-c"], clang, runner)


def _compiled(module: LlvmModule, arguments: Sequence[str], clang: Clang, runner: Runner) -> bytes:
    machine = module.machine
    with scratch_folder() as folder:
        source, output = folder / "device.bc", folder / "device.out"
        source.write_bytes(module.bitcode())
        chip = [f"--target={machine.triple}", f"-mcpu={machine.cpu}", f"-O{machine.opt_level}"]
        done = runner.run([clang.path, *chip, "-nogpulib", *arguments, source, "-o", output])
        if done.status != 0:
            lines = [line for line in done.errors.splitlines() if "error" in line.lower()]
            raise UnsupportedError(
                f"clang cannot make code for {machine.cpu}: {(lines or [done.errors])[0].strip()}",
                stage="device-code",
                hint="--emit=device-llvm shows what it was given",
            )
        return output.read_bytes()
