"""hir.matmul and hir.linear become calls of the library."""

from __future__ import annotations

from dataclasses import replace

from ...dialects.hir.layout import strides_and_offset
from ...dialects.mlir import ir
from ..hir.compute.accumulator import Accumulator
from ..hir.compute.broadcast import Indexed as ComputeIndexed
from ..hir.compute.broadcast import Repeats, index_operand
from ..hir.compute.operand import Operand
from ..hir.compute_ops import inputs_of
from .choose import emit_product
from .contraction import RESULTS
from .fits import is_for_library
from .linear import check_linear, finish_linear, read_linear
from .matmul import check_matmul, read_matmul
from .options import MatmulOptions
from .product import NO_LOOP, Indexed, Product, indexed_by

# Result types that the library adds a bias to, and rounds to.
_WITH_BIAS = ("f32", "f16", "bf16")


def call_library_for_compute(op: ir.Operation, options: MatmulOptions) -> list[ir.Operation]:
    """Emits hir.library_matmul for a hir.matmul or hir.linear, where it is for the library.

    Returns the operations that are to be erased then.
    """
    elements = [str(ir.MemRefType(value.type).element_type) for value in op.operands]
    if elements[-1] not in RESULTS.get(elements[0], ()) or elements[1] != elements[0]:
        return []
    is_matmul = op.name == "hir.matmul"
    biases = [] if is_matmul else inputs_of(op)[2:]
    is_fused = elements[-1] in _WITH_BIAS and all(_is_packed(bias, elements[-1]) for bias in biases)
    # A sum that is rounded already takes no bias any more.
    if not is_fused and elements[-1] in ("f16", "bf16"):
        return []
    if not is_for_library(as_declared(op), options):
        return []
    with op.location, ir.InsertionPoint(op):
        if is_matmul:
            _emit_matmul(op, options)
        else:
            _emit_linear(op, options, is_fused=is_fused)
    return [op]


def _is_packed(bias: ir.Value, element: str) -> bool:
    kind = ir.MemRefType(bias.type)
    return str(kind.element_type) == element and strides_and_offset(kind)[0] == [1]


def as_declared(op: ir.Operation) -> Product:
    """Returns the product of a hir.matmul or hir.linear, but for the bias, as the operands' types
    say, before anything is emitted for it.
    """
    x, y, *_ = op.operands
    result = op.operands[len(op.operands) - 1]
    ranks = [ir.MemRefType(value.type).rank for value in (x, y, result)]
    n, k = ranks[2] - 1, ranks[2]
    if op.name == "hir.linear":
        dims = [[*range(n), k], [n, k]]
    else:
        batch = n - 1
        dims = [
            [*range(batch - (ranks[0] - 2), batch), n - 1, k],
            [*range(batch - (ranks[1] - 2), batch), k, n],
        ]
    first, second = (
        Indexed(value, _without_repeated(value, each, result))
        for value, each in zip((x, y), dims, strict=True)
    )
    return Product(first, second, Indexed(result, tuple(range(ranks[2]))))


def _without_repeated(value: ir.Value, dims: list[int], result: ir.Value) -> tuple[int, ...]:
    """Returns the loops of the dims, but of those whose one element is repeated."""
    sizes = ir.MemRefType(result.type).shape
    return tuple(
        NO_LOOP if size == 1 and loop < len(sizes) and sizes[loop] != 1 else loop
        for size, loop in zip(ir.MemRefType(value.type).shape, dims, strict=True)
    )


def _emit_matmul(op: ir.Operation, options: MatmulOptions) -> None:
    result, first, second = read_matmul(op)
    repeats = check_matmul(op, result, first, second)
    emit_product(_product(result, first, second, repeats), options)
    if result.element.name == "tf32":
        Accumulator(result.stored, result).finish()


def _emit_linear(op: ir.Operation, options: MatmulOptions, *, is_fused: bool) -> None:
    result, first, second, biases = read_linear(op)
    check_linear(op, result, first, second, biases)
    product = _product(result, first, second, {})
    if is_fused:
        n = len(result.shape) - 1
        fused = [Indexed(bias.stored, (n,)) for bias in biases]
        product = replace(product, bias=fused[0] if fused else None)
    emit_product(product, options)
    if not is_fused:
        finish_linear(Accumulator(result.stored, result), biases)


def _product(
    result: Operand, first: ComputeIndexed, second: ComputeIndexed, repeats: Repeats
) -> Product:
    loops = len(result.shape) + 1
    operands: list[Indexed] = []
    for each in (first, second):
        indexed = indexed_by(*index_operand(each, result, loops, repeats))
        assert indexed is not None
        operands.append(indexed)
    return Product(
        operands[0],
        operands[1],
        Indexed(result.stored, tuple(range(loops - 1))),
        is_tf32=first.operand.element.name == "tf32",
    )
