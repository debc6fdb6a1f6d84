"""tm_tensor.scan, which torch-mlir makes of cumulative operations, as a scan in a region."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..generics import reduce_over
from ..pass_base import fail
from ..walking import is_used
from .access import Access
from .accumulators import extended, truncated
from .fills import filled_with, unfilled
from .generic import make_generic
from .kinds import combination, combine, is_neutral
from .region import Region

SCAN = "tm_tensor.scan"


def scan_generic(op: ir.Operation) -> ir.Operation:
    """Returns the linalg.generic that replaces a tm_tensor.scan, which is to be erased.

    Its second result, what everything combines to, is a reduction over the same loop.
    """
    kind = _kind(op)
    loop = ir.IntegerAttr(op.attributes["dimension"]).value
    inclusive = ir.BoolAttr(op.attributes["inclusive"]).value
    read, out, total = op.operands
    rank = ir.RankedTensorType(read.type).rank
    loops = tuple(range(rank))
    others = tuple(each for each in loops if each != loop)
    with op.location, ir.InsertionPoint(op):
        region = Region()
        element = region.input(Access(read, loops), rank)
        outputs = [Access(unfilled(out), loops)]
        with ir.InsertionPoint(region.block):
            yielded = [_scan(op, kind, loop, element, inclusive=inclusive)]
            if is_used(op.results[1]):
                if not inclusive:
                    fail(op, "the last sum of an exclusive scan is not supported; reduce instead")
                yielded.append(_reduce(kind, loop, element))
                outputs.append(Access(unfilled(total), others))
        region.finish(outputs, yielded)
        new = make_generic(region.inputs, outputs, rank, [loop], region.block, of=[op])
    for old, result in zip(op.results, new.results, strict=False):
        old.replace_all_uses_with(result)
    return new


def _kind(op: ir.Operation) -> str:
    """Returns how the scan combines what came before with an element."""
    block = op.regions[0].blocks[0]
    first, second = block.arguments
    found = combination(list(block)[-1].operation.operands[0], second)
    if found is None or found.value != first:
        fail(op, "a scan combines two elements by one operation of arith, such as arith.addf")
    return found.kind


def _scan(
    op: ir.Operation, kind: str, loop: int, element: ir.Value, *, inclusive: bool
) -> ir.Value:
    value = extended(element)
    attributes: dict[str, ir.Attribute] = {
        "kind": ir.StringAttr.get(kind),
        "loop": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), loop),
    }
    if not inclusive:
        attributes["exclusive"] = ir.UnitAttr.get()
    scanned = ir.Operation.create(
        "hir.scan_loop", results=[value.type], operands=[value], attributes=attributes
    ).results[0]
    if not inclusive:
        # An exclusive scan begins with what its second output holds.
        start = filled_with(op.operands[2])
        if start is None:
            fail(op, "an exclusive scan that begins with a tensor is not supported; fill it")
        if not is_neutral(kind, start):
            scanned = combine(kind, scanned, extended(start))
    return truncated(scanned, element.type)


def _reduce(kind: str, loop: int, element: ir.Value) -> ir.Value:
    return truncated(reduce_over([loop], kind, extended(element)), element.type)
