"""Programs as built-in functions of Python, which the library makes (runtime/python_call.c)."""

from __future__ import annotations

import ctypes
import sys
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

from .errors import ExecutionError, InputError
from .loader_abi import ProgramInfo
from .loader_files import LoadedLibrary

_MAKE = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.py_object)


class _Bound(ctypes.Structure):
    """struct python_program: a PyMethodDef, and what the function calls."""

    _fields_: ClassVar[Any] = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
        ("program", ctypes.c_void_p),
        ("other", ctypes.py_object),
        ("refused", ctypes.py_object),
        ("failed", ctypes.py_object),
        ("takes_outputs", ctypes.c_int64),
    ]


def built_in_function(
    loaded: LoadedLibrary,
    info: ProgramInfo,
    other: weakref.WeakMethod[Callable[..., Any]],
    *,
    takes_outputs: bool,
) -> Callable[..., Any] | None:
    """A function that takes tensors with DLPack's C exchange API and numbers.

    These are the inputs, and with `takes_outputs` the outputs after them, which it returns. What
    else it is called with goes to `other`. None where the library makes none: with a Python that
    has no lock, or for programs with outputs that are parts of other memory.
    """
    is_locked: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
    if not is_locked() or not hasattr(loaded, "hirc_call_from_python"):
        return None

    def call_other(*inputs: Any) -> Any:
        method = other()
        assert method is not None  # it is calling
        return method(*inputs)

    bound = _Bound(
        name=info.name,
        program=ctypes.addressof(info),
        other=call_other,
        refused=InputError,
        failed=ExecutionError,
        takes_outputs=takes_outputs,
    )
    make = _MAKE(ctypes.cast(loaded.hirc_call_from_python, ctypes.c_void_p).value or 0)
    address = make(ctypes.addressof(bound), (bound, loaded))
    if not address:
        return None
    function = ctypes.cast(address, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(function))
    return function
