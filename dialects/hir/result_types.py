"""The types of what a call or branch gives."""

from ..mlir import ir
from .call_arguments import declared_type, is_tensor_function
from .structure import is_well_formed
from .symbols import lookup


def types_of_results(source: ir.Operation | ir.OpView) -> list[ir.Type] | None:
    """Returns the types of what a hir.call, hir.host_call or hir.if gives; None where it is
    malformed.
    """
    op = source.opview if isinstance(source, ir.Operation) else source
    if op.operation.name == "hir.if":
        return branch_types(op.operation.regions[0])
    if op.operation.name == "hir.host_call":
        return declared_types(op)
    callee = lookup(op, [ir.FlatSymbolRefAttr(op.attributes["callee"]).value])
    if callee is None or not (
        is_tensor_function(callee) or (callee.name == "hir.program" and is_well_formed(callee))
    ):
        return None
    declared = declared_type(callee)
    return None if declared is None else list(declared.results)


def branch_types(region: ir.Region) -> list[ir.Type] | None:
    """Returns the types of the outputs of a branch; None where it has no block."""
    if not len(region.blocks):
        return None
    return [
        op.operation.operands[0].type
        for op in region.blocks[0]
        if op.operation.name == "hir.output"
    ]


def declared_types(op: ir.OpView) -> list[ir.Type] | None:
    """Returns the `result_types` of a hir.host_call; None where they are no array of types."""
    if "result_types" not in op.attributes:
        return []
    types = op.attributes["result_types"]
    if not isinstance(types, ir.ArrayAttr):
        return None
    found = [entry.value for entry in types if isinstance(entry, ir.TypeAttr)]
    return found if len(found) == len(types) else None
