"""Convolutions and products whose terms lie apart, on copies in which they lie together.

Tensor cores then read several terms at a time; warpgroups require it, except of elements of 16
bits. The terms of a convolution are channels. The copies are transposes of tensors before these are
padded or spread out among zeros: fusion makes them part of the operations that compute the tensors.
Rows of channels that are no multiple of 16 bytes become wider later (rows.py), for boxes alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.access import Access, Coordinate, expression, linear_terms, reassociation
from ..fusion.fills import filled_with
from ..fusion.generic import accesses_of, inputs_of, loop_extents, reducing_loops
from ..rewriting import constant
from ..schedules.elements import SECTOR_BYTES, element_bytes
from ..schedules.warpgroup_matrices import MOST_DIMS, ROW_BYTES
from ..tensors import copied_to, dims_in_runs, expanded, fill, padded
from ..walking import made_by
from .chunks import Chunks, lay_in_chunks, operations, read_chunks
from .edges import bare, is_padded_with_one
from .operands import read_from
from .thinning import thinned

# The width of copies to shared memory, the least that threads copy without registers, and the bytes
# of elements that warpgroups read across terms.
TOGETHER_BYTES, _PAIR_BYTES, _TURNED_BYTES = 16, 4, 2
# Seconds on an H200: for an element of a tile that passes through registers alone, and as much
# again where those are few, up to a limit; for an operation of a sum where ordinary cores multiply
# elements of 8 bits, or of f32 (29 to 42 TFLOP/s of three windows), where threads copy
# several terms together, and in boxes, by elements' bytes. Of pairs of 16 bits across terms: of ten
# images with odd rows, eight took 0.38 to 0.90 of the time that copies with rows of channels took,
# and two 1.04 and 1.22.
SINGLE, _MOST_LATENCY, _OF_PAIRS = 1.5e-12, 10e-6, 0.5e-12
# The same for a row of a step in boxes: 3 cycles of a multiprocessor for whole ones, and as much
# more as rows are shorter, up to 12 for those of a sector.
_ROW = 1.3e-11
_ORDINARY, TOGETHER = {4: 2.6e-14, 1: 1.7e-14}, 5e-15
IN_BOXES = {4: 4e-15, 2: 2e-15, 1: 1e-15}
# The rows of whole steps in the time of one that goes beyond the end of a row: within a sector (2.4
# to 3.2, of 33 to 112 channels to 128 by 3x3), and not (1.5 to 2.1).
_PAST_END, _PAST_SECTORS = 3.0, 1.8
# The side of the tiles of those, and the least columns of boxes.
SIDE, LEAST_COLUMNS = 128, 64
# The same for a byte of a copy, for one that is filled, and for another kernel.
COPIED, _FILLED, KERNEL = 0.6e-12, 0.35e-12, 3e-6


@dataclass(frozen=True)
class _Operand:
    """An operand of a convolution, and the order of its dims in which channels are last."""

    number: int
    access: Access
    order: tuple[int, ...]

    def is_last(self, *, are_whole: bool) -> bool:
        """Whether channels are last already; if rows of them `are_whole`, but for dims of size 1.

        Others become wider, which takes a last dim.
        """
        shape = ir.RankedTensorType(self.access.value.type).shape
        moved = [dim for dim in self.order if shape[dim] != 1 or not are_whole]
        return moved == sorted(moved)


def lay_channels_together(op: ir.Operation, *, has_boxes: bool = False) -> None:
    """Makes a convolution or product, a linalg.generic, read transposed copies of its operands.

    The copies have channels or terms last, or chunks of few channels (chunks.py). Does nothing
    where they take longer than they save. Rows of channels are multiples of 16 bytes, unless the
    chip `has_boxes` (TMA) to read them in.
    """
    reads = accesses_of(op)[: len(inputs_of(op))]
    channel = _channel(op, reads)
    if channel is None:
        return
    rows = _copies_in_rows(op, reads, channel, has_boxes=has_boxes)
    if prod(loop_extents(op)[loop] for loop in _own_columns(op, reads)) == 1:
        # Tensor cores multiply no single column: only what takes no copy is read otherwise.
        if rows is not None and rows.moves_image:
            return
    elif has_boxes and not any(_is_set_apart(read.value) for read in reads):
        # A copy takes those places alone that are read; what is not copied is read as it is.
        if rows is not None and rows.moves_image:
            thin = thinned(op, but_inner=True)
            if thin is not None:
                rows = _copies_in_rows(op, (thin, reads[1]), channel, has_boxes=has_boxes)
        thin = thinned(op)
        if thin is not None:
            read_from(op, 0, thin)
        chunks = read_chunks(op, channel)
        if chunks is not None and _is_less_in_chunks(chunks, rows):
            lay_in_chunks(chunks)
            return
        if thin is not None:
            read_from(op, 0, reads[0])
    if rows is None or not rows.pay:
        return
    with op.location, ir.InsertionPoint(op):
        for each in rows.copied:
            index = tuple(each.access.index[dim] for dim in each.order)
            copy = _permuted(each.access.value, each.order)
            read_from(op, each.number, Access(copy, index))


@dataclass(frozen=True)
class _Rows:
    """The operands that are copied so that channels come last, and seconds: with such rows, and
    without.
    """

    copied: tuple[_Operand, ...]
    seconds: float
    apart: float

    @property
    def pay(self) -> bool:
        return bool(self.copied) and self.seconds < self.apart

    @property
    def moves_image(self) -> bool:
        """Whether the image is copied, and not read where a copy of the program took it from."""
        return any(
            each.number == 0 and not _lies_so(each.access.value, each.order) for each in self.copied
        )


def _copies_in_rows(
    op: ir.Operation, reads: Sequence[Access], channel: int, *, has_boxes: bool
) -> _Rows | None:
    """Returns what is to be copied so that channels come last; None where none can be read so."""
    row = _extent(reads[1], channel) * _bytes(reads[1])
    in_boxes = has_boxes and _are_for_boxes(reads)
    are_whole = row % TOGETHER_BYTES == 0
    # Shorter rows than a sector would become far too wide.
    if not are_whole and not (in_boxes and row >= SECTOR_BYTES):
        return None
    image, weights = (
        _Operand(number, read, _order(op, number, channel)) for number, read in enumerate(reads)
    )
    read = [image, weights]
    if has_boxes and _is_whole_as_it_is(op, reads[0], channel):
        read.remove(image)
    copied = [each for each in read if not each.is_last(are_whole=are_whole)]
    # To wider rows what has channels last is copied too.
    costs = [
        _source_kind(each.access.value)
        for each in read
        if not are_whole or (each in copied and not _lies_so(each.access.value, each.order))
    ]
    own = _own_columns(op, reads)
    if not own or 0 in loop_extents(op).values():
        return None
    product = _product(op, channel, own)
    together = _seconds_together(product, costs, in_boxes=in_boxes) + _seconds_of_copies(costs)
    in_pairs = _is_whole_as_it_is(op, reads[0], channel, _PAIR_BYTES)
    return _Rows(tuple(copied), together, _seconds_apart(product, in_pairs=in_pairs))


def _own_columns(op: ir.Operation, reads: Sequence[Access]) -> set[int]:
    """Returns the loops of results that the second operand alone has."""
    return set(reads[1].loops) - set(reads[0].loops) - set(reducing_loops(op))


def _is_less_in_chunks(chunks: Chunks, rows: _Rows | None) -> bool:
    """Returns whether a convolution takes least time on copies in chunks."""
    op = chunks.op
    reads = accesses_of(op)[:2]
    own = _own_columns(op, reads)
    if not own:
        return False
    kinds = [_source_kind(each.value) for each in reads]
    more = chunks.number * chunks.count / _extent(reads[1], chunks.channel)
    copies = _seconds_of_copies(kinds, more)
    found = operations(chunks) * IN_BOXES[_bytes(reads[0])] + copies
    apart = _seconds_apart(_product(op, chunks.channel, own))
    return found < (apart if rows is None else min(apart, rows.seconds))


def _channel(op: ir.Operation, reads: Sequence[Access]) -> int | None:
    """Returns the loop of the channels: summed over, and a dim of both operands."""
    kinds = [ir.RankedTensorType(read.value.type) for read in reads]
    if not all(kind.has_static_shape for kind in kinds):
        return None
    first, second = (set(read.loops) for read in reads)
    both = [loop for loop in reducing_loops(op) if loop in first and loop in second]
    if len(both) != 1 or any(not isinstance(each, int) for each in reads[1].index):
        return None
    return both[0] if _extent(reads[1], both[0]) else None


def _extent(read: Access, loop: int) -> int:
    return ir.RankedTensorType(read.value.type).shape[read.index.index(loop)]


def _are_for_boxes(reads: Sequence[Access]) -> bool:
    """Returns whether boxes of both operands may be read: these have few dims, and elements of
    images are not set apart, which threads alone copy.
    """
    image, weights = reads
    # Loops of results that the weights alone have become one dim where they follow one another.
    alone = [not isinstance(each, int) or each in image.loops for each in weights.index]
    dims = sum(each or place == 0 or alone[place - 1] for place, each in enumerate(alone))
    return max(len(image.index), dims) <= MOST_DIMS and not any(
        _is_set_apart(read.value) for read in reads
    )


def _is_whole_as_it_is(
    op: ir.Operation, image: Access, channel: int, together: int = TOGETHER_BYTES
) -> bool:
    """Returns whether an image is copied so many bytes at a time where its channels lie apart: each
    result reads one place of it. Warpgroups read what is copied so 16 bytes at a time.
    """
    value, extents = image.value, loop_extents(op)
    while (mover := _mover(value)) is not None and mover.name == "tensor.expand_shape":
        value = mover.operands[0]
    if mover is not None or _is_every(value):
        return False
    for each in image.index:
        linear = linear_terms(expression(each))
        if linear is None or linear[0]:
            return False
        moving = [by for loop, by in linear[1].items() if extents.get(loop) != 1]
        if len(moving) > 1 or any(by != 1 for by in moving):
            return False
    return is_whole_across(image, channel, together)


def is_whole_across(read: Access, channel: int, together: int = TOGETHER_BYTES) -> bool:
    """Returns whether rows across the terms, of 16-bit elements, are multiples of so many bytes, of
    what is copied together.
    """
    shape = ir.RankedTensorType(read.value.type).shape
    row = prod(shape[read.index.index(channel) + 1 :])
    return _bytes(read) == _TURNED_BYTES and row > 1 and row * _bytes(read) % together == 0


def _is_set_apart(value: ir.Value) -> bool:
    op = _mover(value)
    if op is None:
        return False
    if op.name == "tensor.insert_slice" and any(
        step != 1 for step in ir.DenseI64ArrayAttr(op.attributes["static_strides"])
    ):
        return True
    return _is_set_apart(op.operands[0])


def _is_every(value: ir.Value) -> bool:
    """Returns whether a tensor has every so many'th element of another one."""
    op = made_by(value, "tensor.extract_slice")
    return op is not None and any(
        step != 1 for step in ir.DenseI64ArrayAttr(op.attributes["static_strides"])
    )


