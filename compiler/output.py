"""Output files appear whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from . import activity
from .errors import HircError, InputError


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
        handle, name = tempfile.mkstemp(prefix=".hirc-", dir=folder)
    except OSError as error:
        raise InputError(f"cannot write {output}: {error.strerror}") from error
    os.close(handle)
    temporary = Path(name)
    with activity.temporary(temporary):
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
        except HircError as error:
            # The linker writes by mapped memory, and a full disk ends it with a signal. Its own
            # temporary files, which then stay, begin as this one.
            for left in folder.glob(f"{temporary.name}?*"):
                left.unlink(missing_ok=True)
            if any("Bus error" in note.message for note in error.notes):
                full = os.strerror(errno.ENOSPC)
                raise InputError(f"cannot write {output}: {full}") from error
            raise
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def scratch_folder() -> Generator[Path]:
    """A folder for temporary files, its owner's alone, for the time of the block.

    Raises InputError where none can be made.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="hirc-"))
    except OSError as error:
        raise InputError(
            f"cannot make a folder for temporary files: {error.strerror or error}",
            hint="TMPDIR names where they go",
        ) from error
    with activity.temporary(folder):
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def refuse_overwriting(output: str, inputs: Iterable[str]) -> None:
    """Raises InputError where a file to write is one of those to read, by whatever name."""
    for name in inputs:
        if "-" not in (output, name) and _is_same_file(output, name):
            raise InputError(
                f"{output} is the input {name}: it would be overwritten",
                hint="-o takes another file",
            )


def _is_same_file(first: str, second: str) -> bool:
    try:
        return os.path.samefile(first, second) and os.path.isfile(first)
    except OSError:
        return False


def make_folder(path: Path) -> None:
    """A folder to write to, made where there is none. Raises InputError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make folder {path}: {error.strerror}") from error


def write(output: str, data: str | bytes, *, beside: Callable[[], None] | None = None) -> None:
    """Writes a whole output; `-` is standard output. It appears after what `beside` writes.

    Raises InputError where that fails, BrokenPipeError where nobody reads standard output.
    """
    raw = data.encode(errors="surrogateescape") if isinstance(data, str) else data
    if output != "-":
        with replacing(Path(output)) as temporary:
            temporary.write_bytes(raw)
            if beside is not None:
                beside()
        return
    if beside is not None:
        beside()
    try:
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Nobody reads on, which is no mistake: a command ends without a word.
        raise
    except OSError as error:
        give_up_standard_output()
        raise InputError(f"cannot write to standard output: {error.strerror}") from error


def give_up_standard_output() -> None:
    """Lets what is left in the buffer go nowhere: it cannot be written at the end either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
