"""Emits checks that linalg operations index operands of open sizes within these sizes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import arith, indexing_maps, ir, scf
from ...dialects.records import dataclass
from ..pass_base import fail
from ..rewriting import index_constant
from ..size_assertions import assert_at_most
from ..view_checks import equal, shape_of, size_of
from .index_arithmetic import Index, IndexArithmetic, index_of, materialized

_UNSTRUCTURED = ("index", "softmax", "yield", "pack", "unpack", "winograd")
_emit = IndexArithmetic()


@dataclass(frozen=True)
class _Range:
    """The range of an expression over all iterations of the `loops` in it.

    If it is `dense`, the expression takes every value from `low` to `high`. If it is `exact`, it
    takes these two; else its values may lie strictly between them.
    """

    low: Index
    high: Index
    loops: frozenset[int] = frozenset()
    exact: bool = True
    dense: bool = True


def is_indexed(op: ir.Operation) -> bool:
    """Returns whether an operation is of linalg and has indexing maps."""
    dialect, _, name = op.name.partition(".")
    return dialect == "linalg" and not name.startswith(_UNSTRUCTURED)


def check_accesses(op: ir.Operation) -> bool:
    """Adds assertions before a linalg operation that indices it computes lie within its operands.

    Returns whether it added any. Dims that a single loop indexes are checked elsewhere. Ends the
    pass with an error where known sizes show that an index lies outside.
    """
    maps = indexing_maps(op)
    if not any(_is_computed(each) for map_ in maps for each in map_.results):
        return False
    extents = _extents(op, maps)
    is_checked = False
    with op.location, ir.InsertionPoint(op):
        for number, map_ in enumerate(maps):
            operand = op.operands[number]
            if not isinstance(operand.type, ir.ShapedType) or is_scattered(op, number):
                continue
            for axis, expression in enumerate(map_.results):
                if _is_computed(expression):
                    place = f"dim {axis} of operand {number} of {op.name}"
                    is_checked |= _check(op, expression, extents, operand, axis, place)
    return is_checked


def _is_computed(expression: ir.AffineExpr) -> bool:
    return not isinstance(expression.maybe_downcast(), ir.AffineDimExpr)


def is_scattered(op: ir.Operation, number: int) -> bool:
    """Returns whether hir.scatter indexes an operand's elements, and not its map."""
    argument = op.regions[0].blocks[0].arguments[number]
    return any(use.owner.name == "hir.scatter" for use in argument.uses)


def _extents(op: ir.Operation, maps: Sequence[ir.AffineMap]) -> list[tuple[ir.Value, int]]:
    """Returns for each loop an operand and a dim of its extent, a known one where there is one."""
    found: dict[int, tuple[ir.Value, int]] = {}
    for operand, map_ in zip(op.operands, maps, strict=True):
        for axis, expression in enumerate(map_.results):
            if not _is_computed(expression):
                loop = ir.AffineDimExpr(expression).position
                if loop not in found or shape_of(operand)[axis] != DYNAMIC:
                    found[loop] = operand, axis
    return [found[loop] for loop in range(maps[0].n_dims)]


def _check(
    op: ir.Operation,
    expression: ir.AffineExpr,
    extents: Sequence[tuple[ir.Value, int]],
    operand: ir.Value,
    axis: int,
    place: str,
) -> bool:
    loops = sorted(_loops_in(expression))
    ends = {loop: shape_of(extents[loop][0])[extents[loop][1]] for loop in loops}
    size = shape_of(operand)[axis]
    if any(shape_of(value)[at] == 0 for value, at in extents):
        return False
    if DYNAMIC not in (size, *ends.values()):
        found = _range(expression, dict.fromkeys(loops, 0), _before(ends))
        if found.exact and isinstance(found.low, int) and isinstance(found.high, int):
            if found.low < 0:
                fail(op, f"{place} is read or written at index {found.low}")
            if found.high >= size:
                fail(op, f"{place}, of size {size}, is read or written at index {found.high}")
        return False
    sizes: dict[int, Index] = {loop: index_of(size_of(*extents[loop])) for loop in loops}
    found = _range(expression, dict.fromkeys(loops, 0), _before(sizes))
    has = size_of(operand, axis)
    is_empty = [
        equal(size_of(value, at), index_constant(0))
        for value, at in extents
        if shape_of(value)[at] == DYNAMIC
    ]
    if found.exact:
        _assert_within(found, has, is_empty, place)
        return True
    # Values may not reach the ends: every iteration is checked, but only if an end lies outside.
    limits = (_Range(materialized(found.low), materialized(found.high)), has)
    below = arith.cmpi(arith.CmpIPredicate.slt, materialized(limits[0].low), index_constant(0))
    beyond = arith.cmpi(arith.CmpIPredicate.sge, materialized(limits[0].high), has)
    doubtful = reduce(
        arith.andi, [arith.xori(each, _true()) for each in is_empty], arith.ori(below, beyond)
    )
    test = scf.IfOp(doubtful)
    with ir.InsertionPoint(test.then_block):
        _each_within(expression, sizes, has, place)
        scf.YieldOp([])
    return True


