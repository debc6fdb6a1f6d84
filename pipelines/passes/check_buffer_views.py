"""check-buffer-views: what host code says of its buffers' sizes is checked when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import pairwise
from math import prod
from typing import ClassVar

from ...dialects.hir.layout import DYNAMIC, has_identity_layout
from ...dialects.mlir import arith, cf, ir, memref
from ...dialects.records import dataclass
from ..constants import constant_value
from ..hir.access_checks import check_accesses, is_indexed
from ..host.types import element_bytes, strides_and_offset
from ..pass_base import Pass, register
from ..rewriting import index_constant
from ..view_checks import (
    Condition,
    Predicate,
    as_value,
    checked_product,
    checked_product_of,
    conditions_of_cast,
    conditions_of_expansion,
    conditions_of_slice,
    equal,
    mixed,
    operand_groups,
    shape_of,
    size_of,
)

_ALLOCATIONS = ("memref.alloc", "memref.alloca", "gpu.alloc", "memref.get_global")


@register
@dataclass(frozen=True)
class CheckBufferViews(Pass):
    """Adds an assertion to each view and copy in host code whose correctness depends on open sizes.

    It also adds one to each memref.dim with an open axis or rank, and to each linalg operation
    whose indexing maps compute indices.

    Upstream leaves these operations undefined where the assertion fails: the result has another
    size, or is other memory. Facts that follow from types are not checked. A
    memref.reinterpret_cast, which may go anywhere in the memory of its operand, is checked where
    that memory is known: the operand is an allocation, or an argument without strides.

      %y = memref.subview %x[%i] [4] [1] : memref<?xf32> to memref<4xf32, strided<[1], offset: ?>>
    becomes
      %size = memref.dim %x, %zero : memref<?xf32>
      %begins = arith.cmpi ule, %i, %size : index
      %left = arith.subi %size, %i : index
      %ends = arith.cmpi ule, %four, %left : index
      cf.assert (%begins and %ends), "memref.subview: the slice's offset, size and stride go ..."
      %y = memref.subview %x[%i] [4] [1] : memref<?xf32> to memref<4xf32, strided<[1], offset: ?>>
    """

    name: ClassVar[str] = "check-buffer-views"

    def run(self, op: ir.Operation) -> None:
        for view in _in_host_code(op):
            with view.location, ir.InsertionPoint(view):
                if is_indexed(view):
                    check_accesses(view)
                    continue
                for fits, message in _CONDITIONS[view.name](view):
                    cf.AssertOp(fits, f"{view.name}: {message}")


def has_buffer_views(module: ir.Operation) -> bool:
    """Returns whether host code has operations that check-buffer-views checks."""
    return bool(_in_host_code(module))


def _in_host_code(module: ir.Operation) -> list[ir.Operation]:
    """Returns the host code's views, copies, computed indices and dims that need a check."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in ("gpu.module", "gpu.launch") or "mapping" in op.attributes:
            return ir.WalkResult.SKIP
        is_work = is_indexed(op) and not op.results
        if is_work or (op.name in _CONDITIONS and not (op.name == "memref.dim" and _has_dim(op))):
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


# --- casts ---------------------------------------------------------------------------------------


def _of_cast(view: ir.Operation) -> Iterator[Condition]:
    source, result = _ranked(view.operands[0]), view.results[0]
    if not isinstance(result.type, ir.MemRefType):
        return
    wanted = result.type.rank
    message = f"the rank is not the {wanted} of its type"
    if not isinstance(source.type, ir.MemRefType):
        yield equal(_rank(source), index_constant(wanted)), message
        source = _cast_to_open(source, result.type)
    elif source.type.rank != wanted:
        yield arith.constant(ir.IntegerType.get_signless(1), 0), message
        return
    yield from conditions_of_cast(source, result)
    yield from _of_layout(source, result.type)


