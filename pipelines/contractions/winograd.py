"""Convolutions as matrix products of transformed tiles, with fewer multiplications (Winograd's).

A tile of results needs a tile of inputs. Both the inputs' tiles and the filters are multiplied by
small constant matrices along each dim of the window (minimal_filters.py); a result's transform is
the product, element by element and summed over channels: for each element of a tile a product of
matrices. A third matrix makes results of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product as each_of
from math import prod

from ...dialects import hir
from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..constants import float_constant
from ..fusion.access import Access, expression, linear_terms, zero
from ..fusion.fills import filled_with
from ..fusion.generic import (
    GENERIC,
    accesses_of,
    inputs_of,
    loop_count,
    make_generic,
    outs_of,
    reducing_loops,
    sums_products,
)
from ..fusion.region import Region
from ..generics import loop_index
from ..rewriting import constant, index_constant
from ..schedules.device import Device
from ..tensors import fill, reassociation_attribute
from .minimal_filters import (
    MOST_PRODUCTS,
    MOST_RESULTS,
    Matrix,
    MinimalFilter,
    minimal_filter,
)
from .reads import is_set_apart, padded_behind, read_behind

_F32_BYTES = 4


@dataclass(frozen=True)
class _Window:
    """A dim of the window: its loop and size, and those of the results along it."""

    along: int
    results: int
    loop: int
    size: int


@dataclass(frozen=True)
class _Convolution:
    """A convolution in steps of 1: its loops by what they are, outermost first, and their sizes.

    `batches` index the image and the weights, `images` the image alone, `filters` the weights
    alone; the sums are over `channels` and windows. `reads` are those of image, weights, result.
    """

    op: ir.Operation
    reads: tuple[Access, Access, Access]
    windows: tuple[_Window, ...]
    batches: tuple[int, ...]
    images: tuple[int, ...]
    filters: tuple[int, ...]
    channels: tuple[int, ...]
    sizes: Mapping[int, int]

    def count(self, loops: Sequence[int]) -> int:
        """Returns how many iterations loops have together."""
        return prod(self.sizes[loop] for loop in loops)

    @property
    def is_channels_last(self) -> bool:
        """Whether channels lie together in the image."""
        return self.reads[0].index[-1] in self.channels


# The results of a tile along each dim of the window.
_Tile = tuple[int, ...]


def transform_convolution(op: ir.Operation, device: Device) -> ir.Operation | None:
    """Replaces a convolution, a linalg.generic in f32, by products of what is transformed.

    Returns the operation that makes the results of them; None where the convolution is another, or
    takes no longer than these.
    """
    convolution = _read(op)
    tile = None if convolution is None else _best_tile(convolution, device)
    if convolution is None or tile is None:
        return None
    with op.location, ir.InsertionPoint(op):
        made = _Emitter(convolution, tile).emit()
    op.results[0].replace_all_uses_with(made.results[0])
    op.erase()
    return made


def _read(op: ir.Operation) -> _Convolution | None:
    if not sums_products(op) or len(inputs_of(op)) != 2 or is_set_apart(op, 0):
        return None
    image, weights, result = accesses_of(op)
    kinds = [ir.RankedTensorType(each.value.type) for each in (image, weights, result)]
    is_f32 = all(str(kind.element_type) == "f32" for kind in kinds)
    if not is_f32 or not all(kind.has_static_shape for kind in kinds):
        return None
    if not all(isinstance(each, int) for each in (*weights.index, *result.index)):
        return None
    sizes = {
        each: size
        for read, kind in zip((image, weights, result), kinds, strict=True)
        for each, size in zip(read.index, kind.shape, strict=True)
        if isinstance(each, int)
    }
    if len(sizes) != loop_count(op) or not all(sizes.values()):
        return None
    reducing = set(reducing_loops(op))
    windows: list[_Window] = []
    for each in image.index:
        if isinstance(each, int):
            continue
        linear = linear_terms(each)
        if linear is None or linear[0] or sorted(linear[1].values()) != [1, 1]:
            return None
        loop, along = sorted(linear[1], key=lambda loop: loop not in reducing)
        if loop not in reducing or along in reducing:
            return None
        windows.append(_Window(along, sizes[along], loop, sizes[loop]))
    inner = {loop for each in windows for loop in (each.along, each.loop)}
    in_image, in_weights = set(image.loops), set(weights.loops)
    if inner & in_image or any(each.along in in_weights for each in windows):
        return None
    if len(inner) != 2 * len(windows) or not windows:
        return None
    parallel = [loop for loop in result.loops if loop not in inner]
    channels = tuple(loop for loop in weights.loops if loop in reducing and loop not in inner)
    filters = tuple(loop for loop in parallel if loop not in in_image)
    if not in_image >= set(channels) or reducing - inner - set(channels):
        return None
    if not channels or not filters:
        return None  # There are no matrices to multiply.
    return _Convolution(
        op,
        (image, weights, result),
        tuple(windows),
        tuple(loop for loop in parallel if loop in in_image and loop in in_weights),
        tuple(loop for loop in parallel if loop not in in_weights),
        filters,
        channels,
        sizes,
    )


def _best_tile(convolution: _Convolution, device: Device) -> _Tile | None:
    """Returns the tile by which the products take least, if it is less than the convolution does.

    A dim with windows of one element is not transformed.
    """
    table = device.tables.winograd
    best, least = None, _direct_seconds(convolution, device) * table.most_share
    for tile in _tiles(convolution):
        seconds = _seconds(convolution, tile, device)
        if seconds < least:
            best, least = tile, seconds
    return best


def _tiles(convolution: _Convolution) -> Iterator[_Tile]:
    """Yields the tiles that need no more products than a thread holds."""
    each = [
        [1] if window.size == 1 else _results_of_tiles(window) for window in convolution.windows
    ]
    for tile in each_of(*each):
        if 1 < prod(_products(convolution, tile)) <= MOST_PRODUCTS**2:
            yield tile


def _results_of_tiles(window: _Window) -> range:
    most = min(window.results, MOST_RESULTS, MOST_PRODUCTS + 1 - window.size)
    return range(2, most + 1)


def _products(convolution: _Convolution, tile: _Tile) -> list[int]:
    """Returns how many products there are along each dim of the window."""
    return [size + window.size - 1 for size, window in zip(tile, convolution.windows, strict=True)]


def _direct_seconds(convolution: _Convolution, device: Device) -> float:
    return 2 * convolution.count(list(convolution.sizes)) / device.tables.winograd.flops


def _seconds(convolution: _Convolution, tile: _Tile, device: Device) -> float:
    """Returns how long transforms and products take, each at the arithmetic's or the memory's rate.

    What the second-level cache keeps is counted as read from memory.
    """
    count, table = convolution.count, device.tables.winograd
    each = prod(_products(convolution, tile))
    windows = convolution.windows
    tiles = prod(-(-window.results // size) for window, size in zip(windows, tile, strict=True))
    batches, images = count(convolution.batches), count(convolution.images)
    filters, channels = count(convolution.filters), count(convolution.channels)
    image, weights, result = (
        prod(ir.RankedTensorType(read.value.type).shape) for read in convolution.reads
    )
    inputs = each * batches * channels * images * tiles
    outputs = each * batches * filters * images * tiles
    factors = each * batches * filters * channels
    rate = device.bandwidth * table.bandwidth_share / _F32_BYTES
    products = max(2 * inputs * filters / table.flops, (inputs + factors + outputs) / rate)
    moved = image + inputs + weights + factors + outputs + result
    return products + moved / rate + 3 * table.launch_seconds


class _Emitter:
    """Emits the three transforms and the product.

    Transformed tensors have the elements of a tile as their first dims, then batches, then rows and
    columns of a matrix: filters and channels, channels and tiles; the other way round where
    channels lie together in the image.
    """

    def __init__(self, convolution: _Convolution, tile: _Tile) -> None:
        self._of, self._tile = convolution, tile
        self._products = _products(convolution, tile)
        # The dims of a window that are transformed.
        self._dims = [dim for dim, size in enumerate(self._products) if size > 1]

    def emit(self) -> ir.Operation:
        """Returns the operation that makes the results."""
        of = self._of
        tiles = [*of.images, *(window.along for window in of.windows)]
        inner, outer = of.channels, of.filters
        rows, columns = (tiles, outer) if of.is_channels_last else (outer, tiles)
        image = [tiles, inner] if of.is_channels_last else [inner, tiles]
        weights = [inner, outer] if of.is_channels_last else [outer, inner]
        tiles_ = self._transform_inputs([loop for group in image for loop in group])
        filters = self._transform_filters([loop for group in weights for loop in group])
        first, second = self._collapsed(tiles_, image), self._collapsed(filters, weights)
        if not of.is_channels_last:
            first, second = second, first
        summed = self._multiplied(first, second)
        return self._transform_results(self._expanded(summed, rows, columns), [*rows, *columns])

    def _size(self, loop: int) -> int:
        """Returns the iterations of a loop, of tiles along the results of windows."""
        for window, size in zip(self._of.windows, self._tile, strict=True):
            if loop == window.along:
                return -(-window.results // size)
        return self._of.sizes[loop]

    def _transform_inputs(self, order: Sequence[int]) -> ir.Value:
        """Returns the tiles of the image, each multiplied along its dims."""
        of, matrices = self._of, self._matrices(lambda each: each.inputs)
        names = _Names(self._dims, [*of.batches, *order])
        index = list(of.reads[0].index)
        windows = iter(range(len(of.windows)))
        for place, each in enumerate(index):
            if isinstance(each, int):
                index[place] = names.of[each]
                continue
            dim = next(windows)
            index[place] = tile = names.of[of.windows[dim].along]
            if dim in self._dims:
                first = expression(tile) * self._tile[dim]
                index[place] = first + expression(names.columns[dim])
        made = self._transformed(Access(self._image(), tuple(index)), names, matrices)
        return read_behind(made, apart=False).results[0]

    def _image(self) -> ir.Value:
        """Returns the image, with zeros behind it where the last tiles need them."""
        of, image = self._of, self._of.reads[0]
        windows = iter(zip(of.windows, self._tile, strict=True))
        more: list[int] = []
        for each in image.index:
            if isinstance(each, int):
                more.append(0)
                continue
            window, size = next(windows)
            more.append(-window.results % size)
        return padded_behind(image.value, more) if any(more) else image.value

    def _transform_filters(self, order: Sequence[int]) -> ir.Value:
        of, matrices = self._of, self._matrices(lambda each: each.filter)
        names = _Names(self._dims, [*of.batches, *order])
        loops = {window.loop: dim for dim, window in enumerate(of.windows)}
        index = tuple(
            names.of[each]
            if each not in loops
            else (names.columns[loops[each]] if loops[each] in self._dims else zero())
            for each in of.reads[1].loops
        )
        return self._transformed(Access(of.reads[1].value, index), names, matrices).results[0]

    def _transform_results(self, sums: ir.Value, order: Sequence[int]) -> ir.Operation:
        """Makes results of their tiles' transforms, added to what the convolution adds to."""
        of, matrices = self._of, self._matrices(lambda each: each.outputs)
        loops = of.reads[2].loops
        place = {loop: number for number, loop in enumerate(loops)}
        columns = {dim: len(loops) + number for number, dim in enumerate(self._dims)}
        rows = {dim: _Row(place[of.windows[dim].along], self._tile[dim]) for dim in self._dims}
        tiles = {of.windows[dim].along: rows[dim].tile for dim in self._dims}
        read = (
            *columns.values(),
            *(tiles.get(each, place[each]) for each in [*of.batches, *order]),
        )
        result = Access(outs_of(of.op)[0], tuple(range(len(loops))))
        inputs = [Access(sums, read)]
        scalar = filled_with(result.value)
        if scalar is None or float_constant(scalar) != 0:
            inputs.append(result)
        result = replace(result, value=_empty(ir.RankedTensorType(result.value.type).shape))
        return _weighted(inputs, result, rows, columns, matrices)

    def _transformed(
        self, read: Access, names: _Names, matrices: Mapping[int, Matrix]
    ) -> ir.Operation:
        own = [self._products[dim] for dim in self._dims]
        shape = [*own, *map(self._size, names.of)]
        result = Access(_empty(shape), tuple(range(len(shape))))
        return _weighted([read], result, names.rows, names.columns, matrices)

    def _matrices(self, of: Callable[[MinimalFilter], Matrix]) -> dict[int, Matrix]:
        return {
            dim: of(minimal_filter(self._tile[dim], self._of.windows[dim].size))
            for dim in self._dims
        }

    def _collapsed(self, value: ir.Value, groups: Sequence[Sequence[int]]) -> ir.Value:
        """Returns a transformed tensor as matrices."""
        sizes = [prod(map(self._size, group)) for group in groups]
        kind = _tensor([self._matrix_count, *sizes])
        return _reshaped("tensor.collapse_shape", value, kind, self._grouped(groups))

    def _expanded(self, value: ir.Value, *groups: Sequence[int]) -> ir.Value:
        loops = [*self._of.batches, *(loop for group in groups for loop in group)]
        shape = [*(self._products[dim] for dim in self._dims), *map(self._size, loops)]
        return _reshaped("tensor.expand_shape", value, _tensor(shape), self._grouped(groups))

    def _grouped(self, groups: Sequence[Sequence[int]]) -> list[list[int]]:
        """Returns the dims of a transformed tensor that are one dim each of the matrices."""
        first = len(self._dims) + len(self._of.batches)
        dims = [list(range(first))]
        for group in groups:
            dims.append(list(range(first, first + len(group))))
            first += len(group)
        return dims

    @property
    def _matrix_count(self) -> int:
        return prod(self._products) * self._of.count(self._of.batches)

    def _multiplied(self, first: ir.Value, second: ir.Value) -> ir.Value:
        count, rows, _ = ir.RankedTensorType(first.type).shape
        columns = ir.RankedTensorType(second.type).shape[2]
        zeros = fill(constant(ir.F32Type.get(), 0.0), _empty([count, rows, columns]))
        return _batches_multiplied(first, second, zeros)


