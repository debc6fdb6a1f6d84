"""Reading LLVM bitcode files."""

from __future__ import annotations

from pathlib import Path

from .errors import InputError, ToolchainError

MAGICS = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")


def read_bitcode(path: Path) -> bytes:
    """Returns a bitcode file's bytes. Raises ToolchainError or InputError for one that is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ToolchainError(f"cannot read device library {path}: {error.strerror}") from error
    if data[:4] not in MAGICS:
        raise InputError(f"{path} is not LLVM bitcode", hint="--device-lib takes .bc files")
    return data
