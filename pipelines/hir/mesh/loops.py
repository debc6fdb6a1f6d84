"""The loops of compute operations: what a mesh may divide an operation by."""

from __future__ import annotations

from collections.abc import Callable

from ....dialects.hir.program_mesh import is_combined
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ..compute_ops import inputs_of, output_of, rank_of
from ..operand_axes import places_of, reduced_axes

# A buffer's type as that of the whole, whatever its own is by now.
WholeType = Callable[[ir.Value], ir.MemRefType]
# How the parts of a reduction that devices compute are combined. Not of these: least and greatest
# of floats, since what these are with nan is the communication library's choice.
_REDUCTIONS = {"sum": "sum", "prod": "prod", "mean": "avg", "min": "min", "max": "max"}
# A divisor may be zero, and so may what has a negative power.
_DIVIDES = ("div", "floordiv", "mod", "pow")


@dataclass(frozen=True)
class Loop:
    """One loop: the result's dim, or the reduction that combines its parts; and for each operand
    the dim that it walks, None where the operand is the same all along.
    """

    dim: int | None
    reduction: str | None
    places: tuple[int | None, ...]


def loops_of(op: ir.Operation, whole: WholeType) -> list[Loop]:
    """Returns the loops by which devices may divide a compute operation among them."""
    output = whole(output_of(op))
    inputs = inputs_of(op)
    found: list[Loop] = []
    for dim in range(output.rank):
        places = places_of(op, dim)
        found.append(Loop(dim, None, tuple(_walked(inputs, places, output.shape[dim], whole))))
    return found + _reductions(op, inputs, output.element_type)


def _walked(
    inputs: list[ir.Value], places: list[int | None], size: int, whole: WholeType
) -> list[int | None]:
    """Returns the places without those of operands that repeat along the dim."""
    return [
        None if place is None or (whole(value).shape[place] == 1 and size != 1) else place
        for value, place in zip(inputs, places, strict=True)
    ]


def _reductions(op: ir.Operation, inputs: list[ir.Value], element: ir.Type) -> list[Loop]:
    if op.name == "hir.reduce":
        reduction = _REDUCTIONS.get(ir.StringAttr(op.attributes["kind"]).value)
        if reduction is None or not is_combined(element, reduction):
            return []
        if reduction in ("min", "max") and not isinstance(element, ir.IntegerType):
            return []
        return [Loop(None, reduction, (axis,)) for axis in sorted(reduced_axes(op))]
    if op.name not in ("hir.matmul", "hir.linear") or not is_combined(element, "sum"):
        return []
    ranks = [rank_of(value) for value in inputs]
    assert ranks[0] is not None
    assert ranks[1] is not None
    if op.name == "hir.matmul":
        return [Loop(None, "sum", (ranks[0] - 1, ranks[1] - 2))]
    # The bias is added once, to the sum: `division` adds it by an operation of its own.
    if inputs[2:] and ir.MemRefType(inputs[2].type).element_type != element:
        return []
    return [Loop(None, "sum", (ranks[0] - 1, 1, *(None for _ in inputs[2:])))]


def is_total(op: ir.Operation) -> bool:
    """Returns whether the operation may be computed of any elements; integers' divisors may not."""
    kind = ir.StringAttr(op.attributes["kind"]).value if "kind" in op.attributes else ""
    element = ir.MemRefType(output_of(op).type).element_type
    return kind not in _DIVIDES or not isinstance(element, ir.IntegerType)


def passes_parts(op: ir.Operation, partial: list[bool]) -> bool:
    """Returns whether the operation of sums' parts gives the parts of its result's sum.

    `partial` says which operands are such parts; another one is the same on all devices.
    """
    if op.name == "hir.set":
        source, output = op.operands[0], output_of(op)
        return ir.MemRefType(source.type).element_type == ir.MemRefType(output.type).element_type
    kind = ir.StringAttr(op.attributes["kind"]).value if "kind" in op.attributes else ""
    if op.name == "hir.unary":
        return kind == "neg"
    if op.name == "hir.binary" and kind in ("add", "sub"):
        return all(partial)
    if op.name == "hir.binary" and kind in ("mul", "div"):
        element = ir.MemRefType(output_of(op).type).element_type
        if isinstance(element, ir.IntegerType) and kind == "div":
            return False
        return partial == [True, False] or (kind == "mul" and partial == [False, True])
    return op.name == "hir.reduce" and kind == "sum"
