"""A linalg.generic on tensors in more loops: its dims as a reshape divides them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...dialects.hir.loop_operation import loops_of
from ...dialects.mlir import ir
from ..fusion.access import Access, is_zero, reassociation
from ..fusion.generic import (
    COLLECTIVE,
    accesses_of,
    inputs_of,
    loop_count,
    loop_extents,
    make_generic,
    reducing_loops,
)
from ..tensors import collapsed, dims_in_runs, expanded

_COLLAPSE = "tensor.collapse_shape"
_DYNAMIC = ir.ShapedType.get_dynamic_size()


def split_loops(
    op: ir.Operation, sizes: Mapping[int, Sequence[int]], known: Mapping[ir.Value, ir.Value]
) -> ir.Operation | None:
    """Returns an operation that does the same in loops of these sizes, in place of some loops.

    Its results have the dims divided, and those who read them read them so or merged again. `known`
    has tensors that are others with dims divided. None where sizes are open or places computed.
    """
    accesses, extents = accesses_of(op), loop_extents(op)
    if _DYNAMIC in extents.values() or len(extents) < loop_count(op):
        return None
    if not all(isinstance(at, int) or is_zero(at) for each in accesses for at in each.index):
        return None
    inner = [each.operation for each in op.regions[0].blocks[0]]
    if any(each.name == "linalg.index" or len(each.regions) for each in inner):
        return None
    parts = {loop: list(sizes.get(loop, [extents[loop]])) for loop in range(loop_count(op))}
    names: dict[int, list[int]] = {}
    count = 0
    for loop, own in parts.items():
        names[loop] = list(range(count, count + len(own)))
        count += len(own)
    inputs = len(inputs_of(op))
    with op.location, ir.InsertionPoint(op):
        made = [
            Access(_divided(each, parts, known), _places(each, names))
            if isinstance(each.value.type, ir.RankedTensorType)
            else each
            for each in accesses
        ]
        along = [name for loop in reducing_loops(op) for name in names[loop]]
        block = op.regions[0].blocks[0]
        for each in inner:
            if each.name in COLLECTIVE:
                loops = [name for loop in loops_of(each) for name in names[loop]]
                each.attributes["loops"] = ir.DenseI64ArrayAttr.get(loops)
        new = make_generic(made[:inputs], made[inputs:], count, along, block, of=[op])
        for each, old, result in zip(accesses[inputs:], op.results, new.results, strict=True):
            _replace(old, result, _groups(each, parts))
    op.erase()
    return new


def _places(read: Access, names: Mapping[int, list[int]]) -> tuple[int | ir.AffineExpr, ...]:
    return tuple(name for at in read.index for name in (names[at] if isinstance(at, int) else [at]))


def _groups(read: Access, parts: Mapping[int, list[int]]) -> list[list[int]]:
    """Returns the sizes of what each dim is divided into."""
    return [list(parts[at]) if isinstance(at, int) else [1] for at in read.index]


def _divided(
    read: Access, parts: Mapping[int, list[int]], known: Mapping[ir.Value, ir.Value]
) -> ir.Value:
    """Returns a tensor with its dims divided."""
    value, groups = read.value, _groups(read, parts)
    if all(len(each) == 1 for each in groups):
        return value
    if value in known:
        return known[value]
    shape = [size for each in groups for size in each]
    kind = ir.RankedTensorType.get(shape, ir.RankedTensorType(value.type).element_type)
    dims = dims_in_runs([len(each) for each in groups])
    if not isinstance(value.owner, ir.Block):
        maker = value.owner.operation
        if maker.name == "tensor.empty":
            return ir.Operation.create("tensor.empty", results=[kind]).results[0]
        is_merged = maker.name == _COLLAPSE and maker.operands[0].type == kind
        if is_merged and reassociation(maker) == dims:
            return maker.operands[0]
    return expanded(value, kind, dims)


def _replace(old: ir.Value, new: ir.Value, groups: list[list[int]]) -> None:
    """Lets those who read a result read the one of divided dims, or what that merged is."""
    if old.type == new.type:
        old.replace_all_uses_with(new)
        return
    for user in list(dict.fromkeys(use.owner.operation for use in old.uses)):
        if user.name != "tensor.expand_shape" or user.results[0].type != new.type:
            continue
        if list(map(len, reassociation(user))) == list(map(len, groups)):
            user.results[0].replace_all_uses_with(new)
            user.erase()
    if list(old.uses):
        whole = collapsed(new, old.type, dims_in_runs([len(each) for each in groups]))
        old.replace_all_uses_with(whole)
