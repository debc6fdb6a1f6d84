"""What the CPU device cannot do, told by its name and its place in the source."""

from __future__ import annotations

import re

from ..errors import Position, UnsupportedError
from .debug_info import source_of
from .device_ir import DeviceModule, Instruction

HINT = (
    "build for a GPU (--offload-arch=sm_90), or spell it with operations that the CPU device has "
    "(docs/cpu-device.md)"
)


def refusal(
    module: DeviceModule, instruction: Instruction, what: str, *, why: str = ""
) -> UnsupportedError:
    """Returns the error for an instruction that only a GPU can run."""
    reason = f": {why}" if why else ""
    return UnsupportedError(
        f"{what} cannot run on the CPU device{reason}",
        position=position_of(module, instruction),
        stage="cpu-device",
        hint=HINT,
    )


def position_of(module: DeviceModule, instruction: Instruction) -> Position | None:
    """Returns the instruction's place in the source."""
    match = re.fullmatch(r"(.*):(\d+):(\d+)", source_of(module, instruction.debug))
    return Position(match[1], int(match[2]), int(match[3])) if match else None