@dataclass(frozen=True)
class _Row:
    """The row of a matrix: the rest of a loop of results by the `size` of tiles."""

    loop: int
    size: int

    @property
    def tile(self) -> ir.AffineExpr:
        """The number of the tile."""
        return ir.AffineExpr.get_floor_div(ir.AffineExpr.get_dim(self.loop), self.size)

    @property
    def rest(self) -> ir.AffineExpr:
        """The place within the tile."""
        return ir.AffineExpr.get_mod(ir.AffineExpr.get_dim(self.loop), self.size)

    def emit(self) -> ir.Value:
        """Emits the place, in a region."""
        return arith.remui(loop_index(self.loop), index_constant(self.size))


class _Names:
    """The loops of a transform of inputs: `rows` of the matrices, then others, then `columns`."""

    def __init__(self, dims: Sequence[int], loops: Sequence[int]) -> None:
        self.rows = {dim: number for number, dim in enumerate(dims)}
        self.of = {loop: len(dims) + number for number, loop in enumerate(loops)}
        first = len(dims) + len(loops)
        self.columns = {dim: first + number for number, dim in enumerate(dims)}


def _weighted(
    inputs: Sequence[Access],
    result: Access,
    rows: Mapping[int, int | _Row],
    columns: Mapping[int, int],
    matrices: Mapping[int, Matrix],
) -> ir.Operation:
    """Returns the operation that multiplies the first input by a matrix along each dim.

    `rows` and `columns` of a dim's matrix are loops of the result, and those that are summed over.
    The second input, if there is one, is added.
    """
    loops = len(result.index) + len(columns)
    region = Region()
    element, *more = [region.input(each, loops) for each in inputs]
    # These say how many iterations loops have, and no more.
    if not {loop for each in inputs for loop in each.loops} >= set(columns.values()):
        sizes = [len(matrices[dim][0]) for dim in columns]
        region.input(Access(_empty(sizes), tuple(columns.values())), loops)
    within = [each for each in rows.values() if isinstance(each, _Row)]
    if within:
        shape = _empty([each.size for each in within])
        region.input(Access(shape, tuple(each.rest for each in within)), loops)
    with ir.InsertionPoint(region.block):
        for dim, matrix in matrices.items():
            element = arith.mulf(element, _element(matrix, rows[dim], columns[dim]))
        total = ir.Operation.create(
            hir.ReduceLoopsOp.OPERATION_NAME,
            results=[element.type],
            operands=[element],
            attributes={
                "kind": ir.StringAttr.get("addf"),
                "loops": ir.DenseI64ArrayAttr.get(list(columns.values())),
            },
        ).results[0]
        for each in more:
            total = arith.addf(total, each)
    region.finish([result], [total])
    columns_ = list(columns.values())
    return make_generic(region.inputs, [result], loops, columns_, region.block, of=[])


