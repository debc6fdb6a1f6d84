"""`hir.reshard`: changes how a buffer is spread over devices."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .layout import DYNAMIC
from .mesh import Mesh, Spreads, mesh_fault, read_spreads
from .refusal import refuse
from .spread import Spread, parse_spread
from .team import is_team
from .values import not_a_buffer

_EQUAL_PARTS = (
    ": parts are of one size. What does not divide evenly is filled up before, and cut off after "
    "it, as a program over a 'mesh' does by itself"
)


class ReshardOp(Hir.Operation, name="reshard"):
    """The buffer `x`, spread over `from_team` as `from` says, spread over `to_team` as `to` says.

    A spread is "whole" (every device has all of it), "partial:KIND" (the sum, or another
    COMMUNICATED_REDUCTION, of the devices' parts is the value) or "axis:N" (that axis is divided
    evenly, in the order of the team).

    The team may be a `mesh`, the sizes of its axes: then `from` and `to` are lists of spreads, one
    for each axis of the mesh, whose devices are the team's in row-major order. A dim that several
    axes divide is divided by the outer ones first.

    Example:
      %all = "hir.reshard"(%part) {from = "axis:0", to = "whole",
        from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4xf32>) -> memref<8xf32>
    """

    from_team: Any
    to_team: Any
    x: ext.Operand[Any]
    destination: ext.Operand[Any] | None
    buffer: ext.Result[Any] | None

    @staticmethod
    def verify_invariants(op: "ReshardOp") -> bool:
        result = op.destination if op.buffer is None else op.buffer
        if result is None or (op.destination is not None and op.buffer is not None):
            return refuse(op, "hir.reshard has a destination or a result, and not both")
        source, target = op.x.type, result.type
        for what, buffer in (("operand", source), ("result", target)):
            reason = not_a_buffer(buffer)
            if reason is not None:
                return refuse(op, f"the {what} of hir.reshard is a buffer; {buffer} {reason}")
        if not is_team(op, "from_team") or not is_team(op, "to_team"):
            return False
        source, target = ir.MemRefType(source), ir.MemRefType(target)
        if source.element_type != target.element_type or source.rank != target.rank:
            return refuse(
                op,
                "hir.reshard changes neither element type nor number of dims: "
                f"{source} to {target}",
            )
        if "mesh" in op.attributes:
            return _fits_mesh(op, source, target)
        before = _spread(op, "from", source.rank)
        after = _spread(op, "to", source.rank)
        if before is None or after is None:
            return False
        same_devices = sorted(op.from_team) == sorted(op.to_team)
        if after.reduction is not None and (before != after or not same_devices):
            return refuse(
                op,
                "hir.reshard makes no parts to be combined, and moves none to other devices: 'to' "
                f"is {op.attributes['to']}",
            )
        return _sizes_fit(op, source, target, before, after)


def _fits_mesh(op: ReshardOp, source: ir.MemRefType, target: ir.MemRefType) -> bool:
    fault = mesh_fault(op.attributes["mesh"], len(op.from_team))
    if fault is not None:
        return refuse(op, f"hir.reshard {fault}")
    if list(op.from_team) != list(op.to_team):
        return refuse(op, "hir.reshard over a mesh has one team before and after it")
    mesh = Mesh(tuple(op.attributes["mesh"]), tuple(op.from_team))
    spreads: list[Spreads] = []
    for name in ("from", "to"):
        found = read_spreads(op.attributes.get(name), source.rank, len(mesh.shape))
        if isinstance(found, str):
            return refuse(op, f"'{name}' is {op.attributes.get(name)}: {found}")
        spreads.append(found)
    before, after = spreads
    for axis, (here, there) in enumerate(zip(before, after, strict=True)):
        if there.reduction is not None and here != there:
            return refuse(
                op,
                f"hir.reshard makes no parts to be combined: along axis {axis} of the mesh 'to' is "
                f"'{there}' and 'from' '{here}'",
            )
    for dim, (here, there) in enumerate(zip(source.shape, target.shape, strict=True)):
        whole, spread = here * mesh.parts(before, dim), there * mesh.parts(after, dim)
        if DYNAMIC not in (here, there) and whole != spread:
            return refuse(
                op,
                f"dim {dim} has {whole} elements over all devices before hir.reshard ({source}), "
                f"but {spread} after it ({target}){_EQUAL_PARTS}",
            )
    return True


def _spread(op: ReshardOp, name: str, rank: int) -> Spread | None:
    attribute = op.attributes.get(name)
    if not isinstance(attribute, ir.StringAttr):
        refuse(op, f"hir.reshard has '{name}', a string: whole, partial:KIND or axis:N")
        return None
    spread = parse_spread(attribute.value, rank)
    if isinstance(spread, str):
        refuse(op, f"'{name}' is '{attribute.value}': {spread}")
        return None
    return spread


def _sizes_fit(
    op: ReshardOp, source: ir.MemRefType, target: ir.MemRefType, before: Spread, after: Spread
) -> bool:
    from_team, to_team = len(op.from_team), len(op.to_team)
    for axis, (here, there) in enumerate(zip(source.shape, target.shape, strict=True)):
        if DYNAMIC in (here, there):
            continue
        whole = here * (from_team if before.axis == axis else 1)
        spread = there * (to_team if after.axis == axis else 1)
        if whole != spread:
            return refuse(
                op,
                f"dim {axis} has {whole} elements over all devices before hir.reshard ({source}, "
                f"'{before}' over {from_team}), but {spread} after it ({target}, '{after}' over "
                f"{to_team}){_EQUAL_PARTS}",
            )
    return True
