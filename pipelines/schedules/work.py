"""A linalg.generic on buffers as schedules see it: loops, accesses, and what its region reduces."""

from __future__ import annotations

from enum import StrEnum

from ...dialects.hir.layout import DYNAMIC, has_identity_layout, strides_and_offset
from ...dialects.hir.loop_operation import COLLECTIVES, loops_of
from ...dialects.mlir import arith, ir, memref
from ...dialects.records import dataclass
from ..fusion.access import linear_terms
from ..rewriting import index_constant
from ..walking import is_used, made_by
from .device import Device
from .size import ONE, ZERO, OpenNumbers, Size, product

# Writes an element at a computed place.
SCATTER = "hir.scatter"
# Operations that leave most of a thread's registers to what it reads.
_FEW_OPERATIONS = 6


class Layout(StrEnum):
    """What is assumed of buffers whose types leave all strides open."""

    PACKED = "packed"
    # The innermost stride is 1; the others are read at run time.
    ROWS = "rows"
    # Nothing: all strides are read at run time.
    ANY = "any"


@dataclass(frozen=True)
class Operand:
    """How an operand is reached.

    The element of iteration (i0, i1, ...) lies `offset + sum(strides[l] * il)` elements past the
    buffer's first. `is_assumed` says that the strides are partly those of Work.layout, where the
    type leaves them open: Work.layouts_hold tells whether they are, at run time.
    """

    number: int
    buffer: ir.Value
    element: ir.Type
    strides: tuple[Size, ...]
    offset: Size
    is_output: bool
    is_assumed: bool


@dataclass(frozen=True, eq=False)
class Statistic:
    """A reduction over some `loops` of the results of a sum, of which a kernel gives parts.

    `op` is what reduces them, `operand` stands for what it reduces among the outputs: it has a
    place in no buffer.
    """

    op: ir.Operation
    loops: frozenset[int]
    operand: Operand


@dataclass(frozen=True)
class Work:
    """One linalg.generic whose maps are linear: every operand has a stride for each loop.

    `collective` are the loops that the region reduces or scans along, `collectives` those
    operations in dependency order. A scalar operand has no Operand; `scalars` has its number.
    `scatters` write elements at computed places: what they write to is no Operand either.
    `statistics` are reductions of what it gives, whose operands are the last of its outputs:
    contraction/statistics.py.
    """

    op: ir.Operation
    block: ir.Block
    extents: tuple[Size, ...]
    operands: tuple[Operand, ...]
    scalars: tuple[int, ...]
    collective: tuple[int, ...]
    collectives: tuple[ir.Operation, ...]
    open: OpenNumbers
    layout: Layout = Layout.PACKED
    device: Device | None = None
    scatters: tuple[ir.Operation, ...] = ()
    statistics: tuple[Statistic, ...] = ()

    @property
    def is_simple(self) -> bool:
        """Returns whether the region has few operations."""
        return len(list(self.block)) <= _FEW_OPERATIONS

    @property
    def inputs(self) -> list[Operand]:
        return [operand for operand in self.operands if not operand.is_output]

    @property
    def outputs(self) -> list[Operand]:
        return [operand for operand in self.operands if operand.is_output]

    @property
    def parallel(self) -> tuple[int, ...]:
        """The loops along which nothing is reduced or scanned."""
        return tuple(loop for loop in range(len(self.extents)) if loop not in self.collective)

    def group(self, name: str | None) -> str | None:
        """The group by this name of its kernels (kernels.py): none where all sizes are known, so
        that each kernel has the registers that it needs.
        """
        return None if all(extent.is_known for extent in self.extents) else name

    def layouts_hold(self) -> ir.Value | None:
        """Emits whether the buffers have the layout assumed of them; None where nothing is."""
        result: ir.Value | None = None
        for operand in self.operands:
            if operand.is_assumed:
                for holds in has_layout(operand.buffer, self.layout):
                    result = holds if result is None else arith.andi(result, holds)
        return result

    def in_layout(self, layout: Layout) -> Work:
        """The same with another assumption; emits index arithmetic as read_work does."""
        work = read_work(self.op, layout, self.open, self.device, nested=True)
        assert work is not None
        return work


