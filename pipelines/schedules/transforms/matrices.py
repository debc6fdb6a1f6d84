"""A sum of elements times those of constant matrices, as a schedule sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....dialects import hir
from ....dialects.hir.loop_operation import kind_of
from ....dialects.mlir import arith, ir, math
from ....dialects.records import dataclass
from ...rewriting import constant, index_constant
from ...walking import defining_operation, operations_where
from ..collective import Collective, levels_of
from ..region import Region
from ..region_operations import is_outside
from ..work import Work

MATRIX_ELEMENT = hir.MatrixElementOp.OPERATION_NAME
# A tile's elements are in registers.
MOST_ELEMENTS = 64

# An element of a tile: its places along some loops.
Place = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Weights:
    """The matrix along a loop that is summed over: its rows are a loop of the results."""

    loop: int
    row_loop: int
    rows: Sequence[Sequence[float]]


@dataclass(frozen=True, eq=False)
class Transform:
    """`sum` adds what `element` is in all iterations times the `weights` along each loop."""

    sum: Collective
    element: ir.Value
    weights: tuple[Weights, ...]

    @property
    def row_loops(self) -> tuple[int, ...]:
        """The loops of the results that a thread takes all of."""
        return tuple(each.row_loop for each in self.weights)

    def apply(self, elements: Mapping[Place, ir.Value]) -> dict[Place, ir.Value]:
        """Emits what sums of a tile's elements are: by their places along `row_loops`.

        `elements` are by their places along the loops of `weights`. One loop is summed over after
        the other.
        """
        values = dict(elements)
        for axis, weights in enumerate(self.weights):
            columns = range(len(weights.rows[0]))
            lines = {(*place[:axis], *place[axis + 1 :]) for place in values}
            values = {
                (*line[:axis], row, *line[axis:]): _weighted(
                    [values[(*line[:axis], column, *line[axis:])] for column in columns],
                    weights.rows[row],
                )
                for line in sorted(lines)
                for row in range(len(weights.rows))
            }
        return values


def read_transform(work: Work) -> Transform | None:
    """Returns what an operation multiplies by constant matrices; None where it is no such sum."""
    if len(work.collectives) != 1 or not work.outputs:
        return None
    ((collective,),) = levels_of(work)
    if collective.op.name != "hir.reduce_loops" or kind_of(collective.op) != "addf":
        return None
    factors = _factors(work, collective.operand)
    elements = [each for each in factors if _weights(work, each) is None]
    weights = [found for each in factors if (found := _weights(work, each)) is not None]
    loops = [each.loop for each in weights]
    rows = [each.row_loop for each in weights]
    if len(elements) != 1 or sorted(loops) != sorted(collective.loops):
        return None
    if len(set(rows)) != len(rows) or set(rows) & set(work.collective):
        return None
    if Region(work).varies(elements[0]) & set(rows):
        return None
    for each in weights:
        sizes = [work.extents[each.row_loop], work.extents[each.loop]]
        if [size.known if size.is_known else -1 for size in sizes] != [
            len(each.rows),
            len(each.rows[0]),
        ]:
            return None
    count = 1
    for each in weights:
        count *= max(len(each.rows), len(each.rows[0]))
    return Transform(collective, elements[0], tuple(weights)) if count <= MOST_ELEMENTS else None


def select_matrix_elements(op: ir.Operation) -> None:
    """Makes elements of matrices in a region choices among numbers, for any schedule."""
    for found in operations_where(op, lambda inner: inner.name == MATRIX_ELEMENT):
        with found.location, ir.InsertionPoint(found):
            rows, (row, column) = _numbers(found), found.operands
            kind = found.results[0].type
            lines = [_selected(column, [constant(kind, each) for each in line]) for line in rows]
            element = _selected(row, lines)
        found.results[0].replace_all_uses_with(element)
        found.erase()


def _selected(index: ir.Value, values: Sequence[ir.Value]) -> ir.Value:
    """Emits the choice of the value of that number."""
    first, *rest = values
    for number, value in enumerate(rest, 1):
        is_it = arith.cmpi(arith.CmpIPredicate.eq, index, index_constant(number))
        first = arith.select(is_it, value, first)
    return first


def _numbers(op: ir.Operation) -> list[list[float]]:
    """Returns the rows of an element's matrix."""
    matrix = ir.DenseFPElementsAttr(op.attributes["matrix"])
    rows, columns = ir.ShapedType(matrix.type).shape
    numbers = [matrix[number] for number in range(rows * columns)]
    return [numbers[row * columns : (row + 1) * columns] for row in range(rows)]


def _factors(work: Work, value: ir.Value) -> list[ir.Value]:
    """Returns the values whose product a value is."""
    if isinstance(value.owner, ir.Block) or is_outside(work, value):
        return [value]
    op = defining_operation(value)
    if op.name != "arith.mulf":
        return [value]
    return [each for operand in op.operands for each in _factors(work, operand)]


def _weights(work: Work, value: ir.Value) -> Weights | None:
    if isinstance(value.owner, ir.Block) or is_outside(work, value):
        return None
    op = defining_operation(value)
    if op.name != MATRIX_ELEMENT:
        return None
    row_loop, loop = (_loop(each) for each in op.operands)
    if row_loop is None or loop is None:
        return None
    return Weights(loop, row_loop, _numbers(op))


def _loop(index: ir.Value) -> int | None:
    """Returns the loop whose index a value is."""
    if isinstance(index.owner, ir.Block) or index.owner.operation.name != "linalg.index":
        return None
    return ir.IntegerAttr(index.owner.operation.attributes["dim"]).value


def _weighted(values: Sequence[ir.Value], weights: Sequence[float]) -> ir.Value:
    """Emits a sum of values times numbers; those times 0 are left out."""
    terms = [(value, weight) for value, weight in zip(values, weights, strict=True) if weight]
    kind = values[0].type
    if not terms:
        return constant(kind, 0.0)
    # One that needs no product comes first.
    first = next((place for place, (_, weight) in enumerate(terms) if weight == 1), 0)
    value, weight = terms.pop(first)
    total = value if weight == 1 else arith.mulf(value, constant(kind, weight))
    for value, weight in terms:
        if weight == 1:
            total = arith.addf(total, value)
        elif weight == -1:
            total = arith.subf(total, value)
        else:
            total = math.fma(value, constant(kind, weight), total)
    return total