def _ranked(buffer: ir.Value) -> ir.Value:
    """Returns what a buffer without rank was cast from, where that is known."""
    while not isinstance(buffer.type, ir.MemRefType) and not isinstance(buffer.owner, ir.Block):
        if buffer.owner.operation.name != "memref.cast":
            break
        buffer = buffer.owner.operation.operands[0]
    return buffer


def _rank(buffer: ir.Value) -> ir.Value:
    """Returns the number of dims of a buffer whose type does not say it."""
    return ir.Operation.create("memref.rank", [ir.IndexType.get()], [buffer]).results[0]


def _size(buffer: ir.Value, axis: ir.Value) -> ir.Value:
    """Returns the size of a dim whose number is known when the program runs alone."""
    operands = [buffer, axis]
    return ir.Operation.create("memref.dim", [ir.IndexType.get()], operands).results[0]


def _cast_to_open(source: ir.Value, kind: ir.MemRefType) -> ir.Value:
    """Returns an unranked buffer as a ranked one of any sizes and strides."""
    rank = kind.rank
    layout = ir.StridedLayoutAttr.get(DYNAMIC, [DYNAMIC] * rank)
    whole = ir.MemRefType.get([DYNAMIC] * rank, kind.element_type, layout, kind.memory_space)
    return memref.cast(whole, source)


def _of_layout(source: ir.Value, kind: ir.MemRefType) -> Iterator[Condition]:
    """The strides and the offset are those of the type that the buffer is cast to."""
    given, wanted = strides_and_offset(ir.MemRefType(source.type)), strides_and_offset(kind)
    if given is None or wanted is None:
        return
    pairs = list(zip(given[0], wanted[0], strict=True))
    has_offset = given[1] == DYNAMIC and wanted[1] != DYNAMIC
    if not has_offset and not any(one == DYNAMIC != other for one, other in pairs):
        return
    metadata = memref.ExtractStridedMetadataOp(source)
    if has_offset:
        fits = equal(metadata.offset, index_constant(wanted[1]))
        yield fits, f"the offset is not the {wanted[1]} that its type says"
    for axis, (one, other) in enumerate(pairs):
        if one == DYNAMIC != other:
            stride = equal(metadata.strides[axis], index_constant(other))
            # No second element is looked for.
            lone = arith.cmpi(Predicate.sle, size_of(source, axis), index_constant(1))
            message = f"the stride of dim {axis} is not the {other} that its type says"
            yield arith.ori(stride, lone), message


# --- sizes ---------------------------------------------------------------------------------------


def _has_dim(op: ir.Operation) -> bool:
    """Returns whether it is known that the buffer of a memref.dim has such a dim; refused where
    not.
    """
    source = _ranked(op.operands[0])
    if not isinstance(source.type, ir.MemRefType):
        return False
    axis = constant_value(op.operands[1])
    return axis is not None and (source == op.operands[0] or 0 <= axis < source.type.rank)


def _of_dim(op: ir.Operation) -> Iterator[Condition]:
    source, axis = _ranked(op.operands[0]), op.operands[1]
    if isinstance(source.type, ir.MemRefType):
        rank, shown = index_constant(source.type.rank), f" {source.type.rank}"
    else:
        rank, shown = _rank(source), ""
    message = f"the axis is not the number of one of its{shown} dims, which are numbered from 0"
    yield arith.cmpi(Predicate.ult, axis, rank), message


# --- slices and shapes ---------------------------------------------------------------------------


def _of_subview(view: ir.Operation) -> Iterator[Condition]:
    return conditions_of_slice(view, view.operands[0], operand_groups(view)[1:])


def _of_collapsed(view: ir.Operation) -> Iterator[Condition]:
    """Dims that become one lie one in the other."""
    source = view.operands[0]
    layout = strides_and_offset(ir.MemRefType(source.type))
    if layout is None or DYNAMIC not in layout[0]:
        return
    groups = [
        [ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)]
        for group in ir.ArrayAttr(view.attributes["reassociation"])
    ]
    metadata = None
    for group in groups:
        if all(layout[0][axis] != DYNAMIC for axis in group) or len(group) == 1:
            continue
        metadata = metadata or memref.ExtractStridedMetadataOp(source)
        steps = [
            equal(
                metadata.strides[axis],
                arith.muli(size_of(source, inner), metadata.strides[inner]),
            )
            for axis, inner in pairwise(group)
        ]
        shown = ", ".join(map(str, group))
        sizes = [size_of(source, axis) for axis in group]
        fits = arith.ori(reduce(arith.andi, steps), _is_any_zero(sizes))
        yield fits, f"the strides of dims {shown} do not make them one dim"


