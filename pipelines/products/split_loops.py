"""Products on tensors that read, and are read, through copies that make one dim of two.

In a transformer, a copy puts the heads of a sequence side by side, and the dims of sequences and
heads become one, the batch of a product. With a loop for each of the two dims the product reads the
tensor behind the copy. The library takes one batch of matrices: where the dims do not step through
memory as one, it is called several times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from math import prod

from ...dialects.hir.element_types import ELEMENT_TYPES
from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import arith, indexing_maps, ir
from ...dialects.records import dataclass
from ..fusion.access import reassociation
from ..generics import bare_generic
from ..schedules.device import Device
from ..tensors import expanded, unwritten
from ..walking import defining_op, defining_operation
from .fits import is_for_library
from .fused import is_elementwise
from .generic import rebuild
from .options import MatmulOptions
from .product import NO_LOOP, Indexed, LoopKind, Product
from .reads import read_through
from .small import is_one_by_many
from .strides import strides_of

# What a kernel, or one more call of the library, takes in a stream full of calls of an H200, in
# seconds.
CALL = 3e-6
# What a size that is open is taken to be.
OPEN_SIZE = 1024

# A loop of the new product: one of the old ones, and which part of it where it was split.
_Part = tuple[int, int | None]


@dataclass(frozen=True)
class _Group:
    """Dims of a tensor, of more than one element, that a loop of the product goes over as one."""

    loop: int
    tensor: ir.Value
    axes: tuple[int, ...]

    @property
    def sizes(self) -> list[int]:
        """The sizes of the dims."""
        shape = ir.RankedTensorType(self.tensor.type).shape
        return [shape[axis] for axis in self.axes]


# Operands of a product by their names, and what each of their dims is to become.
_Choice = list[tuple[str, list[_Group]]]


def split_loops(op: ir.Operation, product: Product, options: MatmulOptions, device: Device) -> bool:
    """Puts a product of more loops in the operation's place, where that spares copies.

    It does so where copies take longer than the calls of the library that come instead. `product`
    is what the operation computes, of operands from read_in_place. Returns whether it did.
    """
    reader = _lone_reader(op.results[0])
    if reader is not None and is_elementwise(reader, 0) and not _is_unary(reader):
        # Such as adds a bias: it is to be part of the call, and is so in the product's own dims.
        return False
    best: tuple[float, Product, dict[int, _Group]] | None = None
    emitted: list[ir.Operation] = []
    for chosen in _choices(op, product):
        splits = _agreed(chosen)
        if splits is None:
            continue
        with op.location, ir.InsertionPoint(op):
            tried = _with_loops(product, splits, [key for key, _ in chosen], emitted)
        if tried is None:
            continue
        in_kernel = options.kernel_multiplications > 0 and is_one_by_many(tried)
        if not in_kernel and not is_for_library(tried, options):
            continue
        calls = 1 if in_kernel else _calls(tried)
        gain = _copies(op, product, splits, chosen, device) - CALL * (calls - 1)
        if gain > (best[0] if best else 0):
            best = gain, tried, splits
    if best is not None:
        _, found, splits = best
        new = rebuild(op, found, [_parts(loop, splits) for loop in product.result.dims])
        _move_collapse(new)
    for each in reversed(emitted):
        if not any(True for _ in each.results[0].uses):
            each.erase()
    return best is not None


def _choices(op: ir.Operation, product: Product) -> Iterator[_Choice]:
    """Yields the operands that may do without copies, and the result, in every combination."""
    possible: _Choice = []
    for key, operand in (("first", product.first), ("second", product.second)):
        made = defining_op(operand.value)
        if made is not None and made.name == "tensor.collapse_shape" and _is_copy(made.operands[0]):
            possible.append((key, _groups(made, operand.dims, made.operands[0])))
    expanded = _transposed_later(op)
    if expanded is not None:
        groups = _groups(expanded, product.result.dims, expanded.results[0])
        if any(len(group.axes) > 1 for group in groups):
            possible.append(("result", groups))
    for count in range(len(possible), 0, -1):
        for chosen in combinations(possible, count):
            yield list(chosen)


def _groups(op: ir.Operation, dims: Sequence[int], tensor: ir.Value) -> list[_Group]:
    """Returns what a reshape merges or splits: `dims` are the loops of the side of fewer dims."""
    shape = ir.RankedTensorType(tensor.type).shape
    return [
        _Group(loop, tensor, tuple([axis for axis in axes if shape[axis] != 1] or axes[-1:]))
        for loop, axes in zip(dims, reassociation(op), strict=True)
    ]


def _is_copy(value: ir.Value) -> bool:
    return read_through(Indexed(value, tuple(range(ir.ShapedType(value.type).rank)))).value != value


def _transposed_later(op: ir.Operation) -> ir.Operation | None:
    """Returns the tensor.expand_shape of a product whose elements are then put into
    another order.
    """
    expanded = _lone_reader(op.results[0])
    if (
        expanded is None
        or expanded.name != "tensor.expand_shape"
        or not ir.RankedTensorType(expanded.results[0].type).has_static_shape
    ):
        return None
    reader = _lone_reader(expanded.results[0])
    while reader is not None and is_elementwise(reader, 0) and len(reader.operands) == 2:
        maps = indexing_maps(reader)
        if maps[0] != maps[1]:
            return expanded if all(each.is_permutation for each in maps) else None
        reader = _lone_reader(reader.results[0])
    return expanded if reader is not None and reader.name == "linalg.transpose" else None


def _lone_reader(value: ir.Value) -> ir.Operation | None:
    """Returns what alone reads a tensor's elements; None where nothing, or more, does."""
    readers = [use.owner.operation for use in value.uses]
    readers = [op for op in readers if op.name != "tensor.dim"]
    return readers[0] if len(readers) == 1 else None


