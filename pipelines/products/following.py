"""The elementwise operation that alone reads a product, done in the library's call."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...dialects.mlir import indexing_maps, ir
from .contraction import is_product
from .finish import read_finish
from .product import Indexed, Product, indexed_by

# Operations between the two that the call may be moved past.
_HARMLESS = ("arith.", "memref.dim", "cf.assert", "hir.allocate", "hir.reuse")
_FREES = "hir.deallocate"
# Results that are the memory of an operand.
_SAME_MEMORY = ("hir.reuse", "hir.permute", "hir.slice", "hir.select", "hir.reshape", "hir.expand")


@dataclass(frozen=True)
class Following:
    """An elementwise operation and the product that it finishes.

    `frees` are deallocations before it, of what the product reads: they come after the call, which
    takes the operation's place. `unused` are those of the buffer between the two.
    """

    op: ir.Operation
    product: Product
    frees: list[ir.Operation]
    unused: list[ir.Operation]


def find_following(
    op: ir.Operation, product: Product, fill: ir.Operation | None
) -> Following | None:
    """What finishes the product of `op`, which accumulates into the zeros of `fill`, or not at all.

    None where something else reads the product, or needs it before.
    """
    between = product.result.value
    if isinstance(between.owner, ir.Block) or between.owner.operation.name != "hir.allocate":
        return None
    if product.bias is not None or product.activation:
        return None
    readers: list[ir.Operation] = []
    frees: list[ir.Operation] = []
    is_reused = False
    for use in between.uses:
        user = use.owner.operation
        if user.name == _FREES:
            frees.append(user)
        elif user.name == "hir.reuse":
            is_reused = True
        elif user not in (op, fill):
            readers.append(user)
    if len(readers) != 1 or readers[0].block != op.block:
        return None
    finished = _finished(readers[0], product)
    if finished is None or not is_product(finished):
        return None
    late = _frees_between(op, readers[0], finished)
    if late is None:
        return None
    unused = [] if is_reused else [*frees, between.owner.operation]
    return Following(readers[0], finished, late, unused)


def _finished(op: ir.Operation, product: Product) -> Product | None:
    """The product with what an elementwise operation makes of it, None for any other operation."""
    if op.name != "linalg.generic" or len(op.results) or not _is_elementwise(op):
        return None
    maps = indexing_maps(op)
    operands = [indexed_by(value, map_) for value, map_ in zip(op.operands, maps, strict=True)]
    *inputs, output = operands
    block = op.regions[0].blocks[0]
    if output is None or any(True for _ in block.arguments[len(inputs)].uses):
        return None
    read = [place for place, value in enumerate(op.operands) if value == product.result.value]
    if len(read) != 1 or -1 in product.result.dims:
        return None
    total = inputs[read[0]]
    if total is None or sorted(total.dims) != sorted(output.dims) or len(maps) > 3:
        return None
    others = [place for place in range(len(inputs)) if place != read[0]]
    finish = read_finish(
        list(block)[-1].operation.operands[0],
        block.arguments[read[0]],
        [block.arguments[place] for place in others],
    )
    if finish is None:
        return None
    names = dict(zip(total.dims, product.result.dims, strict=True))
    bias = None
    if others:
        bias = _renamed(inputs[others[0]], names)
        if bias is None:
            return None
    result = _renamed(output, names)
    if result is None:
        return None
    return replace(
        product, result=result, bias=bias, activation=finish.activation, accumulates=False
    )


def _is_elementwise(op: ir.Operation) -> bool:
    kinds = [str(kind) for kind in ir.ArrayAttr(op.attributes["iterator_types"])]
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    return segments[1] == 1 and all("parallel" in kind for kind in kinds)


def _renamed(operand: Indexed | None, names: dict[int, int]) -> Indexed | None:
    """The operand in the loops of the product."""
    if operand is None or any(loop not in names for loop in operand.dims):
        return None
    return Indexed(operand.value, tuple(names[loop] for loop in operand.dims))


def _frees_between(
    first: ir.Operation, last: ir.Operation, product: Product
) -> list[ir.Operation] | None:
    """The deallocations between of what is read; None where something else is in the way."""
    reads = [product.first, product.second, *([product.bias] if product.bias else [])]
    roots = [_root(each.value) for each in reads]
    if _root(product.result.value) in roots:
        return None
    frees: list[ir.Operation] = []
    has_begun = False
    for view in first.block:
        op = view.operation
        if op == last:
            return frees if has_begun else None
        if has_begun and op.name == _FREES:
            if _root(op.operands[0]) in roots:
                frees.append(op)
        elif has_begun and not op.name.startswith(_HARMLESS):
            return None
        has_begun = has_begun or op == first
    return None


def _root(value: ir.Value) -> ir.Value:
    """The value that first stood for a buffer's memory."""
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        is_view = op.name in _SAME_MEMORY or op.name.startswith(("memref.", "builtin."))
        if not is_view or not len(op.operands) or op.name in ("memref.alloc",):
            break
        value = op.operands[0]
    return value