def _of_reshape(view: ir.Operation) -> Iterator[Condition]:
    """Yields the sizes, which are read when the program runs, are of as many elements."""
    source, shape = _ranked(view.operands[0]), view.operands[1]
    kind = view.results[0].type
    given, wanted = shape_of(shape)[0], [DYNAMIC] * max(shape_of(shape)[0], 0)
    if isinstance(kind, ir.MemRefType):
        wanted = list(kind.shape)
        if given == DYNAMIC:
            message = f"there are not as many sizes as the {kind.rank} dims of its type"
            yield equal(size_of(shape, 0), index_constant(kind.rank)), message
    elif given == DYNAMIC:
        count = size_of(shape, 0)
        yield (
            _is_as_many(source, checked_product_of(count, lambda axis: _load(shape, axis))),
            _AS_MANY,
        )
        return
    sizes: list[ir.Value] = []
    for axis, declared in enumerate(wanted):
        size = _load(shape, index_constant(axis))
        if declared != DYNAMIC:
            message = f"size {axis} is not the {declared} that its type says"
            yield equal(size, index_constant(declared)), message
        sizes.append(size)
    yield _is_as_many(source, checked_product(sizes or [index_constant(1)])), _AS_MANY


_AS_MANY = "the sizes are not of as many elements as the buffer has"


def _load(shape: ir.Value, axis: ir.Value) -> ir.Value:
    """One of the sizes that a buffer holds."""
    size = memref.load(shape, [axis])
    if isinstance(size.type, ir.IndexType):
        return size
    return arith.index_cast(ir.IndexType.get(), size)


def _is_as_many(source: ir.Value, checked: tuple[ir.Value, ir.Value]) -> ir.Value:
    """Returns whether a buffer has as many elements as a checked product says."""
    product, beyond = checked
    if isinstance(source.type, ir.MemRefType):
        count = _count(source)
    else:
        count, _ = checked_product_of(_rank(source), lambda axis: _size(source, axis))
    return arith.andi(equal(product, count), equal(beyond, index_constant(0)))


def _count(buffer: ir.Value) -> ir.Value:
    """Returns the number of a buffer's elements."""
    shape = shape_of(buffer)
    count = index_constant(prod(size for size in shape if size != DYNAMIC))
    for axis, size in enumerate(shape):
        if size == DYNAMIC:
            count = arith.muli(count, size_of(buffer, axis))
    return count


# --- parts of memory -----------------------------------------------------------------------------


def _of_reinterpretation(view: ir.Operation) -> Iterator[Condition]:
    """No size is negative, and every element is one of the memory, where its end is known."""
    source = view.operands[0]
    groups = operand_groups(view)[1:]
    names = ("static_offsets", "static_sizes", "static_strides")
    (offset,), sizes, strides = (
        mixed(view, name, group) for name, group in zip(names, groups, strict=True)
    )
    for axis, size in enumerate(sizes):
        if not isinstance(size, int):
            fits = arith.cmpi(Predicate.sge, size, index_constant(0))
            yield fits, f"the size of dim {axis} is negative"
    if not _is_whole(source):
        return
    known = [offset, *sizes, *strides, *shape_of(source)]
    if all(isinstance(each, int) for each in known) and DYNAMIC not in shape_of(source):
        return
    yield _is_within(source, offset, sizes, strides), "it goes beyond the memory of its operand"