def _bytes(read: Access) -> int:
    return element_bytes(ir.RankedTensorType(read.value.type).element_type)


def _order(op: ir.Operation, number: int, channel: int) -> tuple[int, ...]:
    """Returns the dims by what they are: windows and their places, an image's groups, channels."""
    image, weights = accesses_of(op)[:2]
    reducing = set(reducing_loops(op))
    is_product = all(isinstance(each, int) for each in image.index)

    def key(each: Coordinate) -> int:
        if each == channel:
            return 3
        if is_product:
            return 0
        if not isinstance(each, int) or each in reducing:
            return 1
        return 2 if number == 0 and each in weights.loops else 0

    index = (image, weights)[number].index
    return tuple(sorted(range(len(index)), key=lambda dim: (key(index[dim]), dim)))


def pays(
    op: ir.Operation,
    channel: int,
    columns: Iterable[int],
    copied: Sequence[ir.RankedTensorType],
    *,
    in_boxes: bool = True,
) -> bool:
    """Returns whether a product takes so much less time that copies are worth theirs.

    Those are of tensors of the types `copied`. The loop `channel` of terms is then read in rows,
    by the copy engine `in_boxes`, or by threads; `columns` are the loops of results that the second
    operand alone has.
    """
    if 0 in loop_extents(op).values():
        return False
    product = _product(op, channel, columns)
    together = _seconds_together(product, copied, in_boxes=in_boxes)
    return _seconds_apart(product) - together > _seconds_of_copies(copied)


