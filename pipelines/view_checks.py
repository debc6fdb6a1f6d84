"""What must hold for a view of a tensor or a buffer to be one, as comparisons of sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce

from ..dialects.hir.layout import DYNAMIC
from ..dialects.mlir import arith, ir, scf
from .rewriting import index_constant

Predicate = arith.CmpIPredicate
# What must hold, an i1, and what is wrong where it does not.
Condition = tuple[ir.Value, str]


def operand_groups(view: ir.Operation) -> list[list[ir.Value]]:
    """Returns the operands of a slice: its tensors, one a group, its offsets, sizes and strides."""
    operands = list(view.operands)
    groups: list[list[ir.Value]] = []
    for count in ir.DenseI32ArrayAttr(view.attributes["operandSegmentSizes"]):
        groups.append(operands[:count])
        del operands[:count]
    return groups


def conditions_of_cast(source: ir.Value, result: ir.Value) -> Iterator[Condition]:
    """A dim has the size that the result's type says. Both are ranked, and of one rank."""
    for axis, (size, wanted) in enumerate(zip(shape_of(source), shape_of(result), strict=True)):
        if size == DYNAMIC and wanted != DYNAMIC:
            message = f"the size of dim {axis} is not the {wanted} that its type says"
            yield equal(size_of(source, axis), index_constant(wanted)), message


def conditions_of_expansion(view: ir.Operation) -> Iterator[Condition]:
    """Yields the sizes that a dim is expanded to make it up."""
    source, *open_sizes = view.operands
    sizes = mixed(view, "static_output_shape", open_sizes)
    groups = [
        [ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)]
        for group in ir.ArrayAttr(view.attributes["reassociation"])
    ]
    for axis, group in enumerate(groups):
        parts = [sizes[place] for place in group]
        if all(isinstance(part, int) for part in parts) and shape_of(source)[axis] != DYNAMIC:
            continue
        whole = size_of(source, axis)
        factors = [as_value(part) for part in parts if part != 1] or [index_constant(1)]
        if len(factors) > 1:
            product, beyond = checked_product(factors)
            fits = arith.andi(equal(product, whole), equal(beyond, index_constant(0)))
        else:
            fits = equal(factors[0], whole)
        shown = ", ".join(map(str, group))
        message = f"the sizes of dims {shown} do not make up the size of dim {axis} of the operand"
        yield fits, message


def checked_product(sizes: Sequence[ir.Value], each: int = 1) -> tuple[ir.Value, ir.Value]:
    """Returns a product of sizes and `each`, and an index that is 0 if no size is negative and it
    fits.

    Where a size is 0, so is the product, however large the others are.
    """
    zero = index_constant(0)
    product, beyond = index_constant(each), zero
    if len(sizes) > 1:
        is_empty = reduce(arith.ori, [equal(size, zero) for size in sizes])
        product = arith.select(is_empty, zero, product)
    for size in sizes:
        product, high = arith.mului_extended(product, size)
        beyond = arith.ori(beyond, high)
    signs = arith.shrui(reduce(arith.ori, [*sizes, product]), index_constant(63))
    return product, arith.ori(beyond, signs)


def checked_product_of(
    count: ir.Value, size_at: Callable[[ir.Value], ir.Value]
) -> tuple[ir.Value, ir.Value]:
    """Returns the checked product of so many sizes, whose number is known when the program runs
    alone.
    """
    zero, one = index_constant(0), index_constant(1)
    false = arith.constant(ir.IntegerType.get_signless(1), 0)
    loop = scf.ForOp(zero, count, one, [one, zero, zero, false])
    with ir.InsertionPoint(loop.body):
        product, beyond, bits, is_empty = loop.inner_iter_args
        size = size_at(loop.induction_variable)
        is_empty = arith.ori(is_empty, equal(size, zero))
        product, high = arith.mului_extended(product, size)
        scf.YieldOp([product, arith.ori(beyond, high), arith.ori(bits, size), is_empty])
    product, beyond, bits, is_empty = loop.results
    # Where a size is 0, so is the product, however large the others are.
    product = arith.select(is_empty, zero, product)
    beyond = arith.select(is_empty, zero, beyond)
    signs = arith.shrui(arith.ori(bits, product), index_constant(63))
    return product, arith.ori(beyond, signs)


