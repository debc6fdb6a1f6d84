"""A sum of products as the contraction schedule sees it: two factors, and what loops are to them.

    y[rows, columns] = finish(sum over k of first[rows, k] * second[k, columns])

Each of rows, columns and k may be several loops; a factor's place in memory is linear in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import gcd

from ....dialects.hir.layout import DYNAMIC
from ....dialects.hir.loop_operation import kind_of
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...constants import constant_value
from ...fusion.access import linear_terms
from ...fusion.tiles import ROUNDED
from ...walking import made_by
from ..collective import Collective, levels_of
from ..elements import element_bytes, is_float8
from ..region import Region
from ..region_operations import (
    conditions_in,
    is_harmless_operation,
    is_outside,
    load_in,
    otherwise_of,
)
from ..size import MOST_IN_32_BITS, ONE, ZERO, Size, product
from ..warp_matrices import ELEMENTS
from ..work import (
    COLLECTIVES,
    Layout,
    Operand,
    Work,
    has_plain_elements,
    row_strides,
    strides_of,
)
from .pair import Pair, read_pair

# Bits of a mask of places along guarded axes; two more tell rows and terms that are not there.
_MOST_PLACES = 30
_PRODUCTS = {"addf": "arith.mulf", "addi": "arith.muli"}
_FLOAT_KINDS = {"bf16": "bf16", "f16": "f16", "f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}
_EXTENSIONS = ("arith.extf", "arith.extsi", "arith.extui")
# Tiles that say for all which places they lack.
_MOST_TILES = 4096
# What rows of open length count for.
_LONG_ROW = 1 << 20
# Predicates of arith.cmpi.
_EQUAL, _BELOW = 0, 6


@dataclass(frozen=True, eq=False)
class Guard:
    """Says that there is an element where `constant + sum(factors[l] * il)` is below `bound`.

    They are compared without signs. With `by` the number must be a multiple of it, and what is
    compared is the quotient.
    """

    constant: int
    factors: Mapping[int, int]
    bound: Size
    by: int = 1


@dataclass(frozen=True, eq=False)
class Factor:
    """One of the two: the element of `buffer` at `offset + sum(strides[l] * il)`.

    Where a guard does not hold it is 0. `extension` is the operation of the region by which the
    element becomes what is multiplied, if there is one. It is that of an `operand`, or of a `load`.
    Or it is what the region `makes` of `reads`, of which `operand` is the largest, along loops that
    it `varies` along.
    """

    value: ir.Value
    buffer: ir.Value
    element: ir.Type
    strides: tuple[Size, ...]
    offset: Size
    guards: tuple[Guard, ...]
    extension: ir.Operation | None
    operand: Operand | None
    load: ir.Operation | None = None
    makes: ir.Value | None = None
    reads: tuple[Operand, ...] = ()
    varies: frozenset[int] = frozenset()

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands that it is made of."""
        if self.makes is not None:
            return self.reads
        return () if self.operand is None else (self.operand,)

    def guards_along(self, loop: int) -> list[Guard]:
        """The guards that depend on a loop."""
        return [guard for guard in self.guards if loop in guard.factors]


