"""The attention schedule: one kernel of two products and the softmax between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from ....dialects.hir.layout import DYNAMIC
from ....dialects.mlir import arith, indexing_maps, ir
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions
from ..configuration import Chooser
from ..dependents import can_overlap, let_next_begin
from ..device import Device
from ..division import divide_without_calls
from ..elements import element_bytes
from ..kernels import Kernels
from ..launch import emit_launch
from ..parameters import Parameters
from ..scratch import free_scratch
from ..size import MOST_IN_32_BITS, ONE, ZERO, Size, product
from ..warp_matrices import ELEMENTS, MATRIX_BYTES, ROWS
from ..warpgroup_matrices import MOST_DIMS
from ..work import Layout, LoadedOperand, Work, loaded_operand, read_work
from .configuration import (
    FEW_ROWS,
    MOST_FEW_ROWS,
    NARROW,
    AttentionConfiguration,
    Heads,
    configure,
    configure_warpgroups,
    parts_of,
    refusal_of,
)
from .engine_kernel import EngineKernel
from .kernel import AttentionKernel
from .parts import COMBINING_THREADS, allocate_parts, emit_combined, results
from .plain_kernel import PlainKernel
from .plan import Plan, outer_loops
from .reading import Attention, read_attention
from .visibility import read_conditions
from .warpgroup_kernel import WarpgroupAttentionKernel

# mma.sync of bf16, and cp.async, are there from this compute capability on.
_LEAST_CAPABILITY = 80
_MOST_HEAD = 256
# Multiplied by ordinary instructions: tensor cores would round it.
_PLAIN = "f32"


def chooser(op: ir.Operation, kernels: Kernels | None, device: Device) -> AttentionChooser | None:
    """Decides on the kernels of attention; None of any other operation."""
    attention = read_attention(op)
    if attention is None or not is_scheduled(attention, device):
        return None
    work = read_work(op, Layout.ROWS, device=device, nested=True)
    if work is None:
        return None
    return AttentionChooser(attention, _with_loaded(work, attention), kernels, device)


def _with_loaded(work: Work, attention: Attention) -> Work:
    """The same with what the region loads as operands."""
    loaded = [
        loaded_operand(number, load, work, work.layout) for number, load in attention.loads.items()
    ]
    return replace(work, operands=(*work.operands, *loaded))


class AttentionChooser(Chooser[AttentionConfiguration]):
    """Kernels of wide accesses, of few rows apart where these are open, and of single ones."""

    def __init__(
        self, attention: Attention, work: Work, kernels: Kernels | None, device: Device
    ) -> None:
        self.work = work
        self._attention, self._kernels, self._device = attention, kernels, device
        self._any: Work | None = None
        self._heads = _heads(attention, work)
        self._copies, self._brings = can_copy(attention, work), can_bring(attention, work)
        self._sees_all = not read_conditions(attention)[0]

    def choices(self) -> Sequence[AttentionConfiguration]:
        heads, device = self._heads, self._device
        found: list[AttentionConfiguration | None] = []
        if heads.rows is None:
            few = configure(replace(heads, rows=FEW_ROWS), device, brings=self._brings)
            found.append(few if few is not None and few.parts > 1 else None)
        many = configure_warpgroups(heads, device, self._sees_all) if self._copies else None
        some = configure(heads, device, brings=self._brings) if many is None else many
        found += [some, NARROW]
        return [each for each in found if each is not None and self.refusal(each) is None]

    def refusal(self, made: AttentionConfiguration) -> str | None:
        return refusal_of(made, self._heads, self._device, copies=self._copies, brings=self._brings)

    def alternative(self, made: AttentionConfiguration) -> Alternative:
        if made.layout is Layout.ROWS:
            return _alternative(self._attention, self.work, made, self._kernels, self._device)
        if self._any is None:
            self._any = _with_loaded(self.work.in_layout(made.layout), self._attention)
        return _alternative(self._attention, self._any, made, self._kernels, self._device)


def is_scheduled(attention: Attention, device: Device) -> bool:
    """Returns whether there is a kernel for attention, on tensors or buffers, of any open sizes."""
    depth, columns = (
        _known_size(attention.op, loop) for loop in (attention.depth, attention.columns)
    )
    bytes_ = element_bytes(attention.element)
    return (
        device.capability >= _LEAST_CAPABILITY
        and str(attention.element) in (*ELEMENTS, _PLAIN)
        and depth != DYNAMIC != columns
        and max(depth, columns) <= _MOST_HEAD
        and configure(Heads(None, None, None, depth, columns, bytes_), device) is not None
    )


def lies_across(attention: Attention) -> bool:
    """Returns whether each head has one row, and keys or values of different heads are neighbours.

    Nothing is read twice then, and kernels that store scores read what lies together.
    """
    if any(_known_size(attention.op, loop) != 1 for loop in attention.rows):
        return False
    maps = indexing_maps(attention.op)
    last = [maps[each].results[-1] for each in (attention.key, attention.value) if each >= 0]
    loops = {each.position for each in last if isinstance(each, ir.AffineDimExpr)}
    return any(_known_size(attention.op, loop) != 1 for loop in loops & {*attention.batch})


def _known_size(op: ir.Operation, loop: int) -> int:
    """The iterations of a loop, DYNAMIC where no type says them."""
    for value, map_ in zip(op.operands, indexing_maps(op), strict=True):
        for expression, size in zip(map_.results, ir.ShapedType(value.type).shape, strict=True):
            if expression == ir.AffineExpr.get_dim(loop) and size != DYNAMIC:
                return size
    return DYNAMIC


def _rows_and_grid(attention: Attention, work: Work) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The loops along the tiles' rows, and those of which each iteration has tiles of its own.

    Of several, as heads that share keys and few queries of each, all where they have few rows, so
    that these read keys once; else the one with fewest tiles in all.
    """
    rows, extents = attention.rows, work.extents
    if not rows:
        return (), attention.batch
    if not all(extents[loop].is_known for loop in rows):
        return rows[-1:], (*attention.batch, *rows[:-1])

    def tiles(loop: int) -> int:
        others = prod(extents[each].known for each in rows if each != loop)
        return others * -(-extents[loop].known // ROWS)

    row = min(reversed(rows), key=tiles)
    count = prod(extents[loop].known for loop in rows)
    if 0 < count <= MOST_FEW_ROWS and -(-count // ROWS) < tiles(row):
        return rows, attention.batch
    return (row,), (*attention.batch, *(loop for loop in rows if loop != row))


def can_copy(attention: Attention, work: Work) -> bool:
    """Returns whether the copy engine may read queries, keys and values, as far as is known."""
    rows, _ = _rows_and_grid(attention, work)
    return (
        len(rows) == 1
        and _can_copy(attention, work, attention.query, *rows)
        and can_bring(attention, work)
    )


def can_bring(attention: Attention, work: Work) -> bool:
    """Returns whether the copy engine may read keys and values, as far as is known."""
    both = (attention.key, attention.value)
    return all(_can_copy(attention, work, number, attention.keys) for number in both)


def _can_copy(attention: Attention, work: Work, number: int, along: int) -> bool:
    _, grid = _rows_and_grid(attention, work)
    (operand,) = (each for each in work.operands if each.number == number)
    dims = 2 + len(outer_loops(operand, grid))
    if isinstance(operand, LoadedOperand):
        return False
    return operand.strides[along] != ZERO and dims <= MOST_DIMS


def _heads(attention: Attention, work: Work) -> Heads:
    along, grid = _rows_and_grid(attention, work)
    rows = product([work.extents[loop] for loop in along])
    count = product([work.extents[loop] for loop in grid])
    sizes = (
        size.known if size.is_known else None
        for size in (
            count,
            rows,
            *(work.extents[loop] for loop in (attention.keys, attention.depth, attention.columns)),
        )
    )
    heads, known_rows, keys, depth, columns = sizes
    assert depth is not None
    assert columns is not None
    bytes_ = element_bytes(attention.element)
    return Heads(heads, known_rows, keys, depth, columns, bytes_)


def _alternative(
    attention: Attention,
    work: Work,
    configuration: AttentionConfiguration,
    kernels: Kernels | None,
    device: Device,
) -> Alternative:
    """When a configuration's kernel is right, and its launches."""
    along, grid = _rows_and_grid(attention, work)
    rows = product([work.extents[loop] for loop in along])
    plans: list[Plan] = []

    def conditions(found: Conditions) -> None:
        found.require(work.layouts_hold())
        if configuration.parts > 1:
            found.require_at_most(rows, MOST_FEW_ROWS if rows.is_known else FEW_ROWS)
        count = work.open.divided_up(rows, configuration.rows)
        heads = product([work.extents[loop] for loop in grid])
        keys = work.extents[attention.keys]
        parts = parts_of(configuration, heads, keys, device, work.open)
        plans.append(Plan(attention, work, configuration, along, grid, count, parts))
        found.require_at_most(_blocks(plans[-1]), MOST_IN_32_BITS)
        found.require_at_most(work.extents[attention.keys], MOST_IN_32_BITS)
        if plans[-1].wide:
            _require_wide(found, plans[-1])
        if configuration.warpgroups or configuration.engine:
            for extent in work.extents:
                found.require_at_least(extent, 1)

    def launch() -> None:
        assert kernels is not None
        _launch(plans[-1], kernels)

    return conditions, launch


def _require_wide(found: Conditions, plan: Plan) -> None:
    """Adds that heads lie packed, each at an address for a wide access."""
    attention, work = plan.attention, plan.work
    heads = {
        attention.query: attention.depth,
        attention.key: attention.depth,
        attention.value: attention.columns,
        work.outputs[0].number: attention.columns,
    }
    for operand in work.operands:
        if operand.number not in heads:
            continue
        head = heads[operand.number]
        bytes_ = 2 * element_bytes(operand.element) if operand.is_output else MATRIX_BYTES
        count = bytes_ // element_bytes(operand.element)
        if operand.strides[head] != ONE:
            found.never = True
            return
        found.require_aligned(operand, bytes_)
        found.require_multiple(work.extents[head], count)
        for loop, stride in enumerate(operand.strides):
            if loop != head:
                found.require_multiple(stride, count)
        if isinstance(operand, LoadedOperand):
            for _, stride in operand.places:
                found.require_multiple(stride, count)


def _blocks(plan: Plan) -> Size:
    tiles, each = plan.row_tiles, plan.configuration.tiles
    return tiles * plan.parts if each == 1 else Size(-(-tiles.known // each))


def _launch(plan: Plan, kernels: Kernels) -> None:
    work, parts = plan.work, plan.configuration.parts
    location = plan.attention.op.location
    first: list[AttentionKernel] = []
    scratch = allocate_parts(plan) if parts > 1 else None

    def emit(entry: ir.Block) -> None:
        kind = PlainKernel if str(plan.attention.element) == _PLAIN else AttentionKernel
        if plan.configuration.engine:
            kind = EngineKernel
        if plan.configuration.warpgroups:
            kind = WarpgroupAttentionKernel
        first.append(kind(plan, Parameters(entry, work.open), scratch))
        if scratch is not None:
            let_next_begin(work.device)
        first[0].emit()
        if plan.configuration.warpgroups:
            divide_without_calls(entry)

    threads = plan.configuration.threads
    one = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 1)
    whole = {"nvvm.minctasm": one} if plan.configuration.warpgroups else {}
    attribute = plan.configuration.attribute
    kernel = kernels.build("attention", threads, emit, location, whole, attribute)
    arguments = first[0].parameters.arguments()
    blocks, bytes_ = work.open.value(_blocks(plan)), first[0].shared.bytes
    emit_launch(kernel, blocks, threads, arguments, bytes_)
    if scratch is None:
        return
    second: list[Parameters] = []

    def emit_second(entry: ir.Block) -> None:
        second.append(Parameters(entry, work.open))
        let_next_begin(work.device)
        emit_combined(plan, second[0], scratch)

    kernel = kernels.build(
        "attention_parts", COMBINING_THREADS, emit_second, location, configuration=attribute
    )
    blocks = arith.ceildivui(work.open.value(results(plan)), index_constant(COMBINING_THREADS))
    overlaps = can_overlap(work.device)
    emit_launch(kernel, blocks, COMBINING_THREADS, second[0].arguments(), overlaps=overlaps)
    free_scratch(scratch)
