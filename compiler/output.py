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
    """A temporary path beside `output` that takes its place when the block ends well.

    A link is followed; a device such as /dev/null is written to and stays what it is. Raises
    InputError where `output` cannot be written.
    """
    if output.is_dir():
        raise InputError(f"cannot write {output}: it is a directory")
    target = output.resolve() if output.is_symlink() else output
    is_device = target.exists() and not target.is_file()
    folder = Path(tempfile.gettempdir()) if is_device else target.parent
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=folder)
    except OSError as error:
        raise InputError(f"cannot write {output}: {error.strerror}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        if is_device:
            target.write_bytes(temporary.read_bytes())
            return
        # mkstemp makes files private; an output gets the usual permissions, or the linker's.
        mode = temporary.stat().st_mode & 0o777
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod((0o777 if mode & 0o100 else 0o666) & ~mask)
        temporary.replace(target)
    except OSError as error:
        raise InputError(f"cannot write {output}: {error.strerror}") from error
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
    with replacing(Path(output)) as temporary:
        temporary.write_bytes(raw)
