"""Programs as built-in functions of Python, which the library makes (runtime/python_call.c)."""

from __future__ import annotations

import ctypes
import sys
import weakref
from collections.abc import Callable
from typing import Any, ClassVar, Never, SupportsIndex

from .errors import ExecutionError, InputError
from .loader_abi import ProgramInfo
from .loader_arguments import inputs_signature, name_function, text_of_builtin, with_options
from .loader_files import LoadedLibrary
from .loader_state import State

_MAKE = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.py_object)


class LibraryProgram(int):
    """The address of a function's data, and what these need; `self` of the built-in function."""

    needs: tuple[Any, ...]

    def __reduce_ex__(self, protocol: SupportsIndex) -> Never:
        """Refuses what copy and pickle ask for: code in memory is the process's."""
        raise TypeError("a library's program can be neither copied nor pickled")


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
        ("names", ctypes.py_object),
        ("use", ctypes.c_void_p),
        ("instance", ctypes.c_void_p),
    ]


def function_of(
    loaded: LoadedLibrary,
    info: ProgramInfo,
    other: weakref.WeakMethod[Callable[..., Any]],
    names: tuple[str, ...],
    state: State | None,
    says: str,
) -> Callable[..., Any]:
    """Returns the function that a program is called by.

    A built-in one takes tensors with DLPack's C exchange API and numbers: the inputs, in order or
    by their `names`, `out` for a program of one output, and `stream`. What else it is called with
    goes to `other`, as everything does where the library makes none: with a Python that has no
    lock, or for programs with outputs that are parts of other memory. `says` is its docstring.
    """
    name = info.name.decode()
    signature = with_options(inputs_signature(names))

    def call_other(*inputs: Any, **named: Any) -> Any:
        method = other()
        assert method is not None  # it is calling
        return method(*inputs, **named)

    name_function(call_other, name, signature, says)
    is_locked: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
    if not is_locked() or not hasattr(loaded, "hirc_call_from_python"):
        return call_other
    bound = _Bound(
        name=info.name,
        text=text_of_builtin(name, signature, says).encode(),
        program=ctypes.addressof(info),
        other=call_other,
        refused=InputError,
        failed=ExecutionError,
        names=names,
        use=None if state is None else ctypes.cast(loaded.hirc_use_state, ctypes.c_void_p).value,
        instance=None if state is None else state.instance,
    )
    make = _MAKE(ctypes.cast(loaded.hirc_call_from_python, ctypes.c_void_p).value or 0)
    data = LibraryProgram(ctypes.addressof(bound))
    data.needs = (bound, loaded, state)
    address = make(data, data)
    if not address:
        return call_other
    function = ctypes.cast(address, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(function))
    return function
