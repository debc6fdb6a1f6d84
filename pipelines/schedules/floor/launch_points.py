"""The launch of a kernel whose threads each take points of an operation's parallel loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ....dialects.mlir import ir
from ..iteration import Iteration
from ..kernels import ANY, Kernels
from ..launch import captured_values, emit_launch, operation_name
from .points import blocks_for, host_extent

# Takes the operands in the kernel, and what stands there for each value from outside.
Emit = Callable[[Sequence[ir.Value], Mapping[ir.Value, ir.Value]], None]


def replace_by_launch(
    op: ir.Operation, iteration: Iteration, kernels: Kernels, threads: int, emit: Emit
) -> None:
    """Puts a launch of a kernel that `emit` emits in the place of an operation.

    Where the types say that there are no points, there is none.
    """
    with op.location, ir.InsertionPoint(op):
        extents = [host_extent(op, iteration, loop) for loop in iteration.parallel]
        if 0 in extents:
            op.erase()
            return
        captured = captured_values(op)
        blocks = blocks_for([extent for extent in extents if extent != 1], threads)
    arguments = [*op.operands, *captured]
    operands = len(op.operands)

    def emit_body(values: Sequence[ir.Value]) -> None:
        emit(values[:operands], dict(zip(captured, values[operands:], strict=True)))

    types = [value.type for value in arguments]
    kernel = kernels.add(operation_name(op), types, threads, emit_body, op.location, ANY)
    with op.location, ir.InsertionPoint(op):
        emit_launch(kernel, blocks, threads, arguments)
    op.erase()
