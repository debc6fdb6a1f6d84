"""split-float32-products: products in f32 as products of what their operands are in bf16."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from ...dialects.mlir import arith, ir, math
from ...dialects.records import dataclass
from ..generics import each_of
from ..pass_base import Pass, register
from ..products.contraction import read_product
from ..products.generic import rebuild
from ..products.narrow import find_narrow
from ..products.product import Product
from ..rewriting import constant
from ..walking import operations_where
from .narrow_product_operands import extend_operands, may_be_product
from .select_host_programs import MARK

# The greatest finite bf16.
_MOST = float.fromhex("0x1.fep127")


@register
@dataclass(frozen=True)
class SplitFloat32Products(Pass):
    """Makes each product in f32 three of bf16 that accumulate in f32, for tensor cores.

    An operand x is h + l + e, of which h is x rounded to bf16, l what is left rounded to bf16, and
    |e| <= 2^-16 |x|. Of the product (h + l)(h' + l') all but l l' is computed, so that each product
    of two elements is wrong by at most 3 * 2^-16 of itself, but for e e'. What is infinite or nan
    comes out of h h' alone, as of f32. An operand that was extended from bf16 is h alone.

      %y = linalg.matmul ins(%a, %b : tensor<?x8xf32>, tensor<8x4xf32>) outs(%c : tensor<?x4xf32>)
    becomes
      %ah, %al = linalg.generic ins(%a : ...) { truncf, subf, truncf }
      %bh, %bl = linalg.generic ins(%b : ...) { truncf, subf, truncf }
      %r = linalg.generic ins(%al, %bh : tensor<?x8xbf16>, tensor<8x4xbf16>) outs(%zeros : ...)
      %s = linalg.generic ins(%ah, %bl : ...) outs(%r : ...)
      %t = linalg.generic ins(%s, %c : ...) { addf, where %s is finite }
      %y = linalg.generic ins(%ah, %bh : ...) outs(%t : ...)

    Takes the functions that carry the unit attribute `hir.program` (see select-host-programs).
    """

    name: ClassVar[str] = "split-float32-products"

    def run(self, op: ir.Operation) -> None:
        for function in operations_where(op, lambda inner: MARK in inner.attributes):
            for work in operations_where(function, may_be_product):
                product = read_product(work)
                if product is not None and product.accumulates:
                    _split(work, product)


def _split(work: ir.Operation, product: Product) -> None:
    with work.location, ir.InsertionPoint(work):
        firsts, seconds = (_parts(each.value) for each in (product.first, product.second))
        begin = product.result.value
        pairs = [(1, 0), (0, 1)]
        small = [
            (firsts[one], seconds[other])
            for one, other in pairs
            if one < len(firsts) and other < len(seconds)
        ]
        if small:
            zero = constant(ir.RankedTensorType(begin.type).element_type, 0.0)
            (rest,) = each_of([], [zero.type], lambda _: [zero], begin)
            for first, second in small:
                rest = _product(work, product, first, second, rest)
            (begin,) = each_of([rest, begin], [zero.type], _sum_of_finite)
        result = _product(work, product, firsts[0], seconds[0], begin)
    work.results[0].replace_all_uses_with(result)
    work.erase()


def _product(
    work: ir.Operation, product: Product, first: ir.Value, second: ir.Value, begin: ir.Value
) -> ir.Value:
    copy = work.clone(ir.InsertionPoint(work))
    extend_operands(copy, ir.RankedTensorType(first.type).element_type)
    of_parts = replace(
        product,
        first=replace(product.first, value=first),
        second=replace(product.second, value=second),
        result=replace(product.result, value=begin),
    )
    return rebuild(copy, of_parts).results[0]


def _parts(x: ir.Value) -> list[ir.Value]:
    """Returns an operand rounded to bf16, and what is left; that is nothing where it was bf16."""
    bf16 = ir.BF16Type.get()
    narrow = find_narrow(x)
    if narrow is not None and narrow.element == bf16:
        return [narrow.emit()]
    return each_of([x], [bf16] * 2, _rounded_and_rest)


def _rounded_and_rest(given: Sequence[ir.Value]) -> list[ir.Value]:
    (x,) = given
    f32, bf16 = ir.F32Type.get(), ir.BF16Type.get()
    # What is finite stays so; a nan goes through.
    near = arith.maximumf(arith.minimumf(x, constant(f32, _MOST)), constant(f32, -_MOST))
    size = math.absf(x)
    is_infinite = arith.cmpf(arith.CmpFPredicate.OEQ, size, constant(f32, float("inf")))
    rounded = arith.truncf(bf16, arith.select(is_infinite, x, near))
    rest = arith.subf(x, arith.extf(f32, rounded))
    is_number = arith.cmpf(arith.CmpFPredicate.ORD, rest, rest)
    return [rounded, arith.truncf(bf16, arith.select(is_number, rest, constant(f32, 0.0)))]


def _sum_of_finite(given: Sequence[ir.Value]) -> list[ir.Value]:
    """A rest times what is infinite may have another sign, or be no number: what the rounded
    operands give is then right.
    """
    rest, begin = given
    f32 = ir.F32Type.get()
    is_finite = arith.cmpf(arith.CmpFPredicate.OLT, math.absf(rest), constant(f32, float("inf")))
    return [arith.addf(begin, arith.select(is_finite, rest, constant(f32, 0.0)))]
