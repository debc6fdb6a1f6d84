"""Speeds up what torch.export registers for each program: a third of a small import's time."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any, cast
from unittest import mock

import torch
import torch._export.utils
from torch._C import DispatchKey
from torch._ops import OperatorBase

_Kernel = Callable[..., Any]
_Registering = Callable[[_Kernel], _Kernel]
_register = cast("Callable[[OperatorBase, Any], _Registering]", OperatorBase.py_impl)
# torch's function that looks up every operator of C++, to make it known to Python.
_LOOK_UP = "_materialize_cpp_cia_ops"


@contextmanager
def quick_registrations() -> Generator[None]:
    """Speeds up registrations within a `with` block.

    torch looks its operators up once, not once for each namespace, and registers a kernel without
    evaluating the annotations of its function.
    """
    utilities = torch._export.utils
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(OperatorBase, "py_impl", _registering))
        # Other versions of torch may have other names.
        if hasattr(utilities, _LOOK_UP):
            once = cache(getattr(utilities, _LOOK_UP))
            stack.enter_context(mock.patch.object(utilities, _LOOK_UP, once))
        yield


def _registering(self: OperatorBase, key: Any) -> _Registering:
    """Returns the decorator that registers a kernel for a key, as OperatorBase.py_impl does."""
    if not isinstance(key, DispatchKey) or key == DispatchKey.Python:
        return _register(self, key)

    def register(kernel: _Kernel) -> _Kernel:
        if key in self.py_kernels:
            # Raises torch's error for a second kernel.
            return _register(self, key)(kernel)
        self.py_kernels[key] = kernel
        self._dispatch_cache.clear()  # pyright: ignore[reportPrivateUsage]
        return kernel

    return register
