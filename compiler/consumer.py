"""The clang that finishes a build: what it reads, and which chips it knows."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from .errors import ToolchainError, UnsupportedError
from .gate import GateError
from .gate.older import to_older
from .llvm_ir import CONSUMER_LLVM, LlvmModule
from .output import scratch_folder
from .process import Runner
from .target import Target

# The first clang that knows a chip: what 16, 19 and 22 print of themselves, and upstream's changes.
_FIRST_CLANG = {
    **dict.fromkeys(("88", "110"), 22),
    **dict.fromkeys(("103", "120", "121"), 21),
    "100": 20,
    "gfx942": 17,
    "90a": 18,
}
_FIRST_WITH_F = 22


def check_chips(targets: Sequence[Target], consumer: int) -> None:
    """Raises UnsupportedError for a chip that clang `consumer` does not link for."""
    for target in targets:
        name = target.chip.removeprefix("sm_")
        first = _FIRST_CLANG.get(name) or _FIRST_CLANG.get(name.rstrip("af"), 0)
        first = max(first, _FIRST_WITH_F if name.endswith("f") else 0)
        if consumer < first:
            raise UnsupportedError(
                f"clang {consumer} does not link device code for {target.chip}: "
                f"clang {first} is the first to",
                hint=f"name older chips with --offload-arch, or --for-clang={first}",
            )


def takes_bitcode(consumer: int) -> bool:
    """Returns whether clang `consumer` reads the bitcode that is made here, of device code as of
    the host.

    LLVM reads what it or an older one wrote. Machine code of the device is for any.
    """
    return consumer >= CONSUMER_LLVM


def host_text(module: LlvmModule, consumer: int) -> str:
    """Returns the host's IR as text that clang `consumer` reads. Raises UnsupportedError."""
    text = module.text()
    if takes_bitcode(consumer):
        return text
    try:
        return to_older(text, consumer)
    except GateError as error:
        raise UnsupportedError(
            str(error), stage="host-code", hint="--emit=object has machine code for any clang"
        ) from error


def host_bitcode(module: LlvmModule, consumer: int, runner: Runner) -> bytes:
    """Returns the host's IR as bitcode that clang `consumer` reads, which that one writes.

    Raises ToolchainError where it is not there, or does not take the text.
    """
    if takes_bitcode(consumer):
        return module.bitcode()
    clang = _found(consumer)
    if clang is None:
        raise ToolchainError(
            f"clang {consumer} is not found, and no other writes bitcode that it reads",
            hint=f"install clang-{consumer}; or --emit=llvm, the same as text, or --emit=object",
        )
    with scratch_folder() as folder:
        source, output = folder / "host.ll", folder / "host.bc"
        source.write_text(host_text(module, consumer))
        to_bitcode = ["-x", "ir", "-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes"]
        done = runner.run([clang, *to_bitcode, source, "-o", output])
        if done.status != 0:
            raise ToolchainError(
                f"{clang} refuses the host code: {done.errors.strip()}",
                stage="host-code",
                hint="--emit=object has machine code for any clang",
            )
        return output.read_bytes()


def _found(major: int) -> Path | None:
    named = shutil.which(f"clang-{major}")
    packaged = Path(f"/usr/lib/llvm-{major}/bin/clang")
    return Path(named) if named is not None else packaged if packaged.is_file() else None
