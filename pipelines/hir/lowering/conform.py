"""A buffer where another type is declared: what only that type says is checked."""

from __future__ import annotations

from ....dialects.hir.layout import (
    DYNAMIC,
    any_layout,
    has_identity_layout,
    is_packed,
    packed_strides,
    strides_and_offset,
)
from ....dialects.mlir import arith, ir, memref
from ..index_arithmetic import Index, IndexArithmetic, index_of, is_same, materialized
from .buffers import extents_of, repacked
from .checks import refuse_if, refuse_unless_equal
from .state import ProgramState


def conform(state: ProgramState, value: ir.Value, kind: ir.Type, what: str) -> ir.Value:
    """Returns the value as one of type `kind`; `what` names it in messages ("input 0 of @layer").

    Sizes and strides that the type says are compared with the buffer's where its own type leaves
    them open.
    """
    if value.type == kind or not isinstance(kind, ir.MemRefType):
        return value
    given = ir.MemRefType(value.type)
    if not _says_the_same(given, kind):
        _check(state, value, kind, what)
    if given.element_type == kind.element_type and _is_cast(given, kind):
        return memref.cast(kind, value)
    return repacked(state, value, kind)


def opened(value: ir.Value) -> ir.Value:
    """Returns the buffer as one of open layout."""
    kind = any_layout(ir.MemRefType(value.type))
    return value if value.type == kind else memref.cast(kind, value)


def _says_the_same(given: ir.MemRefType, kind: ir.MemRefType) -> bool:
    """Returns whether `given` says all that `kind` does, of sizes and strides."""
    strides, wanted = strides_and_offset(given)[0], strides_and_offset(kind)[0]
    pairs = zip([*given.shape, *strides], [*kind.shape, *wanted], strict=True)
    same = all(there in (DYNAMIC, here) for here, there in pairs)
    return same and (not has_identity_layout(kind) or is_packed(given))


def _is_cast(given: ir.MemRefType, kind: ir.MemRefType) -> bool:
    """Returns whether memref.cast takes one to the other."""
    pairs = [
        *zip(given.shape, kind.shape, strict=True),
        *zip(strides_and_offset(given)[0], strides_and_offset(kind)[0], strict=True),
    ]
    offset, wanted = strides_and_offset(given)[1], strides_and_offset(kind)[1]
    return wanted in (DYNAMIC, offset) and all(
        DYNAMIC in (here, there) or here == there for here, there in pairs
    )


def _check(state: ProgramState, value: ir.Value, kind: ir.MemRefType, what: str) -> None:
    extents = extents_of(value)
    for axis, (size, wanted) in enumerate(zip(extents.sizes, kind.shape, strict=True)):
        if wanted != DYNAMIC:
            message = f"{what}: size {{}} of axis {axis}, where {{}} is declared"
            refuse_unless_equal(state, size, wanted, message)
    check_strides(state, extents.sizes, extents.strides, wanted_strides(kind, extents.sizes), what)


def wanted_strides(kind: ir.MemRefType, sizes: list[Index]) -> list[Index | None]:
    """Returns the strides that a type says of a buffer of these sizes; None where it
    says nothing.
    """
    if has_identity_layout(kind):
        known = packed_strides(kind.shape)
        computed = IndexArithmetic().packed_strides(sizes) if DYNAMIC in known else known
        return [
            index if stride == DYNAMIC else stride
            for stride, index in zip(known, computed, strict=True)
        ]
    return [None if stride == DYNAMIC else stride for stride in strides_and_offset(kind)[0]]


def check_strides(
    state: ProgramState,
    sizes: list[Index],
    strides: list[Index],
    wanted: list[Index | None],
    what: str,
) -> None:
    """Ends the program where a stride is not the one wanted.

    That of a size of 1 does not count, nor any where there is no element.
    """
    one = materialized(1)
    empty: ir.Value | None = None
    for size in sizes:
        if isinstance(size, ir.Value):
            none = arith.cmpi(arith.CmpIPredicate.eq, size, materialized(0))
            empty = none if empty is None else arith.ori(empty, none)
    for axis, (size, stride, expected) in enumerate(zip(sizes, strides, wanted, strict=True)):
        if expected is None or size in (0, 1) or is_same(stride, expected):
            continue
        counts = arith.cmpi(arith.CmpIPredicate.ne, materialized(stride), materialized(expected))
        if isinstance(size, ir.Value):
            several = arith.cmpi(arith.CmpIPredicate.ne, size, one)
            counts = arith.andi(counts, several)
        if empty is not None:
            true = arith.constant(ir.IntegerType.get_signless(1), 1)
            counts = arith.andi(counts, arith.xori(empty, true))
        refuse_if(
            state,
            counts,
            f"{what}: stride {{}} of axis {axis}, where the program takes {{}}; hir.set makes a "
            "packed copy",
            stride,
            expected,
        )


def sizes_of(op: ir.OpView, operands: list[ir.Value], kind: ir.MemRefType) -> list[Index]:
    """Returns the sizes of a result: those the type says, and operands for those it leaves open."""
    given = iter(operands)
    return [index_of(next(given)) if size == DYNAMIC else size for size in kind.shape]
