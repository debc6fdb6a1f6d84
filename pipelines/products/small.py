"""Which products hirc's kernels compute in less time than the library.

The limits are where the two take the same time on an H200.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import prod

from ...dialects.hir.element_types import ELEMENT_TYPES
from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import arith, ir, memref
from ..rewriting import index_constant
from ..schedules.elements import ACCESS_BYTES
from ..schedules.tables import Tables
from .product import Indexed, LoopKind, Product
from .strides import strides_of

# Many independent results of few terms each keep the device busy: so many times as many
# multiplications are still few.
MANY_TIMES, MANY_RESULTS, FEW_TERMS = 4, 1 << 15, 64
# The library takes no more time for more rows, where tensor cores multiply them. Of f32 it took
# 25 us for 10 x 256 x 768 on an H200 (cuBLASLt 13.1, in 66 parts); memory gives the factor in 0.2.
MOST_FEW_ROWS, MOST_FEW_F32_ROWS = 8, 16
# Products of 16 bits a second of the kernel of few rows, on an H200 (8 rows by 24576 terms and 6144
# columns in 187 us, by 8192 and 4096 in 41), and what the library takes: the seconds of a call, and
# the bytes a second that it reads (76 us, 24 us).
FEW_ROWS_PRODUCTS, LIBRARY_CALL, LIBRARY_BYTES = 6.5e12, 3e-6, 4e12
# One small matrix times many, which no strides make one matrix, the library takes one by one: on an
# H200 (cuBLASLt 13.1; 50,000 of 20x20, more of 16x16 and 8x8; f32, bf16) in 50 to 700 ns each, 40
# to 400 times as long as a kernel. Of 32x32 and more both take about the same.
MATRIX_OF_MANY = 1 << 14  # multiplications of one
# The bytes of elements that are extended before they are multiplied, and have tensor cores.
_NARROW_BYTES = 2
# A thread sums so many terms by itself; more are for a row of threads.
TERMS_IN_TURN = 256


def is_for_kernel(product: Product, most: int) -> bool | None:
    """Returns whether a kernel computes it in less time; None where that is known at run time only.

    `most` is how many multiplications a small product has; 0 leaves none to kernels.
    """
    if is_empty(product):
        return True
    if not most:
        return False
    sizes = [product.size(loop) for loop in range(product.loops)]
    is_for_rows = _is_vector_product(product, sizes) or _has_few_rows(product, sizes)
    if is_for_rows and not _adds_to_memory(product):
        return True
    if is_one_by_many(product):
        return True
    if DYNAMIC not in sizes:
        return _is_small(product, sizes, most)
    least = [1 if size == DYNAMIC else size for size in sizes]
    may_be = _is_small(product, least, most) or (
        not takes_terms_in_turn(product) and _is_vector_product(product, least, _is_along_sums)
    )
    return None if may_be else False


def is_empty(product: Product) -> bool:
    """Returns whether nothing is multiplied, as far as the types say.

    An operation on no elements does nothing to those it writes, so that zeros are to be there.
    """
    return any(product.size(loop) == 0 for loop in range(product.loops))


def emit_is_for_kernel(product: Product, most: int) -> ir.Value:
    """Returns whether a kernel takes less time, as code of the host, for what is_for_kernel leaves
    open.
    """
    results, terms = index_constant(1), index_constant(1)
    vectors: dict[LoopKind, ir.Value] = {}
    for loop in range(product.loops):
        size = _extent(product, loop)
        kind = product.kind(loop)
        if kind == LoopKind.K:
            terms = arith.muli(terms, size)
        else:
            results = arith.muli(results, size)
            vectors[kind] = arith.muli(vectors[kind], size) if kind in vectors else size
    count = arith.muli(results, terms)
    few = _at_most(terms, FEW_TERMS)
    many = arith.cmpi(arith.CmpIPredicate.uge, results, index_constant(MANY_RESULTS))
    holds = arith.ori(
        _at_most(count, most),
        arith.andi(_at_most(count, MANY_TIMES * most), arith.andi(few, many)),
    )
    if takes_terms_in_turn(product):
        return arith.andi(holds, _at_most(terms, TERMS_IN_TURN))
    for kind, matrix in ((LoopKind.M, product.second), (LoopKind.N, product.first)):
        if kind in vectors and _is_along_sums(product, matrix):
            holds = arith.ori(holds, _at_most(vectors[kind], _most_rows(product, kind)))
    return holds


def _most_rows(product: Product, kind: LoopKind) -> int:
    """Returns up to how many rows, of an open number, are few; 1 where no more are."""
    loops = [loop for loop in range(product.loops) if product.kind(loop) == kind]
    sizes = [product.size(loop) for loop in range(product.loops)]
    if _adds_to_memory(product) or len(loops) != 1 or sizes[loops[0]] != DYNAMIC:
        return 1
    counts = Tables().few_rows.open_rows
    few = [
        count
        for count in counts
        if _has_few_rows(
            product, [count if loop in loops else sizes[loop] for loop in range(len(sizes))]
        )
    ]
    return max(few, default=1)


def takes_terms_in_turn(product: Product) -> bool:
    """Returns whether its kernel is to have one thread a result: other kernels are chosen by the
    terms.
    """
    is_open = any(product.size(loop) == DYNAMIC for loop in product.summed)
    return is_open or not any(
        _is_along_sums(product, each) for each in (product.first, product.second)
    )


def _is_small(product: Product, sizes: list[int], most: int) -> bool:
    terms = prod(size for loop, size in enumerate(sizes) if product.kind(loop) == LoopKind.K)
    results = prod(size for loop, size in enumerate(sizes) if product.kind(loop) != LoopKind.K)
    if terms > TERMS_IN_TURN and takes_terms_in_turn(product):
        return False
    if terms <= FEW_TERMS and results >= MANY_RESULTS:
        most *= MANY_TIMES
    return results * terms <= most


def is_one_by_many(product: Product) -> bool:
    """Returns whether it is one small matrix times many that lie so that the library takes one by
    one.
    """
    sizes = [product.size(loop) for loop in range(product.loops)]
    loops = [loop for loop, size in enumerate(sizes) if size != 1]
    if any(product.kind(loop) == LoopKind.BATCH for loop in loops):
        return False
    matrix = [sizes[loop] for loop in loops if product.kind(loop) == LoopKind.K]
    is_of_many = False
    for kind, operand in ((LoopKind.M, product.first), (LoopKind.N, product.second)):
        own = [loop for loop in loops if product.kind(loop) == kind]
        runs = _runs(product, own, (operand, product.result))
        is_of_many = is_of_many or len(runs) > 1
        matrix += _longest(runs)
    return is_of_many and DYNAMIC not in matrix and prod(matrix) <= MATRIX_OF_MANY


def _runs(
    product: Product, loops: list[int], operands: Sequence[Indexed]
) -> list[tuple[int, bool]]:
    """Returns the sizes of the runs of loops that step as one in all of these operands, and whether
    a run's elements are neighbours in the memory of one.
    """
    steps = [dict(zip(each.dims, _likely_strides(each), strict=True)) for each in operands]
    runs: list[tuple[int, bool]] = []
    inner: int | None = None
    for loop in sorted(loops, key=lambda each: _or_endless(steps[-1][each])):
        size = product.size(loop)
        if inner is not None and all(
            each[loop] == _times(each[inner], product.size(inner)) != DYNAMIC for each in steps
        ):
            before, are_close = runs.pop()
            runs.append((_times(before, size), are_close))
        else:
            runs.append((size, any(each[loop] == 1 for each in steps)))
        inner = loop
    return runs


def _longest(runs: Sequence[tuple[int, bool]]) -> list[int]:
    """Returns how many rows, or columns, a matrix has: neighbours in memory are to be its."""
    close = [size for size, are_close in runs if are_close] or [size for size, _ in runs]
    return [max(close, key=_or_endless)] if close else []


def _likely_strides(operand: Indexed) -> list[int]:
    """Returns its strides; of one that may have any, those that it has if it is packed."""
    strides = list(strides_of(operand))
    if DYNAMIC not in strides:
        return strides
    packed = [1]
    for size in reversed(operand.type.shape[1:]):
        packed.insert(0, _times(packed[0], size))
    return packed


def _times(one: int, other: int) -> int:
    return DYNAMIC if DYNAMIC in (one, other) else one * other


def _or_endless(size: int) -> float:
    return math.inf if size == DYNAMIC else size


def _has_rows(product: Product, matrix: Indexed) -> bool:
    """Returns whether neighbours in a matrix's memory are those of one of its loops, as the type
    says.
    """
    return bool(_neighbours(product, matrix))


def _is_vector_product(
    product: Product, sizes: list[int], lies_well: Callable[[Product, Indexed], bool] = _has_rows
) -> bool:
    """Returns whether it is a matrix times a vector, whose rows lie in memory: memory's speed
    bounds it.

    Nothing of what is read is shared by two results but the vectors. Neighbours in memory are terms
    of one sum, or of neighbouring sums.
    """
    kinds = {product.kind(loop) for loop, size in enumerate(sizes) if size != 1}
    return (LoopKind.M not in kinds and lies_well(product, product.second)) or (
        LoopKind.N not in kinds and lies_well(product, product.first)
    )


def _has_few_rows(product: Product, sizes: list[int]) -> bool:
    """Returns whether it is a matrix times few rows, that the kernel of few rows reads in vectors.

    (`pipelines/schedules/few_rows`.) Memory's speed bounds these, too.
    """
    table = Tables().few_rows
    kinds = {product.kind(loop) for loop, size in enumerate(sizes) if size != 1}
    if LoopKind.BATCH in kinds or not {LoopKind.M, LoopKind.N, LoopKind.K} <= kinds:
        return False

    def count(kind: LoopKind) -> int:
        own = [size for loop, size in enumerate(sizes) if product.kind(loop) == kind]
        return DYNAMIC if DYNAMIC in own else prod(own)

    sides = ((LoopKind.M, LoopKind.N, product.second), (LoopKind.N, LoopKind.M, product.first))
    for rows, columns, matrix in sides:
        if matrix.element not in ELEMENT_TYPES:
            continue
        bytes_ = ELEMENT_TYPES[matrix.element].bytes
        limit = MOST_FEW_F32_ROWS if matrix.element == "f32" else MOST_FEW_ROWS
        most = min(table.rows_per_byte * bytes_, limit)
        vector = ACCESS_BYTES // bytes_
        if (
            0 < count(rows) <= most
            and count(columns) >= table.least_columns
            and count(LoopKind.K) >= table.least_terms
            and _takes_less(count(rows), count(columns) * count(LoopKind.K), bytes_)
            and all(sizes[loop] % vector == 0 for loop in _neighbours(product, matrix))
            and _has_rows(product, matrix)
        ):
            return True
    return False


def _takes_less(rows: int, elements: int, bytes_: int) -> bool:
    """Returns whether few rows take the kernel less time than the library, by a factor of so many
    elements of 16 bits. Of other sizes it does.
    """
    library = LIBRARY_CALL + elements * bytes_ / LIBRARY_BYTES
    return bytes_ != _NARROW_BYTES or rows * elements / FEW_ROWS_PRODUCTS <= library


def _adds_to_memory(product: Product) -> bool:
    """Returns whether the sums are added to what a buffer holds: its kernel has one thread a
    result.
    """
    return product.accumulates and isinstance(product.result.value.type, ir.MemRefType)


def _is_along_sums(product: Product, operand: Indexed) -> bool:
    """Returns whether neighbours in an operand's memory are terms of one sum, as far as the type
    says.
    """
    return any(product.kind(loop) == LoopKind.K for loop in _neighbours(product, operand))


def _neighbours(product: Product, operand: Indexed) -> list[int]:
    """Returns the loops of several iterations that step from one element in memory to the next."""
    return [
        loop
        for loop, stride in zip(operand.dims, strides_of(operand), strict=True)
        if loop >= 0 and stride == 1 and product.size(loop) != 1
    ]


def _extent(product: Product, loop: int) -> ir.Value:
    """Returns the iterations of a loop, as a value of the host."""
    size = product.size(loop)
    if size != DYNAMIC:
        return index_constant(size)
    operand = next(each for each in product.matrices if loop in each.dims)
    return memref.dim(operand.value, index_constant(operand.dims.index(loop)))


def _at_most(value: ir.Value, most: int) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.ule, value, index_constant(most))
