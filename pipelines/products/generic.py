"""A product on tensors as a linalg.generic."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from ...dialects.mlir import ir
from ..fusion.generic import carry_configuration
from ..generics import bare_generic
from ..tensors import collapsed
from .product import Product


def rebuild(
    op: ir.Operation, product: Product, groups: Sequence[Sequence[object]] = ()
) -> ir.Operation:
    """Puts a linalg.generic with the operation's region in its place, and returns it.

    It asks for the kernel that the operation asked for.

    Where the result has more dims than before, `groups` has, for each one before, those it was.
    """
    *factors, sums = map(product.mapped, product.matrices)
    with op.location, ir.InsertionPoint(op):
        generic = bare_generic(product.loops, product.summed, factors, [sums])
        numbers = count()
        axes = [[next(numbers) for _ in group] for group in groups]
        result = collapsed(generic.results[0], op.results[0].type, axes)
    op.results[0].replace_all_uses_with(result)
    op.regions[0].blocks[0].append_to(generic.regions[0])
    carry_configuration([op], generic)
    op.erase()
    return generic
