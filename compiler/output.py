"""Output files appear whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from .errors import InputError


@contextmanager
def replacing(output: Path) -> Generator[Path]:
    """A temporary path beside `output` that takes its place when the block ends well."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{output.name}.", dir=output.parent)
    except OSError as error:
        raise InputError(f"cannot write {output}: {error.strerror}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        if output.is_dir():
            raise InputError(f"cannot write {output}: it is a directory")
        # mkstemp makes files private; an output gets the usual permissions, or the linker's.
        mode = temporary.stat().st_mode & 0o777
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod((0o777 if mode & 0o100 else 0o666) & ~mask)
        temporary.replace(output)
    finally:
        temporary.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """A folder to write to, made where there is none. Raises InputError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make folder {path}: {error.strerror}") from error


def write(output: str, data: str | bytes) -> None:
    """Writes a whole output; `-` is standard output."""
    raw = data.encode() if isinstance(data, str) else data
    if output == "-":
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
        return
    path = Path(output)
    if path.exists() and not path.is_file():
        # A device such as /dev/null is written to, not replaced.
        if path.is_dir():
            raise InputError(f"cannot write {path}: it is a directory")
        path.write_bytes(raw)
        return
    with replacing(path) as temporary:
        temporary.write_bytes(raw)
