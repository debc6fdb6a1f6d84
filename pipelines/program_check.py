"""What is wrong with a program whatever is done with it, though MLIR's verifiers take it: types
that no memory holds, and dims that a type does not have.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ..dialects.hir.layout import DYNAMIC, LayoutError, strides_and_offset
from ..dialects.mlir import ir
from .dim_axis import axis_fault

# User space has half of what 57 bits address. Sums and paddings of such sizes fit into 64 bits.
_ADDRESSED = 2**56
_DIMS = ("tensor.dim", "memref.dim")


@dataclass(frozen=True)
class Fault:
    """What is wrong, and the operation that is at fault."""

    op: ir.Operation
    message: str


def find_fault(module: ir.Operation) -> Fault | None:
    """The first fault of a module, or None."""
    types: dict[ir.Type, str | None] = {}
    found: list[Fault] = []

    def check_type(op: ir.Operation, kind: ir.Type) -> None:
        if kind not in types:
            types[kind] = _fault_of_type(kind)
        message = types[kind]
        if message is not None:
            found.append(Fault(op, message))

    def visit(op: ir.Operation) -> ir.WalkResult:
        for result in op.results:
            check_type(op, result.type)
        for region in op.regions:
            for block in region:
                for argument in block.arguments:
                    check_type(op, argument.type)
        if op.name in _DIMS:
            message = axis_fault(op)
            if message is not None:
                found.append(Fault(op, message))
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[0] if found else None


def _fault_of_type(kind: ir.Type) -> str | None:
    if isinstance(kind, ir.FunctionType):
        faults = map(_fault_of_type, [*kind.inputs, *kind.results])
        return next((fault for fault in faults if fault is not None), None)
    if not isinstance(kind, ir.ShapedType) or not kind.has_rank:
        return None
    # Strides are those of sizes of at least 1.
    sizes = [1 if size == DYNAMIC else max(size, 1) for size in kind.shape]
    reached = prod(sizes)
    if isinstance(kind, ir.MemRefType):
        reached = max(reached, _reached(kind, sizes))
    bits = _bits(kind.element_type)
    if reached * bits < 8 * _ADDRESSED:
        return None
    return f"{kind} takes {reached * bits // 8} bytes; no machine addresses 2^56 or more"


def _reached(kind: ir.MemRefType, sizes: list[int]) -> int:
    """How far a buffer's elements lie from its first address, in elements."""
    try:
        strides, offset = strides_and_offset(kind)
    except LayoutError:
        return 0  # Other layouts are refused where buffers are wanted.
    steps = zip(sizes, strides, strict=True)
    known = sum(max(size - 1, 1) * abs(stride) for size, stride in steps if stride != DYNAMIC)
    return known + (0 if offset == DYNAMIC else abs(offset))


def _bits(element: ir.Type) -> int:
    if isinstance(element, ir.ComplexType):
        return 2 * _bits(element.element_type)
    if isinstance(element, ir.VectorType):
        return prod(element.shape) * _bits(element.element_type)
    width = getattr(element, "width", 64)
    return max(width, 8)
