"""Reductions of what a contraction gives, which its kernel does in part.

    y[i, j] = finish(sum over k of first[i, k] * second[k, j])
    s[i] = end(sum over j of f(y[i, j]))

A kernel reduces what it has of a tile in registers, and writes the results, `partials`, one for
each *unit* of rows or columns. Another operation reduces these, in their order, and computes the
end; it is scheduled as any other. So y lies in memory where somebody else reads it alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import hir
from ....dialects.hir.loop_operation import kind_of, loops_of
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...fusion.tiles import ROUNDED, TILES
from ...generics import Mapped, reduce_over
from ...walking import operations_where
from ..collective import levels_of
from ..dependents import can_overlap
from ..device import Device
from ..elements import element_bytes
from ..kernels import Kernels
from ..scratch import free_scratch
from ..size import ONE, ZERO, OpenNumbers, Size, product
from ..work import Layout, Operand, Statistic, Work, read_work
from .part import Part, allocate, input_count, operations_in

_LAUNCH = hir.LaunchOp.OPERATION_NAME
# What lanes exchange and threads keep in a register.
_BITS = 32


def read_statistics(
    op: ir.Operation,
    device: Device,
    layout: Layout = Layout.PACKED,
    open_: OpenNumbers | None = None,
) -> Work | None:
    """Returns what an operation sums, with the statistics of that; None where it is no such.

    Of its outputs the work has those with an element for each sum. Emits index arithmetic as
    read_work does.
    """
    work = read_work(op, layout, open_, device, nested=True)
    if (
        work is None
        or work.scatters
        or any(each.name == "cf.assert" for each in operations_in(work))
    ):
        return None
    levels = levels_of(work)
    if len(levels) != 2 or len(levels[0]) != 1 or levels[0][0].is_find:
        return None
    (total,), reductions = levels
    if not all(_is_statistic(work, each.op, total.op) for each in reductions):
        return None
    ended = _values_of(work, [each.op.results[0] for each in reductions])
    end = list(list(work.block)[-1].operation.operands)
    inputs = len(list(work.block.arguments)) - len(end)
    whole = tuple(each for each in work.outputs if end[each.number - inputs] not in ended)
    parallel = [loop for loop in range(len(work.extents)) if loop not in total.loops]
    if any(
        each.strides[loop] == ZERO and work.extents[loop] != ONE
        for each in whole
        for loop in parallel
    ):
        return None
    strides = _packed(work.extents, parallel)
    statistics = tuple(
        Statistic(
            each.op,
            frozenset(each.loops),
            Operand(
                -1 - place,
                work.outputs[0].buffer,
                each.operand.type,
                strides,
                ZERO,
                is_output=True,
                is_assumed=False,
            ),
        )
        for place, each in enumerate(reductions)
    )
    return Work(
        op,
        work.block,
        work.extents,
        (*work.inputs, *whole, *(each.operand for each in statistics)),
        work.scalars,
        tuple(sorted(total.loops)),
        (total.op,),
        work.open,
        layout,
        device,
        (),
        statistics,
    )


def in_layout(work: Work, layout: Layout) -> Work:
    """Returns the same with another assumption on how buffers lie."""
    if not work.statistics:
        return work.in_layout(layout)
    assert work.device is not None
    found = read_statistics(work.op, work.device, layout, work.open)
    assert found is not None
    return found


def is_virtual(operand: Operand) -> bool:
    """Returns whether an operand stands for what a statistic reduces."""
    return operand.number < 0


def _is_statistic(work: Work, op: ir.Operation, total: ir.Operation) -> bool:
    kind = op.operands[0].type
    is_word = isinstance(kind, ir.F32Type) or (
        isinstance(kind, ir.IntegerType) and kind.width == _BITS
    )
    loops, summed = set(loops_of(op)), set(loops_of(total))
    return op.name == "hir.reduce_loops" and is_word and not loops & summed


def _values_of(work: Work, begun: Sequence[ir.Value]) -> set[ir.Value]:
    """Returns some values of a region and all that are computed of them."""
    found = set(begun)
    for op in operations_in(work):
        if any(each in found for each in op.operands):
            found |= set(op.results)
    return found


def _packed(extents: Sequence[Size], loops: Sequence[int]) -> tuple[Size, ...]:
    """Returns the strides of a tensor whose dims are some loops."""
    strides, step = [ZERO] * len(extents), ONE
    for loop in reversed(loops):
        strides[loop], step = step, step * extents[loop]
    return tuple(strides)


# What partials are of.


@dataclass(frozen=True)
class Units:
    """What a statistic has along the rows, or columns, of tiles: the loops that it keeps.

    Where it reduces the others, each of these has so many units, `per` of them. `size` rows or
    columns are one; or the part of these that has one result, where results are of a `run` of so
    many, which begins anywhere: some then have a unit less.
    """

    kept: tuple[int, ...]
    per: Size | None = None
    size: int = 1
    run: int = 0


def units_of(
    work: Work, loops: Sequence[int], statistic: Statistic, sizes: Sequence[int]
) -> Units | None:
    """Returns the units of rows or columns that follow one another in `loops`.

    They have the first of these sizes that is no more than a statistic has one result of; None
    where there is none, or what is kept lies within what is reduced.
    """
    kept = tuple(loop for loop in loops if loop not in statistic.loops)
    if kept == tuple(loops):
        return Units(kept)
    if kept != tuple(loops[: len(kept)]):
        return None
    rest = product([work.extents[loop] for loop in loops[len(kept) :]])
    if not kept:
        return Units((), work.open.divided_up(rest, sizes[0]), sizes[0])
    size = next((each for each in sizes if rest.is_multiple_of(each)), None)
    return None if size is None else Units(kept, Size(rest.known // size, rest.open), size)


@dataclass(frozen=True)
class Partials:
    """A statistic's, in a buffer of `high` units or places by `low` ones for each of `outer` loops.

    `high` are rows where these are reduced, otherwise columns.
    """

    statistic: Statistic
    work: Work
    outer: tuple[int, ...]
    rows: Units
    columns: Units

    @property
    def sides(self) -> tuple[Units, Units]:
        """The units of the buffer's dims, outermost first."""
        if self.rows.per is None:
            return self.columns, self.rows
        return self.rows, self.columns

    @property
    def dims(self) -> list[tuple[int | None, Size]]:
        """The buffer's dims: their sizes, and the loops that are kept."""
        extents = self.work.extents
        found: list[tuple[int | None, Size]] = [(loop, extents[loop]) for loop in self.outer]
        for side in self.sides:
            found += [(loop, extents[loop]) for loop in side.kept]
            if side.per is not None:
                found.append((None, side.per))
        return found

    @property
    def kind(self) -> str:
        return kind_of(self.statistic.op)

    @property
    def strides(self) -> tuple[dict[int, Size], tuple[Size, Size]]:
        """How far apart partials are, in elements: along outer loops, and along both sides."""
        counts = [
            product([self.work.extents[loop] for loop in side.kept]) * (side.per or ONE)
            for side in self.sides
        ]
        step = counts[0] * counts[1]
        outer: dict[int, Size] = {}
        for loop in reversed(self.outer):
            outer[loop], step = step, step * self.work.extents[loop]
        return outer, (counts[1], ONE)

    def allocate(self) -> ir.Value:
        """Returns the buffer."""
        sizes = [size for _, size in self.dims]
        return allocate(sizes, self.statistic.operand.element, self.work.open)