def _agreed(chosen: _Choice) -> dict[int, _Group] | None:
    """Returns what each loop becomes; None where the tensors want different things."""
    splits: dict[int, _Group] = {}
    for _, groups in chosen:
        for group in groups:
            if len(group.axes) > 1:
                other = splits.setdefault(group.loop, group)
                # One that is open is the same where all others are.
                if other.sizes != group.sizes or group.sizes.count(DYNAMIC) > 1:
                    return None
    return splits


def _parts(loop: int, splits: dict[int, _Group]) -> list[_Part]:
    if loop not in splits:
        return [(loop, None)]
    return [(loop, part) for part in range(len(splits[loop].axes))]


def _with_loops(
    product: Product, splits: dict[int, _Group], through: list[str], emitted: list[ir.Operation]
) -> Product | None:
    """Returns the product in more loops; the operands in `through` are read without
    their copies.
    """
    order = [part for loop in range(product.loops) for part in _parts(loop, splits)]
    found: dict[str, Indexed] = {}
    for key in ("first", "second", "result"):
        operand: Indexed = getattr(product, key)
        value = operand.value
        dims: list[_Part] = [(loop, None) for loop in operand.dims]
        if key in through and key != "result":
            op = defining_op(value)
            assert op is not None
            value = op.operands[0]
            dims = [(NO_LOOP, None)] * ir.RankedTensorType(value.type).rank
            for group in _groups(op, operand.dims, value):
                parts = _parts(group.loop, splits) if len(group.axes) > 1 else [(group.loop, None)]
                for axis, part in zip(group.axes, parts, strict=True):
                    dims[axis] = part
        value, parts = _expanded(value, dims, splits, emitted)
        named = Indexed(
            value, tuple(order.index(each) if each in order else NO_LOOP for each in parts)
        )
        found[key] = read_through(named) if key in through and key != "result" else named
    made = replace(product, **found)
    return made if made.loops == len(order) and made.is_contraction else None


def _expanded(
    value: ir.Value, dims: Sequence[_Part], splits: dict[int, _Group], emitted: list[ir.Operation]
) -> tuple[ir.Value, list[_Part]]:
    """Returns a tensor with a dim for each part of a loop, emitted where it has one for several."""
    if all(part is not None or loop not in splits for loop, part in dims):
        return value, list(dims)
    kind = ir.RankedTensorType(value.type)
    parts: list[_Part] = []
    groups: list[list[int]] = []
    shape: list[int] = []
    sizes: list[ir.Value] = []
    for axis, (loop, part) in enumerate(dims):
        is_split = part is None and loop in splits
        sources = (
            [(splits[loop].tensor, place) for place in splits[loop].axes]
            if is_split
            else [(value, axis)]
        )
        groups.append(list(range(len(shape), len(shape) + len(sources))))
        parts += _parts(loop, splits) if is_split else [(loop, part)]
        for tensor, place in sources:
            size = ir.RankedTensorType(tensor.type).shape[place]
            shape.append(size)
            if size == DYNAMIC:
                at = arith.ConstantOp(ir.IndexType.get(), place).operation
                dim = ir.Operation.create(
                    "tensor.dim", [ir.IndexType.get()], [tensor, at.results[0]]
                )
                emitted += [at, dim]
                sizes.append(dim.results[0])
    made = expanded(value, ir.RankedTensorType.get(shape, kind.element_type), groups, sizes)
    emitted.append(defining_operation(made))
    return made, parts