def _seconds_apart(product: _Product, *, in_pairs: bool = False) -> float:
    """Returns how long a product takes where channels lie apart, and the image is copied in pairs
    of elements across them, or one by one.
    """
    if product.size in _ORDINARY:
        return product.operations * _ORDINARY[product.size]
    if in_pairs:
        return product.terms * product.copies * _OF_PAIRS
    single = product.terms * product.copies * SINGLE
    return single + min(single, _MOST_LATENCY)


def _seconds_together(
    product: _Product, copied: Sequence[ir.RankedTensorType], *, in_boxes: bool
) -> float:
    """Returns how long it takes where they lie in rows; of the types `copied` are tensors that get
    such rows.
    """
    if not in_boxes:
        return product.operations * TOGETHER
    whole, rest = divmod(product.channels * product.size, ROW_BYTES)
    steps = whole + (ROW_BYTES // SECTOR_BYTES / -(-rest // SECTOR_BYTES) if rest else 0)
    found = product.in_boxes(steps)
    return min(found, _in_whole_rows(product, copied)) if whole else found


def _seconds_of_copies(copied: Sequence[ir.RankedTensorType], more: float = 1) -> float:
    """Returns how long copies take to so many times as many elements."""
    bytes_ = sum(prod(kind.shape) * element_bytes(kind.element_type) for kind in copied)
    return COPIED * bytes_ * more + KERNEL * len(copied)


def pays_whole_rows(
    op: ir.Operation, channel: int, columns: Iterable[int], filled: Sequence[ir.RankedTensorType]
) -> bool:
    """Returns whether boxes with rows of whole steps save more time than zeros at their ends take.

    `filled` are the types of tensors that get such rows; else the arguments are those of `pays`.
    """
    if 0 in loop_extents(op).values():
        return False
    product = _product(op, channel, columns)
    whole, rest = divmod(product.channels * product.size, ROW_BYTES)
    # Rows of a part of a step alone would become far too wide.
    if not whole or not rest:
        return False
    past = _PAST_END if rest % SECTOR_BYTES else _PAST_SECTORS
    return product.in_boxes(whole + past) > _in_whole_rows(product, filled)


@dataclass(frozen=True)
class _Product:
    """What a product of rows and columns multiplies, of elements of so many bytes."""

    size: int
    rows: int
    columns: int
    terms: int
    channels: int

    @property
    def operations(self) -> int:
        return 2 * self.rows * self.columns * self.terms

    @property
    def copies(self) -> int:
        return tile_copies(self.rows, self.columns)

    def in_boxes(self, steps: float) -> float:
        """Returns the seconds it takes where rows of channels take so many steps to copy."""
        depth = ROW_BYTES // self.size
        filled = -(-self.channels // depth) * depth / self.channels
        filled *= -(-self.columns // LEAST_COLUMNS) * LEAST_COLUMNS / self.columns
        copied = self.copies * (self.terms // self.channels) * steps * _ROW
        return max(self.operations * filled * IN_BOXES[self.size], copied)


def _product(op: ir.Operation, channel: int, columns: Iterable[int]) -> _Product:
    extents, sums = loop_extents(op), reducing_loops(op)
    terms = prod(size for loop, size in extents.items() if loop in sums)
    width = prod(extents[loop] for loop in columns)
    rows = prod(size for loop, size in extents.items() if loop not in sums) // width
    size = element_bytes(ir.RankedTensorType(op.operands[0].type).element_type)
    return _Product(size, rows, width, terms, extents[channel])


def _in_whole_rows(product: _Product, filled: Sequence[ir.RankedTensorType]) -> float:
    """Returns the seconds with rows of whole steps, and for the zeros at the ends of those filled.

    Tensors with rows of whole steps, or that are copied to these.
    """
    steps = -(-product.channels * product.size // ROW_BYTES)
    rows = sum(prod(kind.shape) // product.channels for kind in filled)
    return product.in_boxes(steps) + _FILLED * ROW_BYTES * rows + KERNEL * len(filled)


def tile_copies(rows: int, columns: int) -> int:
    """Returns how many rows and columns all tiles of results copy together, for each term."""
    return rows * -(-columns // SIDE) + columns * -(-rows // SIDE)


def _source_kind(value: ir.Value) -> ir.RankedTensorType:
    mover = _mover(value)
    return ir.RankedTensorType(value.type) if mover is None else _source_kind(mover.operands[0])


def _mover(value: ir.Value) -> ir.Operation | None:
    """Returns what makes a tensor by moving its first operand's elements, if a copy may do so."""
    if isinstance(value.owner, ir.Block):
        return None
    op = value.owner.operation
    if op.name not in ("tensor.expand_shape", "tensor.pad", "tensor.insert_slice"):
        return None
    source = ir.RankedTensorType(op.operands[0].type)
    if not source.has_static_shape:
        return None
    if op.name == "tensor.expand_shape":
        return op
    if op.name == "tensor.pad":
        return op if is_padded_with_one(op) else None
    is_filled = len(op.operands) == 2 and filled_with(op.operands[1]) is not None
    return op if is_filled and source.rank == ir.RankedTensorType(value.type).rank else None


def _permuted(value: ir.Value, order: Sequence[int]) -> ir.Value:
    """Returns a tensor with its dims in another order, made as `value` is of a transposed copy."""
    kind = ir.RankedTensorType(value.type)
    made = ir.RankedTensorType.get([kind.shape[dim] for dim in order], kind.element_type)
    op = _mover(value)
    if op is None:
        return _transposed(value, made, order)
    source = op.operands[0]
    if op.name == "tensor.pad":
        return _padded(op, _permuted(source, order), made, order)
    if op.name == "tensor.insert_slice":
        return _inserted(op, _permuted(source, order), made, order)
    inside, lows, highs = bare(value)
    if any((*lows, *highs)):
        # Zeros around channels that are divided into groups stay around their copy.
        low, high = ([each[dim] for dim in order] for each in (lows, highs))
        zero = constant(kind.element_type, 0)
        return padded(_permuted(inside, order), made, low, high, zero)
    groups = reassociation(op)
    sources = _group_order(groups, order)
    row = kind.shape[order[-1]] * element_bytes(kind.element_type)
    if sources is None or row % TOGETHER_BYTES:
        return _transposed(value, made, order)
    dims = dims_in_runs([len(groups[group]) for group in sources])
    return expanded(_permuted(source, sources), made, dims)


def _group_order(groups: Sequence[Sequence[int]], order: Sequence[int]) -> list[int] | None:
    """Returns the order of groups of dims in which the dims have theirs; None where one is torn
    apart.
    """
    owner = {dim: number for number, group in enumerate(groups) for dim in group}
    sources = list(dict.fromkeys(owner[dim] for dim in order))
    return sources if [dim for each in sources for dim in groups[each]] == list(order) else None


def _transposed(value: ir.Value, kind: ir.RankedTensorType, order: Sequence[int]) -> ir.Value:
    copy = made_by(value, "linalg.transpose")
    if copy is not None and _is_undone(copy, order):
        return copy.operands[0]
    return copied_to(_empty(kind), value, order)


def _lies_so(value: ir.Value, order: Sequence[int]) -> bool:
    """Returns whether a tensor's dims are in another order because a copy of the program has
    reordered those of its input: no copy is needed then.
    """
    op = _mover(value)
    if op is None:
        copy = made_by(value, "linalg.transpose")
        return copy is not None and _is_undone(copy, order)
    if op.name != "tensor.expand_shape":
        return _lies_so(op.operands[0], order)
    sources = _group_order(reassociation(op), order)
    return sources is not None and _lies_so(op.operands[0], sources)


def _is_undone(copy: ir.Operation, order: Sequence[int]) -> bool:
    """Returns whether dims in an order are as they were before a transposition."""
    permutation = list(ir.DenseI64ArrayAttr(copy.attributes["permutation"]))
    return [permutation[dim] for dim in order] == list(range(len(order)))


def _empty(kind: ir.Type) -> ir.Value:
    return ir.Operation.create("tensor.empty", results=[kind]).results[0]


def _padded(
    op: ir.Operation, source: ir.Value, kind: ir.RankedTensorType, order: Sequence[int]
) -> ir.Value:
    low, high = (_reordered(op, name, order) for name in ("static_low", "static_high"))
    zero = list(op.regions[0].blocks[0])[-1].operation.operands[0]
    return padded(source, kind, low, high, zero)


def _inserted(
    op: ir.Operation, source: ir.Value, kind: ir.RankedTensorType, order: Sequence[int]
) -> ir.Value:
    filling = filled_with(op.operands[1])
    assert filling is not None
    zeros = fill(filling, _empty(kind))
    places = {
        name: ir.DenseI64ArrayAttr.get(_reordered(op, name, order))
        for name in ("static_offsets", "static_sizes", "static_strides")
    }
    return ir.Operation.create(
        "tensor.insert_slice",
        results=[kind],
        operands=[source, zeros],
        attributes={**places, "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, 0, 0, 0])},
    ).results[0]


def _reordered(op: ir.Operation, name: str, order: Sequence[int]) -> list[int]:
    numbers = list(ir.DenseI64ArrayAttr(op.attributes[name]))
    return [numbers[dim] for dim in order]
