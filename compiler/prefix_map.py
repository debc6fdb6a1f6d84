"""Other folders' names in what is built: --file-prefix-map, as clang has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ..dialects.mlir import ir
from ..pipelines.locations import file_name

# What a path begins with, and what is written in its place.
PrefixMap = tuple[str, str]


def mapped(name: str, maps: Sequence[PrefixMap]) -> str:
    """A file's name with its prefix replaced; of several that fit, the last one given counts."""
    for old, new in reversed(maps):
        if name.startswith(old):
            return new + name[len(old) :]
    return name


def map_locations(module: ir.Operation, maps: Sequence[PrefixMap]) -> None:
    """Replaces the prefixes of files in every location of a module."""
    known: dict[ir.Location, ir.Location] = {}

    def location(old: ir.Location) -> ir.Location:
        if old not in known:
            known[old] = _mapped_location(old, maps)
        return known[old]

    def visit(op: ir.Operation) -> ir.WalkResult:
        op.location = location(op.location)
        for region in op.regions:
            for block in region:
                for argument in block.arguments:
                    argument.set_location(location(argument.location))
        return ir.WalkResult.ADVANCE

    with module.context:
        module.walk(visit, ir.WalkOrder.PRE_ORDER)


def _mapped_location(location: ir.Location, maps: Sequence[PrefixMap]) -> ir.Location:
    def inner(part: object) -> ir.Location:
        return _mapped_location(cast(ir.Location, part), maps)

    if isinstance(location, ir.FileLineColLoc):
        name = mapped(file_name(location), maps)
        ends = location.start_line, location.start_col, location.end_line, location.end_col
        return ir.Location.file(name, *ends)
    if isinstance(location, ir.NameLoc):
        return ir.Location.name(location.name_str, inner(location.child_loc))
    if isinstance(location, ir.CallSiteLoc):
        return ir.Location.callsite(inner(location.callee), [inner(location.caller)])
    if isinstance(location, ir.FusedLoc):
        parts = [inner(part) for part in location.locations]
        return ir.Location.fused(parts, metadata=location.metadata)
    return location