def _copies(
    op: ir.Operation,
    product: Product,
    splits: dict[int, _Group],
    chosen: _Choice,
    device: Device,
) -> float:
    """Returns the seconds that copies take of which nothing is left."""
    seconds = 0.0
    for key, groups in chosen:
        if key == "result":
            moved = [groups[0].tensor, groups[0].tensor]
        else:
            copy = defining_op(groups[0].tensor)
            assert copy is not None
            # One that something else reads too stays.
            if _lone_reader(copy.results[0]) is None:
                continue
            moved = [copy.operands[0], copy.results[0]]
        seconds += CALL + sum(map(_bytes, moved)) / device.bandwidth
    return seconds


def _bytes(value: ir.Value) -> int:
    kind = ir.RankedTensorType(value.type)
    sizes = [OPEN_SIZE if size == DYNAMIC else size for size in kind.shape]
    return prod(sizes) * ELEMENT_TYPES[str(kind.element_type)].bytes


def _is_unary(op: ir.Operation) -> bool:
    """Returns whether an elementwise operation makes each element of the one in its place."""
    identity = ir.AffineMap.get_identity(ir.RankedTensorType(op.results[0].type).rank)
    return len(op.operands) == 2 and all(each == identity for each in indexing_maps(op))


def _move_collapse(op: ir.Operation) -> None:
    """Lets elementwise operations, as roundings are, read the result before dims are made one."""
    collapse = _lone_reader(op.results[0])
    while collapse is not None and collapse.name == "tensor.collapse_shape":
        reader = _lone_reader(collapse.results[0])
        if reader is None or not is_elementwise(reader, 0) or not _is_unary(reader):
            return
        source = ir.RankedTensorType(collapse.operands[0].type)
        element = ir.RankedTensorType(reader.results[0].type).element_type
        same = ir.AffineMap.get_identity(source.rank)
        with reader.location, ir.InsertionPoint(reader):
            given = collapse.operands[0]
            output = (unwritten(given, element), same)
            new = bare_generic(source.rank, (), [(given, same)], [output])
            reader.regions[0].blocks[0].append_to(new.regions[0])
            moved = ir.Operation.create(
                "tensor.collapse_shape",
                results=[reader.results[0].type],
                operands=[new.results[0]],
                attributes={"reassociation": collapse.attributes["reassociation"]},
            )
        reader.results[0].replace_all_uses_with(moved.results[0])
        reader.erase()
        collapse.erase()
        collapse = moved


@dataclass
class _Loop:
    kind: LoopKind
    size: int
    strides: list[int]

    def steps_as_one(self, inner: _Loop) -> bool:
        return self.kind == inner.kind and all(
            DYNAMIC not in (mine, its) and mine == its * inner.size
            for mine, its in zip(self.strides, inner.strides, strict=True)
        )


def _calls(product: Product) -> int:
    """Returns how often the library is called: for what is no matrix, and no batch of them."""
    strides = [dict(zip(each.dims, strides_of(each), strict=True)) for each in product.matrices]
    loops = [
        _Loop(
            product.kind(loop),
            OPEN_SIZE if product.size(loop) == DYNAMIC else product.size(loop),
            [each.get(loop, 0) for each in strides],
        )
        for loop in range(product.loops)
        if product.size(loop) != 1
    ]
    _merge(loops)
    for kind in (LoopKind.M, LoopKind.N, LoopKind.K):
        of_kind = [loop for loop in loops if loop.kind == kind]
        if of_kind:
            loops.remove(max(of_kind, key=lambda loop: loop.size))
    for loop in loops:
        loop.kind = LoopKind.BATCH
    _merge(loops)
    return prod(loop.size for loop in loops) // max((loop.size for loop in loops), default=1)


def _merge(loops: list[_Loop]) -> None:
    """Makes one of each two loops that step through memory as one."""
    for outer, inner in permutations(list(loops), 2):
        if outer in loops and inner in loops and outer.steps_as_one(inner):
            inner.size *= outer.size
            loops.remove(outer)
            _merge(loops)
            return
