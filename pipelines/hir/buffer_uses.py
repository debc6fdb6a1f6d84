"""Putting one buffer in the place of another, whose type may say more of its strides."""

from __future__ import annotations

from ...dialects.hir.layout import DYNAMIC, any_layout, strides_and_offset
from ...dialects.mlir import ir, memref
from ..pass_base import fail
from .compute_ops import COMPUTE_OPS
from .owners import VIEWS

# Views whose strides follow from the buffer's, whatever they are. Not so hir.reshape, which not
# all strides allow.
_FOLLOWING_VIEWS = VIEWS - {"hir.reshape"}

# What takes a buffer of any strides, and says nothing of them in its own type.
_TAKES_ANY_STRIDES = frozenset(
    {"hir.argument", "hir.deallocate", "hir.alias", "memref.dim", *COMPUTE_OPS}
)


def takes_any_strides(value: ir.Value) -> bool:
    """Whether all uses of a buffer, and of views of it, are good for strides that are not known."""
    for use in value.uses:
        user = use.owner.operation
        if user.name in _FOLLOWING_VIEWS:
            if not takes_any_strides(user.results[0]):
                return False
        elif user.name == "hir.output":
            # Both branches of hir.if give one type.
            if user.parent is None or user.parent.name != "hir.program":
                return False
        elif user.name not in _TAKES_ANY_STRIDES:
            return False
    return True


def open_strides(value: ir.Value) -> None:
    """Leaves the strides of a buffer, and of the views of it, open in their types.

    A use that says strides gets a memref.cast to the type it had.
    """
    before = value.type
    value.set_type(any_layout(ir.MemRefType(before)))
    for use in list(value.uses):
        user = use.owner.operation
        if user.name in VIEWS:
            open_strides(user.results[0])
        elif not _takes_any(user):
            _cast(user, use.operand_number, value, before)


def replace_buffer(old: ir.Value, new: ir.Value) -> None:
    """`new` in all uses of `old`; types of views are opened where the strides differ.

    A use that says strides gets a memref.cast to the old type. Ends the pass where they cannot be
    those of `new`.
    """
    if old.type == new.type:
        old.replace_all_uses_with(new)
        return
    for use in list(old.uses):
        user, number = use.owner.operation, use.operand_number
        if user.name in VIEWS:
            open_strides(user.results[0])
            user.operands[number] = new
        elif _takes_any(user):
            user.operands[number] = new
        else:
            _cast(user, number, new, old.type)


def _cast(user: ir.Operation, number: int, value: ir.Value, wanted: ir.Type) -> None:
    here, there = ir.MemRefType(value.type), ir.MemRefType(wanted)
    strides = zip(strides_and_offset(here)[0], strides_and_offset(there)[0], strict=True)
    if any(DYNAMIC not in pair and pair[0] != pair[1] for pair in strides):
        fail(user, f"operand {number} of {user.name} must be {there}; its memory is of {here}")
    with ir.InsertionPoint(user), user.location:
        user.operands[number] = memref.cast(wanted, value)


def _takes_any(user: ir.Operation) -> bool:
    in_program = user.parent is not None and user.parent.name == "hir.program"
    return user.name in _TAKES_ANY_STRIDES or (user.name == "hir.output" and in_program)
