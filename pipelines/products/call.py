"""A linalg operation that is a matrix product becomes a call of the library."""

from __future__ import annotations

from dataclasses import replace

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir, memref
from ..generics import emit_generic, map_of
from ..hir.compute.accumulator import Accumulator
from ..hir.compute.operand import Operand, as_stored, result_operand
from ..hir.extents import extent_of
from ..rewriting import index_constant
from ..size_assertions import assert_equal
from .choose import emit_product, emit_sum
from .contraction import read_contraction
from .fills import ZeroFills
from .fits import addend_lies_well, is_for_library
from .options import MatmulOptions
from .product import NO_LOOP, Indexed, Product
from .small import is_empty, is_for_kernel


def call_library(op: ir.Operation, options: MatmulOptions, fills: ZeroFills) -> list[ir.Operation]:
    """Emits hir.library_matmul for a linalg operation, where it is a product for it.

    What is rather for a kernel, and adds to zeros, becomes one operation without them. Returns the
    operations that are to be erased then, in this order. `fills` are those of the program.
    """
    product = None if len(op.results) else read_contraction(op, ignores_nan=options.ignores_nan)
    if product is None:
        return []
    gone = [op]
    if product.accumulates:
        fill = fills.find(op, product.result.value)
        if fill is not None:
            product = replace(product, accumulates=False)
            gone.append(fill)
    is_called = is_for_library(product, options)
    if is_called and options.own:
        # A sum that is added to memory is left to the kernels of reductions.
        if product.is_reduction or product.accumulates or product.activation:
            return []
        is_called = False
    elif not is_called and not _is_for_sum(product, options):
        return []
    with op.location, ir.InsertionPoint(op):
        _check_sizes(op, product)
        result = result_operand(product.result.value)

        def finish() -> None:
            if product.result.element == "tf32":
                # What the library gives is f32.
                Accumulator(result.stored, result).finish()

        if not is_called:
            emit_sum(_as_stored(product, result))
            finish()
            return gone
        clone = lambda: op.clone().operation  # noqa: E731
        kernel = clone if product.is_reduction else None
        stored = _as_stored(product, result)
        if not addend_lies_well(stored):
            stored = _with_addend_in_result(stored)
        emit_product(stored, options, kernel, finish, clone)
    return gone


def _with_addend_in_result(product: Product) -> Product:
    """Copies the addend into the result, of whatever strides, to which the product adds then."""
    addend = product.addend
    assert addend is not None
    rank = len(addend.dims)
    dims = [None if loop == NO_LOOP else axis for axis, loop in enumerate(addend.dims)]
    map_ = map_of(rank, dims)
    emit_generic(
        rank,
        [],
        [(addend.value, map_)],
        [(product.result.value, map_)],
        lambda values: [values[0]],
    )
    return replace(product, addend=None, accumulates=True)


def _is_for_sum(product: Product, options: MatmulOptions) -> bool:
    """Returns whether a kernel computes all of a product, and is not one operation yet."""
    return (
        is_for_kernel(product, options.kernel_multiplications) is True
        and not is_empty(product)
        and not (product.accumulates or product.activation or product.is_reduction)
    )


def _as_stored(product: Product, result: Operand) -> Product:
    """Returns the product of the buffers with the types that are stored: f32 for tf32."""

    def stored(operand: Indexed) -> Indexed:
        return replace(operand, value=as_stored(operand.value))

    return replace(
        product,
        first=stored(product.first),
        second=stored(product.second),
        result=replace(product.result, value=result.stored),
        bias=stored(product.bias) if product.bias else None,
        addend=stored(product.addend) if product.addend else None,
        is_tf32=product.first.element == "tf32",
    )


def _check_sizes(op: ir.Operation, product: Product) -> None:
    """Asserts that the dims of each loop have one size, where the types leave it open."""
    first, second, *added = product.inputs
    operands = [first, second, product.result, *added]
    for loop in range(product.loops):
        places = [
            (number, each, each.dims.index(loop))
            for number, each in enumerate(operands)
            if loop in each.dims
        ]
        # One that is known comes first: the others are compared with it.
        places.sort(key=lambda place: place[1].type.shape[place[2]] == DYNAMIC)
        (number, first, axis), *others = places
        for other_number, other, other_axis in others:
            sizes = first.type.shape[axis], other.type.shape[other_axis]
            if DYNAMIC not in sizes or _are_known_equal(first, axis, other, other_axis):
                continue
            assert_equal(
                _size(first, axis),
                _size(other, other_axis),
                f"dim {axis} of operand {number} and dim {other_axis} of operand {other_number} "
                f"are one loop of {op.name} and must have the same size",
                "{0} and {1}",
            )


def _are_known_equal(first: Indexed, axis: int, other: Indexed, other_axis: int) -> bool:
    return extent_of(first.value, axis) == extent_of(other.value, other_axis)


def _size(operand: Indexed, axis: int) -> ir.Value:
    return memref.dim(operand.value, index_constant(axis))
