"""Which element of a tensor an iteration of a linalg.generic reads or writes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ...dialects.mlir import ir
from ...dialects.records import dataclass

# One coordinate of an element: the number of the loop it is, or any other affine expression.
Coordinate = int | ir.AffineExpr
# No operation has more loops.
_MOST_LOOPS = 64


@dataclass(frozen=True)
class Access:
    """The element of `value` at `index`, one coordinate a dim, in every iteration."""

    value: ir.Value
    index: tuple[Coordinate, ...]

    @cached_property
    def loops(self) -> tuple[int, ...]:
        """The loops that are coordinates by themselves, in the order of the dims."""
        return tuple(each for each in self.index if isinstance(each, int))

    @property
    def is_whole(self) -> bool:
        """Whether each dim of a tensor is one loop or of size 1: they go over every element."""
        shape = ir.RankedTensorType(self.value.type).shape
        return len(set(self.loops)) == len(self.loops) and all(
            isinstance(each, int) or (is_zero(each) and size == 1)
            for each, size in zip(self.index, shape, strict=True)
        )

    def map(self, loops: int) -> ir.AffineMap:
        """Returns the indexing map, of an operation with so many loops."""
        return ir.AffineMap.get(loops, 0, [expression(each) for each in self.index])

    def renamed(self, names: Sequence[int | None]) -> Access:
        """Returns the same element in other loops: loop i is loop names[i], or 0 where that is
        None.
        """
        return Access(self.value, tuple(_renamed(each, names) for each in self.index))


def access(value: ir.Value, map_: ir.AffineMap) -> Access:
    """Returns an operand's access from its indexing map."""
    return Access(value, tuple(coordinate(each) for each in map_.results))


def coordinate(each: ir.AffineExpr) -> Coordinate:
    """Returns an expression as a coordinate."""
    each = each.maybe_downcast()
    return each.position if isinstance(each, ir.AffineDimExpr) else each


def expression(each: Coordinate) -> ir.AffineExpr:
    """Returns a coordinate as an expression of the loops."""
    return ir.AffineExpr.get_dim(each) if isinstance(each, int) else each


def zero() -> ir.AffineExpr:
    """Returns the first place of a dim."""
    return ir.AffineExpr.get_constant(0)


def is_zero(each: Coordinate) -> bool:
    """Returns whether a coordinate is the first place of its dim in every iteration."""
    return isinstance(each, ir.AffineConstantExpr) and each.value == 0


def loops_in(each: Coordinate) -> set[int]:
    """Returns all the loops a coordinate depends on."""
    if isinstance(each, int):
        return {each}
    if isinstance(each, ir.AffineDimExpr):
        return {each.position}
    if isinstance(each, ir.AffineBinaryExpr):
        return loops_in(each.lhs) | loops_in(each.rhs)
    return set()


def linear_terms(expression: ir.AffineExpr) -> tuple[int, dict[int, int]] | None:
    """An expression as a constant and the factors of loops, or None where it is not linear."""
    # A product that Python made may be something simpler, but has the class of a product.
    expression = ir.AffineMap.get(_MOST_LOOPS, 0, [expression]).results[0]
    if isinstance(expression, ir.AffineDimExpr):
        return 0, {ir.AffineDimExpr(expression).position: 1}
    if isinstance(expression, ir.AffineConstantExpr):
        return ir.AffineConstantExpr(expression).value, {}
    if isinstance(expression, ir.AffineAddExpr):
        binary = ir.AffineBinaryExpr(expression)
        left, right = linear_terms(binary.lhs), linear_terms(binary.rhs)
        if left is None or right is None:
            return None
        factors = dict(left[1])
        for loop, factor in right[1].items():
            factors[loop] = factors.get(loop, 0) + factor
        return left[0] + right[0], factors
    if isinstance(expression, ir.AffineMulExpr):
        binary = ir.AffineBinaryExpr(expression)
        left, right = linear_terms(binary.lhs), linear_terms(binary.rhs)
        if left is None or right is None or (left[1] and right[1]):
            return None
        scale, (constant, factors) = (left[0], right) if not left[1] else (right[0], left)
        return constant * scale, {loop: factor * scale for loop, factor in factors.items()}
    return None


def through_views(read: Access) -> Access:
    """Returns the same element, of the tensor that casts and reshapes by dims of size 1 are views
    of.
    """
    while True:
        source = _source(read)
        if source is None:
            return read
        read = source


def _source(read: Access) -> Access | None:
    owner = read.value.owner
    if isinstance(owner, ir.Block):
        return None
    op = owner.operation
    if op.name == "tensor.cast":
        return _of_cast(op, read.index)
    if op.name == "tensor.expand_shape":
        return _of_expanded(op, read.index)
    if op.name == "tensor.collapse_shape":
        return _of_collapsed(op, read.index)
    return None


def _of_cast(op: ir.Operation, index: tuple[Coordinate, ...]) -> Access | None:
    source = op.operands[0]
    if not isinstance(source.type, ir.RankedTensorType):
        return None
    result = ir.RankedTensorType(op.results[0].type)
    for axis, (size, each) in enumerate(zip(source.type.shape, index, strict=True)):
        # Further views leave dims of size 1 out, and with them what tells the loop's size.
        if size == 1 and result.is_dynamic_dim(axis) and not is_zero(each):
            return None
    return Access(source, index)


def _of_expanded(op: ir.Operation, index: tuple[Coordinate, ...]) -> Access | None:
    result = ir.RankedTensorType(op.results[0].type)
    groups, shape = reassociation(op), result.shape
    if not groups and not result.has_static_shape:
        # Of one element, whose dims of open sizes nothing else would tell.
        return None
    found: list[Coordinate] = []
    for dims in groups:
        large = [dim for dim in dims if shape[dim] != 1]
        if len(large) > 1:
            return None
        found.append(index[large[0]] if large else zero())
    return Access(op.operands[0], tuple(found))


def _of_collapsed(op: ir.Operation, index: tuple[Coordinate, ...]) -> Access | None:
    shape = ir.RankedTensorType(op.operands[0].type).shape
    found: list[Coordinate] = [zero()] * len(shape)
    for each, dims in zip(index, reassociation(op), strict=True):
        large = [dim for dim in dims if shape[dim] != 1]
        if len(large) > 1:
            return None
        if large:
            found[large[0]] = each
    return Access(op.operands[0], tuple(found))


def reassociation(op: ir.Operation) -> list[list[int]]:
    """Returns the dims that belong together, of a tensor.expand_shape or tensor.collapse_shape."""
    return [
        [ir.IntegerAttr(dim).value for dim in ir.ArrayAttr(group)]
        for group in ir.ArrayAttr(op.attributes["reassociation"])
    ]


def _renamed(each: Coordinate, names: Sequence[int | None]) -> Coordinate:
    if isinstance(each, int):
        name = names[each]
        return zero() if name is None else name
    new = [zero() if name is None else ir.AffineExpr.get_dim(name) for name in names]
    count = max((name for name in names if name is not None), default=-1) + 1
    return coordinate(each.compose(ir.AffineMap.get(count, 0, new)))
