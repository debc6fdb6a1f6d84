"""Which schedule takes an operation: the first of those for its kind, else one for any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from ...dialects.mlir import ir
from .alternatives import Alternative, emit_first_that_holds
from .device import Device
from .floor import GENERAL, general, scatter
from .iteration import read_iteration
from .kernels import Kernels
from .logistic import use_logistic
from .size import ZERO
from .size_checks import emit_size_checks
from .work import COLLECTIVES, Work, read_work

# Packages, each of which gives launches to choose from at run time, or None where the operation is
# not its kind. One is loaded when it is asked first: most programs have few kinds of operations.
_SCHEDULES = ("transpose", "pointwise", "contraction", "windows", "rows", "columns", "scan")
# Those whose kernels check the assertions of a region; others do not take one that has any.
_CHECKING = ("transpose", "pointwise", "rows")


def schedule(op: ir.Operation, kernels: Kernels, device: Device | None) -> None:
    """Replaces a linalg.generic on buffers by launches of kernels that do the same.

    Without a device, by the schedules that take every operation.
    """
    iteration = read_iteration(op)
    with op.location, ir.InsertionPoint(op):
        emit_size_checks(op, iteration)
        if scatter.scatters(op):
            scatter.schedule(op, kernels)
            return
        if GENERAL in op.attributes:
            device = None
        work = read_work(op, device=device) if device is not None else None
        found = None
        if work is not None and any(work.extents[loop] == ZERO for loop in work.parallel):
            op.erase()  # It writes nothing.
            return
        if work is not None and device is not None:
            use_logistic(work)
            for name in _CHECKING if _has_assertions(op) else _SCHEDULES:
                found = _alternatives(name)(work, kernels, device)
                if found is not None:
                    break
        if work is not None and found is not None:
            emit_first_that_holds(work.open, found, lambda: _schedule_any(op.clone(), kernels))
            op.erase()
            return
        if work is None and device is not None:
            from .attention.schedule import alternatives

            nested = alternatives(op, kernels, device)
            if nested is not None:
                emit_first_that_holds(*nested, lambda: _schedule_any(op.clone(), kernels))
                op.erase()
                return
    _schedule_any(op, kernels)


def _alternatives(name: str) -> Callable[[Work, Kernels, Device], Sequence[Alternative] | None]:
    return import_module(f".{name}.schedule", __package__).alternatives


def _has_assertions(op: ir.Operation) -> bool:
    return any(each.operation.name == "cf.assert" for each in op.regions[0].blocks[0])


def _schedule_any(op: ir.Operation, kernels: Kernels) -> None:
    """The schedules that take every operation."""
    inner = [each.operation.name for each in op.regions[0].blocks[0]]
    if any(name in COLLECTIVES for name in inner):
        from .floor import streaming

        streaming.schedule(op, kernels)
    else:
        general.schedule(op, kernels)
