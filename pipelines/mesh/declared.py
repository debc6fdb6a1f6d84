"""What a function on tensors says of its mesh: attributes of it, its arguments and its results."""

from __future__ import annotations

from ...dialects.hir.mesh import (
    MESH,
    SPREAD,
    Mesh,
    Spreads,
    mesh_fault,
    mesh_of_shape,
    read_spreads,
)
from ...dialects.hir.program_mesh import is_combined
from ...dialects.hir.spread import Spread
from ...dialects.mlir import ir
from ..attributes import function_type
from ..pass_base import fail
from ..updates import updates_of
from ..weights import STATE_MARK


def mesh_of_function(function: ir.Operation) -> Mesh | None:
    """Returns the mesh of a function; None where it has none. Fails where it is no mesh."""
    if MESH not in function.attributes:
        return None
    fault = mesh_fault(function.attributes[MESH])
    if fault is not None:
        fail(function, fault.replace("'mesh'", f"'{MESH}'"))
    return mesh_of_shape(tuple(ir.DenseI64ArrayAttr(function.attributes[MESH])))


def argument_spreads(function: ir.Operation, mesh: Mesh) -> list[Spreads]:
    """Returns how each argument is spread, whole where nothing says so. Fails at what is wrong."""
    kinds = function_type(function).inputs
    found = _declared(function, "arg_attrs", "argument", list(kinds), mesh)
    updated = set(updates_of(function).values())
    for place, spreads in enumerate(found):
        is_kept = _attribute(function, "arg_attrs", place, STATE_MARK) is not None
        if not is_kept and place not in updated:
            continue
        what = f"'{SPREAD}' of argument {place}, which is {'state' if is_kept else 'updated'}: "
        if any(each.reduction for each in spreads):
            fail(function, f"{what}it is divided or whole")
        kind = function_type(function).inputs[place]
        shape = kind.shape if isinstance(kind, ir.RankedTensorType) else ()
        for dim in mesh.uneven(spreads, shape):
            fail(function, f"{what}{mesh.uneven_text(spreads, dim, shape[dim])}; leave it whole")
    return found


def result_spreads(function: ir.Operation, mesh: Mesh) -> list[Spreads]:
    """Returns how each result is to be spread; one that updates an argument as that is."""
    found = _declared(function, "res_attrs", "result", list(function_type(function).results), mesh)
    arguments = argument_spreads(function, mesh)
    for place, number in updates_of(function).items():
        is_said = _attribute(function, "res_attrs", place, SPREAD) is not None
        if is_said and found[place] != arguments[number]:
            fail(
                function,
                f"'{SPREAD}' of result {place}, which updates argument {number}, and is as that is",
            )
        found[place] = arguments[number]
    return found


def _attribute(function: ir.Operation, which: str, place: int, name: str) -> ir.Attribute | None:
    if which not in function.attributes:
        return None
    entries = ir.DictAttr(ir.ArrayAttr(function.attributes[which])[place])
    return entries[name] if name in entries else None  # noqa: SIM401


def _declared(
    function: ir.Operation, which: str, noun: str, kinds: list[ir.Type], mesh: Mesh
) -> list[Spreads]:
    found: list[Spreads] = []
    for place, kind in enumerate(kinds):
        said = _attribute(function, which, place, SPREAD)
        if said is None:
            found.append((Spread(),) * len(mesh.shape))
            continue
        spreads = read_declared(said, kind, mesh)
        if isinstance(spreads, str):
            fail(function, f"'{SPREAD}' of {noun} {place} is {said}: {spreads}")
        found.append(mesh.normal(spreads))
    return found


def read_declared(said: ir.Attribute, kind: ir.Type, mesh: Mesh) -> Spreads | str:
    """Returns how a tensor is spread, or what is wrong with what is said of it."""
    if not isinstance(kind, ir.RankedTensorType):
        return f"it is for tensors; {kind} is whole on every device"
    found = read_spreads(said, kind.rank, len(mesh.shape))
    if isinstance(found, str):
        return found
    for reduction in {each.reduction for each in found} - {None}:
        assert reduction is not None
        if not is_combined(kind.element_type, reduction):
            return f"devices combine no {kind.element_type} by {reduction}"
    return mesh.division_fault(found, kind.shape) or found
