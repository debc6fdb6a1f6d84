"""Opening library files: the dynamic linker knows them by path and inode, not by what they hold."""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
from pathlib import Path

# The state of a file: device, inode, size, and when it was changed.
_State = tuple[int, int, int, int]
# What was loaded, by the file's state; and the paths and inodes that the linker knows.
_loaded: dict[_State, ctypes.CDLL] = {}
_known: set[str | tuple[int, int]] = set()


def open_library(path: Path) -> ctypes.CDLL:
    """The library as the file is now. Raises OSError where it cannot be loaded.

    The linker gives what it loaded before from a path or an inode, though another file may be there
    now: that one is loaded from a copy.
    """
    status = os.stat(path)
    state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    if state in _loaded:
        return _loaded[state]
    names = (str(path.absolute()), (status.st_dev, status.st_ino))
    if _known.isdisjoint(names):
        _known.update(names)
        _loaded[state] = ctypes.CDLL(names[0])
    else:
        with tempfile.TemporaryDirectory(prefix="hirc-") as folder:
            copy = Path(folder) / path.name
            shutil.copyfile(path, copy)
            _loaded[state] = ctypes.CDLL(str(copy))
    return _loaded[state]
