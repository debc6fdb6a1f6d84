"""Operands that broadcast: indexing maps where types say that a dim repeats, else strides of 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....dialects.hir.layout import DYNAMIC, buffer_type, strides_and_offset
from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...generics import Mapped, map_of
from ...rewriting import index_constant
from ..index_arithmetic import materialized
from ..lowering.buffers import Extents, extents_of, view_of
from .operand import Operand
from .sizes import (
    Dim,
    check_any,
    check_equal,
    equal,
    is_known_equal,
    size_of,
    static_size,
    subject,
)


@dataclass(frozen=True)
class Indexed:
    """An operand and the loop that indexes each of its dims.

    The first loops are those of the result's dims, in order. Of the operand's dims, those before
    `exact` broadcast to the result's.
    """

    operand: Operand
    loops: Sequence[int]
    exact: int

    def dims_of(self, loop: int) -> list[Dim]:
        """Returns the dims that broadcast and that a loop indexes."""
        return [
            (self.operand, axis) for axis, own in enumerate(self.loops[: self.exact]) if own == loop
        ]


# The open sizes that may be 1 where the result's are not, with whether they are the result's.
Repeats = Mapping[tuple[ir.Value, int], ir.Value]


def elementwise(operand: Operand, rank: int) -> Indexed:
    """Returns an operand whose dims are the last of a result of that rank."""
    own = len(operand.shape)
    return Indexed(operand, range(rank - own, rank), own)


def check_broadcast(
    op: ir.Operation,
    operands: Sequence[Indexed],
    result: Operand,
    dims: int,
    *,
    may_repeat_all: bool = False,
) -> Repeats:
    """Checks that the operands' sizes broadcast to the result's first `dims` sizes.

    With `may_repeat_all` all of them may be 1 where the result's is not.
    """
    repeats: dict[tuple[ir.Value, int], ir.Value] = {}
    for loop in range(dims):
        found = [dim for indexed in operands for dim in indexed.dims_of(loop)]
        for dim, is_same in _check_dim(op, found, (result, loop), may_repeat_all):
            repeats[dim[0].value, dim[1]] = is_same
    return repeats


def _check_dim(
    op: ir.Operation, dims: Sequence[Dim], whole: Dim, may_repeat_all: bool
) -> list[tuple[Dim, ir.Value]]:
    """Checks one dim of the result; returns the dims that may repeat at run time."""
    others = [dim for dim in dims if static_size(dim) != 1]
    if not others and not may_repeat_all:
        check_equal(op, whole, 1)
    for dim in others:
        if static_size(dim) != DYNAMIC:
            check_equal(op, whole, dim)
    different = [dim for dim in others if static_size(dim) == DYNAMIC]
    different = [dim for dim in different if not is_known_equal(dim, whole)]
    if len(others) == len(different) == 1 and not may_repeat_all:
        check_equal(op, whole, different[0])
        return []
    same = [equal(dim, whole) for dim in different]
    for (operand, axis), is_same in zip(different, same, strict=True):
        check_any(
            [is_same, equal((operand, axis), 1)],
            f"{subject(op)}: {operand.name} does not broadcast: the size of its dim {axis} is "
            f"neither 1 nor that of dim {whole[1]} of {whole[0].name}",
        )
    if same and len(different) == len(others) and not may_repeat_all:
        check_any(
            same,
            f"{subject(op)}: dim {whole[1]} of {whole[0].name} must have the size that the "
            "operands broadcast to",
        )
    return list(zip(different, same, strict=True))


def index_operand(indexed: Indexed, result: Operand, loops: int, repeats: Repeats) -> Mapped:
    """Returns the buffer, or a view of it, with the map that indexes it in `loops` loops."""
    operand = indexed.operand
    places: list[int | None] = list(indexed.loops)
    shape, repeating = list(operand.shape), {}
    for axis, loop in enumerate(indexed.loops[: indexed.exact]):
        is_same = repeats.get((operand.value, axis))
        if is_same is not None:
            repeating[axis] = is_same
            shape[axis] = result.shape[loop]
        elif operand.shape[axis] == 1 != result.shape[loop]:
            places[axis] = None
    map_ = map_of(loops, places)
    if not repeating:
        return operand.stored, map_
    extents = extents_of(operand.stored)
    strides, offset = strides_and_offset(ir.MemRefType(operand.stored.type))
    for axis, is_same in repeating.items():
        strides[axis] = DYNAMIC
        extents.sizes[axis] = size_of((result, indexed.loops[axis]))
        own = materialized(extents.strides[axis])
        extents.strides[axis] = arith.select(is_same, own, index_constant(0))
    element = ir.MemRefType(operand.stored.type).element_type
    view = buffer_type(shape, element, strides, offset)
    return view_of(
        operand.stored, view, Extents(extents.sizes, extents.strides, extents.offset)
    ), map_