def _element(matrix: Matrix, row: int | _Row, column: int) -> ir.Value:
    """Emits a matrix's element, in a column that is a loop."""
    f32 = ir.F32Type.get()
    shape = [len(matrix), len(matrix[0])]
    numbers = [ir.FloatAttr.get(f32, float(each)) for line in matrix for each in line]
    return ir.Operation.create(
        hir.MatrixElementOp.OPERATION_NAME,
        results=[f32],
        operands=[
            row.emit() if isinstance(row, _Row) else loop_index(row),
            loop_index(column),
        ],
        attributes={
            "matrix": ir.DenseElementsAttr.get(numbers, ir.RankedTensorType.get(shape, f32))
        },
    ).results[0]


def _batches_multiplied(first: ir.Value, second: ir.Value, begin: ir.Value) -> ir.Value:
    """Returns the product of each matrix of one tensor by that of another, added to a third."""
    batch, row, column, term = (ir.AffineExpr.get_dim(loop) for loop in range(4))
    maps = [
        ir.AffineMap.get(4, 0, each)
        for each in ([batch, row, term], [batch, term, column], [batch, row, column])
    ]
    kinds = [*["parallel"] * 3, "reduction"]
    made = ir.Operation.create(
        GENERIC,
        results=[begin.type],
        operands=[first, second, begin],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps]),
            "iterator_types": ir.ArrayAttr.get(
                [ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in kinds]
            ),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([2, 1]),
        },
        regions=1,
    )
    f32, location = ir.F32Type.get(), made.location
    block = made.regions[0].blocks.append(f32, f32, f32, arg_locs=[location] * 3)
    with ir.InsertionPoint(block):
        one, other, sums = block.arguments
        total = arith.addf(sums, arith.mulf(one, other))
        ir.Operation.create("linalg.yield", operands=[total])
    return made.results[0]


def _tensor(shape: Sequence[int]) -> ir.RankedTensorType:
    return ir.RankedTensorType.get(list(shape), ir.F32Type.get())


def _empty(shape: Sequence[int]) -> ir.Value:
    return ir.Operation.create("tensor.empty", results=[_tensor(shape)]).results[0]


def _reshaped(
    name: str, value: ir.Value, kind: ir.Type, groups: Sequence[Sequence[int]]
) -> ir.Value:
    """Returns a tensor with dims made one in groups, or one of each group split into its dims."""
    attributes: dict[str, ir.Attribute] = {"reassociation": reassociation_attribute(groups)}
    if name == "tensor.expand_shape":
        shape = list(ir.RankedTensorType(kind).shape)
        attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get(shape)
    return ir.Operation.create(name, [kind], [value], attributes).results[0]
