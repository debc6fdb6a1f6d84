"""`hir.reduce`: a reduction over axes."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .element_rules import element_results
from .kinds import REDUCE
from .layout import show_sizes
from .shapes import reduce_shape
from .verify import (
    OperationError,
    buffer,
    check_output,
    check_unit,
    element_of,
    find_output,
    integers_of,
    verified,
)
from .verify_elementwise import check_takes, find_kind


class ReduceOp(Hir.Operation, name="reduce"):
    """`kind` is one of REDUCE in kinds.py. `axes` are reduced, all where it is empty.

    `keep_dims` (unit, optional) keeps them with size 1. argmin and argmax take one axis, or all:
    the place then counts in row-major order. sum and prod may give a wider integer than the
    operand's type, and of i1 give any.

    Example:
      %sums = "hir.reduce"(%x) {kind = "sum", axes = array<i64: 1>}
        : (memref<8x4xf32>) -> memref<8xf32>
    """

    kind: ir.StringAttr
    axes: Any
    x: ext.Operand[Any]
    destination: ext.Operand[Any] | None
    buffer: ext.Result[Any] | None

    @staticmethod
    def verify_invariants(op: "ReduceOp") -> bool:
        return verified(op, _check)


def _check(op: ReduceOp) -> None:
    (x,), output = find_output(op, 1)
    name, kind = find_kind(op, REDUCE)
    found = buffer(x, "x")
    element = element_of(found)
    check_takes(name, kind, element)
    axes = integers_of(op, "axes")
    check_unit(op, "keep_dims")
    shape = reduce_shape(found.shape, axes, "keep_dims" in op.attributes)
    if name in ("argmin", "argmax"):
        reduced = [found.shape[axis] for axis in axes] if axes else found.shape
        if len(axes) > 1:
            raise OperationError(f"{name} is over one axis or over all (axes empty), not {axes}")
        if 0 in reduced:
            raise OperationError(
                f"{name} is of one element at least; {show_sizes(found.shape)} has none"
            )
    check_output(op, output, shape, element_results(kind, element))
