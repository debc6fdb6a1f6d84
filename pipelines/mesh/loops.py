"""The loops of linalg operations on tensors: what a mesh may divide an operation by."""

from __future__ import annotations

from collections.abc import Callable

from ...dialects.hir.layout import DYNAMIC
from ...dialects.hir.loop_operation import COLLECTIVES
from ...dialects.hir.loop_operation import loops_of as loops_together
from ...dialects.hir.program_mesh import is_combined
from ...dialects.mlir import indexing_maps, ir
from ..fusion.access import coordinate, loops_in
from ..fusion.fills import filled_with
from ..fusion.generic import inputs_of, outs_of
from ..fusion.kinds import combination, is_neutral
from ..fusion.scatters import SCATTER
from ..hir.mesh.loops import Loop
from ..walking import operations_where

_TOTAL = ("arith.", "math.", "complex.", "linalg.index", "linalg.yield")
# A divisor may be zero, and so may what has a negative power.
_NOT_TOTAL = (
    *(f"arith.{kind}{sign}" for kind in ("div", "rem", "ceildiv") for sign in ("si", "ui")),
    "arith.floordivsi",
    "math.ipowi",
)

WholeType = Callable[[ir.Value], ir.RankedTensorType]
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


def _type(value: ir.Value) -> ir.RankedTensorType:
    return ir.RankedTensorType(value.type)


def is_total(op: ir.Operation) -> bool:
    """Returns whether a linalg operation may be computed of any elements: nothing in it can fail,
    or reads where an element says.
    """
    return all(
        inner.name.startswith(_TOTAL) and inner.name not in _NOT_TOTAL
        for inner in operations_where(op, lambda inner: inner != op)
    )


def parallel_loops(op: ir.Operation) -> list[int]:
    """Returns the loops of a linalg operation that are a dim of each of its results by itself."""
    maps = indexing_maps(op)
    outputs = maps[len(inputs_of(op)) :]
    found = [{coordinate(each) for each in map_.results} for map_ in outputs]
    return [loop for loop in range(maps[0].n_dims) if all(loop in dims for dims in found)]


def loops_of(op: ir.Operation, whole_type: WholeType = _type) -> list[Loop]:
    """Returns the loops by which devices may divide a linalg operation on tensors.

    `dim` is that of the first result, `places` are of all operands, what results begin as too.
    `whole_type` returns the type of the whole of an operand.
    """
    maps = indexing_maps(op)
    first = len(inputs_of(op))
    fixed = _fixed_loops(op)
    parallel = parallel_loops(op)
    windows = _windows(op, maps, whole_type)
    found: list[Loop] = []
    for loop in range(maps[0].n_dims):
        window = windows.get(loop)
        places = None if loop in fixed and window is None else _places(loop, maps)
        if places is None:
            continue
        if window is not None:
            found.append(Loop(window, None, (*places[:first], window)))
            continue
        if loop in parallel:
            found.append(Loop(places[first], None, places))
        elif all(place is None for place in places[first:]):
            reduction = _reduction(op)
            if reduction is not None:
                found.append(Loop(None, reduction, places))
    return found


def _fixed_loops(op: ir.Operation) -> set[int]:
    """Returns the loops whose iterations are told apart by number, or are taken together: a device
    has others'.
    """
    counted = {
        ir.IntegerAttr(inner.attributes["dim"]).value
        for inner in operations_where(op, lambda inner: inner.name == "linalg.index")
    }
    together = operations_where(op, lambda inner: inner.name in COLLECTIVES)
    return counted.union(*map(loops_together, together))


def _windows(op: ir.Operation, maps: list[ir.AffineMap], whole_type: WholeType) -> dict[int, int]:
    """Returns the loops along which a hir.scatter writes all of its result, each with that dim.

    In each iteration the elements there alone are written, so that a device's are its own. None
    where the operation has other results.
    """
    block = op.regions[0].blocks[0]
    scatters = [child.operation for child in block if child.operation.name == SCATTER]
    if len(scatters) != 1 or len(op.results) != 1:
        return {}
    (scatter,) = scatters
    target = whole_type(outs_of(op)[0])
    found: dict[int, list[int]] = {}
    for inner in operations_where(op, lambda inner: inner.name == "linalg.index"):
        dims = found.setdefault(ir.IntegerAttr(inner.attributes["dim"]).value, [])
        for use in inner.results[0].uses:
            # Its first operands are what it writes to, and the value.
            is_place = use.owner.operation == scatter and use.operand_number > 1
            dims.append(use.operand_number - 2 if is_place else -1)
    extents = _extents(op, maps, whole_type)
    return {
        loop: dims[0]
        for loop, dims in found.items()
        if len(dims) == 1 and dims[0] >= 0 and extents.get(loop) == target.shape[dims[0]] != DYNAMIC
    }


def product_sizes(op: ir.Operation, whole_type: WholeType) -> list[int]:
    """Returns the sizes of the loops of an operation that sums what it reads of several operands
    along one loop, as products do; none of another.
    """
    maps = indexing_maps(op)
    kinds = [coordinate(each) for map_ in maps[len(inputs_of(op)) :] for each in map_.results]
    extents = _extents(op, maps, whole_type)
    read = [
        {loop for each in map_.results for loop in loops_in(coordinate(each))}
        for map_ in maps[: len(inputs_of(op))]
    ]
    summed = set(range(maps[0].n_dims)) - {each for each in kinds if isinstance(each, int)}
    if not any(sum(loop in loops for loops in read) > 1 for loop in summed):
        return []
    return [extents.get(loop, 1) for loop in range(maps[0].n_dims)]


def _extents(op: ir.Operation, maps: list[ir.AffineMap], whole_type: WholeType) -> dict[int, int]:
    """Returns how often each loop runs, of the sizes of what is read along it alone."""
    found: dict[int, int] = {}
    for value, map_ in zip(inputs_of(op), maps, strict=False):
        for dim, each in enumerate(map_.results):
            loop = coordinate(each)
            if isinstance(loop, int):
                found[loop] = whole_type(value).shape[dim]
    return found


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
