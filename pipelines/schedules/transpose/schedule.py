"""The transpose schedule: pointwise work with an operand that lies across the outputs.

Two loops matter: the outer one of the outputs' memory where the other is the inner one, and the
other way round in the *transposed* operands. A block takes a tile of both, reads transposed
operands along the loop in which they are contiguous, and passes them through shared memory to the
threads that write along the outputs' (Ruetsch and Micikevicius, "Optimizing Matrix Transpose in
CUDA", 2009). The other loops are the grid's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....dialects.mlir import arith
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions
from ..configuration import Chooser, is_power_of_two, threads_refusal
from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..kernels import Kernels
from ..launch import emit_launch, operation_name
from ..parameters import Parameters
from ..pointwise import schedule as pointwise
from ..pointwise.configuration import Kind as PointwiseKind
from ..size import MOST_IN_32_BITS, ONE, ZERO, OpenNumbers, Size, product
from ..space import Loop, total
from ..work import Layout, Work
from .block_tile import TileShape
from .configuration import Kind, TransposeConfiguration
from .crossing import Crossing, find_crossing, read_inputs
from .kernel import TransposeKernel
from .skewed_choice import choose_skewed, refuse_skewed, require_skewed, skewed_tiles
from .skewed_kernel import SkewedKernel
from .skewed_tiles import SkewedTiles
from .tiles import Tiles

# Elements of a thread, each of which is a copy of the region.
_MOST_COPIES = 256


def chooser(work: Work, kernels: Kernels, device: Device) -> TransposeChooser | None:
    """Decides on the kernels; None where nothing lies across the outputs."""
    crossing = find_crossing(work)
    if crossing is None:
        return None
    found = TransposeChooser(crossing, kernels, device)
    return found if found.choices() else None


class TransposeChooser(Chooser[TransposeConfiguration]):
    """Tiles of accesses that are wide for certain rows, wide for any, and of single elements."""

    def __init__(self, crossing: Crossing, kernels: Kernels, device: Device) -> None:
        self.work = crossing.work
        self._crossings: dict[Layout, Crossing | None] = {Layout.PACKED: crossing}
        self._kernels, self._device = kernels, device

    def choices(self) -> Sequence[TransposeConfiguration]:
        kinds = self._kinds(Layout.PACKED)
        if kinds and any(operand.is_assumed for operand in self.work.operands):
            # Tiles of any rows do for packed ones too, of which several loops may be one.
            rows = self._kinds(Layout.ROWS)
            takes_any = any(map(_takes_any, rows))
            # Without packed rows loops may be too short, which they make one.
            wide = [
                made
                for made in kinds
                if not takes_any or (made.kernel is Kind.SQUARES and made.width > 1)
            ]
            if self._loops(Layout.ROWS) == self._loops(Layout.PACKED):
                wide = [made for made in wide if replace(made, layout=Layout.ROWS) not in rows]
            kinds = [*wide, *rows]
        return kinds

    def alternatives(self) -> list[Alternative]:
        """Tiles where the run's sizes fill a part of them, and else elements one by one."""
        choices, crossing = self.choices(), self._crossing(Layout.PACKED)
        own = [self._filled(made, self.alternative(made)) for made in choices]
        assert crossing is not None
        are_known = crossing.row.extent.is_known and crossing.column.extent.is_known
        if are_known and any(map(_takes_any, choices)):
            return own
        plain = pointwise.chooser(self.work, self._kernels, self._device)
        if are_known:
            return own if plain is None else [*own, *plain.alternatives()]
        kinds = [] if plain is None else [(each, each.kernel) for each in plain.choices()]
        flat = [each for each, kind in kinds if kind is PointwiseKind.FLAT][:1]
        single = [each for each, kind in kinds if kind is PointwiseKind.SINGLE]
        return own + [plain.alternative(each) for each in (*flat, *single) if plain is not None]

    def _filled(self, made: TransposeConfiguration, found: Alternative) -> Alternative:
        """An alternative where tiles of open sizes are as full as those of known ones.

        Of a few tiles elements one by one take less time than what begins and ends a block.
        """
        crossing = self._crossing(made.layout)
        assert crossing is not None
        loops = (crossing.row, made.row_side), (crossing.column, made.column_side)
        if all(loop.extent.is_known for loop, _ in loops):
            return found
        conditions, launch = found
        open_, tile = self.work.open, made.row_side * made.column_side
        elements = total((*crossing.batch, crossing.row, crossing.column))
        blocks = self._device.multiprocessors // self._device.tables.squares.least_share

        def checked(all_: Conditions) -> None:
            conditions(all_)
            all_.require_at_least(elements, blocks * tile)
            if made.kernel is Kind.SKEWED:
                for loop, side in loops:
                    all_.require_at_least(loop.extent, side // 2 + 1)
                return
            sides = [
                arith.minui(open_.value(loop.extent), index_constant(side)) for loop, side in loops
            ]
            enough = index_constant(tile // self._device.tables.squares.least_filled)
            all_.require(arith.cmpi(arith.CmpIPredicate.uge, arith.muli(*sides), enough))

        return checked, launch

    def _kinds(self, layout: Layout) -> list[TransposeConfiguration]:
        crossing = self._crossing(layout)
        if crossing is None:
            return []
        table, size = self._device.tables.squares, _largest(crossing)
        width, side = ACCESS_BYTES // size, min(table.row_bytes // size, table.most_side)
        wide = self._fitting(layout, side * side, width) if width > 1 else None
        skewed = choose_skewed(crossing, self._device, layout)
        single = None
        if skewed is None or not skewed_tiles(crossing, skewed).is_for_any:
            single = self._fitting(layout, table.single_elements, 1)
        return [made for made in (wide, skewed, single) if made is not None]

    def _fitting(self, layout: Layout, elements: int, width: int) -> TransposeConfiguration | None:
        """Tiles of so many elements in vectors of `width`, or as many as fit.

        They are squares, or twice as long along the row: what is written lies together. A loop that
        is known to be short gets a short side, and the other a long one. None where tiles are too
        small, or too much together.
        """
        crossing, table = self._crossing(layout), self._device.tables.squares
        assert crossing is not None
        element = sum(element_bytes(operand.element) for operand in crossing.across)
        while elements * element > table.shared_bytes:
            elements //= 2
        units = elements // (width * width)
        side = 1 << (units.bit_length() - 1) // 2
        if side < table.least_units:
            return None
        columns = _side(crossing.column.extent, side, width)
        rows = _side(crossing.row.extent, units // columns, width)
        if rows * columns * width * width < table.least_elements:
            return None
        if width == 1:
            columns = _side(crossing.column.extent, units // rows, width)
        threads = min(table.threads, rows * columns)
        sides = rows * width, columns * width
        return TransposeConfiguration(Kind.SQUARES, width, *sides, threads, layout)

    def refusal(self, made: TransposeConfiguration) -> str | None:
        crossing, width = self._crossing(made.layout), made.width
        if crossing is None:
            return f"in 'layout' {made.layout} nothing lies across the outputs"
        sides = made.row_side, made.column_side
        if not all(map(is_power_of_two, (*sides, width, made.threads))):
            return "'width', 'row_side', 'column_side' and 'threads' are powers of two"
        if made.kernel is Kind.SKEWED:
            refusal = refuse_skewed(crossing, made, self._device)
            if refusal is not None:
                return refusal
        else:
            if width > ACCESS_BYTES // _largest(crossing) or min(sides) < width:
                most = ACCESS_BYTES // _largest(crossing)
                return f"'width' is at most {most}, and at most a side"
            bytes_ = sum(element_bytes(each.element) for each in crossing.across)
            if sides[0] * sides[1] * bytes_ > self._device.shared_bytes:
                return f"a tile has at most {self._device.shared_bytes} bytes of shared memory"
            if width > 1:
                for loop in (crossing.row, crossing.column):
                    if loop.extent.is_known and loop.extent.known % width:
                        return f"'width' divides {loop.extent.known}, the elements of a row"
        each = sides[0] * sides[1] // made.threads
        if each > _MOST_COPIES or each < (width if made.kernel is Kind.SKEWED else width * width):
            return f"a thread takes vectors, or squares of them, of {_MOST_COPIES} elements at most"
        return threads_refusal(made.threads, self._device)

    def alternative(self, made: TransposeConfiguration) -> Alternative:
        crossing = self._crossing(made.layout)
        assert crossing is not None
        if made.kernel is Kind.SKEWED:
            return _alternative(skewed_tiles(crossing, made), self._kernels)
        loops = crossing.row, crossing.column, crossing.batch
        return _alternative(Tiles(crossing.work, *loops, crossing.across, made), self._kernels)

    def _loops(self, layout: Layout) -> int:
        """Returns how many loops there are beside the two that tiles lie in."""
        crossing = self._crossing(layout)
        return 0 if crossing is None else len(crossing.batch)

    def _crossing(self, layout: Layout) -> Crossing | None:
        if layout not in self._crossings:
            self._crossings[layout] = find_crossing(self.work.in_layout(layout))
        return self._crossings[layout]


def _takes_any(made: TransposeConfiguration) -> bool:
    """Returns whether tiles take rows of any length."""
    return made.kernel is Kind.SKEWED or made.width == 1


def _largest(crossing: Crossing) -> int:
    """The bytes of the largest element of what moves along both loops."""
    work = crossing.work
    return max(
        element_bytes(operand.element)
        for operand in work.operands
        if all(
            loop.stride_of(work, operand.number) != ZERO for loop in (crossing.row, crossing.column)
        )
    )


def _side(extent: Size, units: int, width: int) -> int:
    """How many vectors of a tile lie along a loop: a power of two."""
    if extent.is_known:
        while units > 1 and (units // 2) * width >= extent.known:
            units //= 2
    return units


def _alternative(tiles: Tiles | SkewedTiles, kernels: Kernels) -> Alternative:
    work = tiles.work
    counts: list[tuple[Size, Size]] = []

    def conditions(found: Conditions) -> None:
        found.require(work.layouts_hold())
        if isinstance(tiles, SkewedTiles):
            require_skewed(found, tiles)
        elif tiles.width > 1:
            _require_wide(found, tiles)
        skew = tiles.skew if isinstance(tiles, SkewedTiles) else 0
        rows = _count(tiles.row, tiles.row_side, skew, work.open)
        counts.append((rows, _count(tiles.column, tiles.column_side, 0, work.open)))
        found.require_at_most(_blocks(tiles, counts[-1]), MOST_IN_32_BITS)

    return conditions, lambda: _launch(tiles, counts[-1], kernels)


def _require_wide(found: Conditions, tiles: Tiles) -> None:
    """Adds that all vectors are aligned, and none reaches beyond the last row or column."""
    work, width = tiles.work, tiles.width
    found.require_multiple(tiles.row.extent, width)
    found.require_multiple(tiles.column.extent, width)
    for operand in [*read_inputs(work), *work.outputs]:
        contiguous = tiles.column if operand in tiles.across else tiles.row
        if contiguous.stride_of(work, operand.number) != ONE:
            continue
        found.require_aligned(operand, width * element_bytes(operand.element))
        for loop in (tiles.row, tiles.column, *tiles.batch):
            if loop is not contiguous:
                found.require_multiple(loop.stride_of(work, operand.number), width)


def _count(loop: Loop, side: int, skew: int, open_: OpenNumbers) -> Size:
    """How many tiles lie along a loop, of which each may begin up to `skew` elements earlier."""
    if loop.extent.is_known:
        return Size(-(-(loop.extent.known + skew) // side))
    extent = open_.value(loop.extent)
    count = arith.ceildivui(extent, index_constant(side))
    if skew:
        zero = index_constant(0)
        count = arith.ceildivui(arith.addi(extent, index_constant(skew)), index_constant(side))
        is_empty = arith.cmpi(arith.CmpIPredicate.eq, extent, zero)
        count = arith.select(is_empty, zero, count)
    return open_.size_of(count)


def _blocks(tiles: TileShape, counts: tuple[Size, Size]) -> Size:
    """One for each tile."""
    return product([*counts, *(loop.extent for loop in tiles.batch)])


def _launch(tiles: Tiles | SkewedTiles, counts: tuple[Size, Size], kernels: Kernels) -> None:
    work = tiles.work
    name = f"{operation_name(work.op)}_transposed"

    def make(parameters: Parameters) -> TransposeKernel | SkewedKernel:
        if isinstance(tiles, SkewedTiles):
            return SkewedKernel(tiles, counts, parameters)
        return TransposeKernel(tiles, counts, parameters)

    kernel, made = kernels.of_work(work, tiles.threads, make, name, tiles.configuration.attribute)
    emit_launch(
        kernel,
        work.open.value(_blocks(tiles, counts)),
        tiles.threads,
        made.parameters.arguments(),
        made.shared.bytes,
    )
