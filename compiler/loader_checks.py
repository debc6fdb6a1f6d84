"""What is wrong with the arguments of a call that the program itself cannot see."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import InputError

# The numbers that CUDA gives the default stream and the one of the thread; others are addresses,
# of which none is in the first page and none has more bits.
_NUMBERED = 2
_FIRST_ADDRESS = 4096
_ADDRESS_BITS = 57


def file_path(given: Any, argument: str, *, others: str = "") -> Path:
    """Returns the path that an argument gives. Raises InputError for what is none.

    `others` are what else the argument may be.
    """
    name = os.fspath(given) if isinstance(given, os.PathLike) else given
    if not isinstance(name, str):
        kind = type(name).__name__
        raise InputError(f"{argument} takes a path (str or os.PathLike){others}, not {kind}")
    if not name or "\0" in name:
        raise InputError(f"{argument} is {name!r}, which names no file")
    return Path(name)


def stream_number(stream: Any, *, on_cpu: bool) -> int:
    """Returns the `cudaStream_t` of an object or a number. Raises InputError for what is none.

    A number beyond those of CUDA's own is the caller's to get right on a GPU. The CPU device has no
    other streams that Python could know.
    """
    number: Any = stream
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            number = getattr(stream, name)
    try:
        if isinstance(number, bool):
            raise TypeError
        value = operator.index(number)
    except TypeError:
        raise _no_stream(stream, "an integer, or an object of torch's or CuPy's") from None
    if 0 <= value <= _NUMBERED:
        return value
    if on_cpu:
        raise _no_stream(stream, "on the CPU device, None, 0, 1 and 2 are all there are")
    if value < _FIRST_ADDRESS or value >> _ADDRESS_BITS:
        raise _no_stream(stream, "a cudaStream_t is an address, or 0, 1 or 2")
    return value


def _no_stream(stream: Any, hint: str) -> InputError:
    return InputError(f"stream= is {stream!r}, which is no CUDA stream", hint=hint)


@contextmanager
def passing(where: str) -> Generator[None]:
    """Makes an InputError of whatever a tensor's own functions raise in the block."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        # Another library's code may raise anything.
        said = str(error)
        if not said or not isinstance(error, (BufferError, RuntimeError, TypeError, ValueError)):
            said = f"{type(error).__name__}: {said}".removesuffix(": ")
        raise InputError(f"{where} cannot be passed: {said}") from error


def _numpy_types() -> tuple[Any, ...]:
    """Returns the types of NumPy's arrays and its booleans, where it is loaded."""
    numpy: Any = sys.modules.get("numpy")
    return () if numpy is None else (numpy.ndarray, numpy.bool_)


def _check_gradients(given: Any, where: str) -> None:
    """Refuses torch's tensors with tangents, and those of its transforms. Raises InputError."""
    torch: Any = sys.modules.get("torch")
    if not isinstance(given, getattr(torch, "Tensor", ())):
        return
    wraps = getattr(getattr(torch._C, "_functorch", None), "is_functorch_wrapped_tensor", None)
    if wraps is not None and wraps(given):
        raise InputError(
            f"{where} is a tensor within one of torch.func's transforms, which do not see what the "
            "program does",
            hint="call the program outside of grad, jvp, vmap and the like",
        )
    forward: Any = sys.modules.get("torch.autograd.forward_ad")
    if (
        forward is not None
        and forward._current_level >= 0
        and forward.unpack_dual(given).tangent is not None
    ):
        raise InputError(
            f"{where} is a dual tensor, whose tangent would be lost: programs have no derivatives",
            hint="pass .detach()",
        )


def check_plain(given: Any, where: str) -> None:
    """Refuses tensors whose memory holds other numbers than they do, or cannot be written, and
    those with derivatives, which would be lost.

    Raises InputError.
    """
    if not hasattr(given, "__dlpack__"):
        return
    _check_gradients(given, where)
    mask: Any = getattr(given, "mask", None)
    if isinstance(mask, _numpy_types()) and mask.any():
        raise InputError(
            f"{where} is a masked array, of which the program would see what the mask hides",
            hint="pass .filled(value) or .data",
        )
    flags = getattr(given, "flags", None)
    if getattr(flags, "writeable", True) is False:
        raise InputError(
            f"{where} cannot be passed: it is read-only, which DLPack cannot tell the program",
            hint="pass a copy: numpy.array(it)",
        )
    for asks, resolves in (("is_neg", "resolve_neg"), ("is_conj", "resolve_conj")):
        ask = getattr(given, asks, None)
        if callable(ask) and ask():
            raise InputError(
                f"{where} is a view whose elements are negated or conjugated when they are read "
                f"({asks}())",
                hint=f"pass .{resolves}()",
            )