def _each_within(
    expression: ir.AffineExpr, sizes: dict[int, Index], has: ir.Value, place: str
) -> None:
    """Emits loops that assert it for every iteration of the loops in the expression."""
    at: dict[int, Index] = {}

    def go(loops: Sequence[int]) -> None:
        if not loops:
            _assert_within(_range(expression, at, at), has, [], place)
            return
        first, *others = loops
        ends = index_constant(0), materialized(sizes[first]), index_constant(1)
        loop = scf.ForOp(*ends)
        with ir.InsertionPoint(loop.body):
            at[first] = loop.induction_variable
            go(others)
            scf.YieldOp([])

    go(list(sizes))


def _assert_within(found: _Range, has: ir.Value, is_empty: Sequence[ir.Value], place: str) -> None:
    """Emits assertions that the first index is not below 0 and the last is below the size."""
    nothing = reduce(arith.ori, is_empty) if is_empty else None
    zero: Index = 0

    def unless_empty(number: Index) -> ir.Value:
        chosen = number if nothing is None else _emit.choose(nothing, zero, number)
        return materialized(chosen)

    if not isinstance(found.low, int) or found.low < 0:
        assert_at_most(
            index_constant(0),
            unless_empty(found.low),
            f"{place} is read or written before its first element",
            "at index {1}",
        )
    assert_at_most(
        unless_empty(_emit.add(found.high, 1)),
        has,
        f"{place} is too small for what is read or written of it",
        "it has {1} elements, {0} are needed",
    )


def _true() -> ir.Value:
    truth = ir.IntegerType.get_signless(1)
    return arith.constant(truth, ir.IntegerAttr.get(truth, -1))


def _before(sizes: dict[int, Index] | dict[int, int]) -> dict[int, Index]:
    """Returns each loop's last iteration: its size less 1."""
    return {loop: _emit.subtract(size, 1) for loop, size in sizes.items()}


def _loops_in(expression: ir.AffineExpr) -> set[int]:
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineBinaryExpr):
        return _loops_in(expression.lhs) | _loops_in(expression.rhs)
    return {expression.position} if isinstance(expression, ir.AffineDimExpr) else set()


def _range(expression: ir.AffineExpr, first: dict[int, Index], last: dict[int, Index]) -> _Range:
    """Returns the range of an expression whose loops go from `first` to `last`."""
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineDimExpr):
        loop = expression.position
        return _Range(first[loop], last[loop], frozenset([loop]))
    if isinstance(expression, ir.AffineConstantExpr):
        return _Range(expression.value, expression.value)
    binary = ir.AffineBinaryExpr(expression)
    left, right = _range(binary.lhs, first, last), _range(binary.rhs, first, last)
    if isinstance(expression, ir.AffineAddExpr):
        return _sum(left, right)
    # In all other expressions one operand is a number.
    by = right.low if isinstance(right.low, int) and not right.loops else left.low
    value = left if by is right.low else right
    assert isinstance(by, int)
    if isinstance(expression, ir.AffineMulExpr):
        ends = _emit.multiply(value.low, by), _emit.multiply(value.high, by)
        low, high = ends if by >= 0 else ends[::-1]
        return _Range(low, high, value.loops, value.exact, value.dense and abs(by) <= 1)
    if isinstance(expression, ir.AffineModExpr):
        return _remainder(value, by)
    up = isinstance(expression, ir.AffineCeilDivExpr)
    ends = (_quotient(value.low, by, up=up), _quotient(value.high, by, up=up))
    return _Range(*ends, value.loops, value.exact, value.dense)


def _sum(left: _Range, right: _Range) -> _Range:
    is_apart = not left.loops & right.loops
    return _Range(
        _emit.add(left.low, right.low),
        _emit.add(left.high, right.high),
        left.loops | right.loops,
        left.exact and right.exact and is_apart,
        left.dense and right.dense and is_apart,
    )


def _quotient(value: Index, by: int, *, up: bool) -> Index:
    if isinstance(value, int):
        return -(-value // by) if up else value // by
    divide = arith.ceildivsi if up else arith.floordivsi
    return divide(value, index_constant(by))


def _remainder(value: _Range, by: int) -> _Range:
    """Returns the remainders of both ends, or 0 and by - 1 if a multiple of `by` is between."""
    below, above = (_quotient(each, by, up=False) for each in (value.low, value.high))
    low, high = (
        _emit.subtract(each, _emit.multiply(quotient, by))
        for each, quotient in ((value.low, below), (value.high, above))
    )
    if isinstance(below, int) and isinstance(above, int):
        if below != above:
            low, high = 0, by - 1
    else:
        is_one = equal(materialized(below), materialized(above))
        low, high = _emit.choose(is_one, low, 0), _emit.choose(is_one, high, by - 1)
    return _Range(low, high, value.loops, value.exact and value.dense, False)
