"""The loops of linalg operations on tensors: what a mesh may divide an operation by."""

from __future__ import annotations

from ...dialects.hir.program_mesh import is_combined
from ...dialects.mlir import indexing_maps, ir
from ..fusion.access import coordinate, loops_in
from ..fusion.fills import filled_with
from ..fusion.generic import inputs_of, outs_of
from ..fusion.kinds import combination, is_neutral
from ..hir.mesh.loops import Loop
from ..walking import operations_where

# How the parts of a reduction that devices compute are combined. The least and greatest of floats
# are not: what these are with nan is the communication library's choice.
_REDUCTIONS = {
    "addf": "sum",
    "addi": "sum",
    "mulf": "prod",
    "muli": "prod",
    "minsi": "min",
    "maxsi": "max",
}


def parallel_loops(op: ir.Operation) -> list[int]:
    """Returns the loops of a linalg operation that are a dim of each of its results by itself."""
    maps = indexing_maps(op)
    outputs = maps[len(inputs_of(op)) :]
    found = [{coordinate(each) for each in map_.results} for map_ in outputs]
    return [loop for loop in range(maps[0].n_dims) if all(loop in dims for dims in found)]


def loops_of(op: ir.Operation) -> list[Loop]:
    """Returns the loops by which devices may divide a linalg operation on tensors.

    `dim` is that of the first result, `places` are of all operands, what results begin as too.
    """
    maps = indexing_maps(op)
    first = len(inputs_of(op))
    numbered = _numbered_loops(op)
    parallel = parallel_loops(op)
    found: list[Loop] = []
    for loop in range(maps[0].n_dims):
        places = None if loop in numbered else _places(loop, maps)
        if places is None:
            continue
        if loop in parallel:
            found.append(Loop(places[first], None, places))
        elif all(place is None for place in places[first:]):
            reduction = _reduction(op)
            if reduction is not None:
                found.append(Loop(None, reduction, places))
    return found


def _numbered_loops(op: ir.Operation) -> set[int]:
    """Returns the loops whose iterations are told apart by number: a device has others'."""
    return {
        ir.IntegerAttr(inner.attributes["dim"]).value
        for inner in operations_where(op, lambda inner: inner.name == "linalg.index")
    }


def _places(loop: int, maps: list[ir.AffineMap]) -> tuple[int | None, ...] | None:
    """Returns each operand's dim that is the loop by itself; None where one has it otherwise."""
    found: list[int | None] = []
    for map_ in maps:
        index = [coordinate(each) for each in map_.results]
        dims = [dim for dim, each in enumerate(index) if loop in loops_in(each)]
        if len(dims) > 1 or any(index[dim] != loop for dim in dims):
            return None
        found.append(dims[0] if dims else None)
    return tuple(found)


def _reduction(op: ir.Operation) -> str | None:
    """Returns how the parts of the result are combined that devices compute of its terms."""
    outs = outs_of(op)
    if len(op.results) != 1:
        return None
    block = op.regions[0].blocks[0]
    (argument,) = list(block.arguments)[len(inputs_of(op)) :]
    (result,) = list(block)[-1].operation.operands
    found = combination(result, argument)
    if found is None or len(list(argument.uses)) != 1:
        return None
    reduction = _REDUCTIONS.get(found.kind)
    if reduction is None or not is_combined(argument.type, reduction):
        return None
    # What the result begins as is combined on every device, so it is to change nothing.
    start = filled_with(outs[0])
    return reduction if start is not None and is_neutral(found.kind, start) else None
