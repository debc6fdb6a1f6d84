"""Which products cuBLASLt is called for."""

from __future__ import annotations

from itertools import pairwise

from ...dialects.hir.layout import DYNAMIC, has_identity_layout
from ...dialects.mlir import ir
from .options import MatmulOptions
from .product import Indexed, LoopKind, Product
from .small import is_for_kernel
from .strides import strides_of


def is_for_library(product: Product, options: MatmulOptions) -> bool:
    """Returns whether the library can compute the product, and is worth its call.

    What types leave open is taken to fit: the library's caller looks at it when the program runs.
    """
    return (
        is_for_kernel(product, options.kernel_multiplications) is not True
        and _is_of_matrices(product)
        and lies_well(product)
    )


def addend_lies_well(product: Product) -> bool:
    """Returns whether the types of buffers say that the addend, if there is one, and the result lie
    in memory row by row: the library takes them in one order.
    """
    return product.addend is None or all(map(_lies_in_rows, (product.result, product.addend)))


def _lies_in_rows(operand: Indexed) -> bool:
    kind = operand.value.type
    if _is_packed(operand):
        return True
    inner, size = 1, 1
    for stride, own in zip(reversed(strides_of(operand)), reversed(kind.shape), strict=True):
        if own == 1:
            continue
        if DYNAMIC in (stride, own) or stride < inner * size or (size == 1 and stride != 1):
            return False
        inner, size = stride, own
    return True


def is_for_tiles(product: Product, most: int) -> bool:
    """Returns whether a kernel that computes tiles of results is to compute it, of whatever
    strides.

    `most` is how many multiplications a product for other kernels has.
    """
    return is_for_kernel(product, most) is not True and _is_of_matrices(product)


def _is_of_matrices(product: Product) -> bool:
    """Returns whether it is no sum along rows, of which reductions are made.

    Such are batches of products of two vectors, and what is written as a reduction though one of
    its operands is a vector.
    """
    kinds = [product.kind(loop) for loop in range(product.loops) if product.size(loop) != 1]
    if LoopKind.M in kinds and LoopKind.N in kinds:
        return True
    return not product.is_reduction and (
        LoopKind.BATCH not in kinds or LoopKind.M in kinds or LoopKind.N in kinds
    )


def lies_well(product: Product) -> bool:
    """Returns whether the operands' strides may be those of matrices, as far as the types say."""
    rows = [
        (product.first, (LoopKind.M, LoopKind.K)),
        (product.second, (LoopKind.N, LoopKind.K)),
        (product.result, (LoopKind.M, LoopKind.N)),
    ]
    return _sums_along_one_dim(product) and all(
        _is_matrix(product, operand, kinds) for operand, kinds in rows
    )


def _is_matrix(product: Product, operand: Indexed, kinds: tuple[LoopKind, LoopKind]) -> bool:
    """Returns whether the loops of one of the kinds may step from one element to the next."""
    strides = strides_of(operand)
    steps = {
        kind: [
            stride
            for loop, stride in zip(operand.dims, strides, strict=True)
            if loop >= 0 and product.kind(loop) == kind and product.size(loop) != 1
        ]
        for kind in kinds
    }
    # A vector may have any stride.
    return not all(steps.values()) or any(
        stride in (1, DYNAMIC) for each in steps.values() for stride in each
    )


def _sums_along_one_dim(product: Product) -> bool:
    """Returns whether the loops over k are certainly one, for the library gives whole sums."""
    loops = [loop for loop in product.summed if product.size(loop) != 1]
    for outer, inner in _in_order(product, loops):
        for operand in (product.first, product.second):
            if not _continues(operand, outer, inner):
                return False
    return True


def _in_order(product: Product, loops: list[int]) -> list[tuple[int, int]]:
    """Neighbours, the outer one first, as the first operand has them."""
    ordered = sorted(loops, key=product.first.dims.index)
    return list(pairwise(ordered))


def _continues(operand: Indexed, outer: int, inner: int) -> bool:
    """Returns whether one step of the outer loop is as far as all of the inner one, as the type
    says.
    """
    axes = operand.dims.index(outer), operand.dims.index(inner)
    strides = strides_of(operand)
    known = strides[axes[0]], strides[axes[1]], operand.type.shape[axes[1]]
    if DYNAMIC not in known:
        return known[0] == known[1] * known[2]
    return _is_packed(operand) and axes[0] + 1 == axes[1]


def _is_packed(operand: Indexed) -> bool:
    kind = operand.value.type
    return not isinstance(kind, ir.MemRefType) or has_identity_layout(kind)
