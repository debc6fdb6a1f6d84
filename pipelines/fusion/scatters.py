"""What a scatter reads: in the loops that made it, and computed where it is read.

torch-mlir puts all updates into one row, and the places of each into a row of a tensor.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..constants import constant_value
from ..tensors import dim_of
from .access import Access, Coordinate, is_zero, loops_in, reassociation, through_views, zero
from .generic import (
    GENERIC,
    accesses_of,
    inputs_of,
    loop_count,
    make_generic,
    reducing_loops,
)
from .node import read_node
from .normalize import is_normal
from .region import Region
from .sizes import Size, Sizes, without_casts
from .validity import MAX_OPERANDS

SCATTER = "hir.scatter"
# Of arith.cmpi: without a sign, below.
_BELOW = 6
_VIEWS = ("tensor.cast", "tensor.expand_shape", "tensor.collapse_shape")


def is_scatter(op: ir.Operation) -> bool:
    """Returns whether a linalg.generic writes elements to computed places."""
    return op.name == GENERIC and any(
        inner.operation.name == SCATTER for inner in op.regions[0].blocks[0]
    )


@dataclass(frozen=True)
class Scattered:
    """What a scatter reads in each iteration of its loops: an update, and numbers of its place.

    `windows` has the loop along each dim of the window that a place is the beginning of; None
    where that is of size 1.
    """

    loops: int
    update: Access
    places: tuple[Access, ...]
    windows: tuple[int | None, ...]


def read_scattered(updates: ir.Value, places: ir.Value) -> Scattered:
    """Returns how a tm_tensor.scatter reads updates and places.

    Dims that were made into one for it are loops of their own again, where all have the same.
    """
    windows: list[int | None] = []
    for size in ir.RankedTensorType(updates.type).shape[1:]:
        loops = sum(each is not None for each in windows)
        windows.append(None if size == 1 else 1 + loops)
    index = [zero() if each is None else each for each in windows]
    reads = [Access(updates, (0, *index)), *_columns(places)]
    reads = [through_views(each) for each in reads]
    count = 1
    spread = [_spread(each) for each in reads]
    dims = [[] if each is None else each[1] for each in spread]
    if len(set(map(len, dims))) == 1 and dims[0] and _are_same(reads, dims):
        count = len(dims[0])
        names = [None, *range(count, count + len(windows))]
        reads = [
            through_views(_in_loops(each, own, names))
            for each, own in zip(reads, dims, strict=True)
        ]
        windows = [None if each is None else each + count - 1 for each in windows]
    loops = count + sum(each is not None for each in windows)
    if not any(0 in loops_in(each) for read in reads for each in read.index):
        # One update, of which nothing is read along the loop over updates.
        names = [None, *range(loops - 1)]
        reads = [each.renamed(names) for each in reads]
        windows = [None if each is None else each - 1 for each in windows]
        loops -= 1
    return Scattered(loops, reads[0], tuple(reads[1:]), tuple(windows))


def _columns(places: ir.Value) -> list[Access]:
    """Returns the places' numbers along each axis, from what they were put together from."""
    count = ir.RankedTensorType(places.type).shape[1]
    pieces = _pieces(places)
    if pieces is not None and len(pieces) == count:
        return [Access(pieces[column], (0, zero())) for column in range(count)]
    return [Access(places, (0, ir.AffineExpr.get_constant(column))) for column in range(count)]


def _pieces(places: ir.Value) -> dict[int, ir.Value] | None:
    """Returns the tensors of one column each that a tensor is put together from."""
    found: dict[int, ir.Value] = {}
    while not isinstance(places.owner, ir.Block):
        op = places.owner.operation
        if op.name == "tensor.concat":
            is_each = all(ir.RankedTensorType(each.type).shape[1] == 1 for each in op.operands)
            whole = ir.IntegerAttr(op.attributes["dim"]).value == 1 and is_each and not found
            return dict(enumerate(op.operands)) if whole else None
        if op.name != "tensor.insert_slice":
            break
        column = _inserted_column(op)
        if column is None:
            return None
        found.setdefault(column, op.operands[0])
        places = op.operands[1]
    return found


def _inserted_column(op: ir.Operation) -> int | None:
    """Returns which column a tensor.insert_slice writes as a whole, or None."""
    first, column = ir.DenseI64ArrayAttr(op.attributes["static_offsets"])
    strides = list(ir.DenseI64ArrayAttr(op.attributes["static_strides"]))
    source, target = (ir.RankedTensorType(op.operands[place].type) for place in (0, 1))
    if source.rank != target.rank or first or column == DYNAMIC or strides != [1, 1]:
        return None
    sizes = Sizes(op.block)
    is_whole = sizes.of(op.operands[0], 0) == sizes.of(op.operands[1], 0)
    return column if is_whole and source.shape[1] == 1 else None


