"""Putting one buffer in the place of another, whose type may say more of its strides."""

from __future__ import annotations

from ....dialects.hir.kernel_function import parameters_of
from ....dialects.hir.layout import DYNAMIC, any_layout, strides_and_offset
from ....dialects.hir.region_arguments import arguments_of, destination_of
from ....dialects.hir.symbols import lookup, path_of
from ....dialects.mlir import ir, memref
from ...pass_base import fail
from ..compute_ops import COMPUTE_OPS
from .owners import VIEWS, callee_of, outputs_of

# Views whose strides follow from the buffer's, whatever they are. Not so hir.reshape, which not
# all strides allow.
_FOLLOWING_VIEWS = VIEWS - {"hir.reshape"}

# What takes a buffer of any strides, and says nothing of them in its own type.
_TAKES_ANY_STRIDES = frozenset(
    {
        *("hir.argument", "hir.deallocate", "hir.alias"),
        *("memref.dim", "memref.load", "memref.store"),
        *COMPUTE_OPS,
    }
)


def takes_any_strides(value: ir.Value) -> bool:
    """Returns whether all uses of a buffer, and of views of it, are good for strides that are not
    known.
    """
    for use in value.uses:
        user = use.owner.operation
        if user.name in _FOLLOWING_VIEWS:
            if not takes_any_strides(user.results[0]):
                return False
        elif user.name == "hir.output":
            # Both branches of hir.if give one type.
            if user.parent is None or user.parent.name != "hir.program":
                return False
        elif user.name == "hir.argument":
            if not _argument_takes_any_strides(user):
                return False
        elif not _is_indifferent(user):
            return False
    return True


def _is_indifferent(user: ir.Operation) -> bool:
    """Returns whether an operation takes buffers of any strides; linalg's index them."""
    return user.name in _TAKES_ANY_STRIDES or user.name.startswith("linalg.")


def _argument_takes_any_strides(argument: ir.Operation) -> bool:
    """Returns whether what a hir.argument is for takes a buffer of any strides."""
    call = argument.parent
    assert call is not None
    arguments = [each.operation for each in arguments_of(call.regions[0])]
    if call.name == "hir.call":
        callee, output = callee_of(call), destination_of(argument.opview)
        if callee is None:
            return False
        body = callee.regions[0].blocks[0]
        if output is not None:
            return takes_any_strides(outputs_of(body)[output].operands[0])
        inputs = [each for each in arguments if destination_of(each.opview) is None]
        return _says_no_strides(body.arguments[inputs.index(argument)].type)
    if call.name == "hir.launch":
        return _says_no_strides(_parameters(call)[arguments.index(argument)])
    # A C function is given the strides.
    return True


def _parameters(launch: ir.Operation) -> list[ir.Type]:
    """Returns the types of a launch's arguments, in the kernel."""
    path = path_of(launch.attributes["kernel"])
    named = lookup(launch.opview, path)
    if named is not None and named.name == "hir.kernel":
        named = lookup(launch.opview, path_of(named.attributes["function"]))
    assert named is not None
    return parameters_of(named)


def _says_no_strides(kind: ir.Type) -> bool:
    return all(stride == DYNAMIC for stride in strides_and_offset(ir.MemRefType(kind))[0])


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
    return _is_indifferent(user) or (user.name == "hir.output" and in_program)
