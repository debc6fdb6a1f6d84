"""A sum of products as the contraction schedule sees it: two factors, and what loops are to them.

    y[rows, columns] = finish(sum over k of first[rows, k] * second[k, columns])

Each of rows, columns and k may be several loops; a factor's place in memory is linear in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ....dialects.hir.layout import DYNAMIC
from ....dialects.hir.loop_operation import kind_of
from ....dialects.mlir import ir
from ..collective import Collective, levels_of
from ..region import Region
from ..region_operations import is_outside
from ..size import ONE, ZERO, Size
from ..work import Layout, Operand, Work, has_plain_elements, strides_of

# Bits of a mask of places along guarded axes; two more tell rows and terms that are not there.
_MOST_PLACES = 30
_PRODUCTS = {"addf": "arith.mulf", "addi": "arith.muli"}
_EXTENSIONS = ("arith.extf", "arith.extsi", "arith.extui")
_BELOW = 6  # arith.cmpi ult


@dataclass(frozen=True)
class Guard:
    """Says that there is an element where `constant + sum(factors[l] * il)` is below `bound`.

    They are compared without signs.
    """

    constant: int
    factors: Mapping[int, int]
    bound: Size


@dataclass(frozen=True)
class Factor:
    """One of the two: the element of `buffer` at `offset + sum(strides[l] * il)`.

    Where a guard does not hold it is 0. `extension` is the operation of the region by which the
    element becomes what is multiplied, if there is one.
    """

    value: ir.Value
    buffer: ir.Value
    element: ir.Type
    strides: tuple[Size, ...]
    offset: Size
    guards: tuple[Guard, ...]
    extension: ir.Operation | None
    operand: Operand | None

    def guards_along(self, loop: int) -> list[Guard]:
        """The guards that depend on a loop."""
        return [guard for guard in self.guards if loop in guard.factors]


@dataclass(frozen=True)
class Form:
    """`rows` are the loops of the first factor alone, `columns` of the second, `batch` of both.

    Outermost first, in the order of the first output; `terms` in the order in which one of the
    factors lies. Neighbouring columns lie together in the output, if anything does.
    """

    work: Work
    region: Region
    sum: ir.Operation
    first: Factor
    second: Factor
    batch: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    terms: tuple[int, ...]

    @property
    def total(self) -> ir.Type:
        """The type in which products are added."""
        return self.sum.results[0].type

    def extent(self, loops: tuple[int, ...]) -> Size:
        """How many iterations loops have together."""
        result = ONE
        for loop in loops:
            result = result * self.work.extents[loop]
        return result


def read_form(work: Work) -> Form | None:
    """What a linalg.generic sums, or None where it is no sum of products of two factors."""
    if not work.outputs or len(work.collectives) != 1 or len(levels_of(work)) != 1:
        return None
    collective = Collective(work.collectives[0])
    is_sum = collective.op.name == "hir.reduce_loops"
    if not is_sum or sorted(collective.loops) != sorted(work.collective):
        return None
    product = _defining(work, collective.operand)
    if product is None or product.name != _PRODUCTS.get(kind_of(collective.op)):
        return None
    region = Region(work)
    factors = [_read_factor(work, region, value) for value in product.operands]
    first, second = factors
    if first is None or second is None or product.operands[0] == product.operands[1]:
        return None
    batch, own = list[int](), (list[int](), list[int]())
    for loop in work.parallel:
        if work.extents[loop] == ONE:
            continue
        along = [_depends(factor, loop) for factor in (first, second)]
        if along[0] == along[1]:
            batch.append(loop)
        else:
            own[1 if along[1] else 0].append(loop)
    inner = _contiguous(work.outputs[0])
    if inner in own[0]:
        first, second, own = second, first, (own[1], own[0])
    order = _in_order(work.outputs[0].strides)
    terms = tuple(loop for loop in work.collective if work.extents[loop] != ONE)
    lead = first if any(first.strides[loop] == ONE for loop in terms) else second
    return Form(
        work,
        region,
        collective.op,
        first,
        second,
        tuple(sorted(batch, key=order)),
        tuple(sorted(own[0], key=order)),
        tuple(sorted(own[1], key=order)),
        tuple(sorted(terms, key=_in_order(lead.strides))),
    )


def places_of(form: Form, factor: Factor) -> list[tuple[Guard, int]] | None:
    """A factor's guards, and how many places each has along its loop of terms.

    None where these are too many, or not known.
    """
    found: list[tuple[Guard, int]] = []
    for guard in factor.guards:
        along = [loop for loop in form.terms if loop in guard.factors]
        if len(along) > 1 or any(not form.work.extents[loop].is_known for loop in along):
            return None
        found.append((guard, form.work.extents[along[0]].known if along else 1))
    return found if sum(count for _, count in found) <= _MOST_PLACES else None


def _depends(factor: Factor, loop: int) -> bool:
    return factor.strides[loop] != ZERO or bool(factor.guards_along(loop))


def _contiguous(output: Operand) -> int | None:
    return next((loop for loop, stride in enumerate(output.strides) if stride == ONE), None)


def _in_order(strides: tuple[Size, ...]) -> Callable[[int], tuple[int, int]]:
    """The key by which loops of greater strides come first."""

    def key(loop: int) -> tuple[int, int]:
        return -len(strides[loop].open), -strides[loop].known

    return key


def _defining(work: Work, value: ir.Value) -> ir.Operation | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or is_outside(work, value):
        return None
    return owner.operation


def _read_factor(work: Work, region: Region, value: ir.Value) -> Factor | None:
    extension = _defining(work, value)
    inner = value
    if extension is not None and extension.name in _EXTENSIONS:
        inner = extension.operands[0]
    else:
        extension = None
    number = region.argument_number(inner)
    if number is not None:
        found = next((each for each in work.inputs if each.number == number), None)
        if found is None:
            return None
        return Factor(
            value, found.buffer, found.element, found.strides, found.offset, (), extension, found
        )
    op = _defining(work, inner)
    return None if op is None else _read_guarded(work, region, value, op, extension)


def _read_guarded(
    work: Work, region: Region, value: ir.Value, op: ir.Operation, extension: ir.Operation | None
) -> Factor | None:
    """An element that is loaded where it is there, and 0 elsewhere."""
    if op.name != "scf.if" or len(op.results) != 1 or not len(op.regions[1].blocks):
        return None
    then = [each.operation for each in op.regions[0].blocks[0]]
    other = [each.operation for each in op.regions[1].blocks[0]]
    if [each.name for each in then] != ["memref.load", "scf.yield"] or len(other) != 1:
        return None
    if then[1].operands[0] != then[0].results[0] or not _is_zero(other[0].operands[0]):
        return None
    guards: list[Guard] = []
    for term in _conjunction(op.operands[0]):
        guard = _read_guard(work, region, term)
        if guard is None:
            return None
        guards.append(guard)
    buffer, *indices = then[0].operands
    kind = ir.MemRefType(buffer.type)
    if not is_outside(work, buffer) or not has_plain_elements(kind.element_type):
        return None
    if DYNAMIC in kind.shape:
        return None
    strides, is_assumed = strides_of(
        buffer, kind, [Size(size) for size in kind.shape], Layout.PACKED, work.open
    )
    if is_assumed:
        return None
    sums: list[list[Size]] = [[] for _ in work.extents]
    constants: list[Size] = []
    for index, stride in zip(indices, strides, strict=True):
        linear = _linear(work, region, index)
        if linear is None:
            return None
        constants.append(Size(linear[0]) * stride)
        for loop, factor in linear[1].items():
            sums[loop].append(Size(factor) * stride)
    return Factor(
        value,
        buffer,
        kind.element_type,
        tuple(work.open.sum(each) for each in sums),
        work.open.sum(constants),
        tuple(guards),
        extension,
        None,
    )


def _conjunction(value: ir.Value) -> list[ir.Value]:
    if not isinstance(value.owner, ir.Block) and value.owner.operation.name == "arith.andi":
        return [term for each in value.owner.operation.operands for term in _conjunction(each)]
    return [value]


def _read_guard(work: Work, region: Region, term: ir.Value) -> Guard | None:
    op = _defining(work, term)
    if op is None or op.name != "arith.cmpi":
        return None
    if ir.IntegerAttr(op.attributes["predicate"]).value != _BELOW:
        return None
    linear, bound = _linear(work, region, op.operands[0]), _constant(op.operands[1])
    if linear is None or bound is None:
        return None
    return Guard(linear[0], linear[1], Size(bound))


def _linear(work: Work, region: Region, value: ir.Value) -> tuple[int, dict[int, int]] | None:
    """An index of the region as a constant and the factors of loops."""
    known = _constant(value)
    if known is not None:
        return known, {}
    op = _defining(work, value)
    if op is None:
        return None
    if op.name == "linalg.index":
        return 0, {ir.IntegerAttr(op.attributes["dim"]).value: 1}
    if op.name not in ("arith.addi", "arith.subi", "arith.muli"):
        return None
    left, right = (_linear(work, region, each) for each in op.operands)
    if left is None or right is None:
        return None
    if op.name == "arith.muli":
        if left[1]:
            left, right = right, left
        if left[1]:
            return None
        return left[0] * right[0], {loop: left[0] * by for loop, by in right[1].items()}
    sign = -1 if op.name == "arith.subi" else 1
    factors = dict(left[1])
    for loop, by in right[1].items():
        factors[loop] = factors.get(loop, 0) + sign * by
    return left[0] + sign * right[0], {loop: by for loop, by in factors.items() if by}


def _constant(value: ir.Value) -> int | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    attribute = value.owner.operation.attributes["value"]
    return attribute.value if isinstance(attribute, ir.IntegerAttr) else None


def _is_zero(value: ir.Value) -> bool:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return False
    attribute = value.owner.operation.attributes["value"]
    if isinstance(attribute, ir.FloatAttr):
        return str(attribute.value) == "0.0"
    return isinstance(attribute, ir.IntegerAttr) and attribute.value == 0


def abs_(size: Size) -> Size:
    """A size without its sign, as far as that is known."""
    return Size(abs(size.known), size.open)