def _spread(read: Access) -> tuple[ir.Operation, list[int]] | None:
    """Returns the tensor.collapse_shape that made the dim of loop 0, and its dims before."""
    owner = read.value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "tensor.collapse_shape":
        return None
    op = owner.operation
    shape = ir.RankedTensorType(op.operands[0].type).shape
    for each, dims in zip(read.index, reassociation(op), strict=True):
        large = [dim for dim in dims if shape[dim] != 1]
        if each == 0 and len(large) > 1:
            return op, large
    return None


def _are_same(reads: Sequence[Access], dims: Sequence[list[int]]) -> bool:
    """Returns whether dims of what tensors were collapsed from certainly have the same sizes."""
    sources = [_source(each) for each in reads]
    sizes = Sizes(_block(reads[0]))
    return all(
        len({sizes.of(source, own[place]) for source, own in zip(sources, dims, strict=True)}) == 1
        for place in range(len(dims[0]))
    )


def _block(read: Access) -> ir.Block:
    owner = read.value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


def _source(read: Access) -> ir.Value:
    owner = read.value.owner
    assert not isinstance(owner, ir.Block)
    return owner.operation.operands[0]


def _in_loops(read: Access, own: Sequence[int], names: Sequence[int | None]) -> Access:
    """Returns the element of what a tensor was collapsed from: loop 0 is the first few there."""
    owner = read.value.owner
    assert not isinstance(owner, ir.Block)
    source = owner.operation.operands[0]
    index: list[Coordinate] = [zero()] * ir.RankedTensorType(source.type).rank
    shape = ir.RankedTensorType(source.type).shape
    for each, dims in zip(read.index, reassociation(owner.operation), strict=True):
        if each == 0:
            for loop, dim in enumerate(own):
                index[dim] = loop
            continue
        large = [dim for dim in dims if shape[dim] != 1]
        if large:
            name = names[each] if isinstance(each, int) else None
            index[large[0]] = each if name is None else name
    return Access(source, tuple(index))


def compute_where_scattered(op: ir.Operation) -> ir.Operation | None:
    """Replaces a scatter by one that computes what others make for it alone, and returns that.

    None where there is no such thing.

      %p = linalg.generic ... ins(%i) outs(%e) { select(cmpi slt, addi) }
      %y = linalg.generic ... ins(%u, %p) outs(%x) { hir.scatter }
    becomes
      %y = linalg.generic ... ins(%u, %i) outs(%x) { select(cmpi slt, addi), hir.scatter }
    """
    loops, inputs = loop_count(op), len(inputs_of(op))
    reads = [through_views(each) for each in accesses_of(op)[:inputs]]
    makers = _makers(op, reads)
    if not makers:
        return None
    with op.location, ir.InsertionPoint(op):
        region = Region()
        computed: dict[ir.Value, ir.Value] = {}
        for maker, names in makers.items():
            own = [
                region.input(each.renamed(names), loops)
                for each in accesses_of(maker)[: len(inputs_of(maker))]
            ]
            unread = [None] * len(maker.results)
            values = region.absorb(maker, [*own, *unread], names)
            computed.update(zip(maker.results, values, strict=True))
        missing = _missing(reads, makers, loops)
        if missing:
            region.input(_extents(missing, makers), loops)
        arguments = [
            computed[each.value] if each.value in computed else region.input(each, loops)
            for each in reads
        ]
        begun = [Access(each.value, each.index) for each in accesses_of(op)[inputs:]]
        there = [region.block.add_argument(_element(each.value), op.location) for each in begun]
        region.finish([], region.absorb(op, [*arguments, *there], list(range(loops))))
        new = make_generic(region.inputs, begun, loops, (), region.block, of=[op, *makers])
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()
    for maker in makers:
        _erase(maker)
    _drop_certain_checks(new)
    return new


def _drop_certain_checks(op: ir.Operation) -> None:
    """Drops assertions that a loop's index is below a number that it certainly is below."""
    sizes = Sizes(op.block)
    extents = sizes.extents(accesses_of(op), loop_count(op))
    for inner in [each.operation for each in op.regions[0].blocks[0]]:
        if inner.name == "cf.assert" and _is_certain(inner.operands[0], extents, sizes):
            inner.erase()


def _is_certain(condition: ir.Value, extents: Sequence[Size], sizes: Sizes) -> bool:
    owner = condition.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.cmpi":
        return False
    is_below = ir.IntegerAttr(owner.operation.attributes["predicate"]).value == _BELOW
    number, bound = owner.operation.operands
    index, most = without_casts(number).owner, constant_value(bound)
    if not is_below or isinstance(index, ir.Block) or index.operation.name != "linalg.index":
        return False
    extent = extents[ir.IntegerAttr(index.operation.attributes["dim"]).value]
    if extent == sizes.number(bound):
        return True
    count = Sizes.static(extent)
    return count is not None and most is not None and count <= most


