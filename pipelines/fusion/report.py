"""What was fused, and for what was not, why: lines for people."""

from __future__ import annotations

from ...dialects.hir.loop_operation import kind_of
from ...dialects.mlir import ir
from ..locations import file_position, location_text
from .generic import COLLECTIVE
from .group import Group
from .grouping import Grouping
from .node import Node

# The attribute of a module that has the lines.
REPORT = "hir.fusion_report"


def take_report(module: ir.Operation) -> list[str]:
    """Returns the report that fuse-tensor-operations left on a module, which has it no longer."""
    if REPORT not in module.attributes:
        return []
    lines = [ir.StringAttr(line).value for line in ir.ArrayAttr(module.attributes[REPORT])]
    del module.attributes[REPORT]
    return lines


def report_lines(grouping: Grouping, first: int) -> list[str]:
    """Returns the report on one block; its kernels are counted from `first`."""
    fused = [group for group in grouping.groups if len(group.nodes) > 1]
    lines = [_fused(group, first + place) for place, group in enumerate(fused)]
    lines += [
        f"not fused: {_where(one)} into {_where(other)}: {reason}"
        for (one, other), reason in grouping.refused.items()
        if not grouping.together(one, other) and _is_read(one, other)
    ]
    return lines


def _is_read(one: Node, other: Node) -> bool:
    made = {write.value for write in one.writes}
    return any(read.value in made for read in other.reads)


def _fused(group: Group, number: int) -> str:
    parts = ", ".join(f"{_work(node.op)} ({_place(node.op.location)})" for node in group.nodes)
    before, after = _passes(group)
    where = _file_line(group.nodes[0].op.location)
    return (
        f"kernel {number} at {where}: {parts}; "
        f"saves {before - after} of {before} passes over memory"
    )


def _passes(group: Group) -> tuple[int, int]:
    """Counts passes over the largest tensors: of the nodes alone, and of the group."""
    accesses = [
        {each.value: len(set(each.loops)) for each in (*node.reads, *node.writes)}
        for node in group.nodes
    ]
    most = max((size for each in accesses for size in each.values()), default=0)
    before = sum(size == most for each in accesses for size in each.values())
    remaining = {each.value: each for each in (*group.inputs, *group.outputs)}
    after = sum(len(set(each.loops)) == most for each in remaining.values())
    return before, after


def _where(node: Node) -> str:
    return f"{_work(node.op)} at {_file_line(node.op.location)}"


def _work(op: ir.Operation) -> str:
    """Returns what an operation does, in a word or two."""
    inner = [each.operation for each in op.regions[0].blocks[0]][:-1]
    for each in inner:
        if each.name in COLLECTIVE:
            return f"{'scan' if each.name == 'hir.scan_loop' else 'reduction'} by {kind_of(each)}"
    for each in reversed(inner):
        if each.name not in ("arith.constant", "linalg.index", "cf.assert"):
            return each.name
    return "copy"


def _file_line(location: ir.Location) -> str:
    position = file_position(location)
    return f"{position[0]}:{position[1]}" if position else location_text(location)


def _place(location: ir.Location) -> str:
    position = file_position(location)
    return f"{position[1]}:{position[2]}" if position else "?"
