"""What a convolution or product reads, given to it anew."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.mlir import ir
from ..fusion.access import Access
from ..fusion.generic import accesses_of, inputs_of, loop_count


def read_from(op: ir.Operation, number: int, read: Access) -> None:
    """Lets an operation read an operand from another tensor."""
    maps = list(ir.ArrayAttr(op.attributes["indexing_maps"]))
    maps[number] = ir.AffineMapAttr.get(read.map(loop_count(op)))
    op.operands[number] = read.value
    op.attributes["indexing_maps"] = ir.ArrayAttr.get(maps)


def replace_reads(op: ir.Operation, reads: Sequence[Access], loops: int) -> None:
    """Replaces an operation by one of so many loops, the new ones summed over, that reads these."""
    written = accesses_of(op)[len(inputs_of(op)) :]
    maps = [each.map(loops) for each in (*reads, *written)]
    kinds = list(ir.ArrayAttr(op.attributes["iterator_types"]))
    kinds += [ir.Attribute.parse("#linalg.iterator_type<reduction>")] * (loops - len(kinds))
    attributes = {name: op.attributes[name] for name in op.attributes}
    attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps])
    attributes["iterator_types"] = ir.ArrayAttr.get(kinds)
    new = ir.Operation.create(
        op.name,
        results=[each.type for each in op.results],
        operands=[*(each.value for each in reads), *list(op.operands)[len(reads) :]],
        attributes=attributes,
        regions=1,
    )
    op.regions[0].blocks[0].append_to(new.regions[0])
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()
