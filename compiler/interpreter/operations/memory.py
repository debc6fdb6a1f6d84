"""hir.allocate, hir.reuse, hir.deallocate and hir.alias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.hir.domain import Plan, plan_of_integers
from ....dialects.hir.domain_steps import DomainError, read_domain
from ....dialects.mlir import ir
from .. import fault
from ..buffer import Buffer
from ..dtypes import POISON_BYTE, dtype_of, element_type_of
from ..frame import Frame, mark_written
from ..memory import Owner
from ..registry import interprets
from .peer_memory import share


@interprets("hir.allocate")
def allocate(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Returns a fresh buffer: the caller's where it was handed in, or an alias's target."""
    result = op.results[0]
    element = element_type_of(result.type)
    assert element is not None
    plan = _plan_of(op, [frame.number(size) for size in op.operands])
    buffer = frame.placed(op, result, plan.sizes)
    if buffer is None:
        kind = ir.StringAttr(op.attributes["memory"]).value if "memory" in op.attributes else ""
        buffer = frame.allocate(
            op, result, element, plan.sizes, plan.strides, plan.elements, kind or "device"
        )
        if "zero_init" in op.attributes:
            _zero(buffer)
    elif "zero_init" in op.attributes:
        buffer.tensor.zero_()
        mark_written(buffer)
    if "team" in op.attributes or "teams" in op.attributes:
        share(op, frame, buffer)
    return [buffer]


@interprets("hir.reuse")
def reuse(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Returns a fresh buffer in the memory of another, whose life ends."""
    storage = frame.buffer(op, op.operands[0])
    result = op.results[0]
    element = element_type_of(result.type)
    assert element is not None
    plan = _plan_of(op, [frame.number(size) for size in list(op.operands)[1:]])
    old = storage.allocation
    if old.owner is not Owner.PROGRAM or old.memory is None:
        fault.fail(op, f"{old.name} cannot be reused: its memory is the caller's")
    if storage.tensor.numel() and storage.tensor.data_ptr() != old.address:
        fault.fail(
            op, f"hir.reuse takes the memory of a whole buffer, and this is a view of {old.name}"
        )
    size = plan.elements * element.bytes
    if size > old.bytes:
        fault.fail(op, f"{size} bytes do not fit in the {old.bytes} of {old.name}")
    name = f"the buffer made at {fault.where(op)}"
    allocation = frame.interpreter.memory.reuse(old, name, result, fault.where(op))
    assert allocation.memory is not None
    allocation.memory.fill_(POISON_BYTE[element.kind])
    flat = allocation.memory[: old.bytes - old.bytes % element.bytes].view(dtype_of(element))
    buffer = Buffer(flat.as_strided(plan.sizes, plan.strides, 0), element, allocation)
    if "zero_init" in op.attributes:
        _zero(buffer)
    return [buffer]


@interprets("hir.deallocate")
def deallocate(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Frees memory that the program owns."""
    buffer = frame.values[op.operands[0]]
    assert isinstance(buffer, Buffer)
    allocation = buffer.allocation
    if allocation.ended:
        fault.fail(op, f"{allocation.name} is freed twice: {allocation.ended} already")
    if allocation.owner is not Owner.PROGRAM:
        fault.fail(op, f"{allocation.name} is freed, and its memory is the caller's")
    frame.interpreter.memory.free(allocation, fault.where(op))
    return []


@interprets("hir.alias")
def alias(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """The buffer is in the target's memory already: frame.placed put it there."""
    buffer, target = (frame.buffer(op, operand) for operand in op.operands)
    if not buffer.is_same_view(target):
        fault.fail(
            op,
            f"{buffer.name} cannot lie in the memory of {target.name}: nothing that writes to a "
            "destination makes it",
            hint="hir.alias takes what allocates, computes or calls as its first operand",
        )
    return []


def _zero(buffer: Buffer) -> None:
    """Sets all bytes of the memory to 0, padding too."""
    memory = buffer.allocation.memory
    assert memory is not None
    memory.zero_()
    mark_written(buffer)


def _plan_of(op: ir.Operation, open_sizes: Sequence[int]) -> Plan[int]:
    """Returns the plan of an allocation whose open logical sizes these are."""
    if any(size < 0 for size in open_sizes):
        fault.fail(op, f"a size of an allocation is negative: {list(open_sizes)}")
    shaped = op.results[0].type
    assert isinstance(shaped, ir.MemRefType)
    try:
        return plan_of_integers(read_domain(op, shaped.shape), open_sizes)
    except DomainError as error:
        fault.fail(op, str(error))