def read_work(
    op: ir.Operation,
    layout: Layout = Layout.PACKED,
    open_: OpenNumbers | None = None,
    device: Device | None = None,
    *,
    nested: bool = False,
) -> Work | None:
    """Returns what a linalg.generic on buffers does, or None where schedules other than the general
    one cannot tell: maps that are not linear, elements that no vector holds, outputs that the
    region reads, or reductions over different loops, unless these may be `nested`.

    Emits index arithmetic at the current insertion point, which is before `op`.
    """
    block = op.regions[0].blocks[0]
    maps = [
        ir.AffineMapAttr(attribute).value
        for attribute in ir.ArrayAttr(op.attributes["indexing_maps"])
    ]
    inputs = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    arguments = list(block.arguments)
    scatters = tuple(inner.operation for inner in block if inner.operation.name == SCATTER)
    if not scatters and any(map(is_used, arguments[inputs:])):
        return None
    open_ = OpenNumbers() if open_ is None else open_
    rank = maps[0].n_dims
    extents = _extents(op, maps, rank, open_)
    operands: list[Operand] = []
    scalars: list[int] = []
    for number, map_ in enumerate(maps):
        buffer = op.operands[number]
        if not isinstance(buffer.type, ir.MemRefType):
            scalars.append(number)
            continue
        if scatters and number >= inputs:
            continue
        found = _operand(number, buffer, map_, extents, number >= inputs, layout, open_)
        if found is None:
            return None
        operands.append(found)
    collectives = tuple(inner.operation for inner in block if inner.operation.name in COLLECTIVES)
    collective = sorted({loop for inner in collectives for loop in loops_of(inner)})
    if not nested and any(
        inner.name != "hir.scan_loop" and sorted(loops_of(inner)) != collective
        for inner in collectives
    ):
        return None  # Reductions over some of the loops, or within a scan along others.
    if any(
        operand.strides[loop] == ZERO and extents[loop] != ONE
        for operand in operands
        if operand.is_output
        for loop in range(rank)
        if loop not in collective
    ):
        return None  # Several iterations write one element.
    return Work(
        op,
        block,
        tuple(extents),
        tuple(operands),
        tuple(scalars),
        tuple(collective),
        collectives,
        open_,
        layout,
        device,
        scatters,
    )


def _extents(
    op: ir.Operation, maps: list[ir.AffineMap], rank: int, open_: OpenNumbers
) -> list[Size]:
    """Each loop's number of iterations, a known one where an operand's type says it."""
    extents: list[Size | None] = [None] * rank
    for number, map_ in enumerate(maps):
        buffer = op.operands[number]
        if not isinstance(buffer.type, ir.MemRefType):
            continue
        for axis, expression in enumerate(map_.results):
            if not isinstance(expression, ir.AffineDimExpr):
                continue
            loop = ir.AffineDimExpr(expression).position
            found, size = extents[loop], buffer.type.shape[axis]
            if size != DYNAMIC:
                extents[loop] = Size(size)
            elif found is None:
                extents[loop] = open_.size_of(memref.dim(buffer, index_constant(axis)))
    # linalg's verifier takes maps alone that give every loop an extent.
    return [extent if extent is not None else ONE for extent in extents]


def _operand(
    number: int,
    buffer: ir.Value,
    map_: ir.AffineMap,
    extents: list[Size],
    is_output: bool,
    layout: Layout,
    open_: OpenNumbers,
) -> Operand | None:
    kind = ir.MemRefType(buffer.type)
    if not has_plain_elements(kind.element_type):
        return None
    sizes: list[Size] = []
    for axis, expression in enumerate(map_.results):
        if kind.shape[axis] != DYNAMIC:
            sizes.append(Size(kind.shape[axis]))
        elif isinstance(expression, ir.AffineDimExpr):
            sizes.append(extents[ir.AffineDimExpr(expression).position])
        else:
            sizes.append(open_.size_of(memref.dim(buffer, index_constant(axis))))
    strides, is_assumed = strides_of(buffer, kind, sizes, layout, open_)
    terms: list[list[Size]] = [[] for _ in extents]
    constants: list[Size] = []
    for expression, stride in zip(map_.results, strides, strict=True):
        linear = linear_terms(expression)
        if linear is None:
            return None
        constant, coefficients = linear
        constants.append(Size(constant) * stride)
        for loop, coefficient in coefficients.items():
            terms[loop].append(Size(coefficient) * stride)
    return Operand(
        number,
        buffer,
        kind.element_type,
        tuple(open_.sum(each) for each in terms),
        open_.sum(constants),
        is_output,
        is_assumed,
    )


@dataclass(frozen=True)
class LoadedOperand(Operand):
    """One of which the region loads an element, some of whose `places` it computes.

    These are values of the region, with the strides along them. `number` is none of the operation's
    operands, and `strides` are those of loops that are places by themselves.
    """

    places: tuple[tuple[ir.Value, Size], ...] = ()


