"""Memory that the devices of a team share: what lies in it, and what moves to and from it."""

from ..mlir import ir
from .layout import is_packed
from .refusal import constant_value, refuse
from .team import teams_of
from .values import element_count, not_a_buffer

# What gives a buffer in the memory of its first operand.
_VIEWS = ("memref.cast", "hir.select", "hir.slice", "hir.permute", "hir.reshape", "hir.expand")


def sharing_teams(buffer: ir.Value) -> list[list[int]]:
    """Returns the teams of the hir.allocate that a buffer is, or is a view of; none where its
    memory is not known to be shared.
    """
    owner = buffer.owner
    while not isinstance(owner, ir.Block) and owner.operation.name in _VIEWS:
        owner = owner.operation.operands[0].owner
    if isinstance(owner, ir.Block) or owner.operation.name != "hir.allocate":
        return []
    return teams_of(owner.operation)


def is_shared(op: ir.OpView, buffer: ir.Value, what: str) -> bool:
    """Returns whether a buffer lies in memory that a team shares; says what is wrong where not."""
    if sharing_teams(buffer):
        return True
    return refuse(
        op,
        f'{what} of {op.operation.name} is what a hir.allocate with memory = "symmetric" and a '
        "'team' gives in this program, or a view of it",
    )


def is_peer(op: ir.OpView, peer: ir.Value, shared: ir.Value) -> bool:
    """Returns whether a peer, as far as it is known, is a place in the team that shares a buffer,
    or -1; says what is wrong where not.
    """
    place, size = constant_value(peer), len(sharing_teams(shared)[0])
    if place is None or -1 <= place < size:
        return True
    return refuse(op, f"a peer is a place in the team, -1 to {size - 1}, not {place}")


def is_moved(op: ir.OpView, source: ir.Value, target: ir.Value) -> bool:
    """Returns whether the elements of one buffer can be moved to another; says why not."""
    for what, value in (("source", source), ("target", target)):
        reason = not_a_buffer(value.type)
        if reason is not None:
            return refuse(
                op, f"the {what} of {op.operation.name} is a buffer; {value.type} {reason}"
            )
        if not is_packed(ir.MemRefType(value.type)):
            return refuse(
                op,
                f"the {what} of {op.operation.name} is packed; {value.type} has strides of its own "
                "or leaves them open: copy it with hir.set, or take rows of it",
            )
    given, taken = ir.MemRefType(source.type), ir.MemRefType(target.type)
    if given.element_type != taken.element_type:
        return refuse(
            op,
            f"source and target of {op.operation.name} have one element type, not "
            f"{given.element_type} and {taken.element_type}: convert with hir.set",
        )
    here, there = element_count(given), element_count(taken)
    if here is None or there is None or here == there:
        return True
    return refuse(
        op,
        f"source and target of {op.operation.name} have one size, not {here} and {there} elements",
    )
