"""Opening and closing libraries. The dynamic linker knows files by path and inode alone."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import shutil
import struct
import sys
import tempfile
import weakref
from collections.abc import Hashable
from functools import cached_property
from pathlib import Path
from typing import Any

from .errors import ExecutionError, InputError

# The state of a file: device, inode, size, and when it was changed.
_State = tuple[int, int, int, int]
_ACCEPTS_CPU = 1 << 1
# What a program returns that refused its tensors or has no weights: nothing has run.
_REFUSED = 1

# The header of an ELF-64 file (gABI 4.1) of little endian from the place of its program headers on,
# and of these the kind, the offset and the bytes in the file.
_ELF, _HEADER_BYTES = b"\x7fELF\x02\x01", 64
_HEADER, _HEADER_AT = struct.Struct("<QQ6xHHHH"), 32
_SEGMENT = struct.Struct("<I4xQ16xQ")

_linker = ctypes.CDLL(None)
_linker.dlopen.restype = ctypes.c_void_p
_linker.dlopen.argtypes = [ctypes.c_char_p, ctypes.c_int]
_linker.dlclose.argtypes = [ctypes.c_void_p]


class LoadedLibrary:
    """A library in this process, whose functions are attributes.

    It is unloaded once nobody holds it and its outputs have gone. One for GPUs stays. `is_copy`: it
    was loaded from a copy of the file, which lies nowhere now, or of no file.
    """

    def __init__(self, functions: Any, *, is_copy: bool) -> None:
        self.functions = functions
        self.is_copy = is_copy
        # Not at exit, when threads may still be in it.
        weakref.finalize(self, _leave, functions).atexit = False
        if hasattr(functions, "hirc_leave_communicator"):
            functions.hirc_leave_communicator.restype = None
            _say_goodbye_at_end(self)
        if not hasattr(functions, "hirc_programs"):
            return
        functions.hirc_programs.restype = ctypes.POINTER(ctypes.c_void_p)
        functions.hirc_last_error.restype = ctypes.c_char_p
        functions.hirc_own_output.restype = ctypes.c_void_p
        functions.hirc_own_output.argtypes = [ctypes.c_void_p] * 3
        functions.hirc_release_output.argtypes = [ctypes.c_void_p]
        functions.hirc_manage_output.restype = ctypes.c_void_p
        functions.hirc_manage_output.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
        functions.hirc_free_output.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        functions.hirc_synchronize.argtypes = [ctypes.c_void_p]
        functions.hirc_devices.restype = ctypes.c_uint64

    @cached_property
    def is_for_cpu(self) -> bool:
        """Whether its programs run on the CPU device, on memory of the host.

        Raises ExecutionError where CUDA does not work.
        """
        devices = self.hirc_devices()
        if devices == 0:
            raise ExecutionError(self.last_error())
        return bool(devices & _ACCEPTS_CPU)

    def last_error(self) -> str:
        """Returns what the library says of this thread's last failed call."""
        return self.hirc_last_error().decode(errors="replace")

    def error(self, status: int) -> InputError | ExecutionError | None:
        """Returns None for status 0, an InputError for 1, else an ExecutionError."""
        if status == 0:
            return None
        return (InputError if status == _REFUSED else ExecutionError)(self.last_error())

    def check(self, status: int) -> None:
        """Raises what a call's status says."""
        error = self.error(status)
        if error is not None:
            raise error

    def __getattr__(self, name: str) -> Any:
        return getattr(self.functions, name)


def _say_goodbye_at_end(library: LoadedLibrary) -> None:
    """Lets the others know that a process of multiprocessing's is done.

    C's functions for exit do this in other processes; a forked one of these ends without them.
    """
    # Its modules are there in every process that it began.
    modules = sys.modules
    if "multiprocessing.util" not in modules or multiprocessing.parent_process() is None:
        return
    known = weakref.ref(library)

    def leave() -> None:
        found = known()
        if found is not None:  # Else it was unloaded, and said so then.
            found.hirc_leave_communicator()

    modules["multiprocessing.util"].Finalize(None, leave, exitpriority=0)


# What is loaded, by the file's state and its weights.
_loaded: weakref.WeakValueDictionary[tuple[_State, Hashable], LoadedLibrary] = (
    weakref.WeakValueDictionary()
)


def state_of(path: Path) -> Hashable:
    """Returns a file as it is now; its path where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return str(path)
    return (str(path), status.st_ino, status.st_size, status.st_mtime_ns)


def check_whole(path: Path) -> None:
    """Raises OSError for a library of which the file lacks the end.

    The linker maps what the headers say. The process ends where it reads beyond the file's end.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        header = file.read(_HEADER_BYTES)
        if not header.startswith(_ELF):
            return
        if len(header) < _HEADER_BYTES:
            raise _cut_short(size, _HEADER_BYTES)
        fields = _HEADER.unpack_from(header, _HEADER_AT)
        segments, sections, step, count, section_step, section_count = fields
        end = max(segments + step * count, sections + section_step * section_count)
        if end > size:
            raise _cut_short(size, end)
        file.seek(segments)
        table = file.read(step * count)
    for at in range(0, len(table) - _SEGMENT.size + 1, max(step, 1)):
        _, offset, bytes_ = _SEGMENT.unpack_from(table, at)
        end = max(end, offset + bytes_)
    if end > size:
        raise _cut_short(size, end)


def _cut_short(size: int, wanted: int) -> OSError:
    return OSError(
        f"it is cut short: it has {size} bytes, and by its headers {wanted} or more; copy it again"
    )


def open_library(path: Path, weights: Hashable = None) -> LoadedLibrary:
    """Returns the library as the file is now, with `weights`. Raises OSError where it cannot be
    loaded.

    The linker gives what it loaded before from a path or an inode, though another file may be there
    now, or other weights are wanted: then it is loaded from a copy.
    """
    status = os.stat(path)
    key = ((status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns), weights)
    found = _loaded.get(key)
    if found is not None:
        return found
    check_whole(path)
    if not _is_known(path.absolute()):
        library = LoadedLibrary(ctypes.CDLL(str(path.absolute())), is_copy=False)
    else:
        with tempfile.TemporaryDirectory(prefix="hirc-") as folder:
            copy = Path(folder) / path.name
            shutil.copyfile(path, copy)
            library = LoadedLibrary(ctypes.CDLL(str(copy)), is_copy=True)
    _loaded[key] = library
    return library


def _is_known(path: Path) -> bool:
    """Returns whether the linker has loaded something from this path or this inode."""
    handle = _linker.dlopen(os.fsencode(path), os.RTLD_LAZY | os.RTLD_NOLOAD)
    if handle is not None:
        _linker.dlclose(handle)
    return handle is not None


def _leave(functions: Any) -> None:
    """Closes the library, or leaves that to its last output."""
    handle = functions._handle
    if not hasattr(functions, "hirc_leave") or functions.hirc_leave(ctypes.c_void_p(handle)):
        _linker.dlclose(handle)