@dataclass(frozen=True)
class Step:
    """A row or column of which each has every `by`-th place of a term alone, as others have others.

    That is of a convolution of elements that lie `by` apart among zeros: of the places k of `term`,
    which has `extent`, those count where i + `slope_in` k + `constant` is a multiple of `by`. Rows
    with the same rest by `by` have the same ones. Without a term there is one place, which counts
    for all terms or none.
    """

    factor: Factor
    guard: Guard
    term: int | None
    extent: int
    constant: int
    slope_in: int
    by: int

    @property
    def common(self) -> int:
        """The greatest common divisor of the step and of what the number grows by."""
        return gcd(self.slope_in, self.by)

    @property
    def every(self) -> int:
        """How far apart the places are that count."""
        return self.by // self.common

    @property
    def slope(self) -> int:
        """How many elements further the next of these places reads."""
        return self.slope_in // self.common

    @property
    def most(self) -> int:
        """How many places may count at most."""
        return -(-self.extent // self.every)


@dataclass(frozen=True)
class Range:
    """The places of `term` that rows or columns of a tile may have: all others lie beyond an edge.

    The tile is of the loops `own`, of known sizes, of which the outermost that `guard` depends on
    is `loop`.
    """

    guard: Guard
    term: int
    loop: int
    own: tuple[int, ...]
    extents: tuple[Size, ...]

    @property
    def inner(self) -> int:
        """How many rows or columns follow one another at one place along the loop."""
        return product(
            [self.extents[loop] for loop in self.own[self.own.index(self.loop) + 1 :]]
        ).known

    def share(self, tile: int) -> float:
        """Returns which part of the places tiles of so many rows or columns have on average."""
        total = product([self.extents[loop] for loop in self.own]).known
        size, places = self.extents[self.loop].known, self.extents[self.term].known
        by, constant = self.guard.factors[self.term], self.guard.constant
        starts = range(0, total, tile)[:_MOST_TILES]
        found = 0
        for start in starts:
            low, high = start // self.inner, (min(start + tile, total) - 1) // self.inner
            is_same = low // size == high // size
            low, high = (low % size, high % size) if is_same else (0, size - 1)
            least, most = (constant + self.guard.factors[self.loop] * at for at in (low, high))
            begin = max(-(most // by), 0)
            end = min((self.guard.bound.known - 1 - least) // by + 1, places)
            found += max(end - begin, 0)
        return found / (len(starts) * places)


@dataclass(frozen=True)
class Form:
    """`rows` are the loops of the first factor alone, `columns` of the second, `batch` of both.

    Outermost first, in the order of the first output; `terms` in the order in which one of the
    factors lies. Neighbouring columns lie together in the output, if anything does. With a `pair`
    a term is no product.
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
    steps: Mapping[int, Step]
    pair: Pair | None = None

    def count(self, loop: int) -> Size:
        """Returns how many iterations a loop has, of one rest where it has a step."""
        extent, step = self.work.extents[loop], self.steps.get(loop)
        return extent if step is None else Size(-(-extent.known // step.by))

    def count_of(self, loops: tuple[int, ...]) -> Size:
        """The same of several together."""
        return product([self.count(loop) for loop in loops])

    def step_of_term(self, term: int) -> Step | None:
        """The step that says which places of a term count."""
        return next((step for step in self.steps.values() if step.term == term), None)

    @property
    def most_terms(self) -> Size:
        """How many terms a sum has at most: of those with a step some places count."""
        counts = [
            self.work.extents[loop]
            if (step := self.step_of_term(loop)) is None
            else Size(step.most)
            for loop in self.terms
        ]
        return product(counts)

    @property
    def total(self) -> ir.Type:
        """The type in which products are added."""
        return self.sum.results[0].type

    @property
    def is_rounded(self) -> bool:
        """Whether factors are rounded to tf32."""
        kinds = [self.first.element, self.second.element, self.total]
        is_f32 = kinds == [ir.F32Type.get()] * 3
        return is_f32 and self.pair is None and ROUNDED in self.work.op.attributes

    @property
    def kinds(self) -> tuple[str, str] | None:
        """PTX's names of the two factors' element types, where tensor cores multiply them and add
        in the type of the sums; None for other elements, and where terms are no products.
        """
        if self.pair is not None:
            return None
        if self.is_rounded:
            return "tf32", "tf32"
        found = [_kind_of(factor, self.total) for factor in (self.first, self.second)]
        first, second = found
        if first is None or second is None:
            return None
        bytes_ = [element_bytes(factor.element) for factor in (self.first, self.second)]
        # Factors with elements of 8 bits may have two different types.
        return (first, second) if first == second or bytes_ == [1, 1] else None

    @property
    def is_computed(self) -> bool:
        """Whether the region makes a factor of what it reads."""
        return self.first.makes is not None or self.second.makes is not None

    @property
    def is_promoted(self) -> bool:
        """Whether sums of a step are added in f32: warpgroups sum f8 in about 14 bits."""
        return is_float8(self.first.element)

    @property
    def is_of_matrices(self) -> bool:
        """Whether tensor cores multiply, whose sums are f32."""
        return self.first.element != self.total or self.is_rounded

    def extent(self, loops: tuple[int, ...]) -> Size:
        """Returns how many iterations loops have together."""
        return product([self.work.extents[loop] for loop in loops])


def _kind_of(factor: Factor, total: ir.Type) -> str | None:
    if total == ir.F32Type.get():
        return _FLOAT_KINDS.get(str(factor.element))
    if total != ir.IntegerType.get_signless(32) or factor.extension is None:
        return None
    if factor.element != ir.IntegerType.get_signless(8):
        return None
    return "u8" if factor.extension.name == "arith.extui" else "s8"


def read_form(work: Work) -> Form | None:
    """Returns what a linalg.generic sums, or None where it is no sum of products of two factors,
    nor of what a pair makes of two operands' elements; or where results vary along the sum.
    """
    if not work.outputs or len(work.collectives) != 1 or len(levels_of(work)) != 1:
        return None
    collective = Collective(work.collectives[0])
    is_sum = collective.op.name == "hir.reduce_loops"
    if not is_sum or sorted(collective.loops) != sorted(work.collective):
        return None
    region = Region(work)
    if _varies_along_sum(work, region):
        return None
    found = _read_product(work, region, collective) or _read_elements(work, region, collective)
    if found is None:
        return None
    first, second, pair = found
    batch, own = list[int](), (list[int](), list[int]())
    for loop in work.parallel:
        if work.extents[loop] == ONE:
            continue
        along = [_depends(factor, loop) for factor in (first, second)]
        if along[0] == along[1]:
            batch.append(loop)
        else:
            own[1 if along[1] else 0].append(loop)
    if pair is not None and not (own[0] and own[1]):
        return None
    inner = _contiguous(work.outputs[0])
    if inner in own[0]:
        first, second, own = second, first, (own[1], own[0])
    steps = _read_steps(work, (first, second), own)
    if steps is None:
        return None
    order = _in_order(work.outputs[0].strides)
    terms = tuple(loop for loop in work.collective if work.extents[loop] != ONE)
    lead = _lead(work, (first, second), terms)
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
        steps,
        pair,
    )


def _varies_along_sum(work: Work, region: Region) -> bool:
    """Returns whether there are several results of a sum, or what is made of it is not the same for
    all of its terms.
    """
    terms = {loop for loop in work.collective if work.extents[loop] != ONE}
    is_written = any(output.strides[loop] != ZERO for output in work.outputs for loop in terms)
    return is_written or any(region.varies(value) & terms for value in region.yielded)


_Factors = tuple[Factor, Factor, Pair | None]


def _read_product(work: Work, region: Region, collective: Collective) -> _Factors | None:
    """Returns the two factors whose products are summed."""
    multiplied = _defining(work, collective.operand)
    if multiplied is None or multiplied.name != _PRODUCTS.get(kind_of(collective.op)):
        return None
    if multiplied.operands[0] == multiplied.operands[1]:
        return None
    return _read_factors(work, region, multiplied.operands, None)


def _read_elements(work: Work, region: Region, collective: Collective) -> _Factors | None:
    """Returns the two operands of which a pair is summed."""
    pair = read_pair(work, collective.operand) if kind_of(collective.op) in _PRODUCTS else None
    return None if pair is None else _read_factors(work, region, pair.elements, pair)


def _read_factors(
    work: Work, region: Region, values: Iterable[ir.Value], pair: Pair | None
) -> _Factors | None:
    first, second = (_read_factor(work, region, value) for value in values)
    return None if first is None or second is None else (first, second, pair)


def _lead(work: Work, factors: tuple[Factor, Factor], terms: tuple[int, ...]) -> Factor:
    """The factor by which terms are ordered: one that has the longest rows of them."""

    def row(factor: Factor) -> int:
        inner = next((loop for loop in terms if factor.strides[loop] == ONE), None)
        if inner is None:
            return 0
        extent = work.extents[inner]
        return extent.known if extent.is_known else _LONG_ROW

    first, second = factors
    return first if row(first) >= row(second) and row(first) else second


def _read_steps(
    work: Work, factors: tuple[Factor, Factor], own: tuple[list[int], list[int]]
) -> dict[int, Step] | None:
    """The loops with a step; None where one is of a kind that no kernel is made for."""
    found: dict[int, Step] = {}
    for factor, loops in zip(factors, own, strict=True):
        for guard in factor.guards:
            if guard.by == 1:
                continue
            along = [loop for loop in guard.factors if loop in work.collective]
            rest = [loop for loop in guard.factors if loop not in work.collective]
            if len(along) > 1 or len(rest) != 1 or rest[0] not in loops or rest[0] in found:
                return None
            (loop,) = rest
            term = along[0] if along else None
            extent = ONE if term is None else work.extents[term]
            is_known = extent.is_known and work.extents[loop].is_known
            if not is_known or guard.factors[loop] != 1:
                return None
            if term is not None and any(step.term == term for step in found.values()):
                return None
            slope = 0 if term is None else guard.factors[term]
            found[loop] = Step(factor, guard, term, extent.known, guard.constant, slope, guard.by)
    return found


def read_range(form: Form) -> Range | None:
    """Returns which places of a term tiles lack, along the outermost loop with edges; None where
    no such is known.
    """
    extents = form.work.extents
    for factor, own in ((form.first, form.rows), (form.second, form.columns)):
        if form.steps or not all(extents[loop].is_known for loop in own):
            continue
        for loop in own:
            for guard in factor.guards_along(loop):
                along = [each for each in guard.factors if each in form.terms]
                is_known = guard.bound.is_known and len(along) == 1 and len(guard.factors) == 2
                if is_known and min(guard.factors.values()) > 0 and extents[along[0]].is_known:
                    return Range(guard, along[0], loop, own, extents)
    return None


def places_of(form: Form, factor: Factor) -> list[tuple[Guard, int]] | None:
    """A factor's guards, and how many places each has along its loop of terms.

    None where these are too many, or not known.
    """
    found: list[tuple[Guard, int]] = []
    for guard in factor.guards:
        along = [loop for loop in form.terms if loop in guard.factors]
        if len(along) > 1 or any(not form.work.extents[loop].is_known for loop in along):
            return None
        step = form.step_of_term(along[0]) if along and guard.by != 1 else None
        count = form.work.extents[along[0]].known if along else 1
        found.append((guard, count if step is None else step.most))
    return found if sum(count for _, count in found) <= _MOST_PLACES else None


def _depends(factor: Factor, loop: int) -> bool:
    if factor.makes is not None:
        return loop in factor.varies
    return factor.strides[loop] != ZERO or bool(factor.guards_along(loop))


def _contiguous(output: Operand) -> int | None:
    return next((loop for loop, stride in enumerate(output.strides) if stride == ONE), None)


def _in_order(strides: tuple[Size, ...]) -> Callable[[int], tuple[int, int]]:
    """The key by which loops of greater strides come first."""

    def key(loop: int) -> tuple[int, int]:
        return -len(strides[loop].open), -abs(strides[loop].known)

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
    if op is None:
        return None
    if op.name == "memref.load":
        return _read_load(work, value, op, (), extension)
    return _read_guarded(work, value, op, extension) or _read_made(work, region, inner, extension)


def _read_made(
    work: Work, region: Region, value: ir.Value, extension: ir.Operation | None
) -> Factor | None:
    """Returns an element of 16 bits that the region computes of what it reads."""
    if extension is None or str(value.type) not in ELEMENTS:
        return None
    waiting, found = [value], dict[ir.Value, None]()
    while waiting:
        each = waiting.pop()
        if each in found:
            continue
        found[each] = None
        op = _defining(work, each)
        if op is not None and (op.name in COLLECTIVES or not is_harmless_operation(op.name)):
            return None
        waiting += region.needs(each)
    numbers = {region.argument_number(each) for each in found}
    reads = tuple(operand for operand in work.inputs if operand.number in numbers)
    if not reads or any(not has_plain_elements(read.element) for read in reads):
        return None
    main = max(reads, key=lambda read: _count(work, read))
    return Factor(
        value,
        main.buffer,
        value.type,
        main.strides,
        main.offset,
        (),
        extension,
        main,
        makes=value,
        reads=reads,
        varies=region.varies(value),
    )


def _count(work: Work, operand: Operand) -> tuple[int, int]:
    """Returns by which an operand is larger than another: its open sizes, and the known ones."""
    own = [
        extent
        for extent, stride in zip(work.extents, operand.strides, strict=True)
        if stride != ZERO
    ]
    return sum(not each.is_known for each in own), product(own).known


def _read_guarded(
    work: Work, value: ir.Value, op: ir.Operation, extension: ir.Operation | None
) -> Factor | None:
    """An element that is loaded where it is there, and 0 elsewhere."""
    load = load_in(op)
    if load is None or not _is_zero(otherwise_of(op)):
        return None
    guards = _read_guards(work, conditions_in(op.operands[0]))
    return None if guards is None else _read_load(work, value, load, guards, extension)


@dataclass(frozen=True, eq=False)
class PaddedElement:
    """An element of a padded tensor: the factor's, or `padding` where the factor has none.

    `offsets` add up to the factor's offset, in elements; each may be a multiple of an open stride.
    """

    factor: Factor
    padding: ir.Value
    offsets: tuple[Size, ...]
    is_assumed: bool


def read_padded(work: Work, op: ir.Operation) -> PaddedElement | None:
    """Returns the element that an scf.if of the region loads, and the constant that it else yields.

    Returns None unless the indices and the condition are linear in loops.
    """
    load = load_in(op)
    if load is None:
        return None
    padding = otherwise_of(op)
    guards = _read_guards(work, conditions_in(op.operands[0]), is_open=True)
    if guards is None or any(guard.by != 1 for guard in guards):
        return None
    if made_by(padding, "arith.constant") is None or not is_outside(work, load.operands[0]):
        return None
    strides, is_assumed = row_strides(load.operands[0], work.open, work.layout)
    found = _read_places(work, op.results[0], load, guards, strides)
    return None if found is None else PaddedElement(found[0], padding, found[1], is_assumed)


def _read_load(
    work: Work,
    value: ir.Value,
    op: ir.Operation,
    guards: Sequence[Guard],
    extension: ir.Operation | None,
) -> Factor | None:
    """Returns the element that a load reads, None unless its buffer has known strides."""
    buffer = op.operands[0]
    kind = ir.MemRefType(buffer.type)
    if not is_outside(work, buffer):
        return None
    outermost, *sizes = kind.shape or [1]
    if DYNAMIC in sizes:
        return None
    # No stride depends on the first size.
    known = ONE if outermost == DYNAMIC else Size(outermost)
    shape = [known, *map(Size, sizes)][: kind.rank]
    strides, is_assumed = strides_of(buffer, kind, shape, Layout.PACKED, work.open)
    if is_assumed:
        return None
    found = _read_places(work, value, op, guards, strides)
    return None if found is None else replace(found[0], extension=extension)


def _read_places(
    work: Work,
    value: ir.Value,
    op: ir.Operation,
    guards: Sequence[Guard],
    strides: Sequence[Size],
) -> tuple[Factor, tuple[Size, ...]] | None:
    """Returns an element whose indices are linear, except for steps of a guard; and its offsets."""
    buffer, *indices = op.operands
    element = ir.MemRefType(buffer.type).element_type
    if not has_plain_elements(element):
        return None
    sums: list[list[Size]] = [[] for _ in work.extents]
    constants: list[Size] = []
    stepped: set[int] = set()
    for index, stride in zip(indices, strides, strict=True):
        linear = linear_of(work, index)
        if linear is None:
            read = _divided(work, index)
            guard = next((each for each in guards if read is not None and _is_of(each, read)), None)
            if guard is None:
                return None
            stepped |= set(guard.factors)
            for loop, factor in guard.factors.items():
                by = gcd(factor, guard.by) if loop in work.collective else 1
                sums[loop].append(Size(factor // by) * stride)
            continue
        constants.append(Size(linear[0]) * stride)
        for loop, factor in linear[1].items():
            sums[loop].append(Size(factor) * stride)
    if any(len(sums[loop]) > 1 for loop in stepped):
        return None
    offset = work.open.sum(constants)
    made = tuple(work.open.sum(each) for each in sums)
    factor = Factor(value, buffer, element, made, offset, tuple(guards), None, None, op)
    return factor, tuple(constants)


# A number that is linear in loops: its constant, and the factors of loops.
_Linear = tuple[int, dict[int, int]]


@dataclass(frozen=True)
class Coordinate:
    """The place along one dim of a buffer: `(constant + sum(factors[l] * il)) / by`, a whole number
    wherever an element is read.
    """

    constant: int
    factors: Mapping[int, int]
    by: int


def coordinates_of(work: Work, factor: Factor) -> list[Coordinate] | None:
    """Returns where along each dim of its buffer a factor's element lies."""
    if factor.operand is not None:
        maps = ir.ArrayAttr(work.op.attributes["indexing_maps"])
        map_ = ir.AffineMapAttr(maps[factor.operand.number]).value
        found = [(linear_terms(each), 1) for each in map_.results]
    else:
        assert factor.load is not None
        found = [_coordinate(work, index) for index in list(factor.load.operands)[1:]]
    made = [Coordinate(*linear, by) for linear, by in found if linear is not None]
    return made if len(made) == len(found) else None


def _coordinate(work: Work, index: ir.Value) -> tuple[_Linear | None, int]:
    linear = linear_of(work, index)
    return (linear, 1) if linear is not None else _divided(work, index) or (None, 1)


def _read_guards(
    work: Work, terms: Sequence[ir.Value], *, is_open: bool = False
) -> list[Guard] | None:
    """Returns the guards that must all hold.

    Returns None where a term is no guard, or, unless `is_open`, has an open bound.
    """
    guards: list[Guard] = []
    multiples: list[tuple[_Linear, int]] = []
    for term in terms:
        multiple = _multiple(work, term)
        if multiple is not None:
            multiples.append(multiple)
            continue
        guard = _read_guard(work, term)
        if guard is None or not (is_open or guard.bound.is_known):
            return None
        guards.append(guard)
    for linear, by in multiples:
        if not any(
            guard.by == by and guard.factors == linear[1] and (guard.constant - linear[0]) % by == 0
            for guard in guards
        ):
            return None
    steps = [guard for guard in guards if guard.by != 1]
    return guards if len(steps) == len(multiples) else None


def _multiple(work: Work, term: ir.Value) -> tuple[_Linear, int] | None:
    """A number of which a condition says that it is a multiple, and of what."""
    op = _defining(work, term)
    if op is None or op.name != "arith.cmpi" or constant_value(op.operands[1]) != 0:
        return None
    if ir.IntegerAttr(op.attributes["predicate"]).value != _EQUAL:
        return None
    rest = _defining(work, op.operands[0])
    if rest is None or rest.name != "arith.remui":
        return None
    linear, by = linear_of(work, rest.operands[0]), constant_value(rest.operands[1])
    return None if linear is None or by is None or by < 1 else (linear, by)


def _divided(work: Work, value: ir.Value) -> tuple[_Linear, int] | None:
    """A quotient, less a number: as what is divided, less its multiple, and the divisor."""
    op, less = _defining(work, value), 0
    if op is not None and op.name == "arith.subi":
        known = constant_value(op.operands[1])
        if known is None:
            return None
        op, less = _defining(work, op.operands[0]), known
    if op is None or op.name != "arith.divui":
        return None
    linear, by = linear_of(work, op.operands[0]), constant_value(op.operands[1])
    if linear is None or by is None or by < 1:
        return None
    return (linear[0] - less * by, linear[1]), by


def _is_of(guard: Guard, read: tuple[_Linear, int]) -> bool:
    return (guard.constant, dict(guard.factors), guard.by) == (*read[0], read[1])


def _read_guard(work: Work, term: ir.Value) -> Guard | None:
    op = _defining(work, term)
    if op is None or op.name != "arith.cmpi":
        return None
    if ir.IntegerAttr(op.attributes["predicate"]).value != _BELOW:
        return None
    bound = _bound(work, op.operands[1])
    linear, by = linear_of(work, op.operands[0]), 1
    if linear is None:
        read = _divided(work, op.operands[0])
        if read is None:
            return None
        linear, by = read
    return None if bound is None else Guard(linear[0], linear[1], bound, by)


def _bound(work: Work, value: ir.Value) -> Size | None:
    """Returns a number that the host knows as a size; None for others."""
    known = constant_value(value)
    if known is not None:
        return Size(known)
    return work.open.size_of(value) if is_outside(work, value) else None


def linear_of(work: Work, value: ir.Value) -> _Linear | None:
    """Returns an index of the region as a constant and the factors of loops, None for others."""
    known = constant_value(value)
    if known is not None:
        return known, {}
    op = _defining(work, value)
    if op is None:
        return None
    if op.name == "linalg.index":
        return 0, {ir.IntegerAttr(op.attributes["dim"]).value: 1}
    if op.name not in ("arith.addi", "arith.subi", "arith.muli"):
        return None
    left, right = (linear_of(work, each) for each in op.operands)
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


def reaches(work: Work, strides: Sequence[Size]) -> list[Size]:
    """Returns how far each loop reaches in a buffer, in elements: together at least the
    last place.
    """
    return [abs_(stride) * extent for stride, extent in zip(strides, work.extents, strict=True)]


def is_far(work: Work, strides: Sequence[Size]) -> bool:
    """Returns whether places in a buffer are known not to fit into 32 bits."""
    found = reaches(work, strides)
    return (
        all(each.is_known for each in found) and sum(each.known for each in found) > MOST_IN_32_BITS
    )
