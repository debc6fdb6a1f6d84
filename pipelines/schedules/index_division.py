"""Division of indices by a size that is open until run time: a multiplication in the kernel.

(Lemire, Kaser and Kurz, "Faster remainder by direct computation", 2019.)
"""

from __future__ import annotations

from ...dialects.mlir import arith, ir
from ..rewriting import constant, index_constant
from .parameters import Parameters
from .size import OpenNumbers, Size


def divided(
    number: ir.Value, size: Size, pieces: int, parameters: Parameters
) -> tuple[ir.Value, ir.Value]:
    """The quotient and the rest of an index by `size` over `pieces`, which divides it.

    Both are below 2^32.
    """
    i32, index = ir.IntegerType.get_signless(32), ir.IndexType.get()
    narrow = arith.index_castui(i32, number)
    if size.is_known:
        by = constant(i32, size.known // pieces)
        whole = arith.divui(narrow, by)
    else:
        whole = _quotient(narrow, size, pieces, parameters)
        in_pieces = arith.divui(parameters.size(size), index_constant(pieces))
        by = arith.index_castui(i32, in_pieces)
    rest = arith.subi(narrow, arith.muli(whole, by))
    return arith.index_castui(index, whole), arith.index_castui(index, rest)


def _quotient(number: ir.Value, size: Size, pieces: int, parameters: Parameters) -> ir.Value:
    """The upper half of the product with the least number that 2^64 over the divisor is below.

    Of the divisor 1 that number is 2^64, which is passed as 0.
    """
    i64 = ir.IntegerType.get_signless(64)

    def factor(open_: OpenNumbers) -> ir.Value:
        by = arith.divui(open_.value(size), index_constant(pieces))
        divisor = arith.index_cast(i64, arith.maxui(by, index_constant(1)))
        return arith.addi(arith.divui(constant(i64, -1), divisor), constant(i64, 1))

    given = parameters.computed(("factor", size, pieces), i64, factor)
    half = constant(i64, 32)
    wide = arith.extui(i64, number)
    low = arith.muli(arith.extui(i64, arith.trunci(number.type, given)), wide)
    high = arith.muli(arith.shrui(given, half), wide)
    upper = arith.shrui(arith.addi(high, arith.shrui(low, half)), half)
    is_one = arith.cmpi(arith.CmpIPredicate.eq, given, constant(i64, 0))
    return arith.select(is_one, number, arith.trunci(number.type, upper))