def _erase(op: ir.Operation) -> None:
    """Erases an operation, and the views of what it gave, which nothing reads."""
    for result in op.results:
        for use in list(result.uses):
            _erase(use.owner.operation)
    op.erase()


def _makers(op: ir.Operation, reads: Sequence[Access]) -> dict[ir.Operation, list[int | None]]:
    """Returns what makes operands for a scatter alone, and which of the scatter's its loops are."""
    found: dict[ir.Operation, list[int | None]] = {}
    refused: list[ir.Operation] = []
    for read in reads:
        owner = read.value.owner
        if isinstance(owner, ir.Block) or owner.operation.name != GENERIC:
            continue
        maker = owner.operation
        names = _names(maker, read) if maker.block == op.block else None
        if names is None or found.setdefault(maker, names) != names:
            refused.append(maker)
    found = {
        maker: names
        for maker, names in found.items()
        if maker not in refused and _is_worth(maker, names, op)
    }
    inputs = sum(len(inputs_of(maker)) for maker in found) + len(reads)
    is_possible = inputs + bool(_missing(reads, found, loop_count(op))) <= MAX_OPERANDS
    return found if is_possible else {}


def _missing(
    reads: Sequence[Access], makers: Mapping[ir.Operation, Sequence[int | None]], loops: int
) -> list[int]:
    """Returns the loops of a scatter whose extents none of its new operands has."""
    given = {loop for each in reads if _maker_of(each, makers) is None for loop in each.loops}
    for maker, names in makers.items():
        for each in accesses_of(maker)[: len(inputs_of(maker))]:
            given |= set(each.renamed(names).loops)
    return [loop for loop in range(loops) if loop not in given]


def _extents(loops: Sequence[int], makers: Mapping[ir.Operation, Sequence[int | None]]) -> Access:
    """Returns an empty tensor with the extents of loops, whose elements nothing reads.

    The operands that had these extents are no longer computed.
    """
    writes = [
        each.renamed(names)
        for maker, names in makers.items()
        for each in accesses_of(maker)[len(inputs_of(maker)) :]
    ]
    sizes: list[int] = []
    given: list[ir.Value] = []
    for loop in loops:
        begun = next((each for each in writes if loop in each.loops), None)
        if begun is None:
            # Views of the operands have further dims, of size 1.
            sizes.append(1)
            continue
        axis = begun.index.index(loop)
        sizes.append(ir.RankedTensorType(begun.value.type).shape[axis])
        if sizes[-1] == DYNAMIC:
            given.append(dim_of(begun.value, axis))
    kind = ir.RankedTensorType.get(sizes, ir.IntegerType.get_signless(8))
    return Access(ir.Operation.create("tensor.empty", [kind], given).results[0], tuple(loops))


def _maker_of(read: Access, makers: Collection[ir.Operation]) -> ir.Operation | None:
    owner = read.value.owner
    if isinstance(owner, ir.Block) or owner.operation not in makers:
        return None
    return owner.operation


def _names(maker: ir.Operation, read: Access) -> list[int | None] | None:
    """Returns the loops of a reader that those of what makes an element are, None for one of size
    1; or None where they are not told.
    """
    if not is_normal(maker) or is_scatter(maker) or reducing_loops(maker):
        return None
    number = ir.OpResult(read.value).result_number
    write = accesses_of(maker)[len(inputs_of(maker)) + number]
    names: list[int | None] = [None] * loop_count(maker)
    for loop, each in zip(write.index, read.index, strict=True):
        if not isinstance(loop, int):
            continue
        if not isinstance(each, int) and not is_zero(each):
            return None
        names[loop] = each if isinstance(each, int) else None
    return names


def _is_worth(maker: ir.Operation, names: Sequence[int | None], op: ir.Operation) -> bool:
    """Returns whether nothing else needs what is made, and no costly work would be repeated."""
    node = read_node(maker, 0, Sizes(maker.block))
    is_repeated = len({each for each in names if each is not None}) < loop_count(op)
    if node.collective or (node.expensive is not None and is_repeated):
        return False
    waiting = list(maker.results)
    while waiting:
        for use in waiting.pop().uses:
            user = use.owner.operation
            if user.name in _VIEWS:
                waiting += user.results
            elif user != op:
                return False
    return True


def _element(value: ir.Value) -> ir.Type:
    return ir.RankedTensorType(value.type).element_type
