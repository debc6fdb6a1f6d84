"""Giving operations that make a fresh buffer a destination to write to."""

from __future__ import annotations

from ....dialects.mlir import ir


def write_to(op: ir.Operation, destination: ir.Value) -> ir.Operation:
    """Returns the compute operation again, with a destination; its result has no use any more."""
    attributes = {name: op.attributes[name] for name in op.attributes}
    if op.name == "hir.linear":
        has_bias = len(op.operands) == 3
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, 1, int(has_bias), 1])
    with op.location:
        again = ir.Operation.create(
            op.name,
            operands=[*op.operands, destination],
            attributes=attributes,
            ip=ir.InsertionPoint(op),
        )
    op.erase()
    return again


def add_call_destination(call: ir.Operation, index: int, destination: ir.Value) -> None:
    """The buffer for output `index` of the callee of a hir.call."""
    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), index)
    with call.location:
        ir.Operation.create(
            "hir.argument",
            operands=[destination],
            attributes={"destination": number},
            ip=ir.InsertionPoint.at_block_begin(call.regions[0].blocks[0])
            if not len(list(call.regions[0].blocks[0]))
            else ir.InsertionPoint.after(list(call.regions[0].blocks[0])[-1]),
        )
