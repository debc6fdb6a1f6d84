"""Opening library files: the dynamic linker knows them by path and inode, not by what they hold."""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Opened:
    """A library, and whether it is a copy of the file, which lies nowhere now."""

    library: ctypes.CDLL
    is_copy: bool


# The state of a file: device, inode, size, and when it was changed.
_State = tuple[int, int, int, int]
# What was loaded, by the file's state and its weights; and the paths and inodes that the linker
# knows.
_loaded: dict[tuple[_State, Hashable], Opened] = {}
_known: set[str | tuple[int, int]] = set()


def state_of(path: Path) -> Hashable:
    """A file as it is now; its path where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return str(path)
    return (str(path), status.st_ino, status.st_size, status.st_mtime_ns)


def open_library(path: Path, weights: Hashable = None) -> Opened:
    """The library as the file is now, with `weights`. Raises OSError where it cannot be loaded.

    The linker gives what it loaded before from a path or an inode, though another file may be there
    now, or other weights are wanted: then it is loaded from a copy.
    """
    status = os.stat(path)
    key = ((status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns), weights)
    if key in _loaded:
        return _loaded[key]
    names = (str(path.absolute()), (status.st_dev, status.st_ino))
    if _known.isdisjoint(names):
        _known.update(names)
        _loaded[key] = Opened(ctypes.CDLL(names[0]), is_copy=False)
    else:
        with tempfile.TemporaryDirectory(prefix="hirc-") as folder:
            copy = Path(folder) / path.name
            shutil.copyfile(path, copy)
            _loaded[key] = Opened(ctypes.CDLL(str(copy)), is_copy=True)
    return _loaded[key]
