"""Which schedule takes an operation: the first of those for its kind, else one for any."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn, overload

from ...dialects import hir
from ...dialects.mlir import ir, memref
from ..fusion.tiles import STATISTICS
from ..rewriting import index_constant
from ..size_assertions import assert_equal
from .alternatives import Alternative, emit_first_that_holds
from .configuration import FAMILY, Chooser, Configuration, Given, read_given
from .device import Device
from .floor import GENERAL, general, scatter
from .iteration import Extent, Iteration, is_static, loop_of, read_iteration
from .kernels import Kernels
from .logistic import use_logistic
from .shape_class import Tuning, shape_class
from .size import ZERO
from .stored_types import take_stored_types
from .work import COLLECTIVES, Work, read_work

# Packages, each of which has a chooser; None where the operation is not its kind. One is loaded
# when it is asked first: most programs have few kinds of operations. An operation may give a
# configuration of each.
_OF_WORK = (
    "transpose",
    "pointwise",
    "few_rows",
    "contraction",
    "transforms",
    "windows",
    "rows",
    "columns",
    "scan",
)
# Of operations that read_work does not take: reductions within others.
_ATTENTION = "attention"
FAMILIES = (*_OF_WORK, _ATTENTION)
# Those that reduce what they give, too.
_OF_STATISTICS = ("contraction",)
# Those whose kernels check the assertions of a region; others do not take one that has any.
_CHECKING = ("transpose", "pointwise", "rows", "columns")


def schedule(
    op: ir.Operation, kernels: Kernels, device: Device | None, tuning: Tuning | None = None
) -> None:
    """Replaces a linalg.generic on buffers by launches of kernels that do the same.

    Without a device, by the schedules that take every operation, whatever it asks for. What the
    operation's class has in `tuning` comes before what the compiler decides on.
    """
    iteration = read_iteration(op)
    if GENERAL in op.attributes:
        device = None
    if device is not None:
        op = _in_tiles(op)
    given = None if device is None else read_given(op, FAMILIES)
    with op.location, ir.InsertionPoint(op):
        _emit_size_checks(op, iteration)
        if scatter.scatters(op):
            _refuse(given)
            _schedule_scatter(op, kernels, device)
            return
        work = read_work(op, device=device) if device is not None else None
        found = None
        if work is not None and any(work.extents[loop] == ZERO for loop in work.parallel):
            op.erase()  # It writes nothing.
            return
        if work is not None and device is not None:
            use_logistic(work)
            found = _alternatives(work, given, kernels, device, tuning or {})
        if work is not None and found is not None:
            emit_first_that_holds(work.open, found, lambda: _schedule_any(op.clone(), kernels))
            op.erase()
            return
        if device is not None and STATISTICS in op.attributes:
            is_done = _schedule_statistics(op, given, kernels, device, tuning or {})
            if is_done:
                op.erase()
                return
        if work is None and device is not None:
            attention = _module(_ATTENTION).chooser(op, kernels, device)
            if attention is not None:
                found = _of_attention(attention, given, kernels, tuning or {})
                emit_first_that_holds(
                    attention.work.open, found, lambda: _schedule_any(op.clone(), kernels)
                )
                op.erase()
                return
        _refuse(given)
    _schedule_any(op, kernels)


def _schedule_statistics(
    op: ir.Operation, given: Given | None, kernels: Kernels, device: Device, tuning: Tuning
) -> bool:
    """Emits a sum of products and reductions of its results; returns whether it is such."""
    from .contraction.statistics import emit_apart, read_statistics

    work = read_statistics(op, device)
    if work is None:
        return False
    use_logistic(work)
    found = _alternatives(work, given, kernels, device, tuning)

    def apart() -> None:
        emit_apart(work, kernels, device)

    if found is None:
        apart()
        return True
    few = None if given is not None else _module("few_rows").chooser(work, kernels, device)
    if few is not None:
        # Its kernel takes less time, even if another one reduces the results.
        found = [(few.require_few, apart), *found]
    emit_first_that_holds(work.open, found, lambda: _schedule_any(op.clone(), kernels))
    return True


def _of_attention(
    chooser: Chooser[Any], given: Given | None, kernels: Kernels, tuning: Tuning
) -> Sequence[Alternative]:
    """Returns what attention asks for or was found to be best computed by, and the compiler's."""
    asked: Alternative | None = None
    if given is not None:
        if given.family != _ATTENTION:
            _refuse(given)
        asked = chooser.given(given)
    elif tuning:
        values = tuning.get(shape_class(chooser.work), {})
        asked = chooser.tuned(values) if values.get(FAMILY) == _ATTENTION else None
    return [*([] if asked is None else [kernels.apart(asked)]), *chooser.alternatives()]


def _in_tiles(op: ir.Operation) -> ir.Operation:
    """Returns what multiplies by constant matrices with loops of tiles, any other as it is."""
    if not _has_matrices(op):
        return op
    from .transforms.tiles import in_tiles

    return in_tiles(op)


def _has_matrices(op: ir.Operation) -> bool:
    name = hir.MatrixElementOp.OPERATION_NAME
    return any(each.operation.name == name for each in op.regions[0].blocks[0])


