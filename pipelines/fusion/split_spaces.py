"""Operations on elementwise neighbours of another shape go over that shape's dims.

  %c = tensor.collapse_shape %p [[0, 1], [2]] : tensor<8x4x32xf32> into tensor<32x32xf32>
  %q = linalg.generic ins(%c, %w) {...} -> tensor<32x32xf32>
becomes
  %v = tensor.expand_shape %w [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
  %r = linalg.generic ins(%p, %v) {...} -> tensor<8x4x32xf32>
  %q = tensor.collapse_shape %r [[0, 1], [2]] : tensor<8x4x32xf32> into tensor<32x32xf32>
so that what makes `p` and what reads it can be one operation. All that shares the loops is split
alike, or nothing is: no two operations that could be one are parted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ...dialects.hir.loop_operation import loops_of
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..rewriting import index_constant
from ..size_assertions import assert_equal
from ..tensors import collapsed, dim_of, expanded, open_sizes
from ..walking import defining_op, operations_where
from .access import Access, Coordinate, loops_in, reassociation, zero
from .generic import (
    COLLECTIVE,
    CONFIGURATION,
    accesses_of,
    inputs_of,
    loop_count,
    make_generic,
    reducing_loops,
)

_COLLAPSE, _EXPAND, _EMPTY = "tensor.collapse_shape", "tensor.expand_shape", "tensor.empty"

# What it does to a loop, of many, another order would change.
_ORDERED = tuple(name for name in COLLECTIVE if name != "hir.reduce_loops")
# As many as share loops are split together: each start looks at so many, and no more.
_MOST_PARTS = 64

# The sizes that a loop's iterations become loops of, outermost first.
_Sizes = tuple[int, ...]


class _CannotSplit(Exception):
    """Something that shares the loops goes over them as one."""


@dataclass(frozen=True)
class _Part:
    """An operation, and what it reads and writes; results stand for what they begin as."""

    op: ir.Operation
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]


def split_spaces(parts: Sequence[ir.Operation], kept: Collection[ir.Operation]) -> bool:
    """Splits loops of what reads, or makes, a reshape of what another of the parts makes, or reads.

    `parts` are operations of one block in the normal form; those `kept` keep their loops. Returns
    whether any was replaced; the parts are then to be found anew.
    """
    space = _Space([_read(op) for op in parts], kept)
    chosen: dict[int, dict[int, _Sizes]] = {}
    for part in space.parts:
        for start in space.starts(part):
            try:
                splits = space.spread(*start)
            except _CannotSplit:
                continue
            if not splits.keys() & chosen.keys():
                chosen |= splits
    for place, sizes in sorted(chosen.items()):
        _split(space.parts[place], sizes)
    return bool(chosen)


def _read(op: ir.Operation) -> _Part:
    accesses = accesses_of(op)
    count = len(inputs_of(op))
    writes = tuple(
        Access(result, each.index)
        for result, each in zip(op.results, accesses[count:], strict=True)
    )
    return _Part(op, tuple(accesses[:count]), writes)


class _Space:
    """The parts of a block, and who makes and reads which tensor."""

    def __init__(self, parts: Sequence[_Part], kept: Collection[ir.Operation]) -> None:
        self.parts = parts
        self._kept = {place for place, part in enumerate(parts) if part.op in kept}
        self._makers: dict[ir.Value, tuple[int, Access]] = {}
        self._readers: dict[ir.Value, list[tuple[int, Access]]] = {}
        for place, part in enumerate(parts):
            for write in part.writes:
                self._makers[write.value] = place, write
            for read in part.reads:
                self._readers.setdefault(read.value, []).append((place, read))

    def starts(self, part: _Part) -> Iterator[tuple[ir.Value, dict[int, _Sizes]]]:
        """Yields the tensors that a part reads or makes whose dims are to be split, and into what.

        They are reshapes of what others of the parts make or read.
        """
        for read in part.reads:
            view = defining_op(read.value)
            if view is not None and view.name == _COLLAPSE and view.operands[0] in self._makers:
                sizes = _merged(view, view.operands[0])
                if sizes:
                    yield read.value, sizes
        for write in part.writes:
            for use in write.value.uses:
                view = use.owner.operation
                if view.name == _EXPAND and view.results[0] in self._readers:
                    sizes = _merged(view, view.results[0])
                    if sizes:
                        yield write.value, sizes

    def spread(self, value: ir.Value, sizes: dict[int, _Sizes]) -> dict[int, dict[int, _Sizes]]:
        """Returns the loops to split, and into what, of each part by its place.

        Raises _CannotSplit where some part that shares the loops cannot be split.
        """
        found: dict[int, dict[int, _Sizes]] = {}
        waiting = [(value, sizes)]
        seen: dict[ir.Value, dict[int, _Sizes]] = {}
        while waiting:
            value, sizes = waiting.pop()
            if value in seen:
                if seen[value] != sizes:
                    raise _CannotSplit
                continue
            seen[value] = sizes
            for place, access in self._users(value):
                splits = found.setdefault(place, {})
                if len(found) > _MOST_PARTS:
                    raise _CannotSplit
                for dim, parts in sizes.items():
                    loop = access.index[dim]
                    if not isinstance(loop, int) or splits.setdefault(loop, parts) != parts:
                        raise _CannotSplit
                for each in self._checked(place, splits):
                    along = {
                        dim: splits[loop]
                        for dim, loop in enumerate(each.index)
                        if isinstance(loop, int) and loop in splits
                    }
                    if along and seen.get(each.value) != along:
                        # What was seen with fewer of them is seen again.
                        if each.value in seen and seen[each.value].items() <= along.items():
                            del seen[each.value]
                        waiting.append((each.value, along))
        return found

    def _users(self, value: ir.Value) -> list[tuple[int, Access]]:
        """Returns the parts that make and read a tensor, with their accesses."""
        made = self._makers.get(value)
        return [*([made] if made is not None else []), *self._readers.get(value, ())]

    def _checked(self, place: int, splits: dict[int, _Sizes]) -> list[Access]:
        """Returns what a part reads and writes; raises where it cannot be split so."""
        part = self.parts[place]
        if place in self._kept or CONFIGURATION in part.op.attributes:
            raise _CannotSplit
        accesses = [*part.reads, *part.writes]
        for each in accesses:
            plain = [loop for loop in each.index if isinstance(loop, int)]
            computed = {
                loop for one in each.index if not isinstance(one, int) for loop in loops_in(one)
            }
            if computed & splits.keys() or len(set(plain)) < len(plain):
                raise _CannotSplit
            kind = ir.RankedTensorType(each.value.type)
            if any(at in splits and kind.is_dynamic_dim(dim) for dim, at in enumerate(each.index)):
                raise _CannotSplit
        for inner in operations_where(part.op, lambda inner: inner != part.op):
            if inner.name == "linalg.index":
                if ir.IntegerAttr(inner.attributes["dim"]).value in splits:
                    raise _CannotSplit
            elif inner.name in _ORDERED and splits.keys() & set(loops_of(inner)):
                raise _CannotSplit
        return accesses


def _merged(view: ir.Operation, split: ir.Value) -> dict[int, _Sizes]:
    """Returns the dims, of the side of fewer dims of a reshape, that are several, and these' sizes.

    Nothing where such a size is open, or where a dim of one element or none would be split.
    """
    kind = ir.RankedTensorType(split.type)
    found: dict[int, _Sizes] = {}
    for dim, group in enumerate(reassociation(view)):
        large = [axis for axis in group if kind.shape[axis] != 1]
        if len(large) > 1:
            if any(kind.is_dynamic_dim(axis) or not kind.shape[axis] for axis in large):
                return {}
            found[dim] = tuple(kind.shape[axis] for axis in large)
    return found


def _split(part: _Part, splits: dict[int, _Sizes]) -> None:
    """Replaces an operation by one with each of these loops split."""
    op = part.op
    names: list[list[int]] = []
    loops = 0
    for loop in range(loop_count(op)):
        count = len(splits.get(loop, (0,)))
        names.append(list(range(loops, loops + count)))
        loops += count
    accesses = accesses_of(op)
    count = len(inputs_of(op))
    with op.location, ir.InsertionPoint(op):
        for number, each in enumerate(accesses):
            _check_sizes(op, number, each)
        operands = [
            _expanded(each, names, splits, is_read=number < count)
            for number, each in enumerate(accesses)
        ]
        block = op.regions[0].blocks[0]
        _rename(op, names)
        reducing = [name for loop in reducing_loops(op) for name in names[loop]]
        new = make_generic(operands[:count], operands[count:], loops, reducing, block, of=[op])
        for old, result, access in zip(op.results, new.results, accesses[count:], strict=True):
            old.replace_all_uses_with(_collapsed(result, old.type, access, splits))
    op.erase()


def _check_sizes(op: ir.Operation, number: int, each: Access) -> None:
    """Emits assertions that an operand of open sizes has those of the operation's loops.

    Canonicalization casts such an operand to the sizes that others have. Where that is the operand,
    its kernel compares them; behind a reshape nothing does.
    """
    cast = defining_op(each.value)
    if cast is None or cast.name != "tensor.cast":
        return
    source = cast.operands[0]
    if not isinstance(source.type, ir.RankedTensorType):
        return
    given, wanted = ir.RankedTensorType(source.type), ir.RankedTensorType(each.value.type)
    for axis in range(wanted.rank):
        if given.is_dynamic_dim(axis) and not wanted.is_dynamic_dim(axis):
            which = f"dim {axis} of operand {number} and its loop of {op.name}"
            sizes = dim_of(source, axis), index_constant(wanted.shape[axis])
            assert_equal(*sizes, f"{which} must have the same size", "{0} and {1}")


def _expanded(
    each: Access, names: Sequence[Sequence[int]], splits: dict[int, _Sizes], *, is_read: bool
) -> Access:
    """Returns the same element where loops are split, of the operand with its dims split.

    What is read may be what a reshape reads, with dims of size 1 besides. A result has none.
    """
    kind = ir.RankedTensorType(each.value.type)
    groups: list[list[int]] = []
    shape: list[int] = []
    index: list[Coordinate] = []
    for dim, at in enumerate(each.index):
        sizes = splits.get(at, ()) if isinstance(at, int) else ()
        count = max(len(sizes), 1)
        groups.append(list(range(len(shape), len(shape) + count)))
        shape += sizes or (kind.shape[dim],)
        if isinstance(at, int):
            index += names[at]
        else:
            index.append(_renamed(at, names))
    if len(shape) == len(each.index):
        return Access(each.value, tuple(index))
    result = ir.RankedTensorType.get(shape, kind.element_type, kind.encoding)
    maker = defining_op(each.value)
    if maker is not None and maker.name == _EMPTY:
        made = ir.Operation.create(_EMPTY, [result], list(maker.operands)).results[0]
        return Access(made, tuple(index))
    if is_read and maker is not None and maker.name == _COLLAPSE:
        source = maker.operands[0]
        places = _behind(
            maker, [[(index[axis], shape[axis]) for axis in group] for group in groups]
        )
        if places is not None:
            return Access(source, places)
    return Access(expanded(each.value, result, groups, open_sizes(each.value)), tuple(index))


def _behind(
    view: ir.Operation, split: Sequence[Sequence[tuple[Coordinate, int]]]
) -> tuple[Coordinate, ...] | None:
    """Returns the place in what a tensor.collapse_shape reads.

    It is made of the places, beside the sizes, along what each of its dims was split into; None
    where these are not the dims that it merged.
    """
    shape = ir.RankedTensorType(view.operands[0].type).shape
    found: list[Coordinate] = [zero()] * len(shape)
    for group, places in zip(reassociation(view), split, strict=True):
        large = [axis for axis in group if shape[axis] != 1] or group[-1:]
        if [shape[axis] for axis in large] != [size for _, size in places]:
            return None
        for axis, (place, _) in zip(large, places, strict=True):
            found[axis] = place
    return tuple(found)


def _collapsed(
    value: ir.Value, kind: ir.Type, access: Access, splits: dict[int, _Sizes]
) -> ir.Value:
    """Returns a result in the shape that it had."""
    groups: list[list[int]] = []
    axis = 0
    for at in access.index:
        count = len(splits.get(at, (0,))) if isinstance(at, int) else 1
        groups.append(list(range(axis, axis + count)))
        axis += count
    return collapsed(value, kind, groups)


def _renamed(each: ir.AffineExpr, names: Sequence[Sequence[int]]) -> ir.AffineExpr:
    """Returns an expression, of loops none of which is split, in the new loops."""
    count = max((loop for loop in loops_in(each)), default=-1) + 1
    new = [ir.AffineExpr.get_dim(names[loop][0]) for loop in range(count)]
    return each.compose(ir.AffineMap.get(names[-1][-1] + 1, 0, new)) if count else each


def _rename(op: ir.Operation, names: Sequence[Sequence[int]]) -> None:
    """Makes what names loops in an operation's region name the new ones."""
    i64 = ir.IntegerType.get_signless(64)
    for inner in operations_where(op, lambda inner: inner != op):
        for key in ("dim", "loop"):
            if inner.name == ("linalg.index" if key == "dim" else "hir.scan_loop"):
                old = ir.IntegerAttr(inner.attributes[key]).value
                inner.attributes[key] = ir.IntegerAttr.get(i64, names[old][0])
        if inner.name in COLLECTIVE and inner.name != "hir.scan_loop":
            old_loops = list(ir.DenseI64ArrayAttr(inner.attributes["loops"]))
            inner.attributes["loops"] = ir.DenseI64ArrayAttr.get(
                [name for loop in old_loops for name in names[loop]]
            )
