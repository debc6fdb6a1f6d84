"""The pointwise schedule: every iteration gives elements of the outputs by itself.

The loops are made into as few as the operands allow. A thread computes one vector of neighbouring
elements, 16 bytes of the widest operand, and there is a thread for each. Single elements are too
few bytes; of those a thread takes several, a block apart so that those of a block lie side by side.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial

from ....dialects.hir.layout import DYNAMIC, strides_and_offset
from ....dialects.mlir import arith, ir
from ...lane_reduction import WARP_LANES
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions
from ..configuration import Chooser, is_power_of_two, threads_refusal
from ..device import Device
from ..elements import element_bytes
from ..kernels import ANY, Kernels
from ..launch import emit_launch
from ..size import MOST_IN_32_BITS, ZERO, Size
from ..space import is_flat, total
from ..work import Layout, Work
from .configuration import Kind, PointwiseConfiguration
from .kernel import PointwiseKernel
from .vectors import PointwiseSpace, Vectors, read_space

# Elements of a thread, each of which is a copy of the region.
_MOST_COPIES = 64


def chooser(work: Work, kernels: Kernels, device: Device) -> PointwiseChooser | None:
    """Decides on the kernels; None for what is not pointwise."""
    space = read_space(work)
    return None if space is None else PointwiseChooser(space, kernels, device)


class PointwiseChooser(Chooser[PointwiseConfiguration]):
    """Wide accesses, and last narrow ones for any layout."""

    def __init__(self, space: PointwiseSpace, kernels: Kernels, device: Device) -> None:
        self.work = space.work
        self._spaces = {Layout.PACKED: space}
        self._kernels = kernels
        self._device, self._table = device, device.tables.pointwise

    def choices(self) -> Sequence[PointwiseConfiguration]:
        work = self.work
        found = self._wide(Layout.PACKED)
        assumed = [operand for operand in work.operands if operand.is_assumed]
        # What one block computes with single elements takes no less time with rows of vectors.
        are_rows = any(ir.MemRefType(operand.buffer.type).rank > 1 for operand in assumed)
        if are_rows and not self._is_a_block:
            # What is in pieces at other addresses besides is left to single elements.
            rows = [made for made in self._wide(Layout.ROWS) if made.pieces]
            if len(self._space(Layout.ROWS).loops) > len(self._space(Layout.PACKED).loops):
                found += rows
            else:  # They do for packed buffers too, where no loops become one.
                others = [made for made in found if replace(made, layout=Layout.ROWS) not in rows]
                found = [*rows, *others]
        is_assumed = assumed or any(each.is_assumed for each in self._spaces[Layout.PACKED].writes)
        layout = Layout.ANY if is_assumed else Layout.PACKED
        threads = self._table.threads
        found.append(PointwiseConfiguration(Kind.SINGLE, 1, self._singles, threads, layout=layout))
        return found

    @property
    def _singles(self) -> int:
        """How many single elements a thread takes: no more than one block needs for all."""
        if not self._is_a_block:
            return self._table.singles
        return max(self._elements.known // self._table.threads, 1)

    @property
    def _is_a_block(self) -> bool:
        """Whether one block computes all elements, as many a thread as the table says."""
        elements = self._elements
        return elements.is_known and elements.known <= self._table.threads * self._table.singles

    @property
    def _elements(self) -> Size:
        return total(self._space(Layout.PACKED).loops)

    def _wide(self, layout: Layout) -> list[PointwiseConfiguration]:
        """The ways in which accesses of several elements may be possible."""
        space = self._space(layout)
        width, loops, threads = space.widest, space.loops, self._table.threads
        while width > 2 and width * space.single_bytes > self._table.single_bytes:
            width //= 2
        if width == 1 or not space.has_neighbours:
            return []
        kind = Kind.ROWS if len(loops) > 1 else Kind.FLAT
        gathers, guarded = space.gathers, space.guarded
        found: list[PointwiseConfiguration] = []
        if kind is Kind.ROWS or space.is_flat:
            unroll = self._table.gathered if gathers and kind is Kind.ROWS else 1
            found.append(PointwiseConfiguration(kind, width, unroll, threads, layout=layout))
            if guarded:
                found.append(replace(found[-1], pieces=False))
        crosses = space.is_flat and len(loops) > 1 and not space.inner.extent.is_multiple_of(width)
        # Elements that are written one by one are so by neighbouring threads.
        if crosses and not space.writes and not self._is_spread(space):
            found.append(PointwiseConfiguration(Kind.FLAT, width, 1, threads, layout=layout))
        return found

    def _is_spread(self, space: PointwiseSpace) -> bool:
        """Whether vectors that cross rows read too many elements one by one, as of a stencil.

        Reads that begin at different places of rows that lie alike are taken to be of one tensor.
        """
        work = self.work
        read = [each for each in work.inputs if space.inner.stride_of(work, each.number) != ZERO]
        spread = [each for each in read if not is_flat(work, each, space.loops)]
        moved = [each for each in (*work.outputs, *read) if each not in spread]
        tensors: dict[Hashable, set[int]] = {}
        for operand in spread:
            _, offset = strides_and_offset(ir.MemRefType(operand.buffer.type))
            places = tensors.setdefault((operand.element, operand.strides), set())
            if offset in places or offset == DYNAMIC or not places:
                moved.append(operand)
            places.add(offset)
        if len(moved) == len(work.outputs) + len(read):
            return False  # Each is of a tensor of its own.
        bytes_ = sum(element_bytes(each.element) for each in moved)
        return len(spread) * self._table.spread_bytes > WARP_LANES * bytes_

    def refusal(self, made: PointwiseConfiguration) -> str | None:
        space, width = self._space(made.layout), made.width
        if made.kernel is Kind.SINGLE:
            if width != 1:
                return "'width' is 1 where 'kernel' is single"
        elif width < 2 or not is_power_of_two(width):
            return f"'width' is a power of two from 2 on where 'kernel' is {made.kernel}"
        elif not space.has_neighbours:
            return "'kernel' is single where neighbouring elements of outputs lie apart"
        elif made.kernel is Kind.ROWS and len(space.loops) == 1:
            return "'kernel' is flat or single where everything is one row"
        elif made.kernel is Kind.FLAT and not space.is_flat:
            return "'kernel' is rows or single where an output has gaps"
        whole = space.inner.extent if made.kernel is Kind.ROWS else total(space.loops)
        are_whole = made.kernel is Kind.ROWS or (made.kernel is Kind.FLAT and made.unroll > 1)
        if are_whole and whole.is_known and whole.known % width:
            return f"'width' divides {whole.known}, the elements of what vectors lie in"
        if made.unroll < 1 or width * made.unroll > _MOST_COPIES:
            return f"'unroll' is at least 1, and 'width' times 'unroll' at most {_MOST_COPIES}"
        return threads_refusal(made.threads, self._device)

    def alternative(self, made: PointwiseConfiguration) -> Alternative:
        vectors = Vectors(self._space(made.layout), made)
        return lambda found: _require(vectors, found), lambda: _launch(vectors, self._kernels)

    def _space(self, layout: Layout) -> PointwiseSpace:
        if layout not in self._spaces:
            space = read_space(self.work.in_layout(layout))
            assert space is not None
            self._spaces[layout] = space
        return self._spaces[layout]


def _require(vectors: Vectors, found: Conditions) -> None:
    work, width = vectors.work, vectors.width
    found.require(work.layouts_hold())
    for write in vectors.space.writes:
        write.require(found, 1 if vectors.is_crossing else width)
    if len(vectors.loops) > 1:
        most = MOST_IN_32_BITS * width if vectors.kind is Kind.ROWS else MOST_IN_32_BITS
        found.require_at_most(total(vectors.loops), most)
    if vectors.kind is Kind.SINGLE:
        return
    for operand in work.operands:
        if vectors.is_neighbouring(operand):
            found.require_aligned(operand, vectors.alignment(operand))
            if vectors.kind is Kind.ROWS:
                for loop in vectors.loops[:-1]:
                    found.require_multiple(loop.stride_of(work, operand.number), width)
    if vectors.kind is Kind.ROWS:
        found.require_multiple(vectors.inner.extent, width)
    elif vectors.unroll > 1:
        found.require_multiple(total(vectors.loops), width)
    for gather in vectors.gathers:
        gather.require(found, width)
    if vectors.configuration.pieces:
        for each in vectors.guarded:
            each.require(found, each.piece(width))


def _group(vectors: Vectors) -> str | None:
    """Returns which kernels need about as many registers; more do where elements of a vector are
    read one by one.
    """
    space = vectors.space
    reads_elements = vectors.kind is Kind.FLAT and (space.gathers or space.guarded)
    is_single = vectors.kind is Kind.SINGLE or reads_elements
    return vectors.work.group(ANY if is_single else "vectors")


def _launch(vectors: Vectors, kernels: Kernels) -> None:
    work, threads = vectors.work, vectors.threads
    kernel, made = kernels.of_work(
        work,
        threads,
        partial(PointwiseKernel, vectors),
        configuration=vectors.configuration.attribute,
        group=_group(vectors),
    )
    elements = total(vectors.loops)
    a_block = threads * vectors.width * vectors.unroll
    # Each of the elements that fill no vector takes a thread too.
    more = vectors.width * (vectors.width - 1) if vectors.leaves_elements else 0
    if elements.is_known:
        blocks = index_constant(-(-(elements.known + more) // a_block) if elements.known else 0)
    else:
        padded = arith.addi(work.open.value(elements), index_constant(more))
        blocks = arith.ceildivui(padded, index_constant(a_block))
    emit_launch(kernel, blocks, threads, made.parameters.arguments())