def _schedule_scatter(op: ir.Operation, kernels: Kernels, device: Device | None) -> None:
    """Elements at computed places: in vectors where updates lie together, else one by one."""
    work = None if device is None else read_work(op, device=device)
    module = _module("pointwise")
    chooser: Chooser[Any] | None = (
        None if work is None or device is None else module.chooser(work, kernels, device)
    )
    if work is None or chooser is None:
        scatter.schedule(op, kernels)
        return
    emit_first_that_holds(
        work.open, chooser.alternatives(), lambda: scatter.schedule(op.clone(), kernels)
    )
    op.erase()


def configurations(op: ir.Operation, device: Device) -> tuple[str | None, list[Configuration]]:
    """The class of a linalg.generic on buffers, and what it may ask for of what a search tries.

    Emits index arithmetic before the operation that nothing uses.
    """
    with op.location, ir.InsertionPoint(op):
        copy = _in_tiles(op.clone())
        take_stored_types(copy)
        work = read_work(copy, device=device)
        found: list[Configuration] = []
        key: str | None = None
        if work is not None and not scatter.scatters(copy) and GENERAL not in op.attributes:
            use_logistic(work)
            key = shape_class(work)
            for name in _CHECKING if _has_assertions(copy) else _OF_WORK:
                chooser: Chooser[Any] | None = _module(name).chooser(work, None, device)
                found += [] if chooser is None else chooser.space()
        attention = None if work is not None else _module(_ATTENTION).chooser(copy, None, device)
        if attention is not None:
            key = shape_class(attention.work)
            found += attention.space()
        copy.erase()
    return key, found


def _alternatives(
    work: Work, given: Given | None, kernels: Kernels, device: Device, tuning: Tuning
) -> Sequence[Alternative] | None:
    """Returns what the operation asks for, if it does, or its class was found to be best computed
    by, and what the compiler decides on; None for none.
    """
    names = _CHECKING if _has_assertions(work.op) else _OF_WORK
    if work.statistics:
        names = _OF_STATISTICS
    asked: list[Alternative] = []
    if given is not None:
        asked.append(_asked_for(work, given, names, kernels, device))
    elif tuning:
        asked += _tuned(work, tuning, names, kernels, device)
    first: Chooser[Any] | None = None
    for name in names:
        chooser: Chooser[Any] | None = _module(name).chooser(work, kernels, device)
        if chooser is None:
            continue
        found = chooser.alternatives()
        if chooser.takes_all:
            return [*asked, *(found if first is None else first.beside(found))]
        first = chooser
        asked += found
    return asked or None


def _asked_for(
    work: Work, given: Given, names: Sequence[str], kernels: Kernels, device: Device
) -> Alternative:
    chooser: Chooser[Any] | None = None
    if given.family in names:
        chooser = _module(given.family).chooser(work, kernels, device)
    if chooser is None:
        _refuse(given)
    # What registers they need is not known.
    return kernels.apart(chooser.given(given))


def _module(name: str) -> ModuleType:
    return import_module(f".{name}.schedule", __package__)


def _tuned(
    work: Work, tuning: Tuning, names: Sequence[str], kernels: Kernels, device: Device
) -> list[Alternative]:
    values = tuning.get(shape_class(work), {})
    family = values.get(FAMILY)
    if family not in names:
        return []
    chooser: Chooser[Any] | None = _module(str(family)).chooser(work, kernels, device)
    found = None if chooser is None else chooser.tuned(values)
    return [] if found is None else [kernels.apart(found)]


@overload
def _refuse(given: Given) -> NoReturn: ...
@overload
def _refuse(given: Given | None) -> None: ...
def _refuse(given: Given | None) -> None:
    """Fails if a configuration was given for an operation that its family does not take."""
    if given is not None:
        given.refuse(f"the operation, with what is fused with it, is not of '{given.family}'")


def _has_assertions(op: ir.Operation) -> bool:
    return any(each.operation.name == "cf.assert" for each in op.regions[0].blocks[0])


def _schedule_any(op: ir.Operation, kernels: Kernels) -> None:
    """The schedules that take every operation."""
    if _has_matrices(op):
        from .transforms.matrices import select_matrix_elements

        select_matrix_elements(op)
    inner = [each.operation.name for each in op.regions[0].blocks[0]]
    if any(name in COLLECTIVES for name in inner):
        from .floor import streaming

        streaming.schedule(op, kernels)
    else:
        general.schedule(op, kernels)


def _emit_size_checks(op: ir.Operation, iteration: Iteration) -> None:
    """Emits assertions that operands indexed by one loop agree in size, where sizes are open.

    The verifier compares known sizes. Only dims that a loop indexes directly are compared:
    pipelines/hir/access_checks.py checks computed indices, before operations are fused.
    """
    for loop, chosen in enumerate(iteration.extents):
        for operand, map_ in enumerate(iteration.maps):
            for axis, expression in enumerate(map_.results):
                if loop_of(expression) == loop and (operand, axis) != (chosen.operand, chosen.axis):
                    _check(op, chosen, Extent(operand, axis))


def _check(op: ir.Operation, chosen: Extent, other: Extent) -> None:
    if is_static(op, chosen) and is_static(op, other):
        return
    text = (
        f"dim {chosen.axis} of operand {chosen.operand} and dim {other.axis} of operand "
        f"{other.operand} are one loop of {op.name} and must have the same size"
    )
    assert_equal(_size(op, chosen), _size(op, other), text, "{0} and {1}")


def _size(op: ir.Operation, place: Extent) -> ir.Value:
    return memref.dim(op.operands[place.operand], index_constant(place.axis))