def are_reduced(found: Sequence[Partials]) -> bool:
    """Returns whether a kernel reduces something of each statistic."""
    return all(each.rows.per is not None or each.columns.per is not None for each in found)


# The end.


def emit_ends(found: Sequence[tuple[Partials, ir.Value]], kernels: Kernels, device: Device) -> None:
    """Emits what is made of partials, which these buffers have, and frees them."""
    # Imported late: it imports this.
    from ..choose import schedule

    groups: dict[frozenset[int], list[tuple[Partials, ir.Value]]] = {}
    for each in found:
        groups.setdefault(each[0].statistic.loops, []).append(each)
    for group in groups.values():
        end = _end(group)
        before = {each.operation for each in end.block}
        block = end.block
        with kernels.awaiting(device):
            schedule(end, kernels, device)
        if can_overlap(device):
            _let_overlap([each.operation for each in block if each.operation not in before])
    free_scratch(buffer for _, buffer in found)


def _let_overlap(ops: Sequence[ir.Operation]) -> None:
    """Lets launches be prepared before what is launched before them has ended.

    That does not say when they may begin: blocks that begin early lie where the first end, several
    on each of few multiprocessors.
    """
    for op in ops:
        for launch in operations_where(op, lambda inner: inner.name == _LAUNCH):
            launch.attributes["overlaps"] = ir.UnitAttr.get()