def loaded_operand(number: int, load: ir.Operation, work: Work, layout: Layout) -> LoadedOperand:
    """Returns what a memref.load of a region reads; emits index arithmetic as read_work does."""
    buffer, *index = load.operands
    kind = ir.MemRefType(buffer.type)
    sizes = sizes_of(buffer, work.open)
    strides, is_assumed = strides_of(buffer, kind, sizes, layout, work.open)
    terms: list[list[Size]] = [[] for _ in work.extents]
    places: list[tuple[ir.Value, Size]] = []
    for place, stride in zip(index, strides, strict=True):
        own = made_by(place, "linalg.index")
        if own is None:
            places.append((place, stride))
        else:
            terms[ir.IntegerAttr(own.attributes["dim"]).value].append(stride)
    along = tuple(work.open.sum(each) for each in terms)
    element = kind.element_type
    return LoadedOperand(number, buffer, element, along, ZERO, False, is_assumed, tuple(places))


def has_plain_elements(element: ir.Type) -> bool:
    """Returns whether elements are integers or floats of whole bytes, or i1."""
    if isinstance(element, ir.IntegerType):
        return element.is_signless and element.width in (1, 8, 16, 32, 64)
    return isinstance(element, ir.FloatType) and element.width in (8, 16, 32, 64)


def row_strides(
    buffer: ir.Value, open_: OpenNumbers, layout: Layout = Layout.ROWS
) -> tuple[list[Size], bool]:
    """The strides of a buffer read in rows, and whether the last is but assumed to be 1."""
    kind, sizes = ir.MemRefType(buffer.type), sizes_of(buffer, open_)
    return strides_of(buffer, kind, sizes, layout, open_)


def sizes_of(buffer: ir.Value, open_: OpenNumbers) -> list[Size]:
    """Returns a buffer's sizes; emits arithmetic of the host where they are open."""
    return [
        Size(size) if size != DYNAMIC else open_.size_of(memref.dim(buffer, index_constant(axis)))
        for axis, size in enumerate(ir.MemRefType(buffer.type).shape)
    ]


def strides_of(
    buffer: ir.Value,
    kind: ir.MemRefType,
    sizes: list[Size],
    layout: Layout,
    open_: OpenNumbers,
) -> tuple[list[Size], bool]:
    """A buffer's strides, and whether some are but assumed: where its type leaves all open."""
    known, _ = strides_and_offset(kind)
    is_packed = has_identity_layout(kind)
    is_open = kind.rank > 0 and not is_packed and all(stride == DYNAMIC for stride in known)
    if is_packed or (is_open and layout is Layout.PACKED):
        return [product(sizes[axis + 1 :]) for axis in range(kind.rank)], is_open
    if DYNAMIC not in known:
        return [Size(stride) for stride in known], False
    metadata = list(memref.ExtractStridedMetadataOp(buffer).results)
    read = [
        open_.size_of(value) if stride == DYNAMIC else Size(stride)
        for stride, value in zip(known, metadata[2 + kind.rank :], strict=True)
    ]
    if is_open and layout is Layout.ROWS:
        return [*read[:-1], ONE], True
    return read, False


def has_layout(buffer: ir.Value, layout: Layout) -> list[ir.Value]:
    """Emits, for each dim that a layout fixes, whether its stride is right, or its size 1."""
    kind = ir.MemRefType(buffer.type)
    metadata = list(memref.ExtractStridedMetadataOp(buffer).results)
    sizes, strides = metadata[2 : 2 + kind.rank], metadata[2 + kind.rank :]
    holds: list[ir.Value] = []
    one = index_constant(1)
    wanted = one
    fixed = {Layout.PACKED: kind.rank, Layout.ROWS: 1, Layout.ANY: 0}[layout]
    for axis in reversed(range(kind.rank - fixed, kind.rank)):
        if kind.shape[axis] != 1:
            same = arith.cmpi(arith.CmpIPredicate.eq, strides[axis], wanted)
            if kind.shape[axis] == DYNAMIC:
                small = arith.cmpi(arith.CmpIPredicate.ule, sizes[axis], one)
                same = arith.ori(same, small)
            holds.append(same)
        size = sizes[axis] if kind.shape[axis] == DYNAMIC else index_constant(kind.shape[axis])
        wanted = arith.muli(wanted, size)
    return holds
