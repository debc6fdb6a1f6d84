"""Loops of results as loops of tiles, and within them.

An operation reads transforms at `i floordiv 4`, and a row of a matrix at the rest of `i` by 4. What
is made of it has a loop of tiles t in place of i, and one more, u, within the tile: i is 4 t + u. A
tile may reach beyond the results.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...constants import constant_value
from ...fusion.access import loops_in
from ...rewriting import index_constant
from ...walking import operations_where
from ..iteration import loop_of
from ..size import Size
from ..work import read_work
from .matrices import read_transform

_SPLITS = "hir.splits"


@dataclass(frozen=True)
class Split:
    """Results along a dim, of which there are `count`: `size` in each tile of the loop `tile`, at
    the places of the loop `within`.
    """

    tile: int
    within: int
    size: int
    count: int

    @property
    def tiles(self) -> int:
        """How many tiles have results."""
        return -(-self.count // self.size)

    @property
    def is_whole(self) -> bool:
        """Whether all results of all tiles are there."""
        return self.count % self.size == 0


def in_tiles(op: ir.Operation) -> ir.Operation:
    """Returns a linalg.generic on buffers that has loops of tiles, in place of `op`.

    It returns `op` where that reads nothing at quotients of loops, or is no transform. What it
    returns is no valid operation: nothing but `splits_of` says that it leaves out what is
    beyond the results.
    """
    maps = [ir.AffineMapAttr(each).value for each in ir.ArrayAttr(op.attributes["indexing_maps"])]
    sizes = dict(
        found
        for map_ in maps
        for each in map_.results
        if (found := _quotient(each, ir.AffineFloorDivExpr)) is not None
    )
    counts = {
        loop_of(each): size
        for map_, value in zip(maps, op.operands, strict=True)
        if isinstance(value.type, ir.MemRefType)
        for each, size in zip(map_.results, value.type.shape, strict=True)
        if isinstance(each, ir.AffineDimExpr)
    }
    if not sizes or not all(counts.get(loop, -1) > 0 for loop in sizes):
        return op
    rank = maps[0].n_dims
    splits = tuple(
        Split(loop, rank + number, size, counts[loop])
        for number, (loop, size) in enumerate(sizes.items())
    )
    total = rank + len(splits)
    split_maps: list[ir.Attribute] = []
    for map_ in maps:
        split = [_split(each, splits) for each in map_.results]
        found = [each for each in split if each is not None]
        if len(found) < len(split):
            return op
        split_maps.append(ir.AffineMapAttr.get(ir.AffineMap.get(total, 0, found)))
    with op.location, ir.InsertionPoint(op):
        copy = op.clone()
    copy.attributes["indexing_maps"] = ir.ArrayAttr.get(split_maps)
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    kinds = [*ir.ArrayAttr(op.attributes["iterator_types"]), *[parallel] * len(splits)]
    copy.attributes["iterator_types"] = ir.ArrayAttr.get(kinds)
    for index in operations_where(copy, lambda inner: inner.name == "linalg.index"):
        _split_index(index, splits)
    numbers = [
        number for each in splits for number in (each.tile, each.within, each.size, each.count)
    ]
    copy.attributes[_SPLITS] = ir.DenseI64ArrayAttr.get(numbers)
    work = read_work(copy)
    if (
        work is None
        or read_transform(work) is None
        or any(work.extents[each.tile] != Size(each.tiles) for each in splits)
    ):
        copy.erase()
        return op
    op.erase()
    return copy


def splits_of(op: ir.Operation) -> tuple[Split, ...]:
    """Returns the loops that `in_tiles` has split."""
    if _SPLITS not in op.attributes:
        return ()
    numbers = list(ir.DenseI64ArrayAttr(op.attributes[_SPLITS]))
    return tuple(Split(*numbers[first : first + 4]) for first in range(0, len(numbers), 4))


def _quotient(each: ir.AffineExpr, kind: type[ir.AffineBinaryExpr]) -> tuple[int, int] | None:
    """Returns the loop and the number that an expression divides it by."""
    if not isinstance(each, kind):
        return None
    loop, by = loop_of(each.lhs), each.rhs
    if loop is None or not isinstance(by, ir.AffineConstantExpr):
        return None
    return loop, ir.AffineConstantExpr(by).value


def _split(each: ir.AffineExpr, splits: Sequence[Split]) -> ir.AffineExpr | None:
    """Returns an expression in loops of tiles; None for others of such loops than are known."""
    for split in splits:
        own = split.tile, split.size
        if _quotient(each, ir.AffineFloorDivExpr) == own:
            return ir.AffineExpr.get_dim(split.tile)
        if _quotient(each, ir.AffineModExpr) == own:
            return ir.AffineExpr.get_dim(split.within)
        if loop_of(each) == split.tile:
            tile, within = (ir.AffineExpr.get_dim(loop) for loop in (split.tile, split.within))
            return tile * split.size + within
        if split.tile in loops_in(each):
            return None
    return each


def _split_index(index: ir.Operation, splits: Sequence[Split]) -> None:
    """Makes an index of results one of tiles and within them."""
    number = ir.IntegerAttr(index.attributes["dim"]).value
    split = next((each for each in splits if each.tile == number), None)
    if split is None:
        return
    with index.location, ir.InsertionPoint(index):
        within = index.clone()
        within.attributes["dim"] = ir.IntegerAttr.get(index.attributes["dim"].type, split.within)
        tile = index.clone()
        size = index_constant(split.size)
        whole = arith.addi(arith.muli(tile.results[0], size), within.results[0])
    for use in list(index.results[0].uses):
        user = use.owner.operation
        is_rest = user.name == "arith.remui" and constant_value(user.operands[1]) == split.size
        if is_rest and use.operand_number == 0:
            user.results[0].replace_all_uses_with(within.results[0])
            user.erase()
        elif user != tile:
            user.operands[use.operand_number] = whole
    index.erase()
