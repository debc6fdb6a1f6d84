"""Making one linalg.generic of a group."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..tensors import empty
from .access import Access
from .generic import inputs_of, make_generic, outs_of
from .group import Group
from .region import Region
from .sizes import Sizes


def build(group: Group) -> ir.Operation:
    """Returns the operation that does what the group's nodes do, at the current insertion point.

    It takes the nodes' regions and the places of their results; they are to be erased. An operand
    that is not read has the extents that no other has, as that of a pooling has its window's.
    """
    loops = len(group.extents)
    outputs = group.outputs
    with ir.Location.fused([node.op.location for node in group.nodes]):
        region = Region()
        values: dict[ir.Value, ir.Value] = {}
        for node, name in zip(group.nodes, group.names, strict=True):
            # What a group before this one made has another operation by now.
            arguments: list[ir.Value | None] = [
                values[value]
                if value in values
                else region.input(Access(value, read.index).renamed(name), loops)
                for read, value in zip(node.reads, inputs_of(node.op), strict=True)
            ]
            arguments += [None] * len(node.writes)
            for write, value in zip(
                node.writes, region.absorb(node.op, arguments, name), strict=True
            ):
                values[write.value] = value
        if group.unsized:
            sizes = [Sizes.static(group.extents[loop]) for loop in group.unsized]
            window = empty([size for size in sizes if size is not None], ir.F32Type.get())
            region.input(Access(window, tuple(group.unsized)), loops)
        begun = _begin(group, outputs)
        region.finish(begun, [values[each.value] for each in outputs])
        along = group.reduced | group.scanned
        new = make_generic(
            region.inputs,
            begun,
            loops,
            sorted(along),
            region.block,
            of=[node.op for node in group.nodes],
        )
    for output, result in zip(outputs, new.results, strict=True):
        output.value.replace_all_uses_with(result)
    return new


def _begin(group: Group, outputs: list[Access]) -> list[Access]:
    """Returns what the outputs begin as: the tensors their nodes named, and fresh ones for empty
    ones.
    """
    outs = {
        write.value: out
        for node in group.nodes
        for write, out in zip(node.writes, outs_of(node.op), strict=True)
    }
    begun: list[Access] = []
    for output in outputs:
        out = outs[output.value]
        # An output of a node before this one, which goes with it.
        while out in outs:
            out = outs[out]
        owner = out.owner
        if not isinstance(owner, ir.Block) and owner.operation.name == "tensor.empty":
            out = owner.operation.clone().results[0]
        begun.append(Access(out, output.index))
    return begun
