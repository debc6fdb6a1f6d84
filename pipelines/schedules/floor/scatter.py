"""The schedule of operations that write elements to computed places: one thread an iteration.

What is combined with elements that are there is so by atomic operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ....dialects.hir.loop_operation import kind_of
from ....dialects.mlir import ir, memref
from ...fusion.kinds import combine
from ...walking import operations_where
from ..iteration import read_iteration
from ..kernels import Kernels
from .general import THREADS, emit_body
from .launch_points import replace_by_launch

SCATTER = "hir.scatter"
# What devices do to memory in one instruction, of 32 or 64 bits, by arith::AtomicRMWKind; floats of
# 16 bits they add.
_INSTRUCTIONS = {
    "addf": 0,
    "addi": 1,
    "andi": 2,
    "maxsi": 6,
    "maxui": 7,
    "minsi": 10,
    "minui": 11,
    "ori": 14,
    "xori": 15,
}


def scatters(op: ir.Operation) -> bool:
    """Returns whether a linalg.generic writes elements to computed places."""
    return any(each.operation.name == SCATTER for each in op.regions[0].blocks[0])


def schedule(op: ir.Operation, kernels: Kernels) -> None:
    """Replaces a linalg.generic on buffers, all of whose outputs it scatters to, by a launch."""
    iteration = read_iteration(op)
    inputs, loops = iteration.inputs, len(iteration.extents)
    everywhere = replace(
        iteration, inputs=len(op.operands), parallel=tuple(range(loops)), serial=()
    )

    def emit(buffers: Sequence[ir.Value], captured: Mapping[ir.Value, ir.Value]) -> None:
        end = list(op.regions[0].blocks[0])[-1].operation
        with end.location, ir.InsertionPoint(end):
            ir.Operation.create("linalg.yield", operands=[])
        end.erase()
        arguments: list[ir.Value] = list(op.regions[0].blocks[0].arguments)
        for work in operations_where(op, lambda inner: inner.name == SCATTER):
            with work.location, ir.InsertionPoint(work):
                _write(work, buffers[arguments.index(work.operands[0], inputs)])
            work.erase()
        emit_body(op, everywhere, buffers, captured)

    replace_by_launch(op, everywhere, kernels, THREADS, emit)


def _write(work: ir.Operation, buffer: ir.Value) -> None:
    """Emits what writes one element."""
    _, value, *places = work.operands
    if "kind" not in work.attributes:
        memref.store(value, buffer, places)
        return
    kind = kind_of(work)
    is_half = isinstance(value.type, ir.F16Type | ir.BF16Type) and kind == "addf"
    if kind in _INSTRUCTIONS and (value.type.width >= 32 or is_half):
        ir.Operation.create(
            "memref.atomic_rmw",
            results=[value.type],
            operands=[value, buffer, *places],
            attributes={
                "kind": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), _INSTRUCTIONS[kind])
            },
        )
        return
    generic = ir.Operation.create(
        "memref.generic_atomic_rmw", results=[value.type], operands=[buffer, *places], regions=1
    )
    block = generic.regions[0].blocks.append(value.type)
    with ir.InsertionPoint(block):
        ir.Operation.create(
            "memref.atomic_yield", operands=[combine(kind, block.arguments[0], value)]
        )
