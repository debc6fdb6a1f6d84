"""The arguments of a call or launch: the hir.arguments of its region."""

from ..mlir import ir
from .refusal import has_one_block, refuse, whole_number


def holds_only_arguments(op: ir.OpView, region: ir.Region) -> bool:
    """Returns whether the region is one block of hir.arguments; says what is wrong where not."""
    name = op.operation.name
    if not has_one_block(op, region, f"the region of {name}"):
        return False
    for inner in region.blocks[0]:
        if inner.operation.name != "hir.argument":
            return refuse(
                inner,
                f"the region of {name} holds hir.argument operations alone, not "
                f"{inner.operation.name}: compute it before the {name.partition('.')[2]}",
            )
    return True


def arguments_of(region: ir.Region) -> list[ir.OpView]:
    """Returns the hir.arguments of a region, in order."""
    return list(region.blocks[0]) if len(region.blocks) else []


def are_well_formed(arguments: list[ir.OpView]) -> bool:
    """Returns whether every `destination` is a number; where not, the argument's own verifier says
    so.
    """
    given = [each for each in arguments if "destination" in each.attributes]
    return all((number := destination_of(each)) is not None and number >= 0 for each in given)


def destination_of(argument: ir.OpView) -> int | None:
    """Returns the number of the output that an argument is the buffer for, or None for an input."""
    return whole_number(argument, "destination")
