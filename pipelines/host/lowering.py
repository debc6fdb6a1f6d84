"""The table of host lowerings: each is a typed function, registered by operation name.

The module that `_MODULES` has for an operation is loaded when it is asked for; all of this folder
are for one that is not there.

A lowering builds the calls before its operation and returns the values that replace its
results; the caller erases the operation. Streams stand for asynchronous tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dialects.mlir import ir
from ...dialects.modules import load_module, load_modules
from .emitter import Emitter

# Takes the operation's own view (gpu.AllocOp and so on), which differs from one to the next.
Lowering = Callable[[Any, Emitter], Sequence[ir.Value]]

_lowerings: dict[str, Lowering] = {}
# Modules of operations that most programs have.
_MODULES = {
    "gpu.launch_func": "launch",
    "gpu.alloc": "allocate",
    "gpu.dealloc": "deallocate",
    "gpu.memcpy": "copy",
    "gpu.memset": "fill",
    "gpu.wait": "wait",
}


def lowers(name: str) -> Callable[[Lowering], Lowering]:
    """Registers a lowering of the operation `name`."""

    def add(function: Lowering) -> Lowering:
        _lowerings[name] = function
        return function

    return add


def find_lowering(name: str) -> Lowering | None:
    """Returns the lowering of an operation, or None."""
    if name not in _lowerings:
        load_module(__package__, _MODULES.get(name, ""))
        if name not in _lowerings:
            load_modules(__package__)
    return _lowerings.get(name)


def stream_for(emit: Emitter, dependencies: Sequence[ir.Value], asynchronous: bool) -> ir.Value:
    """The stream an operation runs on, ordered after its dependencies.

    That is the first dependency's; with none, a stream from the pool when the operation is
    asynchronous, else the default stream.
    """
    if not dependencies:
        if not asynchronous:
            return emit.null()
        return emit.value_of_call("hirc_stream_acquire", [emit.location()], emit.types.ptr)
    first, *others = dependencies
    for other in others:
        if other != first:
            emit.call("hirc_stream_wait", [first, other, emit.location()])
    return first


def finish(emit: Emitter, stream: ir.Value, asynchronous: bool) -> list[ir.Value]:
    """Waits for a synchronous operation; the results that replace the token otherwise."""
    if asynchronous:
        return [stream]
    emit.checked_call("cudaStreamSynchronize", [stream])
    return []