def _end(group: Sequence[tuple[Partials, ir.Value]]) -> ir.Operation:
    """Returns the operation that reduces the partials of statistics over the same loops."""
    first, _ = group[0]
    work = first.work
    reduced = first.statistic.loops | set(work.collective)
    kept = [loop for loop in range(len(work.extents)) if loop not in reduced]
    names = {loop: at for at, loop in enumerate(kept)}
    loops, along, place = len(kept), list[int](), list[ir.AffineExpr]()
    for loop, _ in first.dims:
        if loop in names:
            place.append(ir.AffineExpr.get_dim(names[loop]))
            continue
        along.append(loops)
        place.append(ir.AffineExpr.get_dim(loops))
        loops += 1
    map_ = ir.AffineMap.get(loops, 0, place)
    part = Part(work, names, loops, along)
    begun: dict[ir.Value, Mapped] = {
        each.statistic.op.results[0]: (buffer, map_) for each, buffer in group
    }
    kinds = [each.kind for each, _ in group]
    return part.emit(
        _ended_outputs(work, list(begun)),
        begun,
        lambda given: [
            reduce_over(along, kind, value) for kind, value in zip(kinds, given, strict=True)
        ],
    )


def emit_apart(work: Work, kernels: Kernels, device: Device) -> None:
    """Emits an operation as one that sums, and others that do the rest.

    Between them is what is made of each sum alone, in the type of fewest bits.
    """
    from ..choose import schedule

    (total,) = work.collectives
    narrow = _narrowest(work, total.results[0])
    parallel = [loop for loop in range(len(work.extents)) if loop not in work.collective]
    buffer = allocate([work.extents[loop] for loop in parallel], narrow.type, work.open)
    every = list(range(len(work.extents)))
    whole = [ir.AffineExpr.get_dim(loop) for loop in parallel]
    names = {loop: loop for loop in every}
    sums = Part(work, names, len(every), work.collective, kept=(TILES, ROUNDED))
    found = [sums.emit_to(narrow, (buffer, ir.AffineMap.get(len(every), 0, whole)))]
    groups: dict[frozenset[int], list[ir.Value]] = {}
    for each in work.statistics:
        groups.setdefault(each.loops, []).append(each.op.results[0])
    inputs = input_count(work)
    outputs = [each.number - inputs for each in work.outputs if not is_virtual(each)]
    begun = {narrow: (buffer, ir.AffineMap.get_identity(len(parallel)))}
    names = {loop: at for at, loop in enumerate(parallel)}
    for loops, results in groups.items():
        part = Part(work, names, len(parallel), [names[loop] for loop in sorted(loops)])
        found.append(part.emit([*outputs, *_ended_outputs(work, results)], begun))
        outputs = []
    for each in found:
        schedule(each, kernels, device)
    free_scratch([buffer])


def _narrowest(work: Work, value: ir.Value) -> ir.Value:
    """Returns the value of fewest bits that is made of one, where others are made of that alone."""
    best = value
    while True:
        users = list(dict.fromkeys(use.owner.operation for use in value.uses))
        if len(users) != 1 or users[0].name == "linalg.yield" or len(users[0].results) != 1:
            return best
        (user,) = users
        if user.name == "hir.reduce_loops" or len(user.regions):
            return best
        value = user.results[0]
        if not isinstance(value.type, ir.FloatType | ir.IntegerType):
            return best
        if element_bytes(value.type) < element_bytes(best.type):
            best = value


def _ended_outputs(work: Work, begun: Sequence[ir.Value]) -> list[int]:
    """Returns the outputs that are made of some values, by their places."""
    ended = _values_of(work, begun)
    return [at for at, value in enumerate(operations_in(work)[-1].operands) if value in ended]
