"""Files made once and kept between runs, in the folder toolchain.cache_directory() names.

What lies there is linked into programs, so only a folder that nobody else can write to is used.
Where there is none, or no room in it, everything is made anew. What was used least lately goes
where all take more than toolchain.cache_bytes().
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..dialects.records import dataclass
from .errors import InputError
from .output import replacing
from .toolchain import cache_bytes, cache_directory

_DIGEST_BYTES = 32
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_LOCK = ".lock"
# What is left of the bytes when there were too many: not every new file has to make room.
_LEFT = 0.9
# What the cache calls its files. The folder may be one that holds others.
_NAME = re.compile(r"[a-z][a-z-]*-[0-9a-f]{16,}(\.[a-z]+)?")


@dataclass(frozen=True)
class Cache:
    """The folder in use, None where there is none, and what is wrong with those before it."""

    folder: Path | None
    refused: tuple[str, ...] = ()


def kept(name: str) -> bytes | None:
    """Returns the file `name` of the cache; None where it is not there, or damaged."""
    folder = find_cache().folder
    return None if folder is None else _kept(folder / name)


# What most programs of a process share, by name: reading it again takes longer than what is new in
# such a program.
_shared: dict[str, bytes] = {}


def kept_shared(name: str) -> bytes | None:
    """As kept(), but that the file is read once a process."""
    found = _shared.get(name) or kept(name)
    if found is not None:
        _shared[name] = found
    return found


def cached_shared(name: str, make: Callable[[], bytes]) -> bytes:
    """As cached(), but that the file is read once a process."""
    if name not in _shared:
        _shared[name] = cached(name, make)
    return _shared[name]


def cached(name: str, make: Callable[[], bytes]) -> bytes:
    """Returns the file `name` of the cache, made by `make` when it is not there; by one process at
    a time.

    The name carries a digest of all that the contents depend on, so a file is never out of date:
    `word-0123456789abcdef`, of 16 digits or more, with a suffix or not.
    """
    folder = find_cache().folder
    if folder is None:
        return make()
    path = folder / name
    found = _kept(path)
    if found is not None:
        return found
    with _alone(path):
        found = _kept(path)
        if found is not None:
            return found
        data = make()
        # A cache that is full, or gone, is no reason to fail.
        with suppress(InputError), replacing(path) as temporary:
            temporary.write_bytes(data + _digest(data))
        _make_room(folder, cache_bytes(), path.name)
    return data


@dataclass(frozen=True)
class CachedFile:
    """A file of the cache: its name, its bytes, and when it was used last, in seconds."""

    name: str
    bytes: int
    used: float


def cached_files(folder: Path) -> list[CachedFile]:
    """Returns the files of the cache, those first that were used least lately."""
    found: list[CachedFile] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            # Another process may remove it now.
            with suppress(OSError):
                if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    found.append(CachedFile(entry.name, status.st_size, status.st_mtime))
    return sorted(found, key=lambda file: file.used)


def clear(folder: Path) -> list[CachedFile]:
    """Removes the files of the cache, and returns those that are gone."""
    gone: list[CachedFile] = []
    for file in cached_files(folder):
        with suppress(OSError):
            (folder / file.name).unlink()
            gone.append(file)
    return gone


def _make_room(folder: Path, most: int, newest: str) -> None:
    """Removes what was used least lately, where all files take more bytes than they may."""
    files = cached_files(folder)
    total = sum(file.bytes for file in files)
    if total <= most:
        return
    for file in files:
        if total <= most * _LEFT:
            return
        if file.name != newest:
            with suppress(OSError):
                (folder / file.name).unlink()
                total -= file.bytes


@contextmanager
def _alone(path: Path) -> Generator[None]:
    """One process makes a file; others that want it wait, as long as that one lives."""
    lock = path.with_name(f"{path.name}{_LOCK}")
    try:
        file = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        with suppress(OSError):
            lock.unlink()
        os.close(file)


def _kept(path: Path) -> bytes | None:
    """Returns what the cache has of a name; None where there is nothing, or it is damaged."""
    read = _read(path)
    if read is None:
        return None
    data, digest = read[:-_DIGEST_BYTES], read[-_DIGEST_BYTES:]
    if digest != _digest(data):
        return None
    with suppress(OSError):
        os.utime(path)
    return data


def find_cache(*, make: bool = True) -> Cache:
    """Returns the cache's folder, or one among the temporary files, made unless `make` is false."""
    refused: list[str] = []
    for folder in (cache_directory(), Path(tempfile.gettempdir()) / f"hirc-{os.geteuid()}"):
        if folder is None:
            refused.append("there is no home directory")
            continue
        wrong = _what_is_wrong(folder.absolute(), make=make)
        if wrong is None:
            return Cache(folder, tuple(refused))
        refused.append(wrong)
    return Cache(None, tuple(refused))


def _what_is_wrong(folder: Path, *, make: bool) -> str | None:
    """Why a folder cannot be the cache: it cannot be written, or others can write to it."""
    try:
        if make:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                folder.mkdir(mode=0o700)
        if not os.path.lexists(folder):
            existing = next(each for each in folder.parents if each.exists())
            is_writable = existing.is_dir() and os.access(existing, os.W_OK)
            return None if is_writable else f"{folder} cannot be made"
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode):
            return f"{folder} is no folder of its own"
        if status.st_uid != os.geteuid():
            return f"{folder} is another user's"
        if status.st_mode & _OTHERS_WRITE:
            return f"others can write to {folder}"
        for parent in folder.resolve().parents:
            mode = parent.stat().st_mode
            if mode & _OTHERS_WRITE and not mode & stat.S_ISVTX:
                return f"others can write to {parent}, in which {folder} is"
        return None if os.access(folder, os.W_OK) else f"{folder} cannot be written"
    except OSError as error:
        return f"{folder} cannot be used: {error.strerror}"


def _read(path: Path) -> bytes | None:
    """Returns what a file of this user's holds; None where there is none."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(file, "rb") as stream:
            status = os.fstat(file)
            is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
            return stream.read() if is_ours else None
    except OSError:
        return None


def _digest(data: bytes) -> bytes:
    """Returns what follows the data in the file, so that a damaged one is made again."""
    return hashlib.sha256(data).digest()
