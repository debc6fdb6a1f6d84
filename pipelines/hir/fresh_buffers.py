"""The hir.allocate that stands for the result of an operation."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.hir.layout import any_layout, buffer_type, is_packed
from ...dialects.mlir import ir
from ..attributes import i64_attribute
from .compute_ops import COMPUTE_OPS

# What takes a buffer of any strides, and says nothing of them in its own type.
_TAKES_ANY_STRIDES = frozenset({"hir.output", "hir.argument", "memref.dim", *COMPUTE_OPS})


def allocate(
    buffer: ir.MemRefType, sizes: Sequence[ir.Value], output: int | None = None
) -> ir.Value:
    """Returns a hir.allocate at the insertion point; `output` is the number of the output it is."""
    number = {} if output is None else {"output": i64_attribute(output)}
    return ir.Operation.create(
        "hir.allocate", results=[buffer], operands=list(sizes), attributes=number
    ).results[0]


def replace_by_allocated(result: ir.Value, sizes: Sequence[ir.Value]) -> ir.Value:
    """An allocated buffer in place of `result` in all its uses; returns it.

    If the result is an output of the program, the caller may hand in its buffer, of any strides,
    and the new buffer's type leaves them open. It does not where a use would have to change too:
    then the buffer is one of its own.
    """
    declared = ir.MemRefType(result.type)
    output = _output_number(result)
    users = [use.owner for use in result.uses]
    if output is not None and all(_takes_any_strides(user.operation) for user in users):
        fresh = allocate(any_layout(declared), sizes, output)
    else:
        packed = buffer_type(declared.shape, declared.element_type)
        fresh = allocate(declared if is_packed(declared) else packed, sizes)
    result.replace_all_uses_with(fresh)
    return fresh


def _takes_any_strides(user: ir.Operation) -> bool:
    if user.name == "hir.output":
        # Both branches of hir.if give one type.
        return user.parent is not None and user.parent.name == "hir.program"
    return user.name in _TAKES_ANY_STRIDES


def _output_number(value: ir.Value) -> int | None:
    """Returns the first output of the program that the value is."""
    owner = value.owner
    assert isinstance(owner, ir.Operation | ir.OpView)
    program = owner.operation.parent
    if program is None or program.name != "hir.program":
        return None
    outputs = [op for op in program.regions[0].blocks[0] if op.operation.name == "hir.output"]
    for number, output in enumerate(outputs):
        if output.operation.operands[0] == value:
            return number
    return None