def _is_whole(source: ir.Value) -> bool:
    """Returns whether a buffer's elements are all that its memory has."""
    if not isinstance(source.type, ir.MemRefType) or not has_identity_layout(source.type):
        return False
    owner = source.owner
    if not isinstance(owner, ir.Block):
        return owner.operation.name in _ALLOCATIONS
    function = owner.owner.operation
    return function.name == "func.func" and "sym_visibility" not in function.attributes


def _is_any_zero(sizes: Sequence[int | ir.Value]) -> ir.Value:
    """Returns whether a buffer of these sizes, of which there are some, has no elements."""
    return reduce(arith.ori, [equal(as_value(size), index_constant(0)) for size in sizes])


def _is_within(
    source: ir.Value,
    offset: int | ir.Value,
    sizes: Sequence[int | ir.Value],
    strides: Sequence[int | ir.Value],
) -> ir.Value:
    """Returns whether the first and the last element in memory lie in it; there may be none.

    In 128 bits, of which products of two numbers have the high half: no step of a sum is lost.
    """
    i128 = ir.IntegerType.get_signless(128)

    def wide(value: ir.Value) -> ir.Value:
        i64 = ir.IntegerType.get_signless(64)
        return arith.extsi(i128, arith.index_cast(i64, value))

    zero = arith.constant(i128, 0)
    low = high = wide(as_value(offset))
    for size, stride in zip(sizes, strides, strict=True):
        steps = wide(arith.subi(as_value(size), index_constant(1)))
        reach = arith.muli(steps, wide(as_value(stride)))
        low = arith.addi(low, arith.minsi(reach, zero))
        high = arith.addi(high, arith.maxsi(reach, zero))
    begins = arith.cmpi(Predicate.sge, low, zero)
    ends = arith.cmpi(Predicate.slt, high, wide(_count(source)))
    fits = arith.andi(begins, ends)
    return arith.ori(fits, _is_any_zero(sizes)) if sizes else fits


def _of_view(view: ir.Operation) -> Iterator[Condition]:
    """The bytes from the shift on are as many as the typed buffer has."""
    source, shift, *sizes = view.operands
    kind = ir.MemRefType(view.results[0].type)
    known = prod(size for size in kind.shape if size != DYNAMIC)
    each = known * element_bytes(kind.element_type)
    needed, beyond = checked_product(sizes or [index_constant(1)], each)
    room = size_of(source, 0)
    begins = arith.cmpi(Predicate.ule, shift, room)
    ends = arith.cmpi(Predicate.ule, needed, arith.subi(room, shift))
    fits = arith.andi(arith.andi(begins, ends), equal(beyond, index_constant(0)))
    yield fits, "its bytes go beyond those of the operand"


# --- copies --------------------------------------------------------------------------------------


def _of_copy(view: ir.Operation) -> Iterator[Condition]:
    yield from _of_ends(view.operands[0], view.operands[1])


def _of_gpu_copy(view: ir.Operation) -> Iterator[Condition]:
    target, source = (
        operand for operand in view.operands if isinstance(operand.type, ir.ShapedType)
    )
    yield from _of_ends(source, target)


def _of_ends(source: ir.Value, target: ir.Value) -> Iterator[Condition]:
    if not all(isinstance(each.type, ir.MemRefType) for each in (source, target)):
        return
    pairs = zip(shape_of(source), shape_of(target), strict=True)
    for axis, (one, other) in enumerate(pairs):
        if source != target and DYNAMIC in (one, other):
            message = f"the sizes of dim {axis} are not the same"
            yield equal(size_of(source, axis), size_of(target, axis)), message


_CONDITIONS: dict[str, Callable[[ir.Operation], Iterator[Condition]]] = {
    "memref.cast": _of_cast,
    "memref.dim": _of_dim,
    "memref.subview": _of_subview,
    "memref.expand_shape": conditions_of_expansion,
    "memref.collapse_shape": _of_collapsed,
    "memref.reshape": _of_reshape,
    "memref.reinterpret_cast": _of_reinterpretation,
    "memref.view": _of_view,
    "memref.copy": _of_copy,
    "gpu.memcpy": _of_gpu_copy,
}
