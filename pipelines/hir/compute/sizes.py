"""Checks of open sizes, which a program makes before a kernel is launched."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.hir.layout import DYNAMIC
from ....dialects.mlir import arith, ir
from ...pass_base import fail
from ...rewriting import index_constant
from ..extents import extent_of
from ..host_checks import check
from ..runtime_sizes import size_value
from .operand import Operand

# An operand and one of its dims.
Dim = tuple[Operand, int]


def subject(op: ir.Operation) -> str:
    """Returns how messages call an operation: `hir.binary 'add'`."""
    if "kind" in op.attributes:
        return f"{op.name} '{ir.StringAttr(op.attributes['kind']).value}'"
    return op.name


def is_known_equal(first: Dim, second: Dim) -> bool:
    """Returns whether two sizes are equal as far as the program's text says.

    Those of tensors are: other operations are not made operations on tensors.
    """
    if isinstance(first[0].value.type, ir.RankedTensorType):
        return True
    return extent_of(first[0].value, first[1]) == extent_of(second[0].value, second[1])


def equal(dim: Dim, wanted: Dim | int) -> ir.Value:
    """Returns whether a size is that of another dim, or a number, as a value of the program."""
    there = index_constant(wanted) if isinstance(wanted, int) else size_of(wanted)
    return arith.cmpi(arith.CmpIPredicate.eq, size_of(dim), there)


def size_of(dim: Dim) -> ir.Value:
    """Returns a size as a value of the program."""
    operand, axis = dim
    return size_value(operand.value, axis)


def check_equal(op: ir.Operation, dim: Dim, wanted: Dim | int) -> None:
    """Two sizes must be equal: checked at run time where the types leave it open."""
    static = static_size(dim)
    there = wanted if isinstance(wanted, int) else static_size(wanted)
    if isinstance(wanted, int):
        needed = f"must have size {wanted}"
    else:
        if is_known_equal(dim, wanted):
            return
        needed = f"must have the size of dim {wanted[1]} of {wanted[0].name}"
    message = f"{subject(op)}: dim {dim[1]} of {dim[0].name} {needed}"
    if DYNAMIC not in (static, there):
        if static != there:
            fail(op, f"{message}, which is {there}; it is {static}")
        return
    check(equal(dim, wanted), message)


def static_size(dim: Dim) -> int:
    """Returns a size as the type says it, DYNAMIC where it is open."""
    return dim[0].shape[dim[1]]


def check_any(conditions: Sequence[ir.Value], message: str) -> None:
    """At least one of the conditions must hold when the program runs."""
    found = conditions[0]
    for condition in conditions[1:]:
        found = arith.ori(found, condition)
    check(found, message)
