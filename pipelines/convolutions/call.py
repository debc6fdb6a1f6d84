"""A linalg operation that sums as a convolution does becomes a call of cuDNN."""

from __future__ import annotations

from ...dialects.hir.has_library import CUDNN
from ...dialects.mlir import ir
from ..hir.loops import emit_by_library
from ..hir.memory.owners import Owners
from ..schedules.contraction.form import read_form
from ..schedules.device import Device
from ..schedules.work import read_work
from ..walking import defining_op, is_used
from .choose import is_for_library
from .convolution import emit_call
from .finish import can_finish, emit_finish
from .options import ConvolutionOptions
from .read import read_convolution
from .turned import Turned, find_turned


def call_library(
    op: ir.Operation, options: ConvolutionOptions, device: Device, owners: Owners
) -> bool:
    """Emits hir.library_convolution for a linalg.generic, where it is a convolution for it.

    What is made of the sums becomes an operation on the result. Returns whether it did.
    """
    copies: dict[ir.Value, Turned | None] = {}

    def find(buffer: ir.Value) -> Turned | None:
        if buffer not in copies:
            copies[buffer] = find_turned(buffer, op, owners)
        return copies[buffer]

    with op.location, ir.InsertionPoint(op):
        work = read_work(op, device=device)
        form = None if work is None else read_form(work)
        if form is None or form.pair is not None:
            return False
        convolution = read_convolution(form, find)
        if convolution is None or not can_finish(form, owners):
            return False
        if not is_for_library(convolution, options, device):
            return False
        copy = next(
            (
                each
                for each in copies.values()
                if each is not None
                and each.source == convolution.weights.value
                and _is_for(each, op)
            ),
            None,
        )

        def call() -> None:
            emit_call(convolution, transforms=options.transforms)
            emit_finish(form)

        def fall_back() -> None:
            if copy is not None:
                copy.op.clone()
            op.clone()

        if options.falls_back:
            emit_by_library(CUDNN, call, fall_back)
        else:
            call()
    op.erase()
    if copy is not None:
        _erase_copy(copy, with_memory=not options.falls_back)
    return True


def _is_for(copy: Turned, op: ir.Operation) -> bool:
    """Returns whether `op` alone reads a copy."""
    users = [use.owner.operation for use in copy.buffer.uses]
    return all(
        user in (copy.op, op) or user.name in ("hir.deallocate", "hir.reuse") for user in users
    )


def _erase_copy(copy: Turned, *, with_memory: bool) -> None:
    buffer = copy.buffer
    copy.op.erase()
    if not with_memory:
        return
    users = [use.owner.operation for use in buffer.uses]
    if [user.name for user in users] != ["hir.deallocate"]:
        return
    users[0].erase()
    allocation = defining_op(buffer)
    if allocation is not None and not is_used(buffer):
        allocation.erase()