def conditions_of_slice(
    view: ir.Operation, whole: ir.Value, groups: Sequence[Sequence[ir.Value]]
) -> Iterator[Condition]:
    """Every element of the slice must be one of the whole; an empty slice begins within it."""
    names = ("static_offsets", "static_sizes", "static_strides")
    offsets, sizes, strides = (
        mixed(view, name, group) for name, group in zip(names, groups, strict=True)
    )
    for axis, (offset, size, stride) in enumerate(zip(offsets, sizes, strides, strict=True)):
        limit = shape_of(whole)[axis]
        known = [offset, size, stride, limit]
        if all(isinstance(each, int) for each in known) and limit != DYNAMIC:
            continue
        extent = size_of(whole, axis)
        room, fits = extent, None
        if offset != 0:
            # A negative offset is a great number here.
            fits = arith.cmpi(Predicate.ule, as_value(offset), extent)
            room = arith.subi(extent, as_value(offset))
        if stride != 1:
            room, moves = _steps(as_value(offset), extent, room, stride)
            if moves is not None:
                fits = moves if fits is None else arith.andi(fits, moves)
        within = arith.cmpi(Predicate.ule, as_value(size), room)
        yield (
            within if fits is None else arith.andi(fits, within),
            f"the slice's offset, size and stride go beyond the size of dim {axis}",
        )


def _steps(
    offset: ir.Value, extent: ir.Value, room: ir.Value, stride: int | ir.Value
) -> tuple[ir.Value, ir.Value | None]:
    """Returns how many elements a slice has at most, and, unless it is known, that its stride is
    not 0.

    `room` elements lie from the offset on; a negative stride goes from there to the first.
    """
    if isinstance(stride, int) and stride > 0:
        return arith.ceildivui(room, index_constant(stride)), None
    step, zero, one = as_value(stride), index_constant(0), index_constant(1)
    moves = None if isinstance(stride, int) and stride else arith.cmpi(Predicate.ne, step, zero)
    is_begun = arith.cmpi(Predicate.ult, offset, extent)
    behind = arith.select(is_begun, arith.addi(offset, one), zero)
    is_backward = arith.cmpi(Predicate.slt, step, zero)
    length = arith.select(is_backward, arith.subi(zero, step), arith.maxsi(step, one))
    return arith.ceildivui(arith.select(is_backward, behind, room), length), moves


def mixed(view: ir.Operation, name: str, operands: Sequence[ir.Value]) -> list[int | ir.Value]:
    """Numbers that are known, by an attribute, and operands for the others."""
    given = iter(operands)
    static = ir.DenseI64ArrayAttr(view.attributes[name])
    return [next(given) if each == DYNAMIC else each for each in static]


def as_value(size: int | ir.Value) -> ir.Value:
    """Returns a size as a value of type index."""
    return index_constant(size) if isinstance(size, int) else size


def shape_of(value: ir.Value) -> list[int]:
    """Returns the sizes that the type of a ranked tensor or buffer says, DYNAMIC for the others."""
    kind = ir.MemRefType if isinstance(value.type, ir.MemRefType) else ir.RankedTensorType
    return list(kind(value.type).shape)


def size_of(value: ir.Value, axis: int) -> ir.Value:
    """Returns the size of a dim when the program runs."""
    size = shape_of(value)[axis]
    if size != DYNAMIC:
        return index_constant(size)
    operands = [value, index_constant(axis)]
    name = "memref.dim" if isinstance(value.type, ir.MemRefType) else "tensor.dim"
    return ir.Operation.create(name, results=[ir.IndexType.get()], operands=operands).results[0]


def equal(first: ir.Value, second: ir.Value) -> ir.Value:
    """Returns whether two integers of one type are the same."""
    return arith.cmpi(Predicate.eq, first, second)
